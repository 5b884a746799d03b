// The internal API: how customization code reads and writes collections. It sees every field by its internal name and
// every row, removed collections included. There are no hooks, permissions and row scopes. Rules, replaced fields and
// overrides still apply.
import { fullAccess } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { InsideCollection, InsideFilter } from '../customize/context.ts';
import { shapeRecords } from '../encode/records.ts';
import { executeRead } from '../execute/read.ts';
import { type Conditions, lowerConditions } from '../lower/filter.ts';
import type { Collection } from '../model/types.ts';
import { planRead, totalOrder } from '../plan/read.ts';
import type { Query } from '../plan/types.ts';
import { resolveName } from '../resolve/names.ts';
import { insideViewOf, type View } from '../resolve/visibility.ts';
import { deleteInside, updateInside } from '../write/internal.ts';
import { insideSiteOf } from '../write/target.ts';
import { insideRecords } from '../write/transaction.ts';
import { readAggregate } from './aggregate.ts';
import { type Call, everywhere, readOptions, rowsLimitOf, scopesOf } from './call.ts';
import { linkInside } from './link.ts';
import { countRecords } from './list.ts';
import { createRows } from './write.ts';

export function insideCollection(call: Call, name: string): InsideCollection {
  const { ops, access, options } = call;
  const collection = ops.model.inside.get(name);
  if (!collection)
    return fail('UNKNOWN_COLLECTION', {
      collection: String(name),
      near: nearNames(String(name), ops.model.inside.keys()),
    });
  const inside = { ...call, access: fullAccess(access.caller) };
  const view = insideViewOf(inside.access, collection);
  return {
    list: (filter, projection) => listInside(inside, view, filter, projection),
    count: (filter = {}) => countRecords(inside, view, conditionsOf(filter)),
    async aggregate(filter, aggregation, limit = ops.limits.pageSizeLimit) {
      const { rows } = await readAggregate(
        inside,
        view,
        { ...conditionsOf(filter), ...aggregation, limit },
        everywhere,
      );
      const groups = 'groups' in aggregation ? aggregation.groups : [];
      return rows.map((row) => ({
        value: row.at(-1),
        group: Object.fromEntries(groups.map(({ field }, at) => [field, row[at]])),
      }));
    },
    async create(data) {
      const { target, rows } = await createRows(insideSiteOf(inside, collection, 'add'), data, options);
      return insideRecords(target, rows);
    },
    update: async (filter, patch) =>
      updateInside(insideSiteOf(inside, collection, 'edit'), needConditions(collection, filter), patch),
    delete: async (filter) =>
      deleteInside(insideSiteOf(inside, collection, 'delete'), needConditions(collection, filter)),
    associate: (id, relation, ids) => linkInside(inside, collection, { id, relation, ids }, true),
    dissociate: (id, relation, ids) => linkInside(inside, collection, { id, relation, ids }, false),
  };
}

/** Every record within the row scope of the call, in key order. */
export async function listInside(
  call: Call,
  view: View,
  filter: InsideFilter,
  projection: readonly string[],
): Promise<Record<string, unknown>[]> {
  const { ops, moment, code, options } = call;
  const { collection } = view;
  const scope = scopesOf(call);
  const where = await lowerConditions(scope, conditionsOf(filter), { view, moment, code });
  const select = projection.map((field) => resolveName(view, field));
  const limit = rowsLimitOf(ops);
  const order = totalOrder(collection, []);
  const query: Query = { collection, select, where, order, limit, skip: 0, cursor: false };
  const plan = planRead(query, scope, limit);
  const { rows, hasMore } = await executeRead(plan, limit, readOptions(ops, options), call);
  if (hasMore) fail('TOO_MANY_ROWS', { collection: collection.name, field: projection.join(', '), limit });
  return shapeRecords(rows, plan.shape);
}

function conditionsOf({ conditionTree, ...filter }: InsideFilter): Conditions {
  return { ...filter, ...(conditionTree && { filter: conditionTree }) };
}

/** Requires a condition: an empty filter never means all records. */
function needConditions({ name }: Collection, filter: InsideFilter): Conditions {
  if (filter?.conditionTree || filter?.search || filter?.segment !== undefined) return conditionsOf(filter);
  return fail('INVALID_ARGUMENT', {
    argument: 'filter',
    problem: `say which records of '${name}' are meant. All of them: { conditionTree: { aggregator: 'And', conditions: [] } }.`,
  });
}
