// Wall-clock times, buckets, parts and differences of dates, by Intl and arithmetic on the digits.
import { addDays, startOf } from '../oracle/values.ts';
import type { Kind } from '../oracle/world.ts';
import { dividedBy, type Exact, exact } from './exact.ts';
import type { Bucket, Part, Unit } from './question.ts';

const formats = new Map<string, Intl.DateTimeFormat>();
const clocks = new Map<string, string>();

/** `2024-03-31 02:30:00.000`: the time that a clock in the zone shows at the instant. */
export function wallClock(instant: string, zone: string): string {
  const mark = `${instant} ${zone}`;
  const known = clocks.get(mark);
  if (known !== undefined) return known;
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit',
      minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3,
    }); // biome-ignore format: one family
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second, fractionalSecond } = parts;
  const clock = `${year}-${month}-${day} ${hour}:${minute}:${second}.${fractionalSecond}`;
  if (clocks.size > 50_000) clocks.clear();
  clocks.set(mark, clock);
  return clock;
}

/** The wall-clock time of a date; one without time begins at midnight. */
const clockOf = (value: string, kind: Kind, zone: string): string =>
  kind === 'instant' ? wallClock(value, zone) : `${value} 00:00:00.000`;

/** The first day of the period; for hours, the hour. */
export function bucketOf(value: string, kind: Kind, bucket: Bucket, zone: string): string {
  const clock = clockOf(value, kind, zone);
  if (bucket === 'Hour') return `${clock.slice(0, 10)}T${clock.slice(11, 13)}:00`;
  const day = clock.slice(0, 10);
  return bucket === 'Day' ? day : startOf(bucket, day);
}

/** The bucket `count` periods later, or earlier if negative. */
export function shiftBucket(start: string, bucket: Bucket, count: number): string {
  if (bucket === 'Hour') {
    const moment = new Date(Date.parse(`${start}:00Z`) + count * 3_600_000);
    return moment.toISOString().slice(0, 16);
  }
  if (bucket === 'Day' || bucket === 'Week') return addDays(start, count * (bucket === 'Week' ? 7 : 1));
  const months = { Month: 1, Quarter: 3, Year: 12 }[bucket] * count;
  const [year, month] = start.split('-').map(Number) as [number, number];
  const index = year * 12 + month - 1 + months;
  return `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}-01`;
}

export function partOf(value: string, kind: Kind, part: Part, zone: string): number {
  const clock = clockOf(value, kind, zone);
  if (part === 'HourOfDay') return Number(clock.slice(11, 13));
  if (part === 'MonthOfYear') return Number(clock.slice(5, 7));
  return new Date(`${clock.slice(0, 10)}T12:00:00Z`).getUTCDay() || 7;
}

const milliseconds = { day: 86_400_000, hour: 3_600_000, minute: 60_000 } as const;

/** `to` minus `from`. Months and years are complete ones between wall-clock times. */
export function difference(from: string, to: string, kind: Kind, unit: Unit, zone: string): Exact {
  if (unit !== 'month' && unit !== 'year') {
    const passed =
      kind === 'instant'
        ? Date.parse(to) - Date.parse(from)
        : Date.parse(`${to}T00:00Z`) - Date.parse(`${from}T00:00Z`);
    return dividedBy(exact(passed), exact(milliseconds[unit]), 10)!;
  }
  const [first, second] = [clockOf(from, kind, zone), clockOf(to, kind, zone)];
  const months = first <= second ? monthsBetween(first, second) : -monthsBetween(second, first);
  return exact(unit === 'month' ? months : Math.trunc(months / 12) || 0);
}

function monthsBetween(first: string, second: string): number {
  const index = (clock: string) => Number(clock.slice(0, 4)) * 12 + Number(clock.slice(5, 7));
  return index(second) - index(first) - (second.slice(8) < first.slice(8) ? 1 : 0);
}
