import { expect, test } from 'vitest';
import { createChartBuilder } from '../../src/agent/charts/builder.ts';
import type { TimeRange } from '../../src/agent/charts/definitions.ts';

test.each<[range: TimeRange, last: string, labels: string[]]>([
  ['Day', '2024-01-02', ['31/12/2023', '01/01/2024', '02/01/2024']],
  ['Week', '2024-01-08', ['W52-2023', 'W1-2024', 'W2-2024']],
  ['Month', '2024-02-29', ['Dec 23', 'Jan 24', 'Feb 24']],
  ['Quarter', '2024-04-01', ['Q4-2023', 'Q1-2024', 'Q2-2024']],
  ['Year', '2025-12-31', ['2023', '2024', '2025']],
])('time range | %s', (range, last, labels) => {
  const values = ['2023-12-31', last].map((date) => ({ date, value: 1 }));
  expect(
    createChartBuilder('UTC')
      .timeBased(range, values)
      .map(({ label, values: { value } }) => [label, value]),
  ).toEqual(labels.map((label, at) => [label, at === 1 ? 0 : 1]));
});
