// Dates at the edges of days, months and years, in zones with and without clock changes. Offsets are listed for the
// tested months, to avoid a dependency on a timezone library.
import type { Operator } from '../../../src/core/filter.ts';
import type { Ask, Column } from './matrix.ts';

export interface Now {
  readonly now: string;
  readonly zone: string;
}

const HOUR = 3_600_000;
/** The UTC offset in hours, from each instant on. */
const offsets: Readonly<Record<string, readonly (readonly [string, number])[]>> = {
  UTC: [['2000-01-01T00:00:00Z', 0]],
  'Asia/Kolkata': [['2000-01-01T00:00:00Z', 5.5]],
  'Europe/Paris': [
    ['2022-10-30T01:00:00Z', 1], ['2023-03-26T01:00:00Z', 2], ['2023-10-29T01:00:00Z', 1], ['2024-03-31T01:00:00Z', 2],
    ['2024-10-27T01:00:00Z', 1], ['2025-03-30T01:00:00Z', 2],
  ],
  'America/New_York': [
    ['2022-11-06T06:00:00Z', -5], ['2023-03-12T07:00:00Z', -4], ['2023-11-05T06:00:00Z', -5], ['2024-03-10T07:00:00Z', -4],
    ['2024-11-03T06:00:00Z', -5], ['2025-03-09T07:00:00Z', -4],
  ],
}; // biome-ignore format: a table

const offsetAt = (instant: number, zone: string) => {
  const known = offsets[zone]!.filter(([since]) => Date.parse(since) <= instant);
  return (known.at(-1) ?? offsets[zone]![0]!)[1] * HOUR;
};
/** The local time in the zone, as databases write it. */
export const clockOf = (instant: string, zone: string) =>
  new Date(Date.parse(instant) + offsetAt(Date.parse(instant), zone)).toISOString().replace('T', ' ').replace('Z', '');
const dayOf = (instant: number, zone: string) => new Date(instant + offsetAt(instant, zone)).toISOString().slice(0, 10);
/** When the day begins in the zone. No clock change falls on the beginning of these days. */
const startOf = (day: string, zone: string) => {
  const utc = Date.parse(`${day}T00:00:00Z`);
  return utc - offsetAt(utc - offsetAt(utc, zone), zone);
};

const zones = ['UTC', 'Asia/Kolkata', 'Europe/Paris', 'America/New_York'];
const days = [
  '2022-12-31', '2023-01-01', '2023-03-01', '2023-09-30', '2023-10-01', '2023-12-30', '2023-12-31', '2024-01-01', '2024-01-31',
  '2024-02-26', '2024-02-28', '2024-02-29', '2024-03-01', '2024-03-10', '2024-03-11', '2024-03-25', '2024-03-30', '2024-03-31',
  '2024-04-01', '2024-04-02', '2024-06-30', '2024-07-01', '2024-10-27', '2024-10-28', '2024-11-03', '2024-11-04', '2024-12-31', '2025-01-01',
]; // biome-ignore format: a pool
const instants = [
  ...new Set(
    days.flatMap((day) =>
      zones.flatMap((zone) => [-1, 0, 1].map((more) => new Date(startOf(day, zone) + more).toISOString())),
    ),
  ),
];
const moments: readonly Now[] = [
  ['2024-03-31T10:30:00.000Z', 'Europe/Paris'],
  ['2024-03-31T22:30:00.000Z', 'Europe/Paris'],
  ['2024-03-31T22:30:00.000Z', 'UTC'],
  ['2024-04-01T03:59:59.999Z', 'America/New_York'],
  ['2024-04-01T04:00:00.000Z', 'America/New_York'],
  ['2024-03-11T12:00:00.000Z', 'America/New_York'],
  ['2024-02-29T18:30:00.000Z', 'Asia/Kolkata'],
  ['2024-02-29T18:29:59.999Z', 'Asia/Kolkata'],
  ['2024-01-01T00:00:00.000Z', 'UTC'],
  ['2024-10-28T12:00:00.000Z', 'Europe/Paris'],
  ['2024-11-04T04:59:59.999Z', 'America/New_York'],
  ['2025-01-01T00:00:00.000Z', 'Asia/Kolkata'],
].map(([now, zone]) => ({ now: now!, zone: zone! })); // biome-ignore format: a table

const shift = (day: string, count: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * 24 * HOUR).toISOString().slice(0, 10);
const monthsBefore = (day: string, months: number) => {
  const at = Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1 - months;
  return `${Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}-01`;
};
/** The first days of the current period and of the previous one. */
function periodsOf(today: string): Record<string, readonly [string, string]> {
  const month = Number(today.slice(5, 7));
  const weekday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7;
  const quarter = monthsBefore(today, (month - 1) % 3);
  const year = `${today.slice(0, 4)}-01-01`;
  return {
    Week: [shift(today, -weekday), shift(today, -weekday - 7)],
    Month: [monthsBefore(today, 0), monthsBefore(today, 1)],
    Quarter: [quarter, monthsBefore(quarter, 3)],
    Year: [year, monthsBefore(year, 12)],
  };
}

/** `day` returns the day of a stored value. The other functions compare the value with the current time. */
function periods(
  at: Now,
  day: (stored: unknown) => string,
  isPast: Ask['is'],
  isFuture: Ask['is'],
  isOver: Ask['is'],
): Ask[] {
  const today = dayOf(Date.parse(at.now), at.zone);
  const ask = (operator: Operator, is: Ask['is'], value?: number): Ask => ({
    operator,
    is,
    at,
    ...(value !== undefined && { value }),
  });
  const within = (first: string, end: string) => (stored: unknown) => first <= day(stored) && day(stored) < end;
  const since = (first: string) => (stored: unknown) => first <= day(stored) && isOver(stored);
  return [
    ask('Today', within(today, shift(today, 1))),
    ask('Yesterday', within(shift(today, -1), today)),
    ask('Past', isPast),
    ask('Future', isFuture),
    ...[1, 2, 31].flatMap((count) => [
      ask('PreviousXDays', within(shift(today, -count), today), count),
      ask('PreviousXDaysToDate', since(shift(today, -count)), count),
    ]),
    ...Object.entries(periodsOf(today)).flatMap(([unit, [present, previous]]) => [
      ask(`Previous${unit}` as Operator, within(previous, present)),
      ask(`Previous${unit}ToDate` as Operator, since(present)),
    ]),
  ];
}

const presence: Ask[] = [
  { operator: 'Missing', is: () => false, ofNull: true },
  { operator: 'Blank', is: () => false, ofNull: true },
  { operator: 'Present', is: () => true },
];

function comparisons(values: readonly string[], size: (value: unknown) => number): Ask[] {
  const tests: readonly (readonly [Operator, (difference: number) => boolean, boolean?])[] = [
    ['Equal', (difference) => difference === 0],
    ['NotEqual', (difference) => difference !== 0, true],
    ['LessThan', (difference) => difference < 0],
    ['Before', (difference) => difference < 0],
    ['LessThanOrEqual', (difference) => difference <= 0],
    ['GreaterThan', (difference) => difference > 0],
    ['After', (difference) => difference > 0],
    ['GreaterThanOrEqual', (difference) => difference >= 0],
  ];
  const among = (stored: unknown) => values.some((value) => size(value) === size(stored));
  return [
    ...presence,
    ...values.flatMap((value) =>
      tests.map(([operator, holds, ofNull = false]) => ({
        operator,
        value,
        is: (stored: unknown) => holds(size(stored) - size(value)),
        ofNull,
      })),
    ),
    { operator: 'In', value: values, is: among },
    { operator: 'In', value: [...values, null], is: among, ofNull: true },
    { operator: 'NotIn', value: values, is: (stored) => !among(stored), ofNull: true },
  ];
}

const size = (value: unknown) => Date.parse(`${value}`);
const edges = ['2024-03-31T00:00:00.000Z', '2024-03-30T23:00:00.000Z', '2024-02-29T18:30:00.000Z', '2023-12-31T23:59:59.999Z', '2024-11-03T04:00:00.001Z']; // biome-ignore format: a pool

const instantAsks: Ask[] = [
  ...comparisons(edges, size),
  // A day means its beginning in the timezone of the call.
  ...['2024-03-31', '2024-03-10', '2024-01-01'].flatMap((day) =>
    zones.flatMap((zone): Ask[] => {
      const [at, start] = [{ now: edges[0]!, zone }, startOf(day, zone)];
      return [
        { operator: 'Before', value: day, at, is: (stored) => size(stored) < start },
        { operator: 'LessThan', value: day, at, is: (stored) => size(stored) < start },
        { operator: 'GreaterThanOrEqual', value: day, at, is: (stored) => size(stored) >= start },
        { operator: 'LessThanOrEqual', value: day, at, is: (stored) => size(stored) <= start },
        { operator: 'After', value: day, at, is: (stored) => size(stored) > start },
        { operator: 'GreaterThan', value: day, at, is: (stored) => size(stored) > start },
      ];
    }),
  ),
  ...moments.flatMap((at) => {
    const now = Date.parse(at.now);
    const isPast: Ask['is'] = (stored) => size(stored) < now;
    const hours = [0, 1, 25].flatMap((count): Ask[] => [
      { operator: 'BeforeXHoursAgo', value: count, at, is: (stored) => size(stored) < now - count * HOUR },
      { operator: 'AfterXHoursAgo', value: count, at, is: (stored) => size(stored) > now - count * HOUR },
    ]);
    const isFuture: Ask['is'] = (stored) => size(stored) > now;
    return [...periods(at, (stored) => dayOf(size(stored), at.zone), isPast, isFuture, isPast), ...hours];
  }),
];

const dayAsks: Ask[] = [
  ...comparisons(['2024-02-29', '2024-03-31', '2023-12-31', '2024-01-01'], size),
  ...moments.flatMap((at) => {
    const today = dayOf(Date.parse(at.now), at.zone);
    return periods(
      at,
      String,
      (stored) => `${stored}` < today,
      (stored) => `${stored}` > today,
      (stored) => `${stored}` <= today,
    );
  }),
];

export const dates: readonly Column[] = [
  { type: 'instant', stored: instants, asks: instantAsks },
  // Without a zone in the database: read as UTC unless the source says otherwise.
  { type: 'plain', stored: instants, asks: instantAsks },
  // Without a zone in the database, in New York local time, which cannot hold the second of two repeated hours.
  { type: 'abroad', stored: instants.filter((instant) => !/^2024-11-03T06/.test(instant)), asks: instantAsks },
  { type: 'day', stored: days, asks: dayAsks },
  // SQLite: days in a datetime column.
  { type: 'days', stored: days, asks: dayAsks },
];
