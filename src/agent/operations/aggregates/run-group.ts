// Runs the statement of an aggregate, or reads the records and aggregates them in the process.
import { fail, isAppError } from '../../../core/errors.ts';
import type { PlainFilter } from '../../../core/filter.ts';
import { executeRead, resolveLookups } from '../../execute/read.ts';
import { type Lowering, lowerFilter, lowerInternal, type ScopeOf } from '../../lower/filter.ts';
import { and } from '../../lower/simplify.ts';
import { type AggregatePlan, groupPaths } from '../../plan/aggregate.ts';
import { planRead } from '../../plan/read.ts';
import { pathsOf, splitFilter, visitSubqueries, visitTests } from '../../plan/residual.ts';
import type { Filter, GroupSelect, Query, Slot } from '../../plan/types.ts';
import { crossSourceIndex } from '../../resolve/paths.ts';
import type { BaseMeasure } from '../../resolve/resolved-measures.ts';
import type { CollectionView } from '../../resolve/visibility.ts';
import { aggregateRecords } from '../../sources/aggregate.ts';
import { evaluateFilter } from '../../sources/evaluate.ts';
import { inexactHere } from '../../sources/source.ts';
import type * as statement from '../../sources/statement.ts';
import type { Tally } from '../../sources/statement.ts';
import { type Call, readOptions, rowsLimitOf } from '../call.ts';

/** The condition of a measure, on the records that it is about. */
export async function lowerWhere({ where = [], metric, at, many }: BaseMeasure, lowering: Lowering): Promise<Filter> {
  const own = many ? { ...lowering, view: lowering.view.forCollection(many.relation.to) } : lowering;
  const lower = async (plain: PlainFilter) =>
    metric ? lowerInternal(plain, own, metric) : withArgument(`${at}.where`, async () => lowerFilter(plain, own));
  return and(...(await Promise.all(where.map(lower))));
}

/** Names the argument of a filter in its errors. */
async function withArgument<T>(argument: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isAppError(error, 'INVALID_ARGUMENT') && /^filter\b/.test(error.details.argument))
      fail(
        'INVALID_ARGUMENT',
        { ...error.details, argument: error.details.argument.replace('filter', argument) },
        error,
      );
    throw error;
  }
}

/** The figures of each group. Throws TOO_MANY_ROWS if they need too many records, and `inexactHere` for `totals` and `having`. */
export async function runGroup(
  call: Call,
  plan: AggregatePlan,
  group: GroupSelect,
  view: CollectionView,
  scope: ScopeOf,
): Promise<Tally[]> {
  const reading = readOptions(call.ops, call.options);
  if (!isNative(plan, group)) return aggregateInMemory(call, plan, group, view, scope);
  const resolved = await resolveLookups(group, reading, call);
  const measures = await Promise.all(
    group.measures.map(async (measure) => {
      if (measure.related) return { ...measure, related: await resolveLookups(measure.related, reading, call) };
      if (!measure.where) return measure;
      const { where } = await resolveLookups({ joins: [], where: measure.where }, reading, call);
      return { ...measure, where };
    }),
  );
  const groups = await Promise.all(
    group.groups.map(async (key) =>
      key.related ? { ...key, related: await resolveLookups(key.related, reading, call) } : key,
    ),
  );
  return plan.source.aggregate!({ ...resolved, measures, groups }, reading).catch((error: unknown) => {
    if (error === inexactHere && !group.totals && !group.having)
      return aggregateInMemory(call, plan, group, view, scope, 'numbers beyond 64 bits');
    throw error;
  });
}

/** Whether the source can compute all base measures. */
export function isNative({ source }: AggregatePlan, group: GroupSelect): boolean {
  const wheres = [group.where, ...group.measures.flatMap(({ where }) => where ?? [])];
  if (!source.aggregate || wheres.some((where) => splitFilter(where).residual.op !== 'always')) return false;
  return groupPaths(group).every((path) => !path.field.computedFrom && crossSourceIndex(path) < 0);
}

/** Reads the records and aggregates them in-memory. Throws TOO_MANY_ROWS if too many records match. */
async function aggregateInMemory(
  call: Call,
  { source }: AggregatePlan,
  group: GroupSelect,
  view: CollectionView,
  scope: ScopeOf,
  cause?: string,
): Promise<Tally[]> {
  const limit = rowsLimitOf(call.ops);
  const query = toInMemoryQuery(view, group, limit, cause);
  const plan = { ...planRead(query, scope, limit), source };
  const { rows, hasMore } = await executeRead(plan, limit, readOptions(call.ops, call.options), call);
  const [first] = query.select;
  if (hasMore) fail('TOO_MANY_ROWS', { collection: view.collection.name, field: first?.path.id ?? '', limit });
  const slots = new Map<object, Slot>(query.select.map(({ path }, index) => [path, plan.columns[index]!]));
  const records = rows.map((row) => {
    const value = (path: object) => row[slots.get(path)!] ?? null;
    return { value, satisfies: (where: statement.Filter) => evaluateFilter(where, value) };
  });
  return aggregateRecords(records, group);
}

/**
 * Throws INVALID_ARGUMENT for a measure whose condition the values of a record cannot decide. `cause`: what the database
 * cannot evaluate.
 */
export function toInMemoryQuery(
  { collection }: CollectionView,
  group: GroupSelect,
  limit: number,
  cause = 'fields that the database cannot evaluate',
): Query {
  const paths = new Set(groupPaths(group));
  if (group.measures.some(({ related }) => related))
    fail('INVALID_ARGUMENT', {
      argument: 'fields',
      problem: `a list cannot be sorted or filtered by figures of related records together with ${cause}. Leave those out.`,
    });
  if (group.groups.some(({ related }) => related))
    fail('INVALID_ARGUMENT', {
      argument: 'groups',
      problem: `a group through a to-many relation cannot be combined with ${cause}. Leave those out.`,
    });
  for (const { where } of group.measures) {
    if (!where) continue;
    visitTests(where, (test) => {
      for (const path of pathsOf(test)) paths.add(path);
    });
    visitSubqueries(where, () =>
      fail('INVALID_ARGUMENT', {
        argument: 'measures',
        problem: `a where on related records cannot be combined with ${cause}. Send it as filters of a call of its own.`,
      }),
    );
  }
  const select = [...paths].map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  return { collection, select, where: group.where, order: [], limit, skip: 0, cursor: false };
}
