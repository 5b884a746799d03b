// The internal API: how customization code reads and writes collections. It sees every field by its internal name and
// every row, removed collections included. There are no hooks, permissions and row scopes. Rules, replaced fields and
// overrides still apply.
import { fullAccess } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { CodeFilter, UnscopedCollection } from '../customize/context.ts';
import { shapeRecords } from '../encode/records.ts';
import { executeRead } from '../execute/read.ts';
import { type Conditions, lowerConditions } from '../lower/filter.ts';
import type { Collection } from '../model/types.ts';
import { planRead, totalOrder } from '../plan/read.ts';
import type { Query } from '../plan/types.ts';
import { resolveName } from '../resolve/names.ts';
import { type CollectionView, internalViewOf } from '../resolve/visibility.ts';
import { deleteInternal, updateInternal } from '../write/internal.ts';
import { createInternalWriteContext } from '../write/target.ts';
import { toInternalRecords } from '../write/transaction.ts';
import { readAggregate } from './aggregate.ts';
import { type Call, readOptions, rowsLimitOf, scopesOf, unrestricted } from './call.ts';
import { linkInternal } from './link.ts';
import { countRecords } from './list.ts';
import { createRows } from './write.ts';

export function createUnscopedCollection(call: Call, name: string): UnscopedCollection {
  const { ops, access, options } = call;
  const collection = ops.model.internalCollections.get(name);
  if (!collection)
    return fail('UNKNOWN_COLLECTION', {
      collection: String(name),
      near: suggestNames(String(name), ops.model.internalCollections.keys()),
    });
  const internalCall = { ...call, access: fullAccess(access.caller) };
  const view = internalViewOf(internalCall.access, collection);
  return {
    list: (filter, projection) => listInternal(internalCall, view, filter, projection),
    count: (filter = {}) => countRecords(internalCall, view, conditionsOf(filter)),
    async aggregate(filter, aggregation, limit = ops.limits.pageSizeLimit) {
      const { rows } = await readAggregate(
        internalCall,
        view,
        { ...conditionsOf(filter), ...aggregation, limit },
        unrestricted,
      );
      const groups = 'groups' in aggregation ? aggregation.groups : [];
      return rows.map((row) => ({
        value: row.at(-1),
        group: Object.fromEntries(groups.map(({ field }, at) => [field, row[at]])),
      }));
    },
    async create(data) {
      const { target, rows } = await createRows(
        createInternalWriteContext(internalCall, collection, 'add'),
        data,
        options,
      );
      return toInternalRecords(target, rows);
    },
    update: async (filter, patch) =>
      updateInternal(
        createInternalWriteContext(internalCall, collection, 'edit'),
        requireConditions(collection, filter),
        patch,
      ),
    delete: async (filter) =>
      deleteInternal(
        createInternalWriteContext(internalCall, collection, 'delete'),
        requireConditions(collection, filter),
      ),
    associate: (id, relation, ids) => linkInternal(internalCall, collection, { id, relation, ids }, true),
    dissociate: (id, relation, ids) => linkInternal(internalCall, collection, { id, relation, ids }, false),
  };
}

/** Every record within the row scope of the call, in key order. */
export async function listInternal(
  call: Call,
  view: CollectionView,
  filter: CodeFilter,
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

function conditionsOf({ conditionTree, ...filter }: CodeFilter): Conditions {
  return { ...filter, ...(conditionTree && { filter: conditionTree }) };
}

/** Requires a condition: an empty filter never means all records. */
function requireConditions({ name }: Collection, filter: CodeFilter): Conditions {
  if (filter?.conditionTree || filter?.search || filter?.segment !== undefined) return conditionsOf(filter);
  return fail('INVALID_ARGUMENT', {
    argument: 'filter',
    problem: `send a condition for the records of '${name}'. For all of them: { conditionTree: { aggregator: 'And', conditions: [] } }.`,
  });
}
