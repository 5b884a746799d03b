// The writing operations. Each consists of phases in this order: permissions -> values, hooks, rules -> conditions
// before and after -> one transaction -> the written records -> hooks. Each write is atomic.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { Overrides } from '../customize/hooks.ts';
import { binarySlots, readyRows } from '../encode/records.ts';
import { createNested, isNested, linkColumns, updateNested } from '../execute/nested-write.ts';
import {
  deleteRecords,
  insertRecords,
  readRecords as readBefore,
  updateRecords,
  type WriteContext,
} from '../execute/write.ts';
import { lowerConditions } from '../lower/filter.ts';
import { always, and } from '../lower/simplify.ts';
import type { Column } from '../model/types.ts';
import type { Filter } from '../plan/types.ts';
import { keysFilter, planGuards, planTarget, storedColumns, type Target } from '../plan/write.ts';
import type { CreateRequest, DeleteRequest, UpdateRequest, WriteAnswer, WriteOptions } from '../requests.ts';
import type { Row } from '../sources/statement.ts';
import { readCurrent } from '../write/current-values.ts';
import { type Draft, newDraft, type Values } from '../write/drafts.ts';
import { needForeign } from '../write/foreign-checks.ts';
import { overriddenCreate, overriddenDelete, overriddenUpdate, overrideOf } from '../write/overrides.ts';
import { decide, knowing, readWhere } from '../write/prefetch.ts';
import { prepareCreate, prepareUpdate } from '../write/prepare.ts';
import {
  checkCount,
  keyConditions,
  needKey,
  noKey,
  type Place,
  RECORDS_LIMIT,
  readKeys,
  type Site,
  siteOf,
  writable,
} from '../write/target.ts';
import { answerWith, insideRecords, inTransaction } from '../write/transaction.ts';
import type { Operations } from './call.ts';
import { createNarrowing, hasHooks, type Narrowing, runAfterWrite, runHooks } from './hooks.ts';

export async function create(
  ops: Operations,
  access: Access,
  request: CreateRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const site = siteOf(ops, access, request, 'add', options);
  checkCount('records', request.records);
  return createAt(site, request.records, options);
}

export async function createAt(site: Site, given: readonly unknown[], options: WriteOptions): Promise<WriteAnswer> {
  const { rows } = await createRows(site, given, options);
  return answerWith(site, rows, options, (row) => [undefined, row]);
}

/** The rows have all columns of the target. */
export async function createRows(
  site: Site,
  given: readonly unknown[],
  options: WriteOptions,
): Promise<{ readonly target: Target; readonly rows: readonly Row[] }> {
  const { view, call, isInside } = site;
  const { collection } = view;
  const override = overrideOf(site, 'create');
  const place = override ? null : writable(site);
  const { drafts, data } = await prepareCreate(site, given, options.preview ?? false);
  const hooked = !isInside && collection.rules.hooks.After.Create.length > 0;
  const more = [...linkColumns(drafts), ...(hooked ? storedColumns(collection) : [])];
  const target = planTarget(view, more);
  const rows = place
    ? await insert(place, target, drafts, options)
    : await overriddenCreate(site, target, override!, drafts, options);
  expectCode(site, 'Create', options);
  if (hooked && !options.preview)
    await runAfterWrite(collection, 'Create', call.code, { data, records: insideRecords(target, rows) });
  return { target, rows };
}

async function insert(place: Place, target: Target, drafts: readonly Draft[], options: WriteOptions): Promise<Row[]> {
  const { view, known, writing } = place;
  const { returning } = writing;
  const written = writtenBy(drafts);
  const guards = await knowing(() => planGuards(view, known, written, returning.joinedChecks));
  const nested = isNested(drafts);
  if (!target.key.length && (nested || guards.some(({ isLate }) => isLate) || !returning.insert)) noKey(place);
  await needForeign(place, drafts, true);
  return inTransaction(place, { target, guards, written }, options, (context, nest) =>
    nested
      ? createNested(nest, context, drafts)
      : insertRecords(
          context,
          drafts.map(({ values }) => values),
        ),
  );
}

/** The written columns of the records themselves, including foreign keys to nested records. */
export function writtenBy(drafts: readonly Draft[]): ReadonlySet<Column> {
  const written = drafts.flatMap(({ values }) => [...values.keys()]);
  const pointers = drafts.flatMap(({ related }) => [...related.keys()].filter(({ inverse }) => !inverse));
  return new Set([...written, ...pointers.flatMap(({ on }) => on.map(({ from }) => from))]);
}

export async function update(
  ops: Operations,
  access: Access,
  request: UpdateRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const site = siteOf(ops, access, request, 'edit', options);
  const { view, call } = site;
  const { collection } = view;
  const override = overrideOf(site, 'update');
  const place = override ? site : writable(site);
  needKey(place);
  const { ids, filter, values } = request;
  if ((ids === undefined) === (filter === undefined))
    fail('INVALID_ARGUMENT', { argument: 'ids', problem: 'give either the ids of the records or a filter.' });
  const asked = ids && readKeys(place, ids, 'ids', call.moment);
  const conditions = { filter: filter ?? null };
  const narrowing = hasHooks(collection, 'Update')
    ? createNarrowing('Update', { view, moment: call.moment }, conditions, asked && keyConditions(collection, asked))
    : null;
  const lowering = { view, moment: call.moment, code: call.code };
  const current = async (fields: readonly string[]) => {
    const meant = await knowing(() => lowerConditions(place.scope, conditions, lowering));
    const narrowed = await lowerNarrowed(place, narrowing);
    return readCurrent(place, and(asked ? keysFilter(place.target, asked) : always, meant, narrowed), fields);
  };
  const { draft, patch } = await prepareUpdate(place, values, current, narrowing, options.preview ?? false);
  const condition = await knowing(() => lowerConditions(place.scope, conditions, lowering));
  const meant = and(condition, await lowerNarrowed(place, narrowing));
  const keys = asked ?? (await findKeys(place, meant, options));
  const where = and(keysFilter(place.target, keys), meant);
  if (keys.length > 1 && collection.key.some((column) => draft.values.has(column)))
    fail('INVALID_ARGUMENT', { argument: 'ids', problem: 'the key can be changed of one record at a time.' });
  const updating: Updating = { keys, draft, where };
  if (keys.length === 0) return answerWith(place, [], options, () => [undefined, undefined]);
  return updateKeys(place, updating, options, narrowing && { narrowing, patch }, override);
}

interface Updating {
  readonly keys: readonly unknown[][];
  readonly draft: Draft;
  readonly where: Filter;
  /** Writes that run before, in the same transaction. */
  readonly first?: (context: WriteContext) => Promise<unknown>;
}

/** Writes validated values, without hooks. */
export async function updateWhere(
  place: Place,
  { set, ...updating }: Omit<Updating, 'draft'> & { readonly set: Values },
  options: WriteOptions,
): Promise<WriteAnswer> {
  return updateKeys(place, { ...updating, draft: { ...newDraft(), values: new Map(set) } }, options, null);
}

interface HookedUpdate {
  readonly narrowing: Narrowing;
  readonly patch: Record<string, unknown>;
}

async function updateKeys(
  site: Site,
  updating: Updating,
  options: WriteOptions,
  hooked: HookedUpdate | null,
  override?: Overrides['update'],
): Promise<WriteAnswer> {
  const { collection } = site.view;
  const more = [...linkColumns([updating.draft]), ...(hooked ? storedColumns(collection) : [])];
  const target = planTarget(site.view, more);
  const { rows, before } = override
    ? { rows: await overriddenUpdate(site, target, override, updating, options), before: [] }
    : await storeUpdate(writable(site), target, updating, options);
  expectCode(site, 'Update', options);
  if (hooked && !options.preview) {
    const { narrowing, patch } = hooked;
    const told = { filter: narrowing.filter(), patch, records: insideRecords(target, rows) };
    await runAfterWrite(collection, 'Update', site.call.code, told);
  }
  return answerWith(site, rows, options, (row, index) => [before[index], row]);
}

/** The current rows, and for a preview also the previous ones. */
async function storeUpdate(
  place: Place,
  target: Target,
  { keys, draft, where, first }: Updating,
  options: WriteOptions,
): Promise<{ readonly rows: readonly Row[]; readonly before: readonly Row[] }> {
  const { view, known, call } = place;
  const { collection } = view;
  const written = writtenBy([draft]);
  const { joinedChecks } = place.writing.returning;
  const guards = await knowing(() => planGuards(view, known, written, joinedChecks));
  const condition = await decide(call, collection, where);
  await needForeign(place, [draft], false);
  let before: Row[] = [];
  const rows = await inTransaction(place, { target, guards, written, keys, where }, options, async (context, nest) => {
    if (options.preview) before = await readBefore(context, keys, condition);
    await first?.(context);
    if (isNested([draft])) return updateNested(nest, context, keys, draft, condition);
    const known = options.preview ? { ...context, current: before } : context;
    return updateRecords(known, keys, draft.values, condition);
  });
  readyRows(before, binarySlots(target.columns));
  return { rows, before };
}

export async function remove(
  ops: Operations,
  access: Access,
  request: DeleteRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const site = siteOf(ops, access, request, 'delete', options);
  const { view, scope, call } = site;
  const { collection } = view;
  const override = overrideOf(site, 'delete');
  const place = override ? site : writable(site);
  needKey(place);
  const keys = readKeys(place, request.ids, 'ids', call.moment);
  const narrowing = hasHooks(collection, 'Delete')
    ? createNarrowing('Delete', { view, moment: call.moment }, {}, keyConditions(collection, keys))
    : null;
  if (narrowing) {
    const told = { ...narrowing.told, isPreview: options.preview ?? false };
    await runHooks(collection, ['Before', 'Delete'], call.code, told);
  }
  const narrowed = await lowerNarrowed(place, narrowing);
  const scoped = await knowing(() => scope(collection));
  const where = and(keysFilter(place.target, keys), scoped, narrowed);
  const target = narrowing ? planTarget(view, storedColumns(collection)) : place.target;
  const rows = override
    ? await overriddenDelete(place, target, override, { keys, where }, options)
    : await deleteStored(place as Place, target, { keys, where }, options);
  expectCode(site, 'Delete', options);
  if (narrowing && !options.preview) {
    const told = { filter: narrowing.filter(), records: insideRecords(target, rows) };
    await runAfterWrite(collection, 'Delete', call.code, told);
  }
  return answerWith(place, rows, options, (row) => [row, undefined]);
}

async function deleteStored(
  place: Place,
  target: Target,
  { keys, where }: Pick<Updating, 'keys' | 'where'>,
  options: WriteOptions,
): Promise<Row[]> {
  const condition = await decide(place.call, place.view.collection, where);
  const work = { target, guards: [], written: new Set<Column>(), keys, where };
  return inTransaction(place, work, options, (context) => deleteRecords(context, keys, condition));
}

/** A preview does not run the hooks after a write, so their writes are unknown. */
function expectCode({ call, view, isInside }: Site, type: 'Create' | 'Update' | 'Delete', options: WriteOptions): void {
  const { name, rules } = view.collection;
  if (options.preview && !isInside && rules.hooks.After[type].length > 0)
    call.unseen.add(`Code runs after each ${type.toLowerCase()} of '${name}'; what it changes is not shown.`);
}

/** The conditions that the hooks added. */
async function lowerNarrowed({ view, call }: Site, narrowing: Narrowing | null): Promise<Filter> {
  if (!narrowing) return always;
  return narrowing.lower({ view, moment: call.moment, code: call.code });
}

/**
 * The keys of the matching records. Throws INVALID_ARGUMENT if more records match than one call may write, and
 * TOO_MANY_ROWS if evaluating the filter would read too many rows.
 */
async function findKeys({ call, view, target }: Site, where: Filter, options: WriteOptions): Promise<unknown[][]> {
  const { key } = target;
  const wanted = { where, columns: key, order: key, limit: RECORDS_LIMIT };
  const { rows, hasMore } = await readWhere(call, view.collection, wanted, options);
  if (hasMore)
    fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: `it matches more than ${RECORDS_LIMIT} records; narrow it, and write in several calls.`,
    });
  return rows;
}
