// What code updates and deletes by a filter: one statement where the database can decide which records are meant, however
// many they are; else their keys are read first.
import { fail } from '../core/errors.ts';
import type { CodeRecord } from './customize/definitions.ts';
import type { Column } from './model/types.ts';
import { rowsLimitOf } from './operations.ts';
import { writtenBy } from './operations-write.ts';
import { overriddenDelete, overriddenUpdate, overrideOf } from './overrides.ts';
import { isNested, linkColumns, updateNested } from './query/execute-nested.ts';
import { deleteRecords, updateRecords, type WriteContext } from './query/execute-write.ts';
import { splitFilter } from './query/here.ts';
import { type Conditions, lowerConditions } from './query/lower.ts';
import { keysFilter, knownCondition, planDelete, planTarget, planUpdate, type Target } from './query/plan-write.ts';
import type { Filter } from './query/types.ts';
import type { Condition, Row } from './sources/source.ts';
import { readCurrent } from './write-current.ts';
import { readWhere } from './write-known.ts';
import { isEmpty, prepareUpdate } from './write-prepare.ts';
import { noKey, type Place, RECORDS_LIMIT, type Site, writable } from './write-site.ts';
import { inTransaction } from './write-transaction.ts';

/** How many records were meant. */
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
  if (isDecided(where) && !isNested([draft]))
    return inOne(place!, where, written, ({ session }, target, condition) =>
      session.update(planUpdate(target, draft.values, condition, [])),
    );
  const target = planTarget(site.view, linkColumns([draft]));
  return inParts(place!, target, where, written, (context, nest, keys, condition) =>
    isNested([draft])
      ? updateNested(nest, context, keys, draft, condition)
      : updateRecords(context, keys, draft.values, condition),
  );
}

/** How many records were meant. */
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
  const written = new Set<Column>();
  if (isDecided(where))
    return inOne(place!, where, written, ({ session }, target, condition) =>
      session.delete(planDelete(target, condition)),
    );
  return inParts(place!, site.target, where, written, (context, _nest, keys, condition) =>
    deleteRecords(context, keys, condition),
  );
}

async function lower({ view, call, scope }: Site, conditions: Conditions): Promise<Filter> {
  return lowerConditions(scope, conditions, { view, moment: call.moment, code: call.code });
}

const isDecided = (where: Filter): boolean => splitFilter(where).rest.op === 'always';

async function inOne(
  place: Place,
  where: Filter,
  written: ReadonlySet<Column>,
  run: (context: WriteContext, target: Target, condition: Condition) => Promise<{ readonly count: number }>,
): Promise<number> {
  if (where.op === 'never') return 0;
  const target = { ...place.target, columns: [] };
  const condition = knownCondition(where, place.scope);
  let count = 0;
  await inTransaction(place, { target, guards: [], written }, place.call.options, async (context) => {
    ({ count } = await run(context, target, condition));
    return [];
  });
  return count;
}

/** One transaction. */
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
