// Updates and deletes of code by a filter. If the database can evaluate the filter, this is one statement for any
// number of records. Otherwise their keys are read first.
import { fail } from '../../core/errors.ts';
import type { CodeRecord } from '../customize/context.ts';
import { canCascade } from '../execute/cascades.ts';
import { isNested, linkColumns, updateNested } from '../execute/nested-write.ts';
import {
  deleteRecords,
  keyMark,
  keysOf,
  readMatching,
  type TransactionContext,
  updateRecords,
} from '../execute/write.ts';
import { type Conditions, lowerConditions } from '../lower/filter.ts';
import type { Column } from '../model/types.ts';
import { rowsLimitOf } from '../operations/call.ts';
import { writtenColumnsOf } from '../operations/write.ts';
import { splitFilter } from '../plan/residual.ts';
import type { Condition, Filter } from '../plan/types.ts';
import { keysFilter, planDelete, planTarget, planUpdate, type Target, toCondition } from '../plan/write.ts';
import type { Row } from '../sources/statement.ts';
import { readCurrentRecords } from './current-values.ts';
import type { Values } from './drafts.ts';
import { deleteByOverride, overrideOf, updateByOverride } from './overrides.ts';
import { readWhere } from './prefetch.ts';
import { isEmpty, prepareUpdate } from './prepare.ts';
import {
  type CollectionWriteContext,
  failWithoutKey,
  RECORDS_LIMIT,
  requireWritable,
  type WritableContext,
} from './target.ts';
import { inTransaction } from './transaction.ts';

/** Returns the number of matching records. */
export async function updateInternal(
  site: CollectionWriteContext,
  conditions: Conditions,
  patch: CodeRecord,
): Promise<number> {
  const override = overrideOf(site, 'update');
  const place = override ? null : requireWritable(site);
  const current = async (fields: readonly string[]) =>
    readCurrentRecords(site, await lowerInScope(site, conditions), fields);
  const { draft } = await prepareUpdate(site, patch, current, null, false);
  const where = await lowerInScope(site, conditions);
  if (override) {
    const keys = await readKeys(site, where);
    if (keys.length === 0) return 0;
    const updating = { keys, draft, where: keysFilter(site.target, keys) };
    return (await updateByOverride(site, site.target, override, updating, site.call.options)).length;
  }
  const written = writtenColumnsOf([draft]);
  if (isEmpty(draft)) return (await readKeys(site, where)).length;
  if (isNative(where) && !isNested([draft]) && !canCascade(site.view.collection, draft.values))
    return writeAtOnce(place!, 'updated', where, draft.values, ({ session }, target, condition) =>
      session.update(planUpdate(target, draft.values, condition, [])),
    );
  const target = planTarget(site.view, linkColumns([draft]));
  return writeInParts(place!, target, where, written, (context, nest, keys, condition) =>
    isNested([draft])
      ? updateNested(nest, context, keys, draft, condition)
      : updateRecords(context, keys, draft.values, condition),
  );
}

/** Returns the number of matching records. */
export async function deleteInternal(site: CollectionWriteContext, conditions: Conditions): Promise<number> {
  const override = overrideOf(site, 'delete');
  const place = override ? null : requireWritable(site);
  const where = await lowerInScope(site, conditions);
  if (override) {
    const keys = await readKeys(site, where);
    if (keys.length === 0) return 0;
    const updating = { keys, where: keysFilter(site.target, keys) };
    return (await deleteByOverride(site, site.target, override, updating, site.call.options)).length;
  }
  if (isNative(where) && !canCascade(site.view.collection, null))
    return writeAtOnce(place!, 'deleted', where, new Map(), ({ session }, target, condition) =>
      session.delete(planDelete(target, condition)),
    );
  return writeInParts(place!, site.target, where, new Set(), async (context, _nest, keys, condition) => {
    const { target, prefetched: known, session } = context;
    // Deleting earlier records may have deleted some of these by cascade.
    const existing = await readMatching(
      { session, prefetched: known, collection: target.collection },
      target.key,
      condition,
    );
    if (existing.length === keys.length) await deleteRecords(context, keys, condition);
    else if (existing.length > 0)
      await deleteRecords(context, existing, toCondition(keysFilter(target, existing), site.scope));
  });
}

async function lowerInScope({ view, call, scope }: CollectionWriteContext, conditions: Conditions): Promise<Filter> {
  return lowerConditions(scope, conditions, { view, moment: call.moment, code: call.code });
}

const isNative = (where: Filter): boolean => splitFilter(where).residual.op === 'always';

async function writeAtOnce(
  place: WritableContext,
  change: 'updated' | 'deleted',
  where: Filter,
  set: Values,
  run: (context: TransactionContext, target: Target, condition: Condition) => Promise<{ readonly count: number }>,
): Promise<number> {
  if (where.op === 'never') return 0;
  const target = { ...place.target, columns: [] };
  const condition = toCondition(where, place.scope);
  const transactionWork = { target, guards: [], written: new Set(set.keys()) };
  let count = 0;
  await inTransaction(place, transactionWork, place.call.options, async (context) => {
    const before = await readIfFew({ ...context, target: place.target }, condition, change === 'updated');
    ({ count } = await run(context, target, condition));
    if (count === 0) return [];
    // Without locks, concurrent writes may have changed the matching records; then only the count is certain.
    const after = before?.length === count ? await readAfter({ ...context, target: place.target }, before, set) : null;
    const isKnown = after !== null && after.length === (change === 'deleted' ? 0 : count);
    const rows = { target: place.target, before: before!, ...(change === 'updated' && { after: after! }) };
    context.writeLog.add({ collection: target.collection, change, count, ...(isKnown && { rows }) });
    return [];
  });
  return count;
}

/** The matching records. Undefined if there are more than an answer names, or if the collection has no key. */
async function readIfFew(
  { session, target }: TransactionContext,
  condition: Condition,
  lock: boolean,
): Promise<Row[] | undefined> {
  const { collection, columns, key } = target;
  if (key.length === 0) return undefined;
  const select = { table: collection.table, columns, order: [], limit: RECORDS_LIMIT + 1, lock };
  const rows = await session.read({ ...select, ...condition });
  return rows.length <= RECORDS_LIMIT ? rows : undefined;
}

/** The rows that still exist, in the same order. */
async function readAfter({ session, target }: TransactionContext, before: readonly Row[], set: Values): Promise<Row[]> {
  const { collection, columns, keySlots } = target;
  const keys = keysOf(target, before).map((key) =>
    key.map((value, at) => (set.has(collection.key[at]!) ? set.get(collection.key[at]!) : value)),
  );
  const select = { table: collection.table, columns, joins: [], order: [] };
  const rows = await session.read({ ...select, where: keysFilter(target, keys) });
  const places = new Map(
    rows.map((row) => [
      keyMark(
        target,
        keySlots.map((slot) => row[slot]),
      ),
      row,
    ]),
  );
  return keys.flatMap((key) => {
    const row = places.get(keyMark(target, key));
    return row ? [row] : [];
  });
}

/** Writes in parts, in one transaction. */
async function writeInParts(
  place: WritableContext,
  target: Target,
  where: Filter,
  written: ReadonlySet<Column>,
  run: (
    context: TransactionContext,
    nest: Parameters<Parameters<typeof inTransaction>[3]>[1],
    keys: readonly Row[],
    condition: Condition,
  ) => Promise<unknown>,
): Promise<number> {
  const keys = await readKeys(place, where);
  if (keys.length === 0) return 0;
  const conditionFor = (some: readonly Row[]) => toCondition(keysFilter(target, some), place.scope);
  const transactionWork = {
    target,
    guards: [],
    written,
    keys,
    where: keysFilter(target, keys.slice(0, RECORDS_LIMIT)),
  };
  await inTransaction(place, transactionWork, place.call.options, async (context, nest) => {
    for (let at = 0; at < keys.length; at += RECORDS_LIMIT) {
      const some = keys.slice(at, at + RECORDS_LIMIT);
      await run(context, nest, some, conditionFor(some));
    }
    return [];
  });
  return keys.length;
}

async function readKeys(site: CollectionWriteContext, where: Filter): Promise<Row[]> {
  const { view, target, call } = site;
  const { collection } = view;
  if (target.key.length === 0) failWithoutKey(site);
  const limit = rowsLimitOf(call.ops);
  const { rows, hasMore } = await readWhere(call, collection, { where, columns: target.key, order: target.key, limit });
  if (hasMore) fail('TOO_MANY_ROWS', { collection: collection.name, field: target.key[0]!.id, limit });
  return rows;
}
