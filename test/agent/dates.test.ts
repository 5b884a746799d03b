import { expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Operator } from '../../src/core/filter.ts';
import { accessOf, sellers } from './shop.ts';

/** The instants (or days) that satisfy the operator at `now` in `timezone`. */
async function kept(values: readonly string[], now: string, timezone: string, operator: Operator, value?: unknown) {
  const type = values[0]!.length === 10 ? ('Dateonly' as const) : ('Date' as const);
  const columns = [
    { name: 'id', type: 'Number' as const },
    { name: 'at', type },
  ];
  const rows = values.map((at, id) => [id, at]);
  const source = createMemorySource('dates', [{ name: 'events', columns, primaryKey: ['id'], rows }]);
  const { engine } = await sellers[0]!.open({
    sources: [source],
    clock: { ...systemClock, now: () => Date.parse(now) },
  });
  const filter = { field: 'at', operator, value };
  const request = { collection: 'events', fields: ['at'], filter, timezone, limit: 50 };
  return (await engine.list(accessOf(), request)).rows.flat();
}

test('a day begins at midnight and ends before the next, also if it has 23 hours', async () => {
  const around = [
    '2024-03-30T22:59:59.999Z',
    '2024-03-30T23:00:00.000Z',
    '2024-03-31T21:59:59.999Z',
    '2024-03-31T22:00:00.000Z',
  ];
  expect(await kept(around, '2024-03-31T12:00:00Z', 'Europe/Paris', 'Today')).toEqual(around.slice(1, 3));
  expect(await kept(around, '2024-04-01T12:00:00Z', 'Europe/Paris', 'Yesterday')).toEqual(around.slice(1, 3));
});

test('a day with two midnights begins at the first', async () => {
  const around = [
    '2023-11-05T03:59:59.999Z',
    '2023-11-05T04:00:00.000Z',
    '2023-11-05T05:00:00.000Z',
    '2023-11-06T04:59:59.999Z',
    '2023-11-06T05:00:00.000Z',
  ];
  expect(await kept(around, '2023-11-05T12:00:00Z', 'America/Havana', 'Today')).toEqual(around.slice(1, 4));
});

test('a day without midnight begins when the clock goes forward', async () => {
  const around = [
    '2018-11-04T02:59:59.999Z',
    '2018-11-04T03:00:00.000Z',
    '2018-11-05T01:59:59.999Z',
    '2018-11-05T02:00:00.000Z',
  ];
  expect(await kept(around, '2018-11-04T12:00:00Z', 'America/Sao_Paulo', 'Today')).toEqual(around.slice(1, 3));
});

test.each<[Operator, unknown, number[]]>([
  ['Today', undefined, [29]],
  ['Yesterday', undefined, [28]],
  ['PreviousWeek', undefined, [19, 20, 21, 22, 23, 24, 25]],
  ['PreviousWeekToDate', undefined, [26, 27, 28, 29]],
  ['PreviousMonthToDate', undefined, Array.from({ length: 29 }, (_, day) => day + 1)],
  ['PreviousXDays', 3, [26, 27, 28]],
  ['PreviousXDaysToDate', '2', [27, 28, 29]],
  ['Past', undefined, Array.from({ length: 28 }, (_, day) => day + 1)],
  ['Future', undefined, [30, 31]],
  ['Before', '2024-08-03', [1, 2]],
])('days: %s %j', async (operator, value, days) => {
  const day = (number: number) => `2024-08-${String(number).padStart(2, '0')}`;
  const august = Array.from({ length: 31 }, (_, index) => day(index + 1));
  const noon = '2024-08-29T12:00:00Z'; // a Thursday
  expect(await kept(august, noon, 'UTC', operator, value)).toEqual(days.map(day));
});

test.each<[Operator, string, string]>([
  ['PreviousMonth', '2024-02-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z'],
  ['PreviousQuarter', '2023-10-01T00:00:00.000Z', '2023-12-31T23:59:59.999Z'],
  ['PreviousQuarterToDate', '2024-01-01T00:00:00.000Z', '2024-03-15T11:59:59.999Z'],
  ['PreviousYear', '2023-01-01T00:00:00.000Z', '2023-12-31T23:59:59.999Z'],
  ['PreviousYearToDate', '2024-01-01T00:00:00.000Z', '2024-03-15T11:59:59.999Z'],
])('%s includes %s to %s', async (operator, first, last) => {
  const moved = (instant: string, by: number) => new Date(Date.parse(instant) + by).toISOString();
  const around = [moved(first, -1), first, last, moved(last, 1)];
  expect(await kept(around, '2024-03-15T12:00:00Z', 'UTC', operator)).toEqual([first, last]);
});

test('a number of hours is counted back from the current time', async () => {
  const hours = ['2024-03-15T09:59:59.999Z', '2024-03-15T10:00:00.000Z', '2024-03-15T10:00:00.001Z'];
  expect(await kept(hours, '2024-03-15T12:00:00Z', 'UTC', 'AfterXHoursAgo', 2)).toEqual(hours.slice(2));
  expect(await kept(hours, '2024-03-15T12:00:00Z', 'UTC', 'BeforeXHoursAgo', 2)).toEqual(hours.slice(0, 1));
});

test('a timestamp without an offset is read in the timezone of the call', async () => {
  const hours = ['2024-07-01T09:59:00.000Z', '2024-07-01T10:00:00.000Z'];
  expect(await kept(hours, '2024-07-02T00:00:00Z', 'Europe/Paris', 'Equal', '2024-07-01 12:00')).toEqual(
    hours.slice(1),
  );
});
