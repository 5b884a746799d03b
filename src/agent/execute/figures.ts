// Turns the groups of a source into the rows of an answer: measures derived from others, conditions on figures, the
// order and the page. All of it is exact: numbers are rounded when they are shown.
import { mapInTurns, sortInTurns, type Turn } from '../../core/limit/in-turns.ts';
import { createTurns } from '../../core/limit/turns.ts';
import { type AggregatePlan, failTooManyGroups, GROUPS_LIMIT } from '../plan/aggregate.ts';
import { isDateGroup } from '../resolve/groups.ts';
import { figureColumn } from '../resolve/having.ts';
import {
  type ComputedMeasure,
  type ExpressionMeasure,
  isRunning,
  type MeasureOperator,
  type PreviousMeasure,
  type ResolvedMeasure,
  type WindowMeasure,
} from '../resolve/resolved-measures.ts';
import { comparedColumn, evaluateExpression, fieldPaths } from '../sources/aggregate/expression.ts';
import { shiftPeriod } from '../sources/aggregate/local-time.ts';
import { compareFigures, compareGroups, groupMark, toFigure } from '../sources/aggregate.ts';
import { evaluateFilter } from '../sources/evaluate.ts';
import type { Figure, GroupKey, Row, Tally } from '../sources/statement.ts';
import {
  addFractions,
  divideFractions,
  formatDecimal,
  multiplyFractions,
  rootOfFraction,
  roundFraction,
  roundToDigits,
  toFraction,
  usedDecimals,
} from '../sources/values/decimal.ts';

interface FinishedGroups {
  /** The groups, then the shown measures. */
  readonly rows: Row[];
  /** The number of groups that each row stands for. */
  readonly counts: readonly number[];
  readonly hasMore: boolean;
}

/** A group with the figures of all measures. */
type Group = Tally;

/** The page of the answer. Throws INVALID_ARGUMENT for more groups than the process sorts. */
export async function finishGroups(plan: AggregatePlan, tallies: readonly Tally[]): Promise<FinishedGroups> {
  const { query, isPaged } = plan;
  if (!isPaged && tallies.length > GROUPS_LIMIT) failTooManyGroups('groups');
  const turn = createTurns();
  if (plan.group?.hidesFigures) return showPage(plan, tallies, 0);
  const all = await deriveFigures(plan, tallies, turn);
  if (isPaged) return showPage(plan, all, 0);
  const satisfied = await mapInTurns(
    all,
    turn,
    (group) => query.having.op === 'always' || satisfiesHaving(plan, group),
  );
  const kept = all.filter((_, row) => satisfied[row]);
  const sorted = await sortInTurns(kept, (a, b) => compareRows(plan, a, b), turn);
  return showPage(plan, query.top ? await topOf(sorted, query, query.top, turn) : sorted, query.skip);
}

/** The first groups for each combination of the groups in `per`, in order. */
async function topOf(
  groups: readonly Group[],
  query: AggregatePlan['query'],
  { n, per }: NonNullable<AggregatePlan['query']['top']>,
  turn: Turn,
): Promise<Group[]> {
  const counts = new Map<string, number>();
  const places = await mapInTurns(groups, turn, (group) => {
    const mark = markWithin(query, per, group);
    const count = (counts.get(mark) ?? 0) + 1;
    counts.set(mark, count);
    return count;
  });
  return groups.filter((_, row) => places[row]! <= n);
}

function showPage({ query }: AggregatePlan, groups: readonly Group[], skip: number): FinishedGroups {
  const { measures, limit } = query;
  const page = groups.slice(skip, skip + limit);
  return {
    rows: page.map((group) => [
      ...group.groups.map((value, at) => showGroup(value, query.groups[at]!.key)),
      ...measures.flatMap((measure, at) =>
        measure.isShown && !query.hidesFigures ? [showFigure(group.figures[at]!, measure)] : [],
      ),
    ]),
    counts: page.map(({ count = 1 }) => count),
    hasMore: groups.length > skip + limit,
  };
}

function compareRows({ query }: AggregatePlan, a: Group, b: Group): number {
  for (const { by, index, ascending } of query.order) {
    const difference =
      by === 'group'
        ? compareGroups(a.groups[index], b.groups[index], query.groups[index]!.key)
        : compareFigures(a.figures[index]!, b.figures[index]!, figureColumn(query.measures[index]!, query.measures));
    if (difference !== 0) return ascending ? difference : -difference;
  }
  return 0;
}

function satisfiesHaving({ query }: AggregatePlan, { figures }: Group): boolean {
  return evaluateFilter(query.having, ({ id }) => showFigure(figures[Number(id)]!, query.measures[Number(id)]!));
}

type ColumnAt = (index: number) => Promise<readonly Figure[]>;

/** The figures of all measures, derived ones included. */
async function deriveFigures(plan: AggregatePlan, tallies: readonly Tally[], turn: Turn): Promise<Group[]> {
  const { measures } = plan.query;
  const columns: (readonly Figure[])[] = [];
  const columnAt: ColumnAt = async (index) => {
    columns[index] ??= await derive(measures[index]!, index);
    await turn();
    return columns[index];
  };
  const derive = async (measure: ResolvedMeasure, index: number): Promise<readonly Figure[]> => {
    switch (measure.kind) {
      case 'base':
        return mapInTurns(tallies, turn, ({ figures }) => figures[plan.figures[index]!]!);
      case 'constant':
        return mapInTurns(tallies, turn, () => toFraction(measure.value));
      case 'computed':
        return compute(measure, columnAt, turn);
      case 'expression':
        return evaluateMeasure(measure, measures, columnAt, turn);
      case 'rank': {
        const column = await columnAt(measure.of);
        const compare = (a: number, b: number) =>
          compareFigures(column[b]!, column[a]!, figureColumn(measures[measure.of]!, measures));
        return ranks(column, compare, await marksOf(measure), turn);
      }
      case 'share':
        return shares(await columnAt(measure.of), await marksOf(measure), turn);
      case 'previous':
        return previousFigures(plan, measure, tallies, await columnAt(measure.of), turn);
      case 'running':
      case 'movingAverage':
        return runningTotals(plan, measure, tallies, columnAt, turn);
    }
  };
  const marksOf = ({ per }: WindowMeasure) => mapInTurns(tallies, turn, (tally) => markWithin(plan.query, per, tally));
  for (const index of measures.keys()) await columnAt(index);
  return mapInTurns(tallies, turn, (tally, row) => ({ ...tally, figures: columns.map((column) => column[row]!) }));
}

async function evaluateMeasure(
  { of }: ExpressionMeasure,
  measures: readonly ResolvedMeasure[],
  columnAt: ColumnAt,
  turn: Turn,
): Promise<Figure[]> {
  const used = [...new Set(fieldPaths(of).map(({ id }) => Number(id)))];
  const columns = new Map<number, readonly Figure[]>();
  for (const index of used) columns.set(index, await columnAt(index));
  const rows = [...(columns.values().next().value ?? []).keys()];
  return mapInTurns(rows, turn, (row) => {
    const value = evaluateExpression(of, ({ id }) => showFigure(columns.get(Number(id))![row]!, measures[Number(id)]!));
    return toFigure(value, comparedColumn(of));
  });
}

async function compute({ operator, of }: ComputedMeasure, columnAt: ColumnAt, turn: Turn): Promise<Figure[]> {
  const [first = 0, ...others] = of;
  let found = await mapInTurns(await columnAt(first), turn, (figure) => changeFigure(operator, figure));
  for (const index of others) {
    const column = await columnAt(index);
    found = await mapInTurns(found, turn, (figure, row) => combineFigures(operator, figure, column[row]!));
  }
  return found;
}

function changeFigure(operator: MeasureOperator, figure: Figure): Figure {
  if (figure === null || (operator !== 'abs' && operator !== 'round' && operator !== 'sqrt')) return figure;
  if (operator === 'sqrt')
    return typeof figure === 'object' ? rootOfFraction(figure) : figure === '-Infinity' ? null : figure;
  if (typeof figure !== 'object') return operator === 'abs' ? String(figure).replace('-', '') : figure;
  if (operator === 'round') return toFraction(roundFraction(figure, 0));
  return figure.over.units < 0n ? negative(figure) : figure;
}

const minusOne = toFraction({ units: -1n, scale: 0 });

function combineFigures(operator: MeasureOperator, a: Figure, b: Figure): Figure {
  if (operator === 'coalesce') return a ?? b;
  if (operator === 'dividedBy') return divideFigures(a, b);
  if (a === null || b === null) return null;
  if (operator !== 'times') return addFigures(a, operator === 'minus' ? negative(b) : b);
  return typeof a === 'object' && typeof b === 'object' ? multiplyFractions(a, b) : 'NaN';
}

function negative(figure: NonNullable<Figure>): Figure {
  if (typeof figure === 'object') return multiplyFractions(figure, minusOne);
  return figure === 'NaN' ? figure : figure === 'Infinity' ? '-Infinity' : 'Infinity';
}

/** 1 for the largest; equal figures have one rank, and the next one counts them all. Null has none. */
async function ranks(
  column: readonly Figure[],
  compare: (a: number, b: number) => number,
  marks: readonly string[],
  turn: Turn,
): Promise<Figure[]> {
  const rows = await sortInTurns([...column.keys()], compare, turn);
  const found: Figure[] = [];
  const latest = new Map<string, { readonly row: number; readonly rank: number; readonly count: number }>();
  await mapInTurns(rows, turn, (row) => {
    const before = latest.get(marks[row]!);
    const count = (before?.count ?? 0) + 1;
    const rank = before && compare(before.row, row) === 0 ? before.rank : count;
    latest.set(marks[row]!, { row, rank, count });
    found[row] = column[row] === null ? null : toFraction({ units: BigInt(rank), scale: 0 });
  });
  return found;
}

function divideFigures(a: Figure, b: Figure): Figure {
  if (a === null || b === null) return null;
  if (typeof a === 'object' && typeof b === 'object') return divideFractions(a, b) ?? null;
  return 'NaN';
}

async function shares(column: readonly Figure[], marks: readonly string[], turn: Turn): Promise<Figure[]> {
  const totals = new Map<string, Figure>();
  await mapInTurns(column, turn, (figure, row) => {
    totals.set(marks[row]!, addFigures(totals.get(marks[row]!) ?? null, figure));
  });
  return mapInTurns(column, turn, (figure, row) => divideFigures(figure, totals.get(marks[row]!)!));
}

/** Null is no addend. */
function addFigures(a: Figure, b: Figure): Figure {
  if (a === null || b === null) return a ?? b;
  if (typeof a === 'object' && typeof b === 'object') return addFractions(a, b);
  return a === b || typeof b === 'object' ? a : typeof a === 'object' ? b : 'NaN';
}

/**
 * Along the date of the groups, separately for each combination of the other groups. Without a date, along the order of
 * the answer, in which a running total counts as the measure that it adds up. A moving average takes the last groups.
 */
async function runningTotals(
  { query }: AggregatePlan,
  { kind, of, last }: WindowMeasure,
  tallies: readonly Tally[],
  columnAt: ColumnAt,
  turn: Turn,
): Promise<Figure[]> {
  const along = query.groups.findIndex(isDateGroup);
  const column = await columnAt(of);
  const others = await Promise.all(
    (along >= 0 ? [] : query.order).map(({ by, index }) => {
      const measure = query.measures[index]!;
      return by === 'measure' ? columnAt(isRunning(measure) ? measure.of : index) : [];
    }),
  );
  const compareAt = (index: number, a: number, b: number) =>
    compareGroups(tallies[a]!.groups[index], tallies[b]!.groups[index], query.groups[index]!.key);
  const compareInOrder = (a: number, b: number): number => {
    for (const [at, { by, index, ascending }] of query.order.entries()) {
      const measure = query.measures[index]!;
      const other = others[at]!;
      const difference =
        by === 'group'
          ? compareAt(index, a, b)
          : compareFigures(other[a]!, other[b]!, figureColumn(measure, query.measures));
      if (difference !== 0) return ascending ? difference : -difference;
    }
    return 0;
  };
  const compare = along >= 0 ? (a: number, b: number) => compareAt(along, a, b) : compareInOrder;
  const rows = await sortInTurns([...tallies.keys()], compare, turn);
  const lists = new Map<string, number[]>();
  await mapInTurns(rows, turn, (row) => {
    const mark = along < 0 ? '' : markOfGroups(query.groups, tallies[row]!.groups.with(along, null));
    const list = lists.get(mark);
    if (list) list.push(row);
    else lists.set(mark, [row]);
  });
  const running: Figure[] = [];
  for (const list of lists.values()) {
    const figures = list.map((row) => column[row]!);
    for (const [at, { sum, count }] of (await totalsOf(figures, last ?? list.length, turn)).entries())
      running[list[at]!] = kind === 'movingAverage' ? averageOf(sum, count) : sum;
  }
  return running;
}

/** Nulls do not count. */
interface Total {
  readonly sum: Figure;
  readonly count: number;
}

const joinTotals = (a: Total, b: Total): Total => ({ sum: addFigures(a.sum, b.sum), count: a.count + b.count });

/** Of the last `most` figures up to each one. */
async function totalsOf(figures: readonly Figure[], most: number, turn: Turn): Promise<Total[]> {
  const ones = figures.map((sum): Total => ({ sum, count: Number(sum !== null) }));
  // Totals from the start and to the end of each block of `most` figures. Two of them join to each wanted total without
  // a subtraction, which cannot undo NaN.
  const [from, to]: [Total[], Total[]] = [[], []];
  await mapInTurns(ones, turn, (one, at) => from.push(at % most === 0 ? one : joinTotals(from[at - 1]!, one)));
  if (most >= ones.length) return from;
  await mapInTurns(ones.toReversed(), turn, (one, back) => {
    const at = ones.length - 1 - back;
    to[at] = (at + 1) % most === 0 || back === 0 ? one : joinTotals(one, to[at + 1]!);
  });
  return mapInTurns(from, turn, (total, at) => {
    const start = at - most + 1;
    return start <= 0 || start % most === 0 ? total : joinTotals(to[start]!, total);
  });
}

const averageOf = (sum: Figure, count: number): Figure =>
  typeof sum === 'object' ? divideFigures(sum, toFraction({ units: BigInt(count), scale: 0 })) : sum;

/** Equal for equal groups: 'Green' and 'green' are one where the database compares so. */
const markOfGroups = (groups: AggregatePlan['query']['groups'], values: readonly unknown[]): string =>
  JSON.stringify(values.map((value, at) => groupMark(value, groups[at]!.key)));

/** Equal for groups with the same values of those in `per`. */
function markWithin(
  { groups }: AggregatePlan['query'],
  per: readonly number[],
  { groups: values }: Pick<Tally, 'groups'>,
): string {
  return markOfGroups(
    per.map((at) => groups[at]!),
    per.map((at) => values[at]),
  );
}

/** Null where no group has the same values in the earlier period. */
async function previousFigures(
  { query }: AggregatePlan,
  { periods }: PreviousMeasure,
  tallies: readonly Tally[],
  column: readonly Figure[],
  turn: Turn,
): Promise<Figure[]> {
  const at = query.groups.findIndex(({ key }) => key.by?.kind === 'bucket');
  const { by } = query.groups[at]!.key;
  const unit = by?.kind === 'bucket' ? by.unit : 'Day';
  const markOf = ({ groups }: Tally, period: unknown) => markOfGroups(query.groups, groups.with(at, period));
  const rows = new Map(
    await mapInTurns(tallies, turn, (tally, row) => [markOf(tally, tally.groups[at]), row] as const),
  );
  return mapInTurns(tallies, turn, (tally) => {
    const earlier = shiftPeriod(tally.groups[at], unit, -periods);
    const row = earlier === undefined ? undefined : rows.get(markOf(tally, earlier));
    return row === undefined ? null : column[row]!;
  });
}

/** A range by its bounds, with an open end at the sides: `..0`, `0..10`, `10..`. */
function showGroup(value: unknown, { by }: GroupKey): unknown {
  if (by?.kind !== 'ranges' || value === null) return value;
  const index = Number(value);
  return `${by.bounds[index - 1] ?? ''}..${by.bounds[index] ?? ''}`;
}

/** As the answer shows it: numbers that are not decimals are rounded. */
function showFigure(figure: Figure, measure: ResolvedMeasure): unknown {
  if (figure === null || typeof figure !== 'object') return figure;
  if (measure.decimals === 'digits') return formatDecimal(roundToDigits(figure));
  if (figure.under === 1n) return formatDecimal(figure.over);
  // A database may keep more decimals than it declares.
  const kept = measure.kind === 'base' || measure.kind === 'previous' ? usedDecimals(figure.over) + 10 : 0;
  return formatDecimal(roundFraction(figure, Math.max(measure.decimals, kept)));
}
