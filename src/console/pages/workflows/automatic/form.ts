// The form of an automatic start: when, for which records, and for how many at once.
import { type Html, html } from '../../../../http/html.ts';
import type { StartRule, StartSettings } from '../../../../store/workflows/start-rule-types.ts';
import type { Workflow } from '../../../../store/workflows/types.ts';
import { MAX_STARTS } from '../../../../workflows/automatic/rules.ts';
import type { Parts, SignedInRequest } from '../../../page-request.ts';
import { filterBuilder } from '../../../ui/filter/builder.ts';
import { type Describe, findField } from '../../../ui/filter/fields.ts';
import { readRows } from '../../../ui/filter/form.ts';
import { collectionOf, noRows, type Rows, toFilter, toRows } from '../../../ui/filter/state.ts';
import { checkField, field, selectField } from '../../../ui/form.ts';
import { frequencyOptions, fromCron, toCron } from './words.ts';

const DEFAULT_LIMIT = 100;

export type Kind = StartSettings['kind'];

/** The form as the person sees it. */
interface StartForm {
  readonly kind: Kind;
  readonly frequency: string;
  readonly time: string;
  readonly cron: string;
  readonly timezone: string;
  readonly operations: readonly string[];
  readonly fields: readonly string[];
  readonly limit: string;
  readonly rows: Rows;
  /** The stored condition is not shown as rows. */
  readonly isLossy?: true;
}

export const newForm = (kind: Kind, timezone: string): StartForm => ({
  ...{ kind, frequency: 'day', time: '08:00', cron: '', timezone, operations: ['create'], fields: [] },
  ...{ limit: `${DEFAULT_LIMIT}`, rows: noRows },
});

export function formOf({ settings, collection }: StartRule, describe: Describe, timezone: string): StartForm {
  const { kind, filter, limit } = settings;
  const rows = toRows(filter, describe, collection);
  const common = {
    ...newForm(kind, timezone),
    limit: `${limit}`,
    rows: rows ?? noRows,
    ...(!rows && { isLossy: true as const }),
  };
  if (settings.kind === 'change') return { ...common, operations: settings.operations, fields: settings.fields ?? [] };
  return { ...common, ...fromCron(settings.cron), cron: settings.cron, timezone: settings.timezone };
}

export function readForm(form: URLSearchParams, kind: Kind, describe: Describe, collection: string): StartForm {
  const text = (name: string) => (form.get(name) ?? '').trim().slice(0, 200);
  return {
    ...{ kind, frequency: text('frequency'), time: text('time'), cron: text('cron').replace(/\s+/g, ' ') },
    ...{ timezone: text('timezone'), operations: form.getAll('operation') },
    // Once each: a change compares every field of the list for each record.
    fields: [...new Set(form.getAll('changed'))],
    ...{ limit: text('limit'), rows: readRows(form, describe, collection) },
  };
}

export function toSettings(form: StartForm, describe: Describe, collection: string): StartSettings {
  const filter = toFilter(form.rows, describe, collection);
  const common = { limit: /^\d{1,6}$/.test(form.limit) ? Number(form.limit) : 0, ...(filter && { filter }) };
  if (form.kind === 'change') {
    const operations = (['create', 'update'] as const).filter((one) => form.operations.includes(one));
    const { fields } = form;
    return { kind: 'change', operations, ...(fields.length > 0 && { fields }), ...common };
  }
  const cron = form.frequency === 'cron' ? form.cron : (toCron(form.frequency, form.time) ?? '');
  return { kind: 'schedule', cron, timezone: form.timezone, ...common };
}

/** A field that the person does not see. Without its condition, the filter would match more records. */
export function findUnknownField({ rows }: StartForm, describe: Describe, collection: string): string | undefined {
  const unknownIn = (conditions: Rows['conditions'], of: string | undefined) =>
    conditions.find(({ field }) => of === undefined || !findField(describe, of, field))?.field;
  const inGroups = rows.groups.map(({ kind, conditions }) =>
    unknownIn(conditions, collectionOf(kind, describe, collection)),
  );
  return unknownIn(rows.conditions, collection) ?? inGroups.find((name) => name !== undefined);
}

interface FormProblem {
  readonly argument: string;
  readonly problem: string;
}

/** The fields of the form, without its buttons. */
export function formFields(
  form: StartForm,
  { collection }: Workflow,
  describe: Describe,
  wrong: FormProblem | undefined,
): Html {
  const problemOf = (argument: string) => (wrong?.argument === argument ? wrong.problem : undefined);
  const filterProblem = problemOf('filter');
  return html`<input type="hidden" name="kind" value="${form.kind}">
${form.kind === 'schedule' ? scheduleFields(form, problemOf) : changeFields(form, collection, describe, problemOf)}
<h2 class="plainly">Which records</h2>
<p class="quietly">${form.kind === 'schedule' ? 'Each record that matches gets a run. Without conditions: every record that you can see.' : 'The record must match after the change. Without conditions: every record that you can see.'}</p>
${form.isLossy && html`<p class="warning" role="note">The rows cannot show the stored condition. Saving replaces it.</p>`}
${filterProblem !== undefined && html`<p class="alert" role="alert">${filterProblem}</p>`}
${filterBuilder({ rows: form.rows, describe, collection })}
<div class="narrow">${field({
    id: 'limit',
    label: form.kind === 'schedule' ? 'At most, each time' : 'At most, for one change of several records',
    type: 'number',
    value: form.limit,
    hint: `Number of runs, 1 to ${MAX_STARTS}. The page says when more records matched.`,
    problem: problemOf('limit'),
    required: true,
  })}</div>`;
}

type ProblemOf = (argument: string) => string | undefined;

function scheduleFields({ frequency, time, cron, timezone }: StartForm, problemOf: ProblemOf): Html {
  const wrong = problemOf('cron');
  const isCron = frequency === 'cron';
  const zones = [...new Set(['UTC', timezone, ...Intl.supportedValuesOf('timeZone')])].sort();
  return html`<div class="narrow">${selectField({ id: 'frequency', label: 'How often', value: frequency, options: frequencyOptions })}
${field({ id: 'time', label: 'At', type: 'time', value: time, hint: 'With “Every hour”, only the minutes count. A cron expression ignores it.', ...(!isCron && { problem: wrong && 'Enter a time.' }) })}
${field({ id: 'cron', label: 'Cron expression', value: cron, hint: html`Only for “Cron expression”. Minute, hour, day of the month, month, day of the week, such as <code>*/15 8-18 * * MON-FRI</code>.`, ...(isCron && { problem: wrong }) })}
${selectField({ id: 'timezone', label: 'Time zone', value: timezone, problem: problemOf('timezone'), options: zones.map((zone) => [zone, zone] as const) })}</div>`;
}

function changeFields(
  { operations, fields }: StartForm,
  collection: string,
  describe: Describe,
  problemOf: ProblemOf,
): Html {
  const wrong = problemOf('operations') ?? problemOf('fields');
  const operation = (value: string, label: string) =>
    checkField({ id: `operation-${value}`, name: 'operation', value, label, checked: operations.includes(value) });
  const choices = (describe(collection)?.fields ?? []).filter(({ isKey }) => !isKey);
  return html`${wrong !== undefined && html`<p class="alert" role="alert">${wrong}</p>`}
<fieldset class="plain-set"><legend>When</legend>${operation('create', 'A record is created')}${operation('update', 'A record is changed')}</fieldset>
<details class="more"${fields.length > 0 && html` open`}><summary>Only when one of some fields changes</summary><p class="quietly">For changed records. Without a choice: any field.</p>
<div class="ticks">${choices.map(({ name }, at) => checkField({ id: `changed-${at}`, name: 'changed', value: name, label: name, checked: fields.includes(name) }))}</div></details>`;
}

/** The rule of the page, as its owner left it. */
export type Edited = { readonly form: StartForm; readonly wrong?: FormProblem; readonly preview?: Html | undefined };

export type PageContext = { readonly request: SignedInRequest; readonly parts: Parts; readonly workflow: Workflow };
