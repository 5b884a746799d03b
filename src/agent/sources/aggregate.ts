// Defines aggregates on canonical values (source.ts). The memory source uses this directly; the SQL sources must give
// the same results.

import {
  addDecimals,
  addNotFinite,
  compareDecimals,
  type Decimal,
  divideDecimal,
  formatDecimal,
  readDecimal,
  unitsAt,
  zero,
} from './decimal.ts';
import { compareNullable, compareValues, equalityKey } from './evaluate.ts';
import type { Bucket, BucketUnit, GroupSelect, Path, Row, ZoneOffsets } from './statement.ts';

/** One group with its exact value: groups are ordered before rounding. */
export interface Tally {
  readonly row: Row;
  /** The exact value is `over` divided by `under`. Absent for Max, Min and groups without a value. */
  readonly exact?: { readonly over: Decimal; readonly under: bigint };
}

/** `valueAt` returns the value of a record at a path, or null. */
export function aggregateRecords(
  records: Iterable<(path: Path) => unknown>,
  group: Omit<GroupSelect, 'table' | 'joins' | 'where'>,
): Row[] {
  const found = new Map<string, { keys: unknown[]; values: unknown[] }>();
  for (const valueAt of records) {
    const keys = group.groups.map(({ path, bucket }) => keyOf(valueAt(path), bucket));
    const mark = JSON.stringify(keys.map((key, at) => groupKeyMark(key, group, at)));
    let entry = found.get(mark);
    if (!entry) {
      entry = { keys, values: [] };
      found.set(mark, entry);
    }
    for (const [at, key] of keys.entries()) if (isLower(key, entry.keys[at])) entry.keys[at] = key;
    const value = group.value ? valueAt(group.value) : 1;
    if (value !== null) entry.values.push(value);
  }
  if (group.groups.length === 0 && found.size === 0) found.set('', { keys: [], values: [] });
  return sortTallies(
    [...found.values()].map(({ keys, values }) => tally(keys, values, group)),
    group,
  );
}

function keyOf(value: unknown, bucket: Bucket | undefined): unknown {
  return bucket && value !== null ? bucketOf(String(value), bucket) : value;
}

function groupKeyMark(key: unknown, { groups }: Pick<GroupSelect, 'groups'>, at: number): string | null {
  const { path, bucket } = groups[at]!;
  if (key === null) return null;
  return bucket ? String(key) : equalityKey(key, path.field);
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

type Measured = Pick<GroupSelect, 'operation' | 'value'>;

function tally(keys: readonly unknown[], values: readonly unknown[], group: Measured): Tally {
  switch (group.operation) {
    case 'Count':
      return countTally(keys, values.length);
    case 'Sum':
    case 'Avg': {
      const special = addNotFinite(values);
      if (special !== undefined) return { row: [special, ...keys] };
      const numbers = values.flatMap((value) => readDecimal(value) ?? []);
      return sumTally(keys, numbers.reduce(addDecimals, zero), numbers.length, group);
    }
    default: {
      const { field } = group.value!;
      const sign = group.operation === 'Max' ? 1 : -1;
      const pick = (best: unknown, value: unknown): unknown =>
        best === null || compareValues(value, best, field) * sign > 0 ? value : best;
      return { row: [values.reduce(pick, null), ...keys] };
    }
  }
}

function countTally(keys: readonly unknown[], count: number): Tally {
  return { row: [count, ...keys], exact: { over: { units: BigInt(count), scale: 0 }, under: 1n } };
}

/** `count` is the number of summed values; Sum and Avg of 0 values are null. */
export function sumTally(
  keys: readonly unknown[],
  sum: Decimal | undefined,
  count: number,
  { operation }: Measured,
): Tally {
  if (count === 0 || !sum) return { row: [null, ...keys] };
  if (operation === 'Sum') return { row: [formatDecimal(sum), ...keys], exact: { over: sum, under: 1n } };
  const under = BigInt(count);
  return { row: [formatDecimal(divideDecimal(sum, under)), ...keys], exact: { over: sum, under } };
}

/** Sorts by the statement's order, then applies its skip and limit. */
export function sortTallies(
  tallies: Tally[],
  group: Pick<GroupSelect, keyof Measured | 'groups' | 'order' | 'limit' | 'skip'>,
): Row[] {
  const { groups, order, value, limit, skip = 0 } = group;
  tallies.sort((a, b) => {
    for (const { by, ascending } of order) {
      const difference = by === 'value' ? compareTallies(a, b, value) : compareKeys(a.row[by + 1], b.row[by + 1], by);
      if (difference !== 0) return ascending ? difference : -difference;
    }
    return 0;
  });
  return (limit === undefined ? tallies : tallies.slice(skip, skip + limit)).map(({ row }) => row);

  function compareKeys(a: unknown, b: unknown, at: number): number {
    const { path, bucket } = groups[at]!;
    if (!bucket || a === null || b === null) return compareNullable(a, b, path.field);
    return a === b ? 0 : String(a) < String(b) ? -1 : 1;
  }
}

function compareTallies(a: Tally, b: Tally, value: Path | undefined): number {
  if (!a.exact || !b.exact) {
    if (a.row[0] === null || b.row[0] === null) return Number(a.row[0] !== null) - Number(b.row[0] !== null);
    return compareValues(a.row[0], b.row[0], value!.field);
  }
  if (a.exact.under === b.exact.under) return compareDecimals(a.exact.over, b.exact.over);
  const scale = Math.max(a.exact.over.scale, b.exact.over.scale);
  const left = unitsAt(a.exact.over, scale) * b.exact.under;
  const right = unitsAt(b.exact.over, scale) * a.exact.under;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The first day of the period of a Date or Dateonly; null outside the years 1 to 9999. */
export function bucketOf(value: string, { unit, offsets }: Bucket): string | null {
  if (value === 'infinity' || value === '-infinity') return value;
  // A local time that the clock skipped is not an instant. Its day is the one in its text.
  if (offsets && !value.endsWith('Z')) return bucketOf(value.slice(0, 10), { unit });
  const time = offsets ? Date.parse(value) + offsetAt(value, offsets) * 1000 : Date.parse(`${value}T00:00:00Z`);
  const day = new Date(time);
  const year = day.getUTCFullYear();
  if (Number.isNaN(time) || year < 1 || year > 9999) return null;
  return startOf[unit](day).toISOString().slice(0, 10);
}

export function offsetAt(instant: string, { first, changes }: ZoneOffsets): number {
  let seconds = first;
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    // Offsets change on whole seconds, so fractions do not matter.
    if (instant.slice(0, 19) < changes[middle]!.from.slice(0, 19)) high = middle;
    else low = middle + 1;
  }
  if (low > 0) seconds = changes[low - 1]!.seconds;
  return seconds;
}

const startOf: { readonly [U in BucketUnit]: (day: Date) => Date } = {
  Day: (day) => day,
  Week: (day) => withDate(day, (start) => start.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))),
  Month: (day) => withDate(day, (start) => start.setUTCDate(1)),
  Quarter: (day) => withDate(day, (start) => start.setUTCMonth(day.getUTCMonth() - (day.getUTCMonth() % 3), 1)),
  Year: (day) => withDate(day, (start) => start.setUTCMonth(0, 1)),
};

function withDate(day: Date, move: (start: Date) => void): Date {
  const start = new Date(day);
  move(start);
  return start;
}
