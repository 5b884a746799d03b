// Updates and deletes of code by a filter. If the database can evaluate the filter, this is one statement for any
// number of records. Otherwise their keys are read first.
import { fail } from '../../core/errors.ts';
import type { CodeRecord } from '../customize/context.ts';
import { mayExtend } from '../execute/cascades.ts';
import { isNested, linkColumns, updateNested } from '../execute/nested-write.ts';
import { deleteRecords, keysOf, markKey, readMeant, updateRecords, type WriteContext } from '../execute/write.ts';
import { type Conditions, lowerConditions } from '../lower/filter.ts';
import type { Column } from '../model/types.ts';
import { rowsLimitOf } from '../operations/call.ts';
import { writtenBy } from '../operations/write.ts';
import { splitFilter } from '../plan/residual.ts';
import type { Condition, Filter } from '../plan/types.ts';
import { keysFilter, knownCondition, planDelete, planTarget, planUpdate, type Target } from '../plan/write.ts';
import type { Row } from '../sources/statement.ts';
import { readCurrent } from './current-values.ts';
import type { Values } from './drafts.ts';
import { overriddenDelete, overriddenUpdate, overrideOf } from './overrides.ts';
import { readWhere } from './prefetch.ts';
import { isEmpty, prepareUpdate } from './prepare.ts';
import { noKey, type Place, RECORDS_LIMIT, type Site, writable } from './target.ts';
import { inTransaction } from './transaction.ts';

/** Returns the number of matching records. */
export async function updateInside(site: Site, conditions: Conditions, patch: CodeRecord): Promise<number> {
  const override = overrideOf(site, 'update');
  const place = override ? null : writable(site);
  const current = async (fields: readonly string[]) => readCurrent(site, await lower(site, conditions), fields);
  const { draft } = await prepareUpdate(site, patch, current, null, false);
  const where = await lower(site, conditions);
  if (override) {
    const keys = await readKeys(site, where);
    if (keys.length === 0) return 0;
    const updating = { keys, draft, where: keysFilter(site.target, keys) };
    return (await overriddenUpdate(site, site.target, override, updating, site.call.options)).length;
  }
  const written = writtenBy([draft]);
  if (isEmpty(draft)) return (await readKeys(site, where)).length;
  if (isDecided(where) && !isNested([draft]) && !mayExtend(site.view.collection, draft.values))
    return inOne(place!, 'updated', where, draft.values, ({ session }, target, condition) =>
      session.update(planUpdate(target, draft.values, condition, [])),
    );
  const target = planTarget(site.view, linkColumns([draft]));
  return inParts(place!, target, where, written, (context, nest, keys, condition) =>
    isNested([draft])
      ? updateNested(nest, context, keys, draft, condition)
      : updateRecords(context, keys, draft.values, condition),
  );
}

/** Returns the number of matching records. */
export async function deleteInside(site: Site, conditions: Conditions): Promise<number> {
  const override = overrideOf(site, 'delete');
  const place = override ? null : writable(site);
  const where = await lower(site, conditions);
  if (override) {
    const keys = await readKeys(site, where);
    if (keys.length === 0) return 0;
    const updating = { keys, where: keysFilter(site.target, keys) };
    return (await overriddenDelete(site, site.target, override, updating, site.call.options)).length;
  }
  if (isDecided(where) && !mayExtend(site.view.collection, null))
    return inOne(place!, 'deleted', where, new Map(), ({ session }, target, condition) =>
      session.delete(planDelete(target, condition)),
    );
  return inParts(place!, site.target, where, new Set(), async (context, _nest, keys, condition) => {
    const { target, known, session } = context;
    // Deleting earlier records may have deleted some of these by cascade.
    const there = await readMeant({ session, known, collection: target.collection }, target.key, condition);
    if (there.length === keys.length) await deleteRecords(context, keys, condition);
    else if (there.length > 0)
      await deleteRecords(context, there, knownCondition(keysFilter(target, there), site.scope));
  });
}

async function lower({ view, call, scope }: Site, conditions: Conditions): Promise<Filter> {
  return lowerConditions(scope, conditions, { view, moment: call.moment, code: call.code });
}

const isDecided = (where: Filter): boolean => splitFilter(where).rest.op === 'always';

async function inOne(
  place: Place,
  change: 'updated' | 'deleted',
  where: Filter,
  set: Values,
  run: (context: WriteContext, target: Target, condition: Condition) => Promise<{ readonly count: number }>,
): Promise<number> {
  if (where.op === 'never') return 0;
  const target = { ...place.target, columns: [] };
  const condition = knownCondition(where, place.scope);
  const work = { target, guards: [], written: new Set(set.keys()) };
  let count = 0;
  await inTransaction(place, work, place.call.options, async (context) => {
    const before = await readFew({ ...context, target: place.target }, condition, change === 'updated');
    ({ count } = await run(context, target, condition));
    if (count === 0) return [];
    // Without locks, concurrent writes may have changed the matching records; then only the count is certain.
    const after = before?.length === count ? await readAfter({ ...context, target: place.target }, before, set) : null;
    const isKnown = after !== null && after.length === (change === 'deleted' ? 0 : count);
    const rows = { target: place.target, before: before!, ...(change === 'updated' && { after: after! }) };
    context.ledger.add({ collection: target.collection, change, count, ...(isKnown && { rows }) });
    return [];
  });
  return count;
}

/** The matching records. Undefined if there are more than an answer names, or if the collection has no key. */
async function readFew(
  { session, target }: WriteContext,
  condition: Condition,
  lock: boolean,
): Promise<Row[] | undefined> {
  const { collection, columns, key } = target;
  if (key.length === 0) return undefined;
  const asked = { table: collection.table, columns, order: [], limit: RECORDS_LIMIT + 1, lock };
  const rows = await session.read({ ...asked, ...condition });
  return rows.length <= RECORDS_LIMIT ? rows : undefined;
}

/** The rows that still exist, in the same order. */
async function readAfter({ session, target }: WriteContext, before: readonly Row[], set: Values): Promise<Row[]> {
  const { collection, columns, keySlots } = target;
  const keys = keysOf(target, before).map((key) =>
    key.map((value, at) => (set.has(collection.key[at]!) ? set.get(collection.key[at]!) : value)),
  );
  const asked = { table: collection.table, columns, joins: [], order: [] };
  const rows = await session.read({ ...asked, where: keysFilter(target, keys) });
  const places = new Map(
    rows.map((row) => [
      markKey(
        target,
        keySlots.map((slot) => row[slot]),
      ),
      row,
    ]),
  );
  return keys.flatMap((key) => {
    const row = places.get(markKey(target, key));
    return row ? [row] : [];
  });
}

/** Writes in parts, in one transaction. */
async function inParts(
  place: Place,
  target: Target,
  where: Filter,
  written: ReadonlySet<Column>,
  run: (
    context: WriteContext,
    nest: Parameters<Parameters<typeof inTransaction>[3]>[1],
    keys: readonly Row[],
    condition: Condition,
  ) => Promise<unknown>,
): Promise<number> {
  const keys = await readKeys(place, where);
  if (keys.length === 0) return 0;
  const conditionFor = (some: readonly Row[]) => knownCondition(keysFilter(target, some), place.scope);
  const work = { target, guards: [], written, keys, where: keysFilter(target, keys.slice(0, RECORDS_LIMIT)) };
  await inTransaction(place, work, place.call.options, async (context, nest) => {
    for (let at = 0; at < keys.length; at += RECORDS_LIMIT) {
      const some = keys.slice(at, at + RECORDS_LIMIT);
      await run(context, nest, some, conditionFor(some));
    }
    return [];
  });
  return keys.length;
}

async function readKeys(site: Site, where: Filter): Promise<Row[]> {
  const { view, target, call } = site;
  const { collection } = view;
  if (target.key.length === 0) noKey(site);
  const limit = rowsLimitOf(call.ops);
  const { rows, hasMore } = await readWhere(call, collection, { where, columns: target.key, order: target.key, limit });
  if (hasMore) fail('TOO_MANY_ROWS', { collection: collection.name, field: target.key[0]!.id, limit });
  return rows;
}
