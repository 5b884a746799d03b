// Defines aggregates on canonical values (source.ts). The memory source uses this directly; the SQL sources must give
// the same results.

import { mapInTurns, sortInTurns, type Turn } from '../../core/limit/in-turns.ts';
import { createTurns } from '../../core/limit/turns.ts';
import { comparedColumn, evaluateExpression } from './aggregate/expression.ts';
import { bucketOf, partOf } from './aggregate/local-time.ts';
import { compareNullable, compareValues, equalityKey } from './evaluate.ts';
import type {
  CountBound,
  Figure,
  Filter,
  GroupKey,
  GroupSelect,
  Measure,
  Path,
  RelatedRows,
  SourceColumn,
  Tally,
} from './statement.ts';
import {
  addDecimals,
  addNotFinite,
  compareDecimals,
  compareFractions,
  type Decimal,
  type Fraction,
  multiplyDecimals,
  readDecimal,
  subtractDecimals,
  toFraction,
  zero,
} from './values/decimal.ts';

/** A record to aggregate. */
interface AggregatedRecord {
  /** The value at a path, or null. */
  value(path: Path): unknown;
  satisfies(where: Filter): boolean;
  /** The number of equal records that it stands for. Default 1. */
  readonly count?: number;
  /** The rows of a to-many relation. Absent if neither groups nor measures have one. */
  related?(rows: RelatedRows): readonly Pick<AggregatedRecord, 'value'>[];
}

/** A value that is not null, and the number of times that it counts. */
type Counted = readonly [value: unknown, count: number];

type Grouping = Omit<GroupSelect, 'table' | 'joins' | 'where'>;

/** Other calls can interrupt it. */
export async function aggregateRecords(records: Iterable<AggregatedRecord>, group: Grouping): Promise<Tally[]> {
  const turn = createTurns();
  const found = new Map<string, { keys: unknown[]; values: Counted[][] }>();
  const addGroup = (mark: string, keys: unknown[]) => {
    const entry = { keys, values: group.measures.map((): Counted[] => []) };
    found.set(mark, entry);
    return entry;
  };
  await mapInTurns(records, turn, (record) => {
    const values = group.measures.map(({ of, where, related }) => {
      if (where && !record.satisfies(where)) return [];
      const rows = related ? record.related!(related) : [record];
      return rows.map((row) => (of ? evaluateExpression(of, (path) => row.value(path)) : 1));
    });
    for (const [mark, keys] of groupsOf(record, group.groups)) {
      const entry = found.get(mark) ?? addGroup(mark, keys);
      for (const [at, key] of keys.entries()) if (isLower(key, entry.keys[at])) entry.keys[at] = key;
      for (const [at, own] of values.entries())
        for (const value of own) if (value !== null) entry.values[at]!.push([value, record.count ?? 1]);
    }
  });
  if (group.groups.length === 0 && found.size === 0) addGroup('', []);
  const tallies: Tally[] = [];
  for (const { keys, values } of found.values()) {
    const figures: Figure[] = [];
    for (const [at, measure] of group.measures.entries()) figures.push(await figureOf(measure, values[at]!, turn));
    if (meetsBounds(figures, group.bounds)) tallies.push({ groups: keys, figures });
  }
  return pageTallies(tallies, group, turn);
}

function meetsBounds(figures: readonly Figure[], bounds: readonly CountBound[] = []): boolean {
  return bounds.every(({ measure, is, value }) => {
    const order = compareFractions(figures[measure] as Fraction, toFraction({ units: BigInt(value), scale: 0 }));
    if (is === 'Equal') return order === 0;
    return (order < 0 ? /^Less/ : order > 0 ? /^Greater/ : /OrEqual$/).test(is);
  });
}

/** The groups of a record, by their marks. Several with groups through to-many relations. */
function groupsOf(record: AggregatedRecord, groups: readonly GroupKey[]): Map<string, unknown[]> {
  const relations = new Map(groups.flatMap(({ related }) => (related ? [[related.id, related]] : [])));
  let choices: ReadonlyMap<string, Pick<AggregatedRecord, 'value'>>[] = [new Map()];
  for (const [id, related] of relations) {
    const rows = record.related!(related);
    if (rows.length > 0) choices = choices.flatMap((choice) => rows.map((row) => new Map([...choice, [id, row]])));
  }
  const found = new Map<string, unknown[]>();
  for (const choice of choices) {
    const keys = groups.map((key) => {
      const row = key.related ? choice.get(key.related.id) : record;
      return keyOf(row ? row.value(key.path) : null, key);
    });
    const mark = JSON.stringify(keys.map((key, at) => groupMark(key, groups[at]!)));
    const known = found.get(mark);
    if (!known) found.set(mark, keys);
    else for (const [at, key] of keys.entries()) if (isLower(key, known[at])) known[at] = key;
  }
  return found;
}

function keyOf(value: unknown, { by }: GroupKey): unknown {
  if (!by || value === null) return value;
  if (by.kind === 'bucket') return bucketOf(String(value), by);
  if (by.kind === 'part') return partOf(String(value), by);
  const number = readDecimal(value);
  if (!number) return value === 'NaN' || value === 'Infinity' ? by.bounds.length : 0;
  return by.bounds.filter((bound) => compareDecimals(readDecimal(bound)!, number) <= 0).length;
}

/** Equal for equal groups. */
export function groupMark(key: unknown, { path, by }: GroupKey): string | null {
  if (key === null) return null;
  return by ? String(key) : equalityKey(key, path.field);
}

/** Equal texts in a group may differ in their bytes. The lowest one represents the group. */
function isLower(key: unknown, known: unknown): boolean {
  return (
    typeof key === 'string' &&
    typeof known === 'string' &&
    key !== known &&
    Buffer.compare(Buffer.from(key), Buffer.from(known)) < 0
  );
}

const ofCount = (count: number): Fraction => toFraction({ units: BigInt(count), scale: 0 });

const countAll = (counted: readonly Counted[]): number => counted.reduce((total, [, count]) => total + count, 0);

const times = (number: Decimal, count: number): Decimal =>
  count === 1 ? number : multiplyDecimals(number, { units: BigInt(count), scale: 0 });

async function figureOf(measure: Measure, counted: readonly Counted[], turn: Turn): Promise<Figure> {
  const pause = turn();
  if (pause) await pause;
  const { operation, of } = measure;
  const values = counted.map(([value]) => value);
  switch (operation) {
    case 'Count':
      return ofCount(countAll(counted));
    case 'CountDistinct': {
      const column = comparedColumn(of!);
      return ofCount(new Set(values.map((value) => equalityKey(value, column))).size);
    }
    case 'Sum':
    case 'Avg': {
      const special = addNotFinite(values);
      if (special !== undefined) return special;
      const numbers = counted.flatMap(([value, count]) => {
        const number = readDecimal(value);
        return number ? [[number, count] as const] : [];
      });
      const sum = numbers.reduce((total, [number, count]) => addDecimals(total, times(number, count)), zero);
      return sumFigure(measure, sum, countAll(numbers));
    }
    case 'Percentile': {
      const compare = ([a]: Counted, [b]: Counted) => compareValues(a, b, numbers);
      return percentileOf(await sortInTurns(counted, compare, turn), measure.fraction!);
    }
    default: {
      const column = comparedColumn(of!);
      const sign = operation === 'Max' ? 1 : -1;
      const pick = (best: unknown, value: unknown): unknown =>
        best === null || compareValues(value, best, column) * sign > 0 ? value : best;
      return toFigure(values.reduce(pick, null), column);
    }
  }
}

/** `count` is the number of summed values; Sum and Avg of 0 values are null. */
export function sumFigure({ operation }: Pick<Measure, 'operation'>, sum: Decimal | undefined, count: number): Figure {
  if (count === 0 || !sum) return null;
  return operation === 'Sum' ? toFraction(sum) : { over: sum, under: BigInt(count) };
}

/** A canonical value as a figure. */
export function toFigure(value: unknown, { type }: Pick<SourceColumn, 'type'>): Figure {
  const number = type === 'Number' && value !== null ? readDecimal(value) : undefined;
  return number ? toFraction(number) : (value as Figure);
}

function percentileOf(sorted: readonly Counted[], fraction: Decimal): Figure {
  if (sorted.length === 0) return null;
  const { index, rest } = positionOf(fraction, countAll(sorted));
  const [low, high] = [valueAt(sorted, index), valueAt(sorted, index + 1)];
  const [from, to] = [readDecimal(low), readDecimal(high)];
  return from && to ? interpolate(from, to, rest) : String(rest.units === 0n ? low : high);
}

/** The last one if there are fewer. */
function valueAt(sorted: readonly Counted[], index: number): unknown {
  let left = index;
  for (const [value, count] of sorted) {
    if (left < count) return value;
    left -= count;
  }
  return sorted.at(-1)![0];
}

const numbers = { type: 'Number', collation: 'binary' } as const;

/** The position of a percentile in sorted values: the index of the lower value, and the part of the way to the next. */
export function positionOf(
  { units, scale }: Decimal,
  count: number,
): { readonly index: number; readonly rest: Decimal } {
  const all = units * BigInt(count - 1);
  const one = 10n ** BigInt(scale);
  return { index: Number(all / one), rest: { units: all % one, scale } };
}

export function interpolate(from: Decimal, to: Decimal, rest: Decimal): Figure {
  return toFraction(addDecimals(from, multiplyDecimals(subtractDecimals(to, from), rest)));
}

/** Sorts by the statement's order, then applies its skip and limit. */
export async function pageTallies(
  tallies: readonly Tally[],
  { measures, groups, order, limit, skip = 0 }: Pick<Grouping, 'measures' | 'groups' | 'order' | 'limit' | 'skip'>,
  turn: Turn,
): Promise<Tally[]> {
  const columns = measures.map(({ of }) => (of ? comparedColumn(of) : numbers));
  const compare = (a: Tally, b: Tally): number => {
    for (const { by, index, ascending } of order) {
      const difference =
        by === 'measure'
          ? compareFigures(a.figures[index]!, b.figures[index]!, columns[index]!)
          : compareGroups(a.groups[index], b.groups[index], groups[index]!);
      if (difference !== 0) return ascending ? difference : -difference;
    }
    return 0;
  };
  const sorted = await sortInTurns(tallies, compare, turn);
  return limit === undefined ? sorted : sorted.slice(skip, skip + limit);
}

/** Nulls come first. */
export function compareFigures(a: Figure, b: Figure, column: Pick<SourceColumn, 'type' | 'collation'>): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (typeof a === 'object' && typeof b === 'object') return compareFractions(a, b);
  if (column.type !== 'Number') return compareValues(a, b, column);
  // NaN and infinity, next to numbers.
  const rank = (figure: Figure) => (typeof figure === 'object' ? 0 : figure);
  return compareValues(rank(a), rank(b), column);
}

/** Nulls come first. */
export function compareGroups(a: unknown, b: unknown, { path, by }: GroupKey): number {
  if (!by || a === null || b === null) return compareNullable(a, b, path.field);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return a === b ? 0 : String(a) < String(b) ? -1 : 1;
}
