// The local time of instants: periods and parts of dates.
import type { DatePart } from '../../../core/filter/expression.ts';
import type { BucketUnit, PeriodUnit } from '../../../core/filter/measures.ts';
import type { GroupBy, ZoneOffsets } from '../statement.ts';

/** The first day or hour of the period of a Date or Dateonly; null outside the years 1 to 9999. */
export function bucketOf(
  value: string,
  { unit, offsets }: { readonly unit: PeriodUnit; readonly offsets?: ZoneOffsets },
): string | null {
  if (value === 'infinity' || value === '-infinity') return value;
  const local = readLocal(value, offsets);
  if (!local) return null;
  if (unit === 'Hour') return `${local.toISOString().slice(0, 13)}:00`;
  return startOf[unit](local).toISOString().slice(0, 10);
}

/** The period that starts this many periods later. Undefined for null and infinity, and outside the years 1 to 9999. */
export function shiftPeriod(start: unknown, unit: PeriodUnit, count: number): string | undefined {
  if (typeof start !== 'string' || !/^\d{4}-/.test(start)) return undefined;
  const time = new Date(start.length === 10 ? `${start}T00:00:00Z` : `${start}:00Z`);
  if (unit === 'Hour') time.setUTCHours(time.getUTCHours() + count);
  else if (unit === 'Day' || unit === 'Week') time.setUTCDate(time.getUTCDate() + count * (unit === 'Week' ? 7 : 1));
  else time.setUTCMonth(time.getUTCMonth() + count * { Month: 1, Quarter: 3, Year: 12 }[unit]);
  const year = time.getUTCFullYear();
  if (Number.isNaN(year) || year < 1 || year > 9999) return undefined;
  return time.toISOString().slice(0, start.length);
}

/** The part of a Date or Dateonly as a number; null outside the years 1 to 9999. */
export function partOf(value: string, { unit, offsets }: Extract<GroupBy, { kind: 'part' }>): number | null {
  const local = readLocal(value, offsets);
  return local ? parts[unit](local) : null;
}

const parts: { readonly [P in DatePart]: (local: Date) => number } = {
  HourOfDay: (local) => local.getUTCHours(),
  Weekday: (local) => ((local.getUTCDay() + 6) % 7) + 1,
  MonthOfYear: (local) => local.getUTCMonth() + 1,
};

/** The local time, written as if it were UTC. */
function readLocal(value: string, offsets: ZoneOffsets | undefined): Date | undefined {
  // A local time that the clock skipped is not an instant. Its day is the one in its text.
  const isInstant = offsets && value.endsWith('Z');
  const text = isInstant
    ? value
    : `${value.slice(0, 10)}T${offsets && /^.{10}[ T]\d\d:\d\d/.test(value) ? value.slice(11, 16) : '00:00'}:00Z`;
  const local = new Date(Date.parse(text) + (isInstant ? offsetAt(value, offsets) * 1000 : 0));
  const year = local.getUTCFullYear();
  return Number.isNaN(local.getTime()) || year < 1 || year > 9999 ? undefined : local;
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
