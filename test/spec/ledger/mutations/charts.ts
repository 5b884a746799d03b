// Mutations for the rows of charts.
import type { Points } from '../mutations.ts';

export const charts: Points = {
  'src/agent/charts/builder.ts': {
    '4.3 · value': ['? { countCurrent }', '? { countCurrent: 0 }'],
    '4.3 · distribution': ["(values) => entries('distribution', values)", '() => []'],
    '4.3 · timeBased': ['value: sums[at]!', 'value: 0'],
    '4.3 · multipleTimeBased': ["values: sumByPeriod(periods, line.values, 'multipleTimeBased')", 'values: []'],
    '4.3 · percentage': ["number('percentage', value)", "number('percentage', 0)"],
    '4.3 · objective': ["objective: number('objective', objective)", 'objective: 0'],
    '4.3 · leaderboard': [
      'compareDecimals(decimal(b.value), decimal(a.value))',
      'compareDecimals(decimal(a.value), decimal(b.value))',
    ],
    '4.3 · smart': ['return data;', 'return null as never;'],
    '2.7 · time range · Day': ['Day: { months: 0, days: 1,', 'Day: { months: 0, days: 2,'],
    '2.7 · time range · Week': ['Week: { months: 0, days: 7,', 'Week: { months: 0, days: 14,'],
    '2.7 · time range · Month': ['Month: { months: 1,', 'Month: { months: 2,'],
    '2.7 · time range · Quarter': ['Quarter: { months: 3,', 'Quarter: { months: 6,'],
    '2.7 · time range · Year': ['Year: { months: 12,', 'Year: { months: 24,'],
  },
  'src/agent/customize/recording.ts': {
    '4.2 · Charts · addChart': [
      'if (what.kind !== kind) return [];',
      "if (what.kind !== kind || kind === 'chart') return [];",
    ],
  },
};
