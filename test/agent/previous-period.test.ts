import { expect, test } from 'vitest';
import { createEngine } from '../../src/agent/engine.ts';
import { previousPeriod } from '../../src/agent/lower/previous-period.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Operator, PlainFilter } from '../../src/core/filter.ts';
import { accessOf } from './shop.ts';

// Tuesday, two days after the clocks of Paris went forward.
const now = Date.parse('2024-04-02T10:00:00Z');
const options = { now, timezone: 'Europe/Paris', isDay: (field: string) => field === 'day' };

test.each<[Operator, number | undefined, string, string, string]>([
  ['Today', undefined, '2024-04-01', '2024-04-02', '2024-04-02'],
  ['Yesterday', undefined, '2024-03-31', '2024-04-01', '2024-04-01'],
  ['PreviousWeek', undefined, '2024-03-18', '2024-03-25', '2024-03-25'],
  ['PreviousMonth', undefined, '2024-02-01', '2024-03-01', '2024-03-01'],
  ['PreviousQuarter', undefined, '2023-10-01', '2024-01-01', '2024-01-01'],
  ['PreviousYear', undefined, '2022-01-01', '2023-01-01', '2023-01-01'],
  ['PreviousXDays', 7, '2024-03-19', '2024-03-26', '2024-03-26'],
  // Up to now: the same part of the previous period, up to the same local time.
  ['PreviousWeekToDate', undefined, '2024-03-25', '2024-03-26T11:00:00.000Z', '2024-03-27'],
  ['PreviousMonthToDate', undefined, '2024-03-01', '2024-03-02T11:00:00.000Z', '2024-03-03'],
  ['PreviousQuarterToDate', undefined, '2024-01-01', '2024-01-02T11:00:00.000Z', '2024-01-03'],
  ['PreviousYearToDate', undefined, '2023-01-01', '2023-04-02T10:00:00.000Z', '2023-04-03'],
  ['PreviousXDaysToDate', 7, '2024-03-19', '2024-03-26T11:00:00.000Z', '2024-03-27'],
])('%s is compared with the previous period', (operator, value, from, to, dayTo) => {
  const shifted = (field: string) => previousPeriod({ field, operator, ...(value && { value }) }, options);
  const range = (field: string, end: string) => ({
    aggregator: 'And',
    conditions: [
      { field, operator: 'GreaterThanOrEqual', value: from },
      { field, operator: 'LessThan', value: end },
    ],
  });
  expect([shifted('at'), shifted('day')]).toEqual([range('at', to), range('day', dayTo)]);
});

test('a month up to its last day is compared with the whole of a shorter month', () => {
  const late = { ...options, now: Date.parse('2024-03-31T12:00:00Z'), timezone: 'UTC' };
  expect(previousPeriod({ field: 'day', operator: 'PreviousMonthToDate' }, late)).toMatchObject({
    conditions: [{ value: '2024-02-01' }, { value: '2024-03-01' }],
  });
});

test('other conditions stay in the filter of the previous period, under And and Or', () => {
  const paid: PlainFilter = { field: 'status', operator: 'Equal', value: 'paid' };
  const today: PlainFilter = { field: 'at', operator: 'Today' };
  const yesterday = previousPeriod(today, options);
  const inner = (each: PlainFilter): PlainFilter => ({ aggregator: 'Or', conditions: [each, paid] });
  expect([
    previousPeriod({ aggregator: 'And', conditions: [paid, inner(today)] }, options),
    previousPeriod({ aggregator: 'And', conditions: [paid, { field: 'at', operator: 'Past' }] }, options),
    previousPeriod(paid, options),
  ]).toEqual([{ aggregator: 'And', conditions: [paid, inner(yesterday!)] }, undefined, undefined]);
});

test('the engine counts the records of the previous period, including its first moment', async () => {
  const moments = ['2024-03-30T22:59:59.999Z', '2024-03-30T23:00:00.000Z', '2024-03-31T21:59:59.999Z'];
  const source = createMemorySource('memory', [
    {
      name: 'events',
      columns: [
        { name: 'at', type: 'Date' },
        { name: 'day', type: 'Dateonly' },
      ],
      rows: [...moments, '2024-03-31T22:00:00.000Z'].map((at) => [at, at.slice(0, 10)]),
    },
  ]);
  const clock = { ...systemClock, now: () => now };
  const limits = { pageSizeLimit: 10, queryTimeoutMs: 1000 };
  const engine = await createEngine({ sources: [source], observe: () => {}, clock, limits });
  const count = (field: string, filter: PlainFilter) =>
    engine
      .aggregate(accessOf(), { collection: 'events', operation: 'Count', filter, timezone: options.timezone, limit: 1 })
      .then(({ rows }) => [field, rows[0]?.[0]]);
  const yesterday = (field: string) => previousPeriod({ field, operator: 'Yesterday' }, options)!;
  expect([await count('at', yesterday('at')), await count('day', yesterday('day'))]).toEqual([
    ['at', 2],
    ['day', 2],
  ]);
});
