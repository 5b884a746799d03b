// The result builder of charts: numbers and dates in, plain data out. Periods follow the timezone of the request, and
// their labels do not depend on the reader. A wrong argument throws a TypeError that states the expected value.
import { readDay, readLocal } from '../lower/dates.ts';
import { bucketOf } from '../sources/aggregate/local-time.ts';
import { addDecimals, compareDecimals, type Decimal, formatDecimal, readDecimal } from '../sources/values/decimal.ts';
import { zoneOffsets } from '../sources/zones.ts';
import type {
  ChartBuilder,
  ChartDate,
  ChartNumber,
  DistributionResult,
  Line,
  TimePoint,
  TimeRange,
} from './definitions.ts';

export function createChartBuilder(timezone: string): ChartBuilder {
  return {
    value(value, previousValue) {
      const countCurrent = number('value', value);
      return previousValue === undefined || previousValue === null
        ? { countCurrent }
        : { countCurrent, countPrevious: number('value', previousValue) };
    },
    distribution: (values) => entries('distribution', values),
    timeBased(timeRange, values) {
      const points = list('timeBased', values, '{date, value}') as readonly TimePoint[];
      const dates = points.map(({ date }) => date);
      const periods = readPeriods(timeRange, timezone, dates);
      const sums = sumByPeriod(
        periods,
        points.map(({ value }) => value),
        'timeBased',
      );
      return periods.labels.map((label, at) => ({ label, values: { value: sums[at]! } }));
    },
    multipleTimeBased(timeRange, dates, lines) {
      list('multipleTimeBased', dates, 'dates');
      const periods = readPeriods(timeRange, timezone, dates);
      const values = (list('multipleTimeBased', lines, '{label, values}') as readonly Line[]).map((line) => {
        if (list('multipleTimeBased', line.values, 'numbers').length !== dates.length)
          throw new TypeError(
            `multipleTimeBased: the line '${line.label}' has ${line.values.length} values for ${dates.length} dates.`,
          );
        return { key: line.label, values: sumByPeriod(periods, line.values, 'multipleTimeBased') };
      });
      return { labels: periods.labels, values };
    },
    percentage: (value) => number('percentage', value),
    objective: (value, objective) => ({
      value: number('objective', value),
      objective: number('objective', objective),
    }),
    leaderboard: (values) =>
      [...entries('leaderboard', values)].sort((a, b) => compareDecimals(decimal(b.value), decimal(a.value))),
    smart(data) {
      checkJson(data, []);
      return data;
    },
  };
}

function entries(what: string, values: Readonly<Record<string, ChartNumber>>): DistributionResult {
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw new TypeError(`${what}: expected an object of label to number, got ${formatValue(values)}.`);
  return Object.entries(values).map(([key, value]) => ({ key, value: number(what, value) }));
}

function list(what: string, given: unknown, of: string): readonly unknown[] {
  const isObject = of.startsWith('{');
  if (Array.isArray(given) && given.every((item) => !isObject || (typeof item === 'object' && item !== null)))
    return given;
  throw new TypeError(`${what}: expected a list of ${of}, got ${formatValue(given)}.`);
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return value === null || typeof value === 'number' ? String(value) : typeof value;
}

const DEPTH_LIMIT = 64;

/** Throws for values that JSON would drop, change or refuse, and names their path. */
function checkJson(value: unknown, path: readonly string[]): void {
  const refuse = (): never => {
    throw new TypeError(`smart: expected a JSON value, got ${formatValue(value)} at ${path.join('.') || 'the top'}.`);
  };
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (typeof value !== 'object' || path.length > DEPTH_LIMIT) refuse();
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return;
  for (const [name, item] of Object.entries(value as object)) checkJson(item, [...path, name]);
}

function number(what: string, value: ChartNumber): ChartNumber {
  if ((typeof value === 'number' || typeof value === 'string') && readDecimal(value)) return value;
  throw new TypeError(`${what}: expected a number, got ${formatValue(value)}.`);
}

function decimal(value: ChartNumber): Decimal {
  return readDecimal(value)!;
}

/** More periods than this indicate a mistake, such as a date in year 1. */
const PERIODS_LIMIT = 10_000;

/** The dates have more than 10,000 periods between the first and the last. */
export class TooManyPeriodsError extends TypeError {}

interface Periods {
  readonly labels: string[];
  /** The index of the period for each date; undefined for a null date. */
  readonly places: readonly (number | undefined)[];
}

function readPeriods(timeRange: TimeRange, timezone: string, dates: readonly (ChartDate | null)[]): Periods {
  const range = ranges[timeRange];
  if (!range)
    throw new TypeError(`the time range must be one of ${Object.keys(ranges).join(', ')}, not ${String(timeRange)}.`);
  const starts = dates.map((date) => (date === null ? undefined : startOf(timeRange, timezone, date)));
  const known = starts.filter((start) => start !== undefined).sort();
  const places = new Map<string, number>();
  const labels: string[] = [];
  const last = known.at(-1);
  for (let start = known[0]; last !== undefined && start !== undefined && start <= last; start = next(start, range)) {
    if (labels.length === PERIODS_LIMIT)
      throw new TooManyPeriodsError(
        `${known[0]} to ${last} are more than ${PERIODS_LIMIT} periods; use a longer time range.`,
      );
    places.set(start, labels.push(range.label(start)) - 1);
  }
  return { labels, places: starts.map((start) => (start === undefined ? undefined : places.get(start))) };
}

function startOf(unit: TimeRange, timezone: string, date: ChartDate): string {
  const text = date instanceof Date && !Number.isNaN(date.getTime()) ? date.toISOString() : String(date);
  if (readDay(text)) return bucketOf(text, { unit })!;
  // Without zones, a source may return local times that the clock skipped. They are shown unchanged.
  const instant = readLocal(text, timezone, false)?.instant;
  const start = instant && bucketOf(instant, { unit, offsets: zoneOffsets(timezone) });
  if (!start) throw new TypeError('expected a date such as 2025-03-30 or 2025-03-30T08:00:00Z.');
  return start;
}

function next(start: string, { months, days }: Range): string {
  const day = new Date(`${start}T00:00:00Z`);
  day.setUTCMonth(day.getUTCMonth() + months, day.getUTCDate() + days);
  return day.toISOString().slice(0, 10);
}

interface Range {
  readonly months: number;
  readonly days: number;
  /** `start` is the first day of the period. */
  readonly label: (start: string) => string;
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const monthOf = (start: string): number => Number(start.slice(5, 7)) - 1;

const ranges: { readonly [R in TimeRange]: Range } = {
  Day: { months: 0, days: 1, label: (start) => start.split('-').reverse().join('/') },
  Week: { months: 0, days: 7, label: weekLabel },
  Month: { months: 1, days: 0, label: (start) => `${monthNames[monthOf(start)]} ${start.slice(2, 4)}` },
  Quarter: { months: 3, days: 0, label: (start) => `Q${monthOf(start) / 3 + 1}-${start.slice(0, 4)}` },
  Year: { months: 12, days: 0, label: (start) => start.slice(0, 4) },
};

/** The label of the period that starts on the day. */
export const periodLabel = (timeRange: TimeRange, start: string): string => ranges[timeRange].label(start);

/** A week belongs to the year of its Thursday (ISO 8601). */
function weekLabel(start: string): string {
  const thursday = new Date(Date.parse(`${start}T00:00:00Z`) + 3 * 86_400_000);
  const year = thursday.toISOString().slice(0, 4);
  const week = Math.floor((thursday.getTime() - Date.parse(`${year}-01-01`)) / (7 * 86_400_000)) + 1;
  return `W${week}-${year}`;
}

/** Adds the values of each period. A period without dates is 0; a period with only null values is null. */
function sumByPeriod(
  { labels, places }: Periods,
  values: readonly (ChartNumber | null)[],
  what: string,
): (ChartNumber | null)[] {
  const sums: (Decimal | null | undefined)[] = labels.map(() => undefined);
  for (const [at, value] of values.entries()) {
    const place = places[at];
    if (place === undefined) continue;
    if (value === null) sums[place] ??= null;
    else {
      const added = decimal(number(what, value));
      const sum = sums[place];
      sums[place] = sum ? addDecimals(sum, added) : added;
    }
  }
  return sums.map((sum) => (sum === undefined ? 0 : sum && formatDecimal(sum)));
}
