import { describe, expect, test } from 'vitest';
import { createChartBuilder } from '../../src/agent/charts/builder.ts';

const build = createChartBuilder('Europe/Paris');
const wrong = (make: () => unknown): string => {
  try {
    return JSON.stringify(make());
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
};

describe('4.3 Chart result builder', () => {
  test('value(value, previousValue?)', () => {
    expect([build.value(12), build.value(12, 0), build.value('9007199254740993', null)]).toEqual([
      { countCurrent: 12 },
      { countCurrent: 12, countPrevious: 0 },
      { countCurrent: '9007199254740993' },
    ]);
  });

  test('distribution(object of label to number)', () => {
    expect(build.distribution({ paid: 3, open: 10 })).toEqual([
      { key: 'paid', value: 3 },
      { key: 'open', value: 10 },
    ]);
  });

  test.each([
    ['Day', ['2024-03-30T22:59:59Z', '2024-03-31T21:59:59Z'], ['30/03/2024', '31/03/2024']],
    ['Week', ['2024-12-29', '2024-12-30', '2025-01-06'], ['W52-2024', 'W1-2025', 'W2-2025']],
    ['Month', ['2023-12-31T22:30:00Z', '2023-12-31T23:30:00Z'], ['Dec 23', 'Jan 24']],
    ['Quarter', ['2024-03-31T22:30:00Z', '2024-03-31T21:30:00Z'], ['Q1-2024', 'Q2-2024']],
    ['Year', ['1969-12-31', '1970-01-01'], ['1969', '1970']],
  ] as const)('timeBased(timeRange, values): %s, in the zone of the caller', (timeRange, dates, labels) => {
    const values = dates.map((date) => ({ date, value: 1 }));
    expect(build.timeBased(timeRange, values)).toEqual(labels.map((label) => ({ label, values: { value: 1 } })));
  });

  test('timeBased(timeRange, values as list of {date, value or null}): sums of a period, 0 where there is no date, null where there is no value', () => {
    expect(
      build.timeBased('Month', [
        { date: new Date('2024-04-10T00:00:00Z'), value: null },
        { date: '2024-01-05', value: 0.1 },
        { date: '2024-01-31', value: 0.2 },
        { date: '2024-02-01', value: null },
        { date: '2024-02-02', value: '9007199254740993' },
      ]),
    ).toEqual([
      { label: 'Jan 24', values: { value: 0.3 } },
      { label: 'Feb 24', values: { value: '9007199254740993' } },
      { label: 'Mar 24', values: { value: 0 } },
      { label: 'Apr 24', values: { value: null } },
    ]);
  });

  test('multipleTimeBased(timeRange, dates, lines as list of {label, values})', () => {
    const dates = ['2024-01-01', null, '2024-01-03', '2024-01-03'];
    const lines = [
      { label: 'in', values: [1, 100, 2, 3] },
      { label: 'out', values: [null, 100, null, -3] },
    ];
    expect(build.multipleTimeBased('Day', dates, lines)).toEqual({
      labels: ['01/01/2024', '02/01/2024', '03/01/2024'],
      values: [
        { key: 'in', values: [1, 0, 5] },
        { key: 'out', values: [null, 0, -3] },
      ],
    });
  });

  test('percentage(value)', () => expect(build.percentage(12.5)).toBe(12.5));

  test('objective(value, objective)', () => expect(build.objective(235, 300)).toEqual({ value: 235, objective: 300 }));

  test('leaderboard(object of label to number, returned sorted descending)', () => {
    const given = { Ada: 2, Bo: '9007199254740993', Cy: '9007199254740992', Di: -1.5, Ed: 2 };
    expect(build.leaderboard(given).map(({ key }) => key)).toEqual(['Bo', 'Cy', 'Ada', 'Ed', 'Di']);
  });

  test('smart(data)', () => {
    const data = { any: [1, { thing: null }] };
    expect(build.smart(data)).toBe(data);
    expect([
      wrong(() => build.smart(undefined)),
      wrong(() => build.smart({ a: [1, Number.NaN] })),
      wrong(() => build.smart({ at: () => 1 })),
    ]).toEqual([
      'TypeError: smart: expected what JSON can hold, got undefined at the top.',
      'TypeError: smart: expected what JSON can hold, got NaN at a.1.',
      'TypeError: smart: expected what JSON can hold, got function at at.',
    ]);
  });

  test('nothing given is nothing shown', () => {
    expect([
      build.timeBased('Day', []),
      build.multipleTimeBased('Day', [], [{ label: 'a', values: [] }]),
      build.distribution({}),
    ]).toEqual([[], { labels: [], values: [{ key: 'a', values: [] }] }, []]);
  });

  test('what cannot be drawn says what is wrong', () => {
    expect([
      wrong(() => build.value(Number.NaN)),
      wrong(() => build.leaderboard({ a: undefined as unknown as number })),
      wrong(() => build.timeBased('Hour' as 'Day', [])),
      wrong(() => build.timeBased('Day', [{ date: 'soon', value: 1 }])),
      wrong(() =>
        build.timeBased('Day', [
          { date: '0001-01-01', value: 1 },
          { date: '2024-01-01', value: 1 },
        ]),
      ),
      wrong(() => build.multipleTimeBased('Day', ['2024-01-01'], [{ label: 'in', values: [] }])),
      wrong(() => build.distribution([['a', 1]] as never)),
      wrong(() => build.timeBased('Day', { '2024-01-01': 1 } as never)),
      wrong(() => build.multipleTimeBased('Day', undefined as never, [])),
      wrong(() => build.objective(1, 'many')),
    ]).toEqual([
      'TypeError: value: expected a number, got NaN.',
      'TypeError: leaderboard: expected a number, got undefined.',
      'TypeError: a time range is one of Day, Week, Month, Quarter, Year, not Hour.',
      'TypeError: expected a date such as 2025-03-30 or 2025-03-30T08:00:00Z.',
      'TypeError: 0001-01-01 to 2024-01-01 are more than 10000 periods; take a longer time range.',
      "TypeError: multipleTimeBased: the line 'in' has 0 values for 1 dates.",
      'TypeError: distribution: expected an object of label to number, got a list.',
      'TypeError: timeBased: expected a list of {date, value}, got object.',
      'TypeError: multipleTimeBased: expected a list of dates, got undefined.',
      'TypeError: objective: expected a number, got string.',
    ]);
  });
});
