// Charts are functions that users write: they ask for what they need and say with a builder what it looks like. A result
// is plain data. Periods are those of the zone in which the chart is asked for, and their labels are the same for every
// reader.
import { AppError, fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import { readDay, readInstant, zoneOffsets } from './query/dates.ts';
import { bucketOf } from './sources/aggregate.ts';
import { addDecimals, compareDecimals, type Decimal, readDecimal, writeDecimal } from './sources/decimal.ts';
import type { BucketUnit } from './sources/source.ts';

export type TimeRange = BucketUnit;
/** As the engine gives it: a text of digits where a number would lose some. */
export type ChartNumber = number | string;
/** An instant, or a text of one; a day ('YYYY-MM-DD') is that day in every zone. */
export type ChartDate = Date | string;

export interface TimePoint {
  readonly date: ChartDate;
  readonly value: ChartNumber | null;
}

export interface Line {
  readonly label: string;
  /** One for each of the dates. */
  readonly values: readonly (ChartNumber | null)[];
}

export interface ValueResult {
  readonly countCurrent: ChartNumber;
  /** Absent when there is nothing to compare with. */
  readonly countPrevious?: ChartNumber;
}
export type DistributionResult = readonly { readonly key: string; readonly value: ChartNumber }[];
export type TimeBasedResult = readonly {
  readonly label: string;
  readonly values: { readonly value: ChartNumber | null };
}[];
export interface MultipleTimeBasedResult {
  readonly labels: readonly string[];
  readonly values: readonly { readonly key: string; readonly values: readonly (ChartNumber | null)[] }[];
}
export type PercentageResult = ChartNumber;
export interface ObjectiveResult {
  readonly value: ChartNumber;
  readonly objective: ChartNumber;
}
export type LeaderboardResult = DistributionResult;
export type ChartResult =
  | ValueResult
  | DistributionResult
  | TimeBasedResult
  | MultipleTimeBasedResult
  | PercentageResult
  | ObjectiveResult
  | SmartResult;
/** What `smart` was given. */
export type SmartResult = unknown;

/** A wrong argument is a TypeError, whose message is for whoever wrote the chart. */
export interface ChartBuilder {
  value(value: ChartNumber, previousValue?: ChartNumber | null): ValueResult;
  distribution(values: Readonly<Record<string, ChartNumber>>): DistributionResult;
  /** Every period from the first date to the last. Values of one period are added up; a period without any date is 0. */
  timeBased(timeRange: TimeRange, values: readonly TimePoint[]): TimeBasedResult;
  /** The same for several lines; a value whose date is null is left out. */
  multipleTimeBased(
    timeRange: TimeRange,
    dates: readonly (ChartDate | null)[],
    lines: readonly Line[],
  ): MultipleTimeBasedResult;
  percentage(value: ChartNumber): PercentageResult;
  objective(value: ChartNumber, objective: ChartNumber): ObjectiveResult;
  /** Largest first; of equals, the one that was given first. */
  leaderboard(values: Readonly<Record<string, ChartNumber>>): LeaderboardResult;
  smart<T>(data: T): T;
}

export type ChartDefinition<C> = (context: C, resultBuilder: ChartBuilder) => ChartResult | Promise<ChartResult>;
/** By name, as added. */
export type Charts<C> = ReadonlyMap<string, ChartDefinition<C>>;

/**
 * `timezone`: IANA name. UNKNOWN_CHART; CHART_FAILED when the chart's own code throws, which the cause tells; errors of
 * the engine that the chart met pass.
 */
export async function renderChart<C>(
  charts: Charts<C>,
  name: string,
  context: C,
  timezone: string,
): Promise<ChartResult> {
  const chart = charts.get(name);
  if (!chart) fail('UNKNOWN_CHART', { chart: String(name), near: nearNames(String(name), [...charts.keys()]) });
  try {
    return await chart(context, createChartBuilder(timezone));
  } catch (error) {
    if (error instanceof AppError) throw error;
    return fail('CHART_FAILED', { chart: name }, error);
  }
}

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
      const periods = readPeriods(
        timeRange,
        timezone,
        (values ?? []).map(({ date }) => date),
      );
      const sums = addUp(
        periods,
        (values ?? []).map(({ value }) => value),
        'timeBased',
      );
      return periods.labels.map((label, at) => ({ label, values: { value: sums[at]! } }));
    },
    multipleTimeBased(timeRange, dates, lines) {
      const periods = readPeriods(timeRange, timezone, dates);
      const values = lines.map((line) => {
        if (line.values.length !== dates.length)
          throw new TypeError(
            `multipleTimeBased: the line '${line.label}' has ${line.values.length} values for ${dates.length} dates.`,
          );
        return { key: line.label, values: addUp(periods, line.values, 'multipleTimeBased') };
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
    smart: (data) => data,
  };
}

function entries(what: string, values: Readonly<Record<string, ChartNumber>>): DistributionResult {
  return Object.entries(values).map(([key, value]) => ({ key, value: number(what, value) }));
}

function number(what: string, value: ChartNumber): ChartNumber {
  if ((typeof value === 'number' || typeof value === 'string') && readDecimal(value)) return value;
  throw new TypeError(`${what}: expected a number, got ${typeof value === 'number' ? value : typeof value}.`);
}

function decimal(value: ChartNumber): Decimal {
  return readDecimal(value)!;
}

/** A chart of more periods than this is a mistake, such as a date of the year 1. */
const PERIODS_LIMIT = 10_000;

interface Periods {
  readonly labels: string[];
  /** For each date, the place of its period; undefined for no date. */
  readonly places: readonly (number | undefined)[];
}

function readPeriods(timeRange: TimeRange, timezone: string, dates: readonly (ChartDate | null)[]): Periods {
  const range = ranges[timeRange];
  if (!range)
    throw new TypeError(`a time range is one of ${Object.keys(ranges).join(', ')}, not ${String(timeRange)}.`);
  const starts = dates.map((date) => (date === null ? undefined : startOf(timeRange, timezone, date)));
  const known = starts.filter((start) => start !== undefined).sort();
  const places = new Map<string, number>();
  const labels: string[] = [];
  const last = known.at(-1);
  for (let start = known[0]; last !== undefined && start !== undefined && start <= last; start = next(start, range)) {
    if (labels.length === PERIODS_LIMIT)
      throw new TypeError(`${known[0]} to ${last} are more than ${PERIODS_LIMIT} periods; take a longer time range.`);
    places.set(start, labels.push(range.label(start)) - 1);
  }
  return { labels, places: starts.map((start) => (start === undefined ? undefined : places.get(start))) };
}

function startOf(unit: TimeRange, timezone: string, date: ChartDate): string {
  const text = date instanceof Date && !Number.isNaN(date.getTime()) ? date.toISOString() : String(date);
  if (readDay(text)) return bucketOf(text, { unit })!;
  const instant = readInstant(text, timezone, false);
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
  /** Of the day that a period starts with. */
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

/** A week belongs to the year of its Thursday (ISO 8601). */
function weekLabel(start: string): string {
  const thursday = new Date(Date.parse(`${start}T00:00:00Z`) + 3 * 86_400_000);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * 86_400_000)) + 1;
  return `W${week}-${year}`;
}

/** A period without dates is 0; one that has nothing but null is null. */
function addUp(
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
  return sums.map((sum) => (sum === undefined ? 0 : sum && writeDecimal(sum)));
}
