// Aggregates, in the phases of list.ts: permissions -> names and values -> one filter -> one plan -> one statement.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { fingerprint, readGroupCursor, writeGroupCursor } from '../encode/cursor.ts';
import { executeRead, resolveLookups } from '../execute/read.ts';
import { lowerConditions, type ScopeOf } from '../lower/filter.ts';
import { and } from '../lower/simplify.ts';
import { type AggregatePlan, planAggregate } from '../plan/aggregate.ts';
import { planCrossSource } from '../plan/cross-source.ts';
import { explainGroup, explainRead } from '../plan/explain.ts';
import { createPlanner, planRead } from '../plan/read.ts';
import { splitFilter } from '../plan/residual.ts';
import type { GroupSelect, Path, Query, Slot } from '../plan/types.ts';
import type { AggregateAnswer, AggregateRequest, CallOptions } from '../requests.ts';
import { crossSourceIndex } from '../resolve/paths.ts';
import { type CollectionView, viewOf } from '../resolve/visibility.ts';
import { aggregateRecords } from '../sources/aggregate.ts';
import type { Row } from '../sources/statement.ts';
import { runAggregateHooks } from './aggregate-hooks.ts';
import {
  type Call,
  callOf,
  checkLimit,
  getCollection,
  type Operations,
  type Restriction,
  readOptions,
  restrictFurther,
  rowsLimitOf,
  scopesOf,
  unrestricted,
  withRestrictedSource,
} from './call.ts';
import { hasHooks } from './hooks.ts';

export async function aggregate(
  ops: Operations,
  access: Access,
  request: AggregateRequest,
  options: CallOptions = {},
): Promise<AggregateAnswer> {
  const view = viewOf(access, getCollection(ops.model, access, request.collection));
  return aggregateFrom(callOf(ops, access, request, options), view, request, unrestricted);
}

export async function aggregateFrom(
  call: Call,
  view: CollectionView,
  request: Omit<AggregateRequest, 'collection'>,
  within: Restriction,
): Promise<AggregateAnswer> {
  if (!hasHooks(view.collection, 'Aggregate')) return readAggregate(call, view, request, within);
  // Invalid requests fail before the first hook runs.
  await prepare(call, view, request, within);
  let answer!: AggregateAnswer;
  const counted = await runAggregateHooks(call, view, request, async (narrowed) => {
    answer = await readAggregate(call, view, request, restrictFurther(within, narrowed));
    return answer.rows.map((row) => ({ value: row.at(-1), groups: row.slice(0, -1) }));
  });
  return { ...answer, rows: counted.map(({ value, groups }) => [...groups, value]) };
}

/** Reads an aggregate without hooks. */
export async function readAggregate(
  call: Call,
  view: CollectionView,
  request: Omit<AggregateRequest, 'collection'>,
  within: Restriction,
): Promise<AggregateAnswer> {
  const fingerprint = fingerprintOfGroups(view, request, within);
  const skip = request.cursor === undefined ? 0 : readGroupCursor(request.cursor, fingerprint);
  const { plan, scope } = await prepare(call, view, { ...request, skip }, within);
  const { observe } = call.ops;
  const { name } = view.collection;
  observe({ type: 'query.planned', collection: name, plan: () => explainPlan(call.ops, view, plan, scope) });
  const found = plan.group ? await runGroup(call, plan, plan.group, view, scope) : emptyResult(request);
  return {
    columns: plan.columns,
    rows: found.slice(0, request.limit).map(([value, ...groups]) => [...groups, value]),
    hasMore: found.length > request.limit,
    ...(plan.lacksEmpty && { note: 'Groups without records are left out.' }),
    cursorAfter: (index) => writeGroupCursor(fingerprint, skip + index + 1),
  };
}

function fingerprintOfGroups(
  { collection }: CollectionView,
  request: Omit<AggregateRequest, 'collection'>,
  { mark }: Restriction,
): string {
  const { operation, field = '', groups = [], order = 'value' } = request;
  const arrangement = [operation, field, groups.map((group) => [group.field, group.bucket ?? '']), order];
  return fingerprint(collection, arrangement, { ...request, ...(mark && { within: mark }) });
}

async function prepare(
  call: Call,
  view: CollectionView,
  request: Omit<AggregateRequest, 'collection'> & { readonly skip?: number },
  within: Restriction,
): Promise<{ readonly plan: AggregatePlan; readonly scope: ScopeOf }> {
  const { ops, moment, code } = call;
  checkLimit(request.limit, ops.limits.pageSizeLimit);
  const scope = scopesOf(call);
  const lowered = await lowerConditions(scope, request, { view, moment, code });
  const planner = createPlanner(scope, rowsLimitOf(ops));
  const where = planCrossSource(view.collection, and(lowered, within.where), planner);
  return { plan: withRestrictedSource(planAggregate(view, request, where, planner, moment), within), scope };
}

/** The plan as text, without hooks, which are not part of a plan. */
export async function explainAggregate(ops: Operations, access: Access, request: AggregateRequest): Promise<string> {
  const view = viewOf(access, getCollection(ops.model, access, request.collection));
  const { plan, scope } = await prepare(callOf(ops, access, request, {}), view, request, unrestricted);
  return explainPlan(ops, view, plan, scope);
}

function explainPlan(ops: Operations, view: CollectionView, plan: AggregatePlan, scope: ScopeOf): string {
  if (!plan.group || isNative(plan, plan.group)) return explainGroup(view.collection, plan, null);
  const query = toInMemoryQuery(view, plan.group, rowsLimitOf(ops));
  return explainGroup(view.collection, plan, explainRead(query, planRead(query, scope, rowsLimitOf(ops))));
}

/** The result for zero records: no groups, or a single number. */
function emptyResult({ operation, groups }: Pick<AggregateRequest, 'operation' | 'groups'>): Row[] {
  return groups?.length ? [] : [[operation === 'Count' ? 0 : null]];
}

async function runGroup(
  call: Call,
  plan: AggregatePlan,
  group: GroupSelect,
  view: CollectionView,
  scope: ScopeOf,
): Promise<Row[]> {
  const reading = readOptions(call.ops, call.options);
  if (isNative(plan, group)) return plan.source.aggregate!(await resolveLookups(group, reading, call), reading);
  return aggregateInMemory(call, plan, group, view, scope);
}

/** Whether the source can compute the whole aggregate. */
function isNative({ source }: AggregatePlan, group: GroupSelect): boolean {
  if (!source.aggregate || splitFilter(group.where).residual.op !== 'always') return false;
  return pathsOf(group).every((path) => !path.field.computedFrom && crossSourceIndex(path) < 0);
}

const pathsOf = ({ groups, value }: GroupSelect): Path[] => [
  ...new Set([...groups.map((key) => key.path), ...(value ? [value] : [])]),
];

/** Reads the records and aggregates them in-memory. Throws TOO_MANY_ROWS if too many records match. */
async function aggregateInMemory(
  call: Call,
  { source }: AggregatePlan,
  group: GroupSelect,
  view: CollectionView,
  scope: ScopeOf,
): Promise<Row[]> {
  const limit = rowsLimitOf(call.ops);
  const paths = pathsOf(group);
  const plan = { ...planRead(toInMemoryQuery(view, group, limit), scope, limit), source };
  const { rows, hasMore } = await executeRead(plan, limit, readOptions(call.ops, call.options), call);
  if (hasMore) fail('TOO_MANY_ROWS', { collection: view.collection.name, field: paths[0]?.id ?? '', limit });
  const slots = new Map<object, Slot>(paths.map((path, index) => [path, plan.columns[index]!]));
  return aggregateRecords(
    rows.map((row) => (path: object) => row[slots.get(path)!] ?? null),
    group,
  );
}

function toInMemoryQuery({ collection }: CollectionView, group: GroupSelect, limit: number): Query {
  const select = pathsOf(group).map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  return { collection, select, where: group.where, order: [], limit, skip: 0, cursor: false };
}
