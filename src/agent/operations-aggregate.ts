// Aggregates, in the phases of operations.ts: may the caller -> names and values -> one filter -> one plan -> one statement.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { AggregateAnswer, AggregateRequest, CallOptions } from './engine.ts';
import {
  type Call,
  callOf,
  checkLimit,
  getCollection,
  type Operations,
  readOptions,
  rowsLimitOf,
  scopesOf,
} from './operations.ts';
import { executeRead } from './query/execute.ts';
import { splitFilter } from './query/here.ts';
import { lowerConditions, type ScopeOf } from './query/lower.ts';
import { type AggregatePlan, planAggregate } from './query/plan-aggregate.ts';
import { planRead } from './query/plan-read.ts';
import type { Path, Query } from './query/types.ts';
import { type View, viewOf } from './query/view.ts';
import { aggregateRecords } from './sources/aggregate.ts';
import type { GroupSelect, Row } from './sources/source.ts';

export async function aggregate(
  ops: Operations,
  access: Access,
  request: AggregateRequest,
  options: CallOptions = {},
): Promise<AggregateAnswer> {
  const view = viewOf(access, getCollection(ops.model, access, request.collection));
  const call = callOf(ops, access, request, options);
  const { moment, code } = call;
  checkLimit(request.limit, ops.limits.pageSizeLimit);
  const scope = scopesOf(call);
  const where = await lowerConditions(scope, request, { view, moment, code });
  const plan = planAggregate(view, request, where, scope, moment);
  const found = plan.group ? await run(call, plan, plan.group, view, scope) : nothing(request);
  return {
    columns: plan.columns,
    rows: found.slice(0, request.limit).map(([value, ...groups]) => [...groups, value]),
    hasMore: found.length > request.limit,
  };
}

/** No group, or the one number of no records. */
function nothing({ operation, groups }: AggregateRequest): Row[] {
  return groups?.length ? [] : [[operation === 'Count' ? 0 : null]];
}

async function run(
  call: Call,
  { source }: AggregatePlan,
  group: GroupSelect,
  view: View,
  scope: ScopeOf,
): Promise<Row[]> {
  const paths = pathsOf(group);
  const isNative = splitFilter(group.where).rest.op === 'always' && paths.every(({ field }) => !field.made);
  if (source.aggregate && isNative) return source.aggregate(group, readOptions(call.ops, call.options));
  return aggregateHere(call, group, paths, view, scope);
}

const pathsOf = ({ groups, value }: GroupSelect): Path[] => [
  ...new Set([...groups.map((key) => key.path), ...(value ? [value] : [])]),
];

/** Reads the records and aggregates them here. TOO_MANY_ROWS when more match than are read. */
async function aggregateHere(
  call: Call,
  group: GroupSelect,
  paths: readonly Path[],
  { collection }: View,
  scope: ScopeOf,
): Promise<Row[]> {
  const limit = rowsLimitOf(call.ops);
  const select = paths.map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  const query: Query = { collection, select, where: group.where, order: [], limit, skip: 0, cursor: false };
  const plan = planRead(query, scope, limit);
  const { rows, hasMore } = await executeRead(plan, limit, readOptions(call.ops, call.options), call);
  if (hasMore) fail('TOO_MANY_ROWS', { collection: collection.name, field: paths[0]?.id ?? '', limit });
  const slots = new Map(paths.map((path, index) => [path, plan.columns[index]!]));
  return aggregateRecords(
    rows.map((row) => (path: Path) => row[slots.get(path)!] ?? null),
    group,
  );
}
