// A filter within a step's form: the rows of the filter builder. A filter that the rows cannot show stays as it is, and
// can be changed as JSON.
import type { PlainFilter } from '../../../../../core/filter.ts';
import { type Html, html, visibleText } from '../../../../../http/html.ts';
import { filterBuilder } from '../../../../ui/filter/builder.ts';
import { hasRows, partOf, readJsonFilter, readRows } from '../../../../ui/filter/form.ts';
import { isUnfinished, type Rows, toFilter, toRows } from '../../../../ui/filter/state.ts';
import { filterWords } from '../../../../ui/filter/words.ts';
import { areaField } from '../../../../ui/form.ts';
import { type FormContext, oneLine } from './part.ts';
import { variablesOf, variableWords } from './variables.ts';

interface FilterControls {
  readonly context: FormContext;
  /** Starts the names of the controls. */
  readonly prefix: string;
  readonly collection: string;
  readonly form: URLSearchParams;
}

/** Undefined for a filter that the rows cannot show. */
function rowsOf(filter: PlainFilter | undefined, { describe }: FormContext, collection: string): Rows | undefined {
  try {
    return toRows(filter, describe, collection);
  } catch {
    return undefined;
  }
}

export function fillFilter(
  filter: PlainFilter | undefined,
  { context, prefix, collection }: Omit<FilterControls, 'form'>,
  set: (name: string, value: string) => void,
): void {
  const rows = rowsOf(filter, context, collection);
  if (!rows) {
    set(`${prefix}json`, JSON.stringify(filter, null, 2));
    return;
  }
  set(`${prefix}match`, rows.match);
  let at = 0;
  const fill = (conditions: Rows['conditions'], group: string) => {
    for (const { field, operator, values, variable } of conditions) {
      const name = `${prefix}c.${at++}`;
      set(`${name}.group`, group);
      set(`${name}.field`, field);
      set(`${name}.operator`, operator);
      if (variable !== '') set(`${name}.variable`, variable);
      for (const value of values) set(`${name}.value`, oneLine(value));
    }
  };
  fill(rows.conditions, '');
  for (const [index, { kind, conditions }] of rows.groups.entries()) {
    set(`${prefix}kind`, kind);
    fill(conditions, `${index}`);
  }
}

export function showFilter(
  controls: FilterControls,
  { about, problem }: { readonly about: string; readonly problem: string | undefined },
): Html {
  const { context, prefix, collection, form } = controls;
  const part = partOf(form, prefix);
  const note = problem !== undefined && html`<p class="note" role="alert">${problem}</p>`;
  if (!hasRows(part)) {
    const json = part.get('json') ?? '';
    return html`${note}<p class="quietly">${words(json)}</p><details class="more"><summary>This filter cannot be shown as rows. It stays as it is.</summary>${areaField({ id: `${prefix}json`, label: 'Filter as JSON', value: json, rows: Math.min(16, json.split('\n').length + 1) })}</details>`;
  }
  const rows = readRows(part, context.describe, collection);
  const variables = variablesOf(context).map(([name]) => name);
  const { definition, describe } = context;
  return html`${note}${filterBuilder({
    ...{ rows, describe, collection, variables, prefix, about },
    variableWords: (name) => variableWords(definition, name),
  })}`;
}

function words(json: string): string {
  const read = readJsonFilter(json);
  try {
    return 'filter' in read && read.filter ? filterWords(read.filter) : '';
  } catch {
    return '';
  }
}

/** The filter of the submitted rows. `old`: the filter that stays if the rows are still those of it. */
export function readFilter(
  { context, prefix, collection, form }: FilterControls,
  old: PlainFilter | undefined,
  fail: (problem: string) => void,
): PlainFilter | undefined {
  const part = partOf(form, prefix);
  const shown = new URLSearchParams();
  fillFilter(old, { context, prefix: '', collection }, (name, value) => shown.append(name, visibleText(value)));
  if (!hasRows(part)) {
    const json = part.get('json') ?? '';
    if (json === (shown.get('json') ?? '')) return old;
    const read = readJsonFilter(json);
    if ('problem' in read) fail(read.problem);
    return 'filter' in read ? read.filter : undefined;
  }
  const rows = readRows(part, context.describe, collection);
  if (hasRows(shown) && JSON.stringify(rows) === JSON.stringify(readRows(shown, context.describe, collection)))
    return old;
  if (isUnfinished(rows)) fail('A condition has no value. Enter one, or remove the condition.');
  return toFilter(rows, context.describe, collection);
}
