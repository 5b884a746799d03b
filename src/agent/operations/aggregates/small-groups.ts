// Minimum group sizes. Every call is answered from one table, whatever it asks: the records of each combination of the
// values of `by`. Cells of few records are joined to blocks of enough, first within the first dimensions. A figure that
// contains a part of a block is not shown. So all figures are sums over whole blocks, and no difference of figures, of
// one call or of many, is about fewer records.
import { fail } from '../../../core/errors.ts';
import type { Operator, PlainFilter } from '../../../core/filter.ts';
import { mapInTurns, sortInTurns, type Turn } from '../../../core/limit/in-turns.ts';
import { createTurns } from '../../../core/limit/turns.ts';
import { lowerFilter, type ScopeOf } from '../../lower/filter.ts';
import { always, and } from '../../lower/simplify.ts';
import type { MinGroupSize } from '../../model/types.ts';
import { type AggregatePlan, failTooManyGroups, GROUPS_LIMIT, planAggregate } from '../../plan/aggregate.ts';
import { planCrossSource } from '../../plan/cross-source.ts';
import { createPlanner } from '../../plan/read.ts';
import { pathsOf, visitTests } from '../../plan/residual.ts';
import type { Filter, GroupKey, Path } from '../../plan/types.ts';
import type { AggregateQuery } from '../../resolve/aggregate.ts';
import { type ResolvedGroup, resolveGroups } from '../../resolve/groups.ts';
import type { BaseMeasure } from '../../resolve/resolved-measures.ts';
import { type CollectionView, isOnlyAggregated } from '../../resolve/visibility.ts';
import { fieldPaths } from '../../sources/aggregate/expression.ts';
import { groupMark } from '../../sources/aggregate.ts';
import { evaluateFilter } from '../../sources/evaluate.ts';
import type { Figure, Tally } from '../../sources/statement.ts';
import { type Call, momentOf, type Restriction, rowsLimitOf, scopesOf } from '../call.ts';
import { lowerWhere, runGroup } from './run-group.ts';

/** What the request of a call has, besides groups and measures. */
interface Conditions {
  readonly filter?: PlainFilter | null;
  readonly search?: string;
  readonly segment?: string;
}

/** The checked request of a call that a minimum group size applies to. */
export interface SmallGroups {
  readonly size: number;
  /** Those of the table. */
  readonly dimensions: readonly ResolvedGroup[];
  /** The filter of the caller. */
  readonly where: Filter;
  /** For each base measure, its own condition. Undefined for a metric, whose condition is not in the table. */
  readonly measures: readonly { readonly measure: BaseMeasure; readonly where: Filter | undefined }[];
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Undefined if no minimum group size applies. Throws INVALID_ARGUMENT for what could single out a record. */
export async function checkSmallGroups(
  call: Call,
  view: CollectionView,
  request: Conditions,
  within: Restriction,
  query: AggregateQuery,
): Promise<SmallGroups | undefined> {
  const { collection, visibility } = view;
  const rule = collection.rules.minGroupSize;
  if (!rule || !visibility.isOfCaller) return undefined;
  const lowering = { view, moment: call.moment, code: call.code };
  const where = request.filter ? await lowerFilter(request.filter, lowering) : always;
  const bases = query.measures.filter((measure) => measure.kind === 'base');
  const measures = await Promise.all(
    bases.map(async (measure) => ({
      measure,
      where: measure.metric ? undefined : await lowerWhere(measure, lowering),
    })),
  );
  const wheres = [where, ...measures.flatMap((each) => each.where ?? [])];
  const paths = [
    ...query.groups.map(({ key }) => key.path),
    ...bases.flatMap(({ of }) => (of ? fieldPaths(of) : [])),
    ...wheres.flatMap(testedPaths),
  ] as readonly Path[];
  const isAggregated = ({ field }: Path) =>
    collection.fields.get(field.name) === field && isOnlyAggregated(collection, field.name);
  if (rule.fields && !paths.some(isAggregated)) return undefined;
  // Another timezone would move the edges of periods by some records.
  const moment = momentOf(call.ops, call.access, {});
  const isDated = query.groups.some(({ key: { by } }) => by && by.kind !== 'ranges' && by.offsets);
  if (isDated && call.moment.zone !== moment.zone)
    invalid('timezone', `${explain(rule)} Leave the timezone out: periods are those of ${moment.zone}.`);
  const allowed = resolveGroups(view.toInternal(collection), rule.by, moment);
  for (const measure of bases) checkMeasure(measure, rule);
  for (const group of query.groups) if (!allowed.some((each) => isSame(each, group))) failOnGroup(group, rule, allowed);
  for (const each of wheres) checkWhere(each, rule, allowed);
  if (request.search) invalid('search', `${explain(rule)} Send filters in place of search.`);
  if (request.segment !== undefined) invalid('segment', `${explain(rule)} Leave the segment out.`);
  // In place of a figure that is not shown, the next value would be wrong.
  const coalesce = query.measures.find((each) => each.kind === 'computed' && each.operator === 'coalesce');
  if (coalesce) invalid(`measures.${coalesce.name}`, `${explain(rule)} Leave coalesce out.`);
  if (query.includeEmpty) invalid('includeEmpty', `${explain(rule)} Leave includeEmpty out.`);
  if (within.where.op !== 'always')
    invalid('filter', `${explain(rule)} Figures of the records of one record are not shown.`);
  return { size: rule.size, dimensions: allowed, where, measures };
}

const explain = ({ size }: MinGroupSize): string => `figures of these fields are of at least ${size} records.`;

function testedPaths(filter: Filter): Path[] {
  const found: Path[] = [];
  visitTests(filter, (test) => found.push(...pathsOf(test)));
  return found;
}

const idOf = ({ path, by }: GroupKey): string => JSON.stringify([path.id, by ?? null]);
const isSame = (one: ResolvedGroup, other: ResolvedGroup): boolean =>
  !one.many && !other.many && idOf(one.key) === idOf(other.key);

/** An expression could select a record, and an extreme or a percentile is the value of one. */
function checkMeasure({ operation, of, metric, many, at }: BaseMeasure, rule: MinGroupSize): void {
  if (!['Count', 'CountDistinct', 'Sum', 'Avg'].includes(operation))
    invalid(at, `${explain(rule)} It shows the value of one. Send count, countDistinct, sum or avg.`);
  const isField = !of || (of.op === 'field' && of.path.via.length === 0);
  if (many || (!metric && !isField))
    invalid(at, `${explain(rule)} Send a field of this collection, not an expression or a path.`);
}

function failOnGroup({ column }: ResolvedGroup, rule: MinGroupSize, allowed: readonly ResolvedGroup[]): never {
  return invalid('groups', `${explain(rule)} They cannot be grouped by ${column}. ${listAllowed(allowed)}`);
}

function listAllowed(allowed: readonly ResolvedGroup[]): string {
  const names = allowed.map(({ column }) => column).join(', ');
  return names ? `Usable: ${names}.` : 'Send no groups and no filters.';
}

/** Equal values give one result. A pattern may tell texts apart that are one group. */
const comparisons: ReadonlySet<Operator> = new Set([
  ...(['Missing', 'Equal', 'NotEqual', 'In', 'NotIn'] as const),
  ...(['LessThan', 'GreaterThan', 'LessThanOrEqual', 'GreaterThanOrEqual'] as const),
]);

function checkWhere(filter: Filter, rule: MinGroupSize, allowed: readonly ResolvedGroup[]): void {
  switch (filter.op) {
    case 'always':
    case 'never':
      return;
    case 'not':
      checkWhere(filter.of, rule, allowed);
      return;
    case 'and':
    case 'or':
      for (const each of filter.of) checkWhere(each, rule, allowed);
      return;
    case 'test':
    case 'compare': {
      const plain = allowed.filter(({ key }) => !key.by);
      const other = pathsOf(filter).find((path) => !plain.some(({ key }) => key.path.id === path.id));
      const isPattern = filter.op === 'test' && !comparisons.has(filter.is);
      if (isPattern) invalid('filter', `${explain(rule)} Send Equal or In for ${filter.path.id}, not ${filter.is}.`);
      if (other) invalid('filter', `${explain(rule)} They cannot be filtered by ${other.id}. ${listAllowed(plain)}`);
      return;
    }
    default:
      invalid('filter', `${explain(rule)} They cannot be filtered by related records. ${listAllowed(allowed)}`);
  }
}

interface Cell {
  /** The marks of its values. */
  readonly values: readonly (string | null)[];
  /** The value at a path of a filter. */
  readonly valueAt: (path: { readonly id: string }) => unknown;
  /** The group of the answer that contains it. */
  readonly mark: string;
  /** The number of records; then for each measure that of its values, and of the records that its metric leaves out. */
  readonly counts: readonly (readonly number[])[];
}

/** The groups without those of few records, and without the figures of few values. `isWhole`: all are shown. */
export async function hideSmallGroups(
  call: Call,
  view: CollectionView,
  small: SmallGroups,
  plan: AggregatePlan,
  tallies: readonly Tally[],
): Promise<{ readonly tallies: Tally[]; readonly isWhole: boolean }> {
  const turn = createTurns();
  const { groups } = plan.query;
  const cells = await readCells(call, view, small, groups, turn);
  const markOf = (values: readonly unknown[]) => markOfGroup(values, groups);
  const partial: ReadonlySet<string>[] = [];
  // The records of a group, then the values of each measure.
  const wheres = [always, ...small.measures.map((each) => each.where ?? always)];
  for (const [index, where] of wheres.entries()) {
    const blocks = joinSmallCells(cells, index, small);
    // By block: how many of its cells each group of the answer contains.
    const parts = new Set<string>();
    await mapInTurns(blocks, turn, ({ cells: joined, isEnough }) => {
      const within = new Map<string, number>();
      for (const { valueAt, mark } of joined)
        if (evaluateFilter(small.where, valueAt) && evaluateFilter(where, valueAt))
          within.set(mark, (within.get(mark) ?? 0) + 1);
      for (const [mark, count] of within) if (!isEnough || count < joined.length) parts.add(mark);
    });
    partial.push(parts);
  }
  let isWhole = true;
  const shown = await mapInTurns(tallies, turn, ({ groups: values, figures }): Tally[] => {
    const mark = markOf(values);
    if (groups.length > 0 && partial[0]!.has(mark)) {
      isWhole = false;
      return [];
    }
    const kept = figures.map((figure, at): Figure => {
      const isHidden = partial[at + 1]!.has(mark);
      if (isHidden) isWhole = false;
      return isHidden ? null : figure;
    });
    return [{ groups: values, figures: kept }];
  });
  return { tallies: shown.flat(), isWhole };
}

const markOfGroup = (values: readonly unknown[], groups: readonly ResolvedGroup[]): string =>
  JSON.stringify(values.map((value, at) => groupMark(value, groups[at]!.key)));

/** The table of all records that the caller may see. */
async function readCells(
  call: Call,
  view: CollectionView,
  { dimensions, measures }: SmallGroups,
  groups: readonly ResolvedGroup[],
  turn: Turn,
): Promise<Cell[]> {
  const { collection } = view;
  const scope: ScopeOf = scopesOf(call);
  const planner = createPlanner(scope, rowsLimitOf(call.ops));
  const lowering = { view, moment: call.moment, code: call.code };
  const plainCount = {
    kind: 'base',
    name: '',
    isShown: true,
    decimals: 0,
    operation: 'Count',
    at: 'measures',
  } as const;
  const counted: BaseMeasure[] = [plainCount];
  // The condition of a metric is not among the dimensions, so the records with and without it are counted.
  for (const { measure } of measures) {
    const { of, metric, where } = measure;
    const own = metric && where ? { metric, where } : {};
    counted.push({ ...plainCount, ...own, ...(of && { of }) }, { ...plainCount, ...own });
  }
  const wheres = await Promise.all(
    counted.map(async (measure) =>
      measure.where ? planCrossSource(collection, await lowerWhere(measure, lowering), planner) : undefined,
    ),
  );
  const query: AggregateQuery = {
    ...{ measures: counted, groups: dimensions, having: always, order: [], includeEmpty: false },
    ...{ limit: GROUPS_LIMIT, skip: 0, readsAll: true },
  };
  const where = planCrossSource(collection, and(scope(collection)), planner);
  const plan = planAggregate(view, query, where, wheres, planner);
  const tallies = plan.group ? await runGroup(call, plan, plan.group, view, scope) : [];
  if (tallies.length > GROUPS_LIMIT) failTooManyGroups('groups');
  const places = new Map(dimensions.map(({ key }, at) => [idOf(key), at]));
  const cells = await mapInTurns(tallies, turn, ({ groups: values, figures }): Cell => {
    const numbers = figures.map(toCount);
    const [records = 0, ...more] = numbers;
    return {
      values: values.map((value, at) => groupMark(value, dimensions[at]!.key)),
      valueAt: ({ id }) => values[places.get(JSON.stringify([id, null]))!] ?? null,
      mark: markOfGroup(
        groups.map(({ key }) => values[places.get(idOf(key))!] ?? null),
        groups,
      ),
      counts: [[records], ...measures.map((_, at) => [more[2 * at]!, records - more[2 * at + 1]!])],
    };
  });
  // Equal calls must join equal blocks, in whatever order the database returns the cells.
  const marks = new Map(await mapInTurns(cells, turn, (cell) => [cell, JSON.stringify(cell.values)] as const));
  return sortInTurns(cells, (one, other) => (marks.get(one)! < marks.get(other)! ? -1 : 1), turn);
}

const toCount = (figure: Figure): number =>
  typeof figure === 'object' && figure !== null ? Number(figure.over.units) : 0;

interface Block {
  readonly cells: readonly Cell[];
  /** False if all records together are too few. */
  readonly isEnough: boolean;
}

/** The blocks of a measure: cells with enough records, or no record, together. */
function joinSmallCells(cells: readonly Cell[], index: number, { size, dimensions }: SmallGroups): readonly Block[] {
  const countsOf = (cell: Cell) => cell.counts[index]!;
  const isEnough = (joined: readonly Cell[]): boolean => {
    const sums = countsOf(joined[0]!).map((_, at) => joined.reduce((sum, cell) => sum + countsOf(cell)[at]!, 0));
    return sums.every((sum) => sum === 0 || sum >= size);
  };
  const sizeOf = (joined: readonly Cell[]) => joined.reduce((sum, cell) => sum + countsOf(cell)[0]!, 0);
  /** `rest`: cells that are too few within these. */
  const join = (all: readonly Cell[], depth: number): { readonly blocks: Cell[][]; readonly rest: Cell[] } => {
    if (depth === dimensions.length)
      return isEnough(all) ? { blocks: [[...all]], rest: [] } : { blocks: [], rest: [...all] };
    const byValue = new Map<string | null, Cell[]>();
    for (const cell of all) {
      const same = byValue.get(cell.values[depth]!);
      if (same) same.push(cell);
      else byValue.set(cell.values[depth]!, [cell]);
    }
    const parts = [...byValue.values()].map((same) => join(same, depth + 1));
    const blocks = parts.flatMap((part) => part.blocks).sort((a, b) => sizeOf(b) - sizeOf(a));
    const rest = parts.flatMap((part) => part.rest);
    while (rest.length > 0 && !isEnough(rest) && blocks.length > 0) rest.push(...blocks.pop()!);
    return rest.length > 0 && isEnough(rest) ? { blocks: [...blocks, rest], rest: [] } : { blocks, rest };
  };
  const counted = cells.filter((cell) => countsOf(cell).some((count) => count > 0));
  if (counted.length === 0) return [];
  const { blocks, rest } = join(counted, 0);
  return [
    ...blocks.map((joined): Block => ({ cells: joined, isEnough: true })),
    ...(rest.length > 0 ? [{ cells: rest, isEnough: false }] : []),
  ];
}
