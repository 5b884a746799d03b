// The inside door: collections as customization code asks and writes them. Every field by its inside name and every row,
// removed collections too; no hooks, no permissions and no row scope. Rules, replaced fields and overrides hold.
import { fullAccess } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type { InsideCollection, InsideFilter } from './customize/definitions.ts';
import { deleteInside, updateInside } from './inside-writes.ts';
import type { Collection } from './model/types.ts';
import { type Call, countRecords, everywhere, readOptions, rowsLimitOf, scopesOf } from './operations.ts';
import { readAggregate } from './operations-aggregate.ts';
import { linkInside } from './operations-link.ts';
import { createRows } from './operations-write.ts';
import { executeRead } from './query/execute.ts';
import { type Conditions, lowerConditions } from './query/lower.ts';
import { planRead, totalOrder } from './query/plan-read.ts';
import { resolveName } from './query/resolve.ts';
import { shapeRecords } from './query/shape.ts';
import type { Query } from './query/types.ts';
import { insideViewOf, type View } from './query/view.ts';
import { insideSiteOf } from './write-site.ts';
import { insideRecords } from './write-transaction.ts';

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

/** No condition never means all. */
function needConditions({ name }: Collection, filter: InsideFilter): Conditions {
  if (filter?.conditionTree || filter?.search || filter?.segment !== undefined) return conditionsOf(filter);
  return fail('INVALID_ARGUMENT', {
    argument: 'filter',
    problem: `say which records of '${name}' are meant. All of them: { conditionTree: { aggregator: 'And', conditions: [] } }.`,
  });
}
