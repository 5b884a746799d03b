// Several records at once: one value for a field of all, deleting, or an action. It is one call of the tool that an
// assistant uses: all records or none, after a dry run, with the same approvals. The records are read again at each
// step with the conditions of the list. If they are others at the confirmation, or have other values, it asks again.
import type { CollectionDescription, ListRequest, WriteOptions } from '../../../../agent/requests.ts';
import { RECORDS_LIMIT } from '../../../../agent/write/target.ts';
import { type AppError, fail, isAppError } from '../../../../core/errors.ts';
import type { PlainFilter } from '../../../../core/filter.ts';
import { hashToken } from '../../../../core/secret.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { InputRequestField } from '../../../../workflows/input-requests/fields.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { recordPage } from '../../../paths.ts';
import { idsFilter } from '../../../records/names.ts';
import { table } from '../../../ui/data.ts';
import { openForm } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { inputName } from '../../../ui/value-input.ts';
import { replacedValue, shownValue } from '../../approvals/changes-view.ts';
import { collectionLink, describeFor, logRead, requireCollection, requireParent, under } from '../access.ts';
import { openAction } from '../actions.ts';
import { type Change, fieldProblems, type Inspected, makeChange, previewChange } from '../change.ts';
import { readRecord, recordInputs } from '../form.ts';
import { readLookups } from '../lookup.ts';
import { conditionsOf, type ListState, listPage, readState } from '../state.ts';
import { fieldsFor, readRows } from './columns.ts';
import { bulkPage, bulkRights, countRecords } from './selection.ts';

interface Selected {
  /** Packed. */
  readonly id: string;
  readonly name: string;
}

/** What the form asks for: who posts it, the list that it comes from, and the records. */
interface Bulk {
  readonly request: SignedInRequest;
  readonly parts: Parts;
  readonly described: CollectionDescription;
  readonly state: ListState;
  /** All records of the list; otherwise the ids below. */
  readonly isAll: boolean;
  readonly ids: readonly string[];
}

interface Selection {
  readonly records: readonly Selected[];
  /** The number of selected records that the list no longer has, or never had for this viewer. */
  readonly missing: number;
  /** More records than one call takes. */
  readonly isTooMany: boolean;
}

/** Names at the top of a page, and rows of its preview. */
const SHOWN = 25;

/** The POST of every step: choosing what to do, the value, the preview and the confirmation. */
export async function changeSelected(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const described = requireCollection(request, parts);
  const rights = bulkRights(described, request, parts);
  const { form } = request;
  const [deed = '', actionName = ''] = (form.get('deed') ?? form.get('action') ?? '').split(/:(.*)/s);
  const field = rights?.fields.find(({ name }) => name === form.get('field'));
  const isAllowed =
    (deed === 'change' && field !== undefined) ||
    (deed === 'delete' && rights?.deletes) ||
    (deed === 'run' && rights?.actions.some(({ name }) => name === actionName));
  if (!isAllowed) return fail('NOT_FOUND', { path: parts.paths.path(bulkPage(described.name)) });
  const query = new URLSearchParams(form.get('list') ?? '');
  const which = form.get('which') ?? 'selected';
  const bulk: Bulk = {
    ...{ request, parts, described },
    state: readState(query, described.name, describeFor(request, parts)),
    isAll: which === 'all',
    ids: [...new Set(form.getAll(which === 'page' ? 'page' : 'record'))],
  };
  if (bulk.state.problem !== undefined)
    return fail('INVALID_ARGUMENT', { argument: 'list', problem: bulk.state.problem });
  if (!bulk.isAll && bulk.ids.length === 0) return { to: backTo(bulk, { done: 'none' }) };
  if (bulk.ids.length > RECORDS_LIMIT)
    return fail('INVALID_ARGUMENT', { argument: 'record', problem: `select at most ${RECORDS_LIMIT} records.` });
  const selection = await readSelection(bulk);
  if (selection.isTooMany) return tooManyPage(bulk);
  if (selection.records.length === 0) return nonePage(bulk);
  if (deed === 'run') {
    const ids = selection.records.map(({ id }) => id);
    return openAction(actionName, ids, missingText(selection), request, parts);
  }
  return deed === 'delete' ? deleteAll(bulk, selection) : changeAll(bulk, selection, field!);
}

/** The list as it was, or its first page: after a deletion the page may be gone. */
function backTo({ state }: Bulk, query: Readonly<Record<string, string>> = {}, isFirst = false): string {
  const page = listPage(state, isFirst ? {} : { cursor: state.cursor, trail: state.trail });
  const more = new URLSearchParams(query).toString();
  return more === '' ? page : `${page}${page.includes('?') ? '&' : '?'}${more}`;
}

/** The selected records that the viewer sees in the list now. */
async function readSelection(bulk: Bulk): Promise<Selection> {
  const { request, parts, described, state, isAll, ids } = bulk;
  const { access, signal } = request;
  const { engine, config, clock } = parts;
  const { filter: own, ...conditions } = conditionsOf(state, described);
  const filters = [own, isAll ? undefined : idsFilter(described.key, ids)].filter((each) => each !== undefined);
  const filter: PlainFilter | undefined = filters.length > 1 ? { aggregator: 'And', conditions: filters } : filters[0];
  const parent = requireParent(state, request, parts);
  const fields = fieldsFor(described, []);
  const limit = Math.min(RECORDS_LIMIT + 1, config.pageSizeLimit);
  const records: Selected[] = [];
  const startedAt = clock.now();
  let cursor: string | undefined;
  try {
    do {
      const listed: ListRequest = {
        ...{ collection: described.name, ...conditions, ...(filter && { filter }), fields, limit },
        ...(cursor !== undefined && { cursor }),
      };
      const options = { signal, cutsPages: true };
      const answer = await (parent
        ? engine.listRelated(access, { ...listed, ...parent }, options)
        : engine.list(access, listed, options));
      for (const { id, name } of readRows(answer, described, [])) if (id !== undefined) records.push({ id, name });
      cursor = answer.hasMore ? answer.cursorAfter(answer.rows.length - 1) : undefined;
    } while (cursor !== undefined && records.length <= RECORDS_LIMIT);
    logRead(request, parts, { action: 'list', collection: described.name, startedAt });
  } catch (failure) {
    logRead(request, parts, { action: 'list', collection: described.name, startedAt, failure });
    // An id that does not fit the key names no record, as one that does not exist.
    if (!isAppError(failure, 'INVALID_VALUE')) throw failure;
  }
  return {
    records,
    missing: isAll ? 0 : ids.length - records.length,
    isTooMany: records.length > RECORDS_LIMIT,
  };
}

const missingText = ({ missing }: Selection): string | undefined =>
  missing === 0
    ? undefined
    : `${countRecords(missing)} that you selected ${missing === 1 ? 'is' : 'are'} left out: the list no longer has ${missing === 1 ? 'it' : 'them'}, or you may not see ${missing === 1 ? 'it' : 'them'}.`;

function page(bulk: Bulk, title: string, content: Html, status?: number): Answer {
  const { request, parts, described } = bulk;
  const framed = createFramedPage(request, parts, {
    ...{ title, under, between: [collectionLink(described.name, parts)] },
    content: html`<h1>${title}</h1>
${content}`,
  });
  return { page: framed, ...(status !== undefined && { status }) };
}

const backButton = (bulk: Bulk): Html =>
  html`<div class="deeds spaced"><a class="button plain slim" href="${bulk.parts.paths.path(backTo(bulk))}">Back to the list</a></div>`;

async function tooManyPage(bulk: Bulk): Promise<Answer> {
  const { request, parts, described, state } = bulk;
  const { access, signal } = request;
  const conditions = conditionsOf(state, described);
  const parent = requireParent(state, request, parts);
  const counted = parent
    ? parts.engine.countRelated(access, { ...conditions, ...parent }, { signal })
    : parts.engine.count(access, { collection: described.name, ...conditions }, { signal });
  // Some collections cannot be counted, and some counts take too long.
  const count = await counted.catch(() => undefined);
  const some = count === undefined ? `More than ${RECORDS_LIMIT} records` : countRecords(count);
  const text = html`<p class="alert" role="alert">${some} match. At most ${RECORDS_LIMIT} can be changed at once: narrow the list with a filter.</p>`;
  return page(bulk, 'Too many records', html`${text}${backButton(bulk)}`, 400);
}

const nonePage = (bulk: Bulk): Answer =>
  page(
    bulk,
    'No records',
    html`<p class="alert" role="alert">The selected records are no longer in the list, or you may not see them.</p>${backButton(bulk)}`,
    404,
  );

/** The fields that each step sends again. */
function carried(bulk: Bulk, { records }: Selection, deed: string): Change['carried'] {
  const { request, isAll } = bulk;
  return [
    ['list', request.form.get('list') ?? ''],
    ['deed', deed],
    ['which', isAll ? 'all' : 'selected'],
    ...(isAll ? [] : records.map(({ id }) => ['record', id] as const)),
  ];
}

const hiddenInputs = (fields: Change['carried']): Html =>
  html`${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;

/** The names of the first records, as links. */
function names({ described, parts }: Bulk, { records }: Selection): Html {
  const links = records
    .slice(0, SHOWN)
    .map(
      ({ id, name }, at) =>
        html`${at > 0 && ', '}<a href="${parts.paths.path(recordPage(described.name, id))}">${name}</a>`,
    );
  return html`<p class="picked">${links}${records.length > SHOWN && ` and ${records.length - SHOWN} more`}</p>`;
}

type Preview = (options: WriteOptions) => ReturnType<Parts['engine']['update']>;

/**
 * Every record as it would change, and a fingerprint of all that the change depends on. The dry run of the tool is cut
 * to the size of an answer.
 */
async function inspect(
  bulk: Bulk,
  selection: Selection,
  write: Preview,
  show: (changes: Changes) => Html,
): Promise<Inspected> {
  const { changes = [], found } = await write({ signal: bulk.request.signal, preview: true, found: true });
  const notice = missingText(selection);
  return {
    view: html`${notice !== undefined && html`<p class="warning">${notice}</p>`}${show(changes)}`,
    fingerprint: hashToken(JSON.stringify([found?.records, found?.effects])),
  };
}

type Changes = NonNullable<Awaited<ReturnType<Preview>>['changes']>;

const nameOf = ({ described, parts }: Bulk, { records }: Selection, id: string | null): Html => {
  const name = records.find((each) => each.id === id)?.name ?? id;
  return html`<a href="${parts.paths.path(recordPage(described.name, id ?? ''))}">${name}</a>`;
};

const shownOf = (count: number): Html | false =>
  count > SHOWN && html`<p class="quietly">Shown: ${SHOWN} of ${countRecords(count)}.</p>`;

async function deleteAll(bulk: Bulk, selection: Selection): Promise<Answer> {
  const { request, parts, described } = bulk;
  const { records } = selection;
  const ids = records.map(({ id }) => id);
  const refused = (failure: AppError): Answer =>
    page(
      bulk,
      'Not deleted',
      html`<p class="alert" role="alert">${failure.message}</p><p>If one record cannot be deleted, no record is deleted.</p>${backButton(bulk)}`,
      failure.status,
    );
  const change: Change = {
    tool: 'delete',
    args: { collectionName: described.name, recordIds: ids },
    title: `Delete ${countRecords(ids.length)} of ${described.name}?`,
    button: `Delete ${countRecords(ids.length)}`,
    page: bulkPage(described.name),
    back: backTo(bulk),
    carried: carried(bulk, selection, 'delete'),
    inspect: () =>
      inspect(
        bulk,
        selection,
        (options) => parts.engine.delete(request.access, { collection: described.name, ids }, options),
        () => html`${names(bulk, selection)}`,
      ),
    after: ({ count }) => backTo(bulk, { done: 'all-deleted', count: `${count}` }, true),
    refused,
  };
  return answer(change, bulk, () => ({ to: backTo(bulk) }));
}

async function answer(change: Change, { request, parts }: Bulk, edit: () => Answer | Promise<Answer>): Promise<Answer> {
  const action = request.form.get('action');
  if (action === 'edit') return edit();
  return action === 'confirm' ? makeChange(change, request, parts) : previewChange(change, request, parts);
}

async function changeAll(bulk: Bulk, selection: Selection, field: InputRequestField): Promise<Answer> {
  const { request, parts, described } = bulk;
  const { form } = request;
  const { records } = selection;
  const ids = records.map(({ id }) => id);
  const count = countRecords(records.length);
  const shows = (problems: ReadonlyMap<string, string>, alert?: string, status?: number) =>
    valuePage(bulk, selection, field, problems, alert, status);
  const action = form.get('action') ?? '';
  if (action === 'change' || action === 'find' || action === 'edit') return shows(new Map());
  // Without the hash of an earlier value, an empty value counts too.
  const typed = new URLSearchParams([...form].filter(([name]) => name !== `was.${field.name}`));
  const { values, problems } = readRecord([field], typed, described, false);
  if (problems.size > 0 || !(field.name in values)) return shows(problems, 'The value does not fit.', 400);
  const change: Change = {
    tool: 'update',
    args: { collectionName: described.name, recordId: ids, attributes: values },
    title: `Change ${field.name} of ${count}?`,
    button: `Change ${count}`,
    page: bulkPage(described.name),
    back: backTo(bulk),
    carried: [
      ...carried(bulk, selection, 'change'),
      ['field', field.name],
      ...form.getAll(inputName(field)).map((value) => [inputName(field), value] as const),
    ],
    inspect: () =>
      inspect(
        bulk,
        selection,
        (options) => parts.engine.update(request.access, { collection: described.name, ids, values }, options),
        (changes) => valueTable(bulk, selection, field, changes),
      ),
    after: ({ count }) => backTo(bulk, { done: 'all-changed', count: `${count}` }),
    refused: (failure) => shows(fieldProblems(failure), failure.message, failure.status),
  };
  return answer(change, bulk, () => shows(new Map()));
}

function valueTable(bulk: Bulk, selection: Selection, field: InputRequestField, changes: Changes): Html {
  const changed = changes.filter(({ fields }) => Object.keys(fields).length > 0);
  const same = changes.length - changed.length;
  const rows = changed.slice(0, SHOWN).map(({ id, fields }) => {
    const { before, after } = fields[field.name] ?? { before: undefined, after: undefined };
    // Hooks may change more fields than the chosen one.
    const others = Object.keys(fields).filter((name) => name !== field.name);
    return [
      nameOf(bulk, selection, id),
      replacedValue(before),
      html`<ins>${shownValue(after)}</ins>${others.length > 0 && html` <small>and ${others.join(', ')}</small>`}`,
    ];
  });
  return html`<p><b>${countRecords(changed.length)}</b> ${changed.length === 1 ? 'changes' : 'change'}.${same > 0 && html` ${countRecords(same)} already ${same === 1 ? 'has' : 'have'} this value.`}</p>
${rows.length > 0 && table({ caption: `Changes of ${field.name}`, heads: ['Record', `${field.name} now`, 'After'], rows })}
${shownOf(changed.length)}`;
}

async function valuePage(
  bulk: Bulk,
  selection: Selection,
  field: InputRequestField,
  problems: ReadonlyMap<string, string>,
  alert: string | undefined,
  status: number | undefined,
): Promise<Answer> {
  const { request, parts, described } = bulk;
  const lookups = await readLookups(described, [field], problems, request, parts);
  const submitted = request.form.has(inputName(field)) ? request.form : undefined;
  const notice = missingText(selection);
  const isNullable = described.fields.some(({ name, nullable }) => name === field.name && nullable);
  const content = html`${alert !== undefined && html`<p class="alert" role="alert">${alert}</p>`}
${notice !== undefined && html`<p class="warning">${notice}</p>`}
${names(bulk, selection)}
${openForm(request, parts, bulkPage(described.name))}${hiddenInputs([...carried(bulk, selection, 'change'), ['field', field.name]])}
${recordInputs([field], submitted, problems, lookups)}
<p class="quietly">If one record cannot take the value, no record is changed.${isNullable && ' Leave it empty for no value.'}</p>
<div class="pair"><a class="button plain" href="${parts.paths.path(backTo(bulk))}">Cancel</a><button class="primary" name="action" value="review">Preview</button></div></form>`;
  const title = `Change ${field.name} of ${countRecords(selection.records.length)}`;
  return page(bulk, alert === undefined ? title : `Error: ${title}`, content, status);
}
