// Reads the groups of an aggregate, in the phases of list.ts: permissions -> names and values -> one filter -> one plan
// -> one statement. What the statement cannot decide is done with its groups (execute/figures.ts).
import { fail, isAppError } from '../../core/errors.ts';
import type { PeriodUnit } from '../../core/filter/measures.ts';
import { mapInTurns, sortInTurns, type Turn } from '../../core/limit/in-turns.ts';
import { createTurns } from '../../core/limit/turns.ts';
import { finishGroups } from '../execute/figures.ts';
import { findDateRange, hasStart } from '../lower/date-range.ts';
import { lowerConditions, lowerFilter, type ScopeOf } from '../lower/filter.ts';
import { always, and } from '../lower/simplify.ts';
import type { Moment } from '../model/types.ts';
import { type AggregatePlan, failTooManyGroups, GROUPS_LIMIT, planAggregate } from '../plan/aggregate.ts';
import { planCrossSource } from '../plan/cross-source.ts';
import { explainGroup, explainRead } from '../plan/explain.ts';
import { parameterTests } from '../plan/queries.ts';
import { createPlanner, planRead } from '../plan/read.ts';
import type { GroupKey } from '../plan/types.ts';
import type { AggregateRequest } from '../requests.ts';
import { type AggregateQuery, resolveAggregate } from '../resolve/aggregate.ts';
import type { ResolvedGroup } from '../resolve/groups.ts';
import { pathTo } from '../resolve/paths.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { bucketOf, shiftPeriod } from '../sources/aggregate/local-time.ts';
import { aggregateRecords, groupMark } from '../sources/aggregate.ts';
import type { Row, Tally } from '../sources/statement.ts';
import { isNative, lowerWhere, runGroup, toInMemoryQuery } from './aggregates/run-group.ts';
import { checkSmallGroups, hideSmallGroups, type SmallGroups } from './aggregates/small-groups.ts';
import {
  type Call,
  type Operations,
  type Restriction,
  restrictFurther,
  rowsLimitOf,
  scopesOf,
  withRestrictedSource,
} from './call.ts';

/** The arguments of one set of groups. */
export type GroupArguments = Omit<AggregateRequest, 'collection' | 'cursor' | 'over'> & {
  /** Groups on earlier pages. */
  readonly skip?: number;
  /** Whether the reader uses a group by this column. Groups that differ in other columns only may be merged. */
  readonly isUsed?: (column: string) => boolean;
};

/** A page of groups. */
export interface ReadGroups {
  readonly query: AggregateQuery;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** The number of groups that each row stands for. */
  readonly counts: readonly number[];
  readonly hasMore: boolean;
  readonly note?: string;
  /** The part of the note about groups of few records. */
  readonly hiddenNote?: string;
}

/** `resolve` names the groups and measures of the request. */
export async function readGroups(
  call: Call,
  view: CollectionView,
  request: GroupArguments,
  within: Restriction,
  resolve: ResolveGroups = resolveAggregate,
): Promise<ReadGroups> {
  return readPrepared(call, view, request, within, await prepareGroups(call, view, request, within, resolve));
}

/** `found`: the groups, if they have been read. */
export async function readPrepared(
  call: Call,
  view: CollectionView,
  request: GroupArguments,
  within: Restriction,
  { plan, scope, small }: PreparedGroups,
  found?: Tally[],
): Promise<ReadGroups> {
  const read = found ?? (await readTallies(call, view, plan, scope));
  const ranges = plan.query.includeEmpty ? await findRanges(call, view, plan, request) : [];
  const all = plan.query.includeEmpty ? await addEmptyGroups(call, view, plan, read, within, ranges) : read;
  const { tallies, isWhole } = small
    ? await hideSmallGroups(call, view, small, plan, all)
    : { tallies: all, isWhole: true };
  const { rows, counts, hasMore } = await finishGroups(plan, tallies);
  const hiddenNote =
    !isWhole &&
    `Groups and figures of fewer than ${small?.size} records are not shown, nor others that would reveal them.`;
  const notes = [
    plan.lacksEmpty && 'Groups without records are left out.',
    plan.query.includeEmpty && tallies.length === 0 && noteOnPeriods(plan, ranges),
    plan.manyNote,
    await noteOnPrevious(call, view, plan, request),
    hiddenNote,
  ].filter(Boolean);
  return {
    query: plan.query,
    columns: plan.columns,
    rows,
    counts,
    hasMore,
    ...(notes.length > 0 && { note: notes.join(' ') }),
    ...(hiddenNote && { hiddenNote }),
  };
}

export async function readTallies(
  call: Call,
  view: CollectionView,
  plan: AggregatePlan,
  scope: ScopeOf,
): Promise<Tally[]> {
  const { observe } = call.ops;
  const { name } = view.collection;
  observe({ type: 'query.planned', collection: name, plan: () => explainPlan(call.ops, view, plan, scope) });
  return plan.group ? runGroup(call, plan, plan.group, view, scope) : emptyTallies(plan);
}

type ResolveGroups = (view: CollectionView, request: GroupArguments, moment: Moment) => AggregateQuery;

export interface PreparedGroups {
  readonly plan: AggregatePlan;
  readonly scope: ScopeOf;
  readonly small: SmallGroups | undefined;
}

export async function prepareGroups(
  call: Call,
  view: CollectionView,
  request: GroupArguments,
  within: Restriction,
  resolve: ResolveGroups = resolveAggregate,
): Promise<PreparedGroups> {
  const { ops, moment, code } = call;
  const scope = scopesOf(call);
  const lowering = { view, moment, code };
  const lowered = await lowerConditions(scope, request, lowering);
  const planner = createPlanner(scope, rowsLimitOf(ops));
  const where = planCrossSource(view.collection, and(lowered, within.where), planner);
  const resolved = resolve(view, request, moment);
  const small = await checkSmallGroups(call, view, request, within, resolved);
  const { isUsed } = request;
  const query = { ...resolved, ...(small && { readsAll: true }), ...(isUsed && { isUsed }) };
  const wheres = await Promise.all(
    query.measures.map(async (measure) => {
      if (measure.kind !== 'base' || !measure.where) return undefined;
      const lowered = await lowerWhere(measure, lowering);
      // The plan moves the condition of related records before it plans them.
      return measure.many ? lowered : planCrossSource(view.collection, lowered, planner);
    }),
  );
  return { plan: withRestrictedSource(planAggregate(view, query, where, wheres, planner), within), scope, small };
}

/** Throws the errors of an invalid request. */
export async function checkGroups(...request: Parameters<typeof prepareGroups>): Promise<void> {
  await prepareGroups(...request);
}

/** The plan as text. */
export async function explainGroups(
  call: Call,
  view: CollectionView,
  request: GroupArguments,
  within: Restriction,
  resolve: ResolveGroups = resolveAggregate,
): Promise<string> {
  const { plan, scope } = await prepareGroups(call, view, request, within, resolve);
  return explainPlan(call.ops, view, plan, scope);
}

function explainPlan(ops: Operations, view: CollectionView, plan: AggregatePlan, scope: ScopeOf): string {
  if (!plan.group || isNative(plan, plan.group)) return explainGroup(view.collection, plan, null);
  const query = toInMemoryQuery(view, plan.group, rowsLimitOf(ops));
  return explainGroup(view.collection, plan, explainRead(query, planRead(query, scope, rowsLimitOf(ops))));
}

/** For zero records: no groups, or one. */
async function emptyTallies({ query, measures }: AggregatePlan): Promise<Tally[]> {
  return query.groups.length > 0 ? [] : aggregateRecords([], { measures, groups: [], order: [] });
}

/** Names the argument in front of that of an error. */
export function failWithin(argument: string, error: unknown): never {
  if (isAppError(error, 'INVALID_ARGUMENT') && !/^(filter|limit)/.test(error.details.argument))
    return fail('INVALID_ARGUMENT', { ...error.details, argument: `${argument}.${error.details.argument}` }, error);
  throw error;
}

type Ranges = readonly (readonly [string, string] | undefined)[];

/** For each group by periods: the range of dates that the filter of the caller sets. */
async function findRanges(
  { moment, code }: Call,
  view: CollectionView,
  { query }: AggregatePlan,
  { filter }: GroupArguments,
): Promise<Ranges> {
  const own = filter ? await lowerFilter(filter, { view, moment, code }) : always;
  return query.groups.map(({ key, many }) =>
    key.by?.kind === 'bucket' && !many ? findDateRange(own, key.path) : undefined,
  );
}

/** Periods that the filter leaves out have no figures, which is not the same as none. */
async function noteOnPrevious(
  { moment, code }: Call,
  view: CollectionView,
  { query }: AggregatePlan,
  { filter }: GroupArguments,
): Promise<string | undefined> {
  if (!filter || !query.measures.some(({ kind }) => kind === 'previous')) return undefined;
  const own = await lowerFilter(filter, { view, moment, code });
  const group = query.groups.find(({ key, many }) => key.by?.kind === 'bucket' && !many && hasStart(own, key.path));
  return (
    group &&
    `Previous figures of periods before the first date of the filters are null: begin '${group.field}' earlier to have them.`
  );
}

function noteOnPeriods({ query }: AggregatePlan, ranges: Ranges): string | undefined {
  const open = query.groups.find(({ key }, at) => key.by?.kind === 'bucket' && !ranges[at]);
  return (
    open &&
    `No record matches, and the filters do not set both ends of '${open.field}', so there are no periods to show. Send GreaterThanOrEqual and LessThan for it.`
  );
}

/** Adds the groups that have no records, with the figures of zero records. */
async function addEmptyGroups(
  call: Call,
  view: CollectionView,
  plan: AggregatePlan,
  tallies: readonly Tally[],
  within: Restriction,
  ranges: Ranges,
): Promise<Tally[]> {
  const { groups } = plan.query;
  if (groups.length === 0) return [...tallies];
  const turn = createTurns();
  const known = new Map<string, Tally>();
  await mapInTurns(tallies, turn, (tally) => known.set(markOf(tally.groups, groups), tally));
  const domains = await Promise.all(
    groups.map(async (group, at) => {
      const { key } = group;
      const { by } = key;
      const ends = by?.kind === 'bucket' ? (ranges[at] ?? []).map((date) => bucketOf(date, by)) : [];
      const found = tallies.map((tally) => tally.groups[at]);
      const present = [...found, ...ends].filter((value) => value !== null);
      const own = (await ownValues(key, present, turn)) ?? (await readValues(call, view, group, within, plan));
      const marks = new Map<string | null, unknown>();
      await mapInTurns([...present, ...own], turn, (value) => marks.set(groupMark(value, key), value));
      return [...marks.values()];
    }),
  );
  if (domains.reduce((product, domain) => product * domain.length, 1) > GROUPS_LIMIT) failTooManyGroups('includeEmpty');
  const [none] = await aggregateRecords([], { measures: plan.measures, groups: [], order: [] });
  await mapInTurns(combine(domains), turn, (values) => {
    const mark = markOf(values, groups);
    if (!known.has(mark)) known.set(mark, { groups: values, figures: none!.figures });
  });
  return [...known.values()];
}

/** Each combination of one value from each list. */
function* combine(lists: readonly (readonly unknown[])[]): Generator<readonly unknown[]> {
  const [first, ...rest] = lists;
  if (!first) return yield [];
  for (const value of first) for (const values of combine(rest)) yield [value, ...values];
}

const markOf = (values: readonly unknown[], groups: AggregateQuery['groups']): string =>
  JSON.stringify(values.map((value, at) => groupMark(value, groups[at]!.key)));

/** The values of a group that follow from its definition. Undefined for those of records. */
async function ownValues(
  { path, by }: GroupKey,
  present: readonly unknown[],
  turn: Turn,
): Promise<unknown[] | undefined> {
  const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
  if (by?.kind === 'bucket') return periodsBetween(present as readonly string[], by.unit, turn);
  if (by?.kind === 'part')
    return by.unit === 'HourOfDay' ? count(0, 23) : by.unit === 'Weekday' ? count(1, 7) : count(1, 12);
  if (by?.kind === 'ranges') return count(0, by.bounds.length);
  if (path.field.type === 'Boolean') return [false, true];
  return path.field.type === 'Enum' ? [...(path.field.enumValues ?? [])] : undefined;
}

/** Every period between the first and the last. */
async function periodsBetween(present: readonly string[], unit: PeriodUnit, turn: Turn): Promise<string[]> {
  const known = present.filter((period) => /^\d{4}-/.test(period));
  const sorted = await sortInTurns(known, (a, b) => (a < b ? -1 : Number(a > b)), turn);
  const periods: string[] = [];
  for (let at = sorted[0]; at !== undefined && at <= sorted.at(-1)!; at = shiftPeriod(at, unit, 1)) {
    if (periods.push(at) > GROUPS_LIMIT) failTooManyGroups('includeEmpty');
    const pause = turn();
    if (pause) await pause;
  }
  return periods;
}

/** The values of the field in every record of its collection that the caller may see. */
async function readValues(
  call: Call,
  view: CollectionView,
  { key, named, many }: ResolvedGroup,
  within: Restriction,
  plan: AggregatePlan,
): Promise<unknown[]> {
  const path = named ?? key.path;
  const home = path.via.at(-1)?.to ?? many?.relation.to ?? view.collection;
  const isOwn = path.via.length === 0 && !many;
  const homeView = isOwn ? view : view.forCollection(home);
  const scope = scopesOf(call);
  const planner = createPlanner(scope, rowsLimitOf(call.ops));
  const parameters = plan.group ? parameterTests(home, plan.group.where) : always;
  const own: Restriction = isOwn ? restrictFurther(within, parameters) : { where: always };
  const where = planCrossSource(home, and(scope(home), own.where), planner);
  const groupKey: GroupKey = { path: pathTo(home, [], path.field) };
  const query: AggregateQuery = {
    measures: [],
    groups: [{ column: path.field.name, field: path.field.name, key: groupKey }],
    having: always,
    order: [],
    includeEmpty: false,
    limit: GROUPS_LIMIT,
    skip: 0,
  };
  const planned = withRestrictedSource(planAggregate(homeView, query, where, [], planner), own);
  const found = planned.group ? await runGroup(call, planned, planned.group, homeView, scope) : [];
  if (found.length > GROUPS_LIMIT) failTooManyGroups('includeEmpty');
  return found.map(({ groups: [value] }) => value).filter((value) => value !== null);
}
