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
  type TransactionContext,
  updateRecords,
} from '../execute/write.ts';
import { lowerConditions } from '../lower/filter.ts';
import { always, and } from '../lower/simplify.ts';
import type { Column } from '../model/types.ts';
import type { Filter } from '../plan/types.ts';
import { keysFilter, planGuards, planTarget, storedColumns, type Target } from '../plan/write.ts';
import type { CreateRequest, DeleteRequest, UpdateRequest, WriteAnswer, WriteOptions } from '../requests.ts';
import type { Row } from '../sources/statement.ts';
import { readCurrentRecords } from '../write/current-values.ts';
import { type Draft, newDraft, type Values } from '../write/drafts.ts';
import { checkForeignKeys } from '../write/foreign-checks.ts';
import { createByOverride, deleteByOverride, overrideOf, updateByOverride } from '../write/overrides.ts';
import { readWhere, resolveCondition, withPrefetch } from '../write/prefetch.ts';
import { isReplacedAnywhere, prepareCreate, prepareUpdate } from '../write/prepare.ts';
import {
  type CollectionWriteContext,
  checkCount,
  createWriteContext,
  failWithoutKey,
  RECORDS_LIMIT,
  readKeys,
  requireKey,
  requireWritable,
  toKeyFilter,
  type WritableContext,
} from '../write/target.ts';
import { createAnswer, failMissing, inTransaction, toInternalRecords } from '../write/transaction.ts';
import type { Operations } from './call.ts';
import { createHookRestrictions, type HookRestrictions, hasHooks, runAfterWrite, runHooks } from './hooks.ts';

export async function create(
  ops: Operations,
  access: Access,
  request: CreateRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const site = createWriteContext(ops, access, request, 'add', options);
  checkCount('records', request.records);
  return createInContext(site, request.records, options);
}

async function createInContext(
  site: CollectionWriteContext,
  given: readonly unknown[],
  options: WriteOptions,
): Promise<WriteAnswer> {
  const { rows } = await createRows(site, given, options);
  return createAnswer(site, rows, options, (row) => [undefined, row]);
}

/** The rows have all columns of the target. */
export async function createRows(
  site: CollectionWriteContext,
  given: readonly unknown[],
  options: WriteOptions,
): Promise<{ readonly target: Target; readonly rows: readonly Row[] }> {
  const { view, call, isInternal: isInside } = site;
  const { collection } = view;
  const override = overrideOf(site, 'create');
  const place = override ? null : requireWritable(site);
  const { drafts, data } = await prepareCreate(site, given, options.preview ?? false);
  const hasAfterHook = !isInside && collection.rules.hooks.After.Create.length > 0;
  const more = [...linkColumns(drafts), ...(hasAfterHook ? storedColumns(collection) : [])];
  const target = planTarget(view, more);
  const rows = place
    ? await insert(place, target, drafts, options)
    : await createByOverride(site, target, override!, drafts, options);
  noteHookEffects(site, 'Create', options);
  if (hasAfterHook && !options.preview)
    await runAfterWrite(collection, 'Create', call.code, { data, records: toInternalRecords(target, rows) });
  return { target, rows };
}

async function insert(
  place: WritableContext,
  target: Target,
  drafts: readonly Draft[],
  options: WriteOptions,
): Promise<Row[]> {
  const { view, prefetched: known, writing } = place;
  const { returning } = writing;
  const written = writtenColumnsOf(drafts);
  const guards = await withPrefetch(() => planGuards(view, known, written, returning.joinedChecks));
  const nested = isNested(drafts);
  if (!target.key.length && (nested || guards.some(({ isDeferred: isLate }) => isLate) || !returning.insert))
    failWithoutKey(place);
  await checkForeignKeys(place, drafts, true);
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
export function writtenColumnsOf(drafts: readonly Draft[]): ReadonlySet<Column> {
  const written = drafts.flatMap(({ values }) => [...values.keys()]);
  const foreignKeys = drafts.flatMap(({ related }) => [...related.keys()].filter(({ inverse }) => !inverse));
  return new Set([...written, ...foreignKeys.flatMap(({ on }) => on.map(({ from }) => from))]);
}

export async function update(
  ops: Operations,
  access: Access,
  request: UpdateRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const site = createWriteContext(ops, access, request, 'edit', options);
  const { view, call } = site;
  const { collection } = view;
  const override = overrideOf(site, 'update');
  const place = override ? site : requireWritable(site);
  requireKey(place);
  const { ids, filter, values } = request;
  if ((ids === undefined) === (filter === undefined))
    fail('INVALID_ARGUMENT', { argument: 'ids', problem: 'send either the ids of the records or a filter.' });
  const requestedKeys = ids && readKeys(place, ids, 'ids', call.moment);
  const conditions = { filter: filter ?? null };
  const restrictions = hasHooks(collection, 'Update')
    ? createHookRestrictions(
        'Update',
        { view, moment: call.moment },
        conditions,
        requestedKeys && toKeyFilter(collection, requestedKeys),
      )
    : null;
  const lowering = { view, moment: call.moment, code: call.code };
  const current = async (fields: readonly string[]) => {
    const condition = await withPrefetch(() => lowerConditions(place.scope, conditions, lowering));
    const added = await lowerRestrictions(place, restrictions);
    return readCurrentRecords(
      place,
      and(requestedKeys ? keysFilter(place.target, requestedKeys) : always, condition, added),
      fields,
    );
  };
  const { draft, patch } = await prepareUpdate(place, values, current, restrictions, options.preview ?? false);
  const condition = await withPrefetch(() => lowerConditions(place.scope, conditions, lowering));
  const restricted = and(condition, await lowerRestrictions(place, restrictions));
  const keys = requestedKeys ?? (await findKeys(place, restricted, options));
  const where = and(keysFilter(place.target, keys), restricted);
  if (keys.length > 1 && collection.key.some((column) => draft.values.has(column)))
    fail('INVALID_ARGUMENT', { argument: 'ids', problem: 'the key can be changed for only one record at a time.' });
  const updating: PendingUpdate = { keys, draft, where };
  if (keys.length === 0) return createAnswer(place, [], options, () => [undefined, undefined]);
  return updateByKeys(place, updating, options, restrictions && { restrictions, patch }, override);
}

interface PendingUpdate {
  readonly keys: readonly unknown[][];
  readonly draft: Draft;
  readonly where: Filter;
  /** Writes that run before, in the same transaction. */
  readonly first?: (context: TransactionContext) => Promise<unknown>;
}

/** Writes validated values, without hooks. */
export async function updateWhere(
  place: WritableContext,
  { set, ...updating }: Omit<PendingUpdate, 'draft'> & { readonly set: Values },
  options: WriteOptions,
): Promise<WriteAnswer> {
  return updateByKeys(place, { ...updating, draft: { ...newDraft(), values: new Map(set) } }, options, null);
}

interface UpdateHookState {
  readonly restrictions: HookRestrictions;
  readonly patch: Record<string, unknown>;
}

async function updateByKeys(
  site: CollectionWriteContext,
  updating: PendingUpdate,
  options: WriteOptions,
  hookState: UpdateHookState | null,
  override?: Overrides['update'],
): Promise<WriteAnswer> {
  const { collection } = site.view;
  const more = [...linkColumns([updating.draft]), ...(hookState ? storedColumns(collection) : [])];
  const target = planTarget(site.view, more);
  const isPlain = !override && !hookState && !isNested([updating.draft]) && !isReplacedAnywhere(collection);
  const isPredicted = options.preview && options.onlyReads && isPlain && updating.keys.length === 1;
  const { rows, before } = override
    ? { rows: await updateByOverride(site, target, override, updating, options), before: [] }
    : await (isPredicted ? predictUpdate : storeUpdate)(requireWritable(site), target, updating, options);
  noteHookEffects(site, 'Update', options);
  if (hookState && !options.preview) {
    const { restrictions: narrowing, patch } = hookState;
    const hookArguments = { filter: narrowing.filter(), patch, records: toInternalRecords(target, rows) };
    await runAfterWrite(collection, 'Update', site.call.code, hookArguments);
  }
  return createAnswer(site, rows, options, (row, index) => [before[index], row]);
}

/** The current rows, and for a preview also the previous ones. */
async function storeUpdate(
  place: WritableContext,
  target: Target,
  { keys, draft, where, first }: PendingUpdate,
  options: WriteOptions,
): Promise<{ readonly rows: readonly Row[]; readonly before: readonly Row[] }> {
  const { view, prefetched: insertContext, call } = place;
  const { collection } = view;
  const written = writtenColumnsOf([draft]);
  const { joinedChecks } = place.writing.returning;
  const guards = await withPrefetch(() => planGuards(view, insertContext, written, joinedChecks));
  const condition = await resolveCondition(call, collection, where);
  await checkForeignKeys(place, [draft], false);
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

/** The row of one record as it is, and with the new values. */
async function predictUpdate(
  place: WritableContext,
  target: Target,
  { keys, draft, where }: PendingUpdate,
  options: WriteOptions,
): ReturnType<typeof storeUpdate> {
  const { columns } = target;
  const { rows: before } = await readWhere(place.call, place.view.collection, { where, columns, limit: null }, options);
  if (before.length !== keys.length) return failMissing(place, keys, where, options);
  const rows = before.map((row) =>
    columns.map(({ field }, slot) => (draft.values.has(field) ? draft.values.get(field) : row[slot])),
  );
  for (const some of [before, rows]) readyRows(some, binarySlots(columns));
  return { rows, before };
}

export async function remove(
  ops: Operations,
  access: Access,
  request: DeleteRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const site = createWriteContext(ops, access, request, 'delete', options);
  const { view, scope, call } = site;
  const { collection } = view;
  const override = overrideOf(site, 'delete');
  const place = override ? site : requireWritable(site);
  requireKey(place);
  const keys = readKeys(place, request.ids, 'ids', call.moment);
  const restrictions = hasHooks(collection, 'Delete')
    ? createHookRestrictions('Delete', { view, moment: call.moment }, {}, toKeyFilter(collection, keys))
    : null;
  if (restrictions) {
    const hookArguments = { ...restrictions.hookArguments, isPreview: options.preview ?? false };
    await runHooks(collection, ['Before', 'Delete'], call.code, hookArguments);
  }
  const narrowed = await lowerRestrictions(place, restrictions);
  const scoped = await withPrefetch(() => scope(collection));
  const where = and(keysFilter(place.target, keys), scoped, narrowed);
  const target = restrictions ? planTarget(view, storedColumns(collection)) : place.target;
  const rows = override
    ? await deleteByOverride(place, target, override, { keys, where }, options)
    : await deleteStored(place as WritableContext, target, { keys, where }, options);
  noteHookEffects(site, 'Delete', options);
  if (restrictions && !options.preview) {
    const afterArguments = { filter: restrictions.filter(), records: toInternalRecords(target, rows) };
    await runAfterWrite(collection, 'Delete', call.code, afterArguments);
  }
  return createAnswer(place, rows, options, (row) => [row, undefined]);
}

async function deleteStored(
  place: WritableContext,
  target: Target,
  { keys, where }: Pick<PendingUpdate, 'keys' | 'where'>,
  options: WriteOptions,
): Promise<Row[]> {
  const condition = await resolveCondition(place.call, place.view.collection, where);
  const work = { target, guards: [], written: new Set<Column>(), keys, where };
  return inTransaction(place, work, options, (context) => deleteRecords(context, keys, condition));
}

/** A preview does not run the hooks after a write, so their writes are unknown. */
function noteHookEffects(
  { call, view, isInternal: isInside }: CollectionWriteContext,
  type: 'Create' | 'Update' | 'Delete',
  options: WriteOptions,
): void {
  const { name, rules } = view.collection;
  if (options.preview && !isInside && rules.hooks.After[type].length > 0)
    call.unseen.add(`Code runs after each ${type.toLowerCase()} of '${name}'; its changes are not shown.`);
}

/** The conditions that the hooks added. */
async function lowerRestrictions(
  { view, call }: CollectionWriteContext,
  restrictions: HookRestrictions | null,
): Promise<Filter> {
  if (!restrictions) return always;
  return restrictions.lower({ view, moment: call.moment, code: call.code });
}

/**
 * The keys of the matching records. Throws INVALID_ARGUMENT if more records match than one call may write, and
 * TOO_MANY_ROWS if evaluating the filter would read too many rows.
 */
async function findKeys(
  { call, view, target }: CollectionWriteContext,
  where: Filter,
  options: WriteOptions,
): Promise<unknown[][]> {
  const { key } = target;
  const recordQuery = { where, columns: key, order: key, limit: RECORDS_LIMIT };
  const { rows, hasMore } = await readWhere(call, view.collection, recordQuery, options);
  if (hasMore)
    fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: `it matches more than ${RECORDS_LIMIT} records; narrow it, and write in several calls.`,
    });
  return rows;
}
