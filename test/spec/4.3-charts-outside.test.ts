// Charts over HTTP, as front ends read them, and over MCP.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChartBuilder } from '../../src/index.ts';
import { type Outside, openOutside } from './outside.ts';

type Make = (chart: ChartBuilder) => unknown;
const pairs = (...all: readonly (readonly [key: string, value: unknown])[]) =>
  all.map(([key, value]) => ({ key, value }));
const periods = (...all: readonly (readonly [label: string, value: unknown])[]) =>
  all.map(([label, value]) => ({ label, values: { value } }));
const table = (columns: readonly string[], ...rows: readonly unknown[]) => ({ columns, rows });
const each = (...dates: readonly string[]) => dates.map((date) => ({ date, value: 1 }));
const big = '9007199254740993';
const many = Array.from({ length: 31 }, (_, at) => [`k${at}`, at + 1] as const);
const dayOf = (day: number) => `${day < 10 ? 0 : ''}${day}/01/2024`;
const deep = (levels: number): unknown => (levels === 0 ? [0] : { in: deep(levels - 1) });

/** The row, the code of the chart, the HTTP response, and the result of `getChart`. */
const charts: readonly (readonly [row: string, make: Make, http: unknown, mcp: unknown])[] = [
  ['value', (chart) => chart.value(12, 8), { countCurrent: 12, countPrevious: 8 }, { value: 12, previous: 8 }],
  ['value', (chart) => chart.value(0), { countCurrent: 0 }, { value: 0 }],
  ['value', (chart) => chart.value(12, 0), { countCurrent: 12, countPrevious: 0 }, { value: 12, previous: 0 }],
  ['value', (chart) => chart.value(big, null), { countCurrent: big }, { value: big }],
  ['value', async (chart) => chart.value(-1.5, -2), { countCurrent: -1.5, countPrevious: -2 }, { value: -1.5, previous: -2 }],
  ['distribution', (chart) => chart.distribution({ b: 1, a: 2, c: 0 }), pairs(['b', 1], ['a', 2], ['c', 0]), table(['key', 'value'], ['b', 1], ['a', 2], ['c', 0])],
  ['distribution', (chart) => chart.distribution({}), [], { data: [] }],
  // Seconds around midnight in Paris, on the day when summer time begins.
  ['timeBased', (chart) => chart.timeBased('Day', each('2024-03-30T22:59:59Z', '2024-03-30T23:00:00Z', '2024-03-31T22:00:00Z')), periods(['30/03/2024', 1], ['31/03/2024', 1], ['01/04/2024', 1]), table(['period', 'value'], ['30/03/2024', 1], ['31/03/2024', 1], ['01/04/2024', 1])],
  ['timeBased', (chart) => chart.timeBased('Week', each('2024-12-29', '2024-12-30', '2025-01-06')), periods(['W52-2024', 1], ['W1-2025', 1], ['W2-2025', 1]), table(['period', 'value'], ['W52-2024', 1], ['W1-2025', 1], ['W2-2025', 1])],
  ['timeBased', (chart) => chart.timeBased('Month', each('2023-12-31T22:30:00Z', '2023-12-31T23:30:00Z')), periods(['Dec 23', 1], ['Jan 24', 1]), table(['period', 'value'], ['Dec 23', 1], ['Jan 24', 1])],
  ['timeBased', (chart) => chart.timeBased('Quarter', each('2024-03-31T22:30:00Z', '2024-03-31T21:30:00Z', '2024-12-01')), periods(['Q1-2024', 1], ['Q2-2024', 1], ['Q3-2024', 0], ['Q4-2024', 1]), table(['period', 'value'], ['Q1-2024', 1], ['Q2-2024', 1], ['Q3-2024', 0], ['Q4-2024', 1])],
  ['timeBased', (chart) => chart.timeBased('Year', each('1969-12-31', '1970-01-01', '1969-01-01')), periods(['1969', 2], ['1970', 1]), table(['period', 'value'], ['1969', 2], ['1970', 1])],
  // Sums per period: 0 for a period without dates, null for a period without values.
  ['timeBased', (chart) => chart.timeBased('Month', [{ date: new Date('2024-04-10'), value: null }, { date: '2024-01-05', value: 0.1 }, { date: '2024-01-31', value: 0.2 }, { date: '2024-02-01', value: null }, { date: '2024-02-02', value: big }]), periods(['Jan 24', 0.3], ['Feb 24', big], ['Mar 24', 0], ['Apr 24', null]), table(['period', 'value'], ['Jan 24', 0.3], ['Feb 24', big], ['Mar 24', 0], ['Apr 24', null])],
  ['timeBased', (chart) => chart.timeBased('Day', each('2024-03-31T23:30:00')), periods(['31/03/2024', 1]), table(['period', 'value'], ['31/03/2024', 1])],
  ['timeBased', (chart) => chart.timeBased('Day', [{ date: '2024-01-01', value: 2 }, { date: '2024-01-01', value: null }, { date: '2024-01-02', value: null }, { date: '2024-01-02', value: 0 }]), periods(['01/01/2024', 2], ['02/01/2024', 0]), table(['period', 'value'], ['01/01/2024', 2], ['02/01/2024', 0])],
  ['timeBased', (chart) => chart.timeBased('Day', []), [], { data: [] }],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', ['2024-01-01', null, '2024-01-03', '2024-01-03'], [{ label: 'in', values: [1, 100, 2, 3] }, { label: 'out', values: [null, 100, null, -3] }]), { labels: ['01/01/2024', '02/01/2024', '03/01/2024'], values: [{ key: 'in', values: [1, 0, 5] }, { key: 'out', values: [null, 0, -3] }] }, table(['period', 'in', 'out'], ['01/01/2024', 1, null], ['02/01/2024', 0, 0], ['03/01/2024', 5, -3])],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Month', ['2024-01-31T23:30:00Z', '2024-04-01'], [{ label: 'sold', values: [1, null] }]), { labels: ['Feb 24', 'Mar 24', 'Apr 24'], values: [{ key: 'sold', values: [1, 0, null] }] }, table(['period', 'sold'], ['Feb 24', 1], ['Mar 24', 0], ['Apr 24', null])],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Year', [], [{ label: 'a', values: [] }]), { labels: [], values: [{ key: 'a', values: [] }] }, table(['period', 'a'])],
  ['percentage', (chart) => chart.percentage(42.5), 42.5, { value: 42.5 }],
  ['percentage', (chart) => chart.percentage(0), 0, { value: 0 }],
  ['objective', (chart) => chart.objective(235, 300), { value: 235, objective: 300 }, { value: 235, objective: 300 }],
  ['objective', (chart) => chart.objective(0, 0), { value: 0, objective: 0 }, { value: 0, objective: 0 }],
  ['leaderboard', (chart) => chart.leaderboard({ Ada: 2, Cy: '9007199254740992', Bo: big, Di: -1.5, Ed: 2, Fi: 10 }), pairs(['Bo', big], ['Cy', '9007199254740992'], ['Fi', 10], ['Ada', 2], ['Ed', 2], ['Di', -1.5]), table(['key', 'value'], ['Bo', big], ['Cy', '9007199254740992'], ['Fi', 10], ['Ada', 2], ['Ed', 2], ['Di', -1.5])],
  ['smart', (chart) => chart.smart({ any: ['thing', null], of: { it: 0 } }), { any: ['thing', null], of: { it: 0 } }, { data: { any: ['thing', null], of: { it: 0 } } }],
  ['smart', (chart) => chart.smart(null), null, { data: null }],
  ['smart', (chart) => chart.smart({ at: new Date(0), no: false, empty: '' }), { at: '1970-01-01T00:00:00.000Z', no: false, empty: '' }, { data: { at: '1970-01-01T00:00:00.000Z', no: false, empty: '' } }],
  ['smart', (chart) => chart.smart('text'), 'text', { value: 'text' }],
  ['leaderboard', (chart) => chart.leaderboard({ z: 1, a: 1, m: 1 }), pairs(['z', 1], ['a', 1], ['m', 1]), table(['key', 'value'], ['z', 1], ['a', 1], ['m', 1])],
  ['leaderboard', (chart) => chart.leaderboard({}), [], { data: [] }],
  ['distribution', (chart) => chart.distribution({ '': '2', 'a b': -1 }), pairs(['', '2'], ['a b', -1]), table(['key', 'value'], ['', '2'], ['a b', -1])],
  ['percentage', (chart) => chart.percentage('12.345'), '12.345', { value: '12.345' }],
  ['objective', (chart) => chart.objective('1', 2.5), { value: '1', objective: 2.5 }, { value: '1', objective: 2.5 }],
  ['value', (chart) => chart.value('5', undefined), { countCurrent: '5' }, { value: '5' }],
  ['timeBased', (chart) => chart.timeBased('Day', each('2024-02-29', '2024-02-28', '2024-03-01')), periods(['28/02/2024', 1], ['29/02/2024', 1], ['01/03/2024', 1]), table(['period', 'value'], ['28/02/2024', 1], ['29/02/2024', 1], ['01/03/2024', 1])],
  ['leaderboard', (chart) => chart.leaderboard(Object.fromEntries(many.map(([key, value]) => [key, value]))), pairs(...many.toReversed()), table(['key', 'value'], ...many.toReversed())],
  ['distribution', (chart) => chart.distribution(Object.fromEntries(many)), pairs(...many), table(['key', 'value'], ...many)],
  ['timeBased', (chart) => chart.timeBased('Day', many.map(([, value]) => ({ date: new Date(Date.UTC(2024, 0, value, 12)), value }))), periods(...many.map(([, value]) => [dayOf(value), value] as const)), table(['period', 'value'], ...many.map(([, value]) => [dayOf(value), value]))],
  ['smart', (chart) => chart.smart(deep(40)), deep(40), { data: deep(40) }],
  ['timeBased', (chart) => chart.timeBased('Week', each('2020-12-28', '2021-01-03', '2021-01-04')), periods(['W53-2020', 2], ['W1-2021', 1]), table(['period', 'value'], ['W53-2020', 2], ['W1-2021', 1])],
  ['timeBased', (chart) => chart.timeBased('Month', each('2024-01-31', '2024-03-31', '2024-12-01', '2025-01-31')), periods(...['Jan 24', 'Feb 24', 'Mar 24', 'Apr 24', 'May 24', 'Jun 24', 'Jul 24', 'Aug 24', 'Sep 24', 'Oct 24', 'Nov 24', 'Dec 24', 'Jan 25'].map((label) => [label, ['Jan 24', 'Mar 24', 'Dec 24', 'Jan 25'].includes(label) ? 1 : 0] as const)), expect.objectContaining({ columns: ['period', 'value'] })],
  ['timeBased', (chart) => chart.timeBased('Year', [{ date: null as never, value: 5 }, { date: '2024-05-05', value: '0.10' }, { date: '2024-05-06', value: '0.20' }]), periods(['2024', 0.3]), table(['period', 'value'], ['2024', 0.3])],
  ['timeBased', (chart) => chart.timeBased('Quarter', each('2023-10-01', '2024-04-01')), periods(['Q4-2023', 1], ['Q1-2024', 0], ['Q2-2024', 1]), table(['period', 'value'], ['Q4-2023', 1], ['Q1-2024', 0], ['Q2-2024', 1])],
  ['timeBased', (chart) => chart.timeBased('Day', [{ date: '2024-01-01', value: null }, { date: '2024-01-01', value: 2 }]), periods(['01/01/2024', 2]), table(['period', 'value'], ['01/01/2024', 2])],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Week', [null, null], [{ label: 'a', values: [1, 2] }]), { labels: [], values: [{ key: 'a', values: [] }] }, table(['period', 'a'])],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', ['2024-01-01'], []), { labels: ['01/01/2024'], values: [] }, table(['period'], ['01/01/2024'])],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Quarter', ['2024-12-31T23:30:00Z', new Date('2024-12-31T22:30:00Z')], [{ label: 'a', values: ['1', '2'] }]), { labels: ['Q4-2024', 'Q1-2025'], values: [{ key: 'a', values: ['2', '1'].map(Number) }] }, table(['period', 'a'], ['Q4-2024', 2], ['Q1-2025', 1])],
  ['distribution', (chart) => chart.distribution({ up: 0.5, down: '-0.5', big }), pairs(['up', 0.5], ['down', '-0.5'], ['big', big]), table(['key', 'value'], ['up', 0.5], ['down', '-0.5'], ['big', big])],
  ['percentage', (chart) => chart.percentage(-100), -100, { value: -100 }],
  ['percentage', (chart) => chart.percentage(250), 250, { value: 250 }],
  ['objective', (chart) => chart.objective(-1, '0'), { value: -1, objective: '0' }, { value: -1, objective: '0' }],
  ['leaderboard', (chart) => chart.leaderboard({ a: '1.10', b: 1.2, c: '-3', d: 0 }), pairs(['b', 1.2], ['a', '1.10'], ['d', 0], ['c', '-3']), table(['key', 'value'], ['b', 1.2], ['a', '1.10'], ['d', 0], ['c', '-3'])],
  ['smart', (chart) => chart.smart([]), [], { data: [] }],
  ['smart', (chart) => chart.smart({ a: { toJSON: () => 5, more: () => 1 } }), { a: 5 }, { data: { a: 5 } }],
  ['smart', (chart) => chart.smart(0), 0, { value: 0 }],
  ['smart', (chart) => chart.smart(false), false, { data: false }],
  ['value', (chart) => chart.value(3, '3.5'), { countCurrent: 3, countPrevious: '3.5' }, { value: 3, previous: '3.5' }],
]; // biome-ignore format: a table

const mistakes: readonly (readonly [row: string, make: Make, cause: string])[] = [
  ['value', (chart) => chart.value(Number.NaN), 'value: expected a number, got NaN.'],
  ['value', (chart) => chart.value(1, 'x'), 'value: expected a number, got string.'],
  ['distribution', (chart) => chart.distribution([['a', 1]] as never), 'distribution: expected an object of label to number, got a list.'],
  ['timeBased', (chart) => chart.timeBased('Hour' as never, []), 'the time range must be one of Day, Week, Month, Quarter, Year, not Hour.'],
  ['timeBased', (chart) => chart.timeBased('Day', [{ date: 'soon', value: 1 }]), 'expected a date such as 2025-03-30 or 2025-03-30T08:00:00Z.'],
  ['timeBased', (chart) => chart.timeBased('Day', { '2024-01-01': 1 } as never), 'timeBased: expected a list of {date, value}, got object.'],
  ['timeBased', (chart) => chart.timeBased('Day', each('0001-01-01', '2024-01-01')), '0001-01-01 to 2024-01-01 are more than 10000 periods; use a longer time range.'],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', ['2024-01-01'], [{ label: 'in', values: [] }]), "multipleTimeBased: the line 'in' has 0 values for 1 dates."],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', ['2024-01-01'], [{ label: 'in', values: [1, 2] }]), "multipleTimeBased: the line 'in' has 2 values for 1 dates."],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', ['2024-01-01'], [{ label: 'a', values: [1] }, { label: 'b', values: ['x'] }] as never), 'multipleTimeBased: expected a number, got string.'],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', ['2024-01-01'], { a: [1] } as never), 'multipleTimeBased: expected a list of {label, values}, got object.'],
  ['timeBased', (chart) => chart.timeBased('Day', [{ date: '2024-01-01', value: 'x' }]), 'timeBased: expected a number, got string.'],
  ['timeBased', (chart) => chart.timeBased('day' as never, []), 'the time range must be one of Day, Week, Month, Quarter, Year, not day.'],
  ['distribution', (chart) => chart.distribution({ a: 1, b: Number.POSITIVE_INFINITY }), 'distribution: expected a number, got Infinity.'],
  ['distribution', (chart) => chart.distribution(null as never), 'distribution: expected an object of label to number, got null.'],
  ['leaderboard', (chart) => chart.leaderboard([1] as never), 'leaderboard: expected an object of label to number, got a list.'],
  ['objective', (chart) => chart.objective(null as never, 1), 'objective: expected a number, got null.'],
  ['percentage', (chart) => chart.percentage('12 %'), 'percentage: expected a number, got string.'],
  ['smart', (chart) => chart.smart({ a: { b: () => 1 } }), 'smart: expected a JSON value, got function at a.b.'],
  ['smart', (chart) => chart.smart({ a: 1n } as never), 'smart: expected a JSON value, got bigint at a.'],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', undefined as never, []), 'multipleTimeBased: expected a list of dates, got undefined.'],
  ['percentage', (chart) => chart.percentage(null as never), 'percentage: expected a number, got null.'],
  ['objective', (chart) => chart.objective(1, 'many' as never), 'objective: expected a number, got string.'],
  ['leaderboard', (chart) => chart.leaderboard({ a: undefined as never }), 'leaderboard: expected a number, got undefined.'],
  ['smart', (chart) => chart.smart({ a: [1, Number.NaN] }), 'smart: expected a JSON value, got NaN at a.1.'],
  ['objective', (chart) => chart.objective(1, undefined as never), 'objective: expected a number, got undefined.'],
  ['value', (chart) => chart.value('' as never), 'value: expected a number, got string.'],
  ['distribution', (chart) => chart.distribution({ a: null as never }), 'distribution: expected a number, got null.'],
  ['timeBased', (chart) => chart.timeBased('Day', each('2024-13-01')), 'expected a date such as 2025-03-30 or 2025-03-30T08:00:00Z.'],
  ['timeBased', (chart) => chart.timeBased('Day', [{ date: new Date(Number.NaN), value: 1 }]), 'expected a date such as 2025-03-30 or 2025-03-30T08:00:00Z.'],
  ['timeBased', (chart) => chart.timeBased('Day', [null] as never), 'timeBased: expected a list of {date, value}, got a list.'],
  ['timeBased', (chart) => chart.timeBased(undefined as never, []), 'the time range must be one of Day, Week, Month, Quarter, Year, not undefined.'],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('month' as never, [], []), 'the time range must be one of Day, Week, Month, Quarter, Year, not month.'],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', ['soon'], []), 'expected a date such as 2025-03-30 or 2025-03-30T08:00:00Z.'],
  ['multipleTimeBased', (chart) => chart.multipleTimeBased('Day', ['2024-01-01'], [{ label: 'in', values: null as never }]), 'multipleTimeBased: expected a list of numbers, got null.'],
  ['distribution', (chart) => chart.distribution('a' as never), 'distribution: expected an object of label to number, got string.'],
  ['leaderboard', (chart) => chart.leaderboard(undefined as never), 'leaderboard: expected an object of label to number, got undefined.'],
  ['leaderboard', (chart) => chart.leaderboard({ a: true as never }), 'leaderboard: expected a number, got boolean.'],
  ['percentage', (chart) => chart.percentage(Number.POSITIVE_INFINITY), 'percentage: expected a number, got Infinity.'],
  ['value', (chart) => chart.value(null as never), 'value: expected a number, got null.'],
  ['value', (chart) => chart.value(1, false as never), 'value: expected a number, got boolean.'],
  ['smart', (chart) => chart.smart(Number.POSITIVE_INFINITY), 'smart: expected a JSON value, got Infinity at the top.'],
  ['smart', (chart) => chart.smart(deep(70)), 'smart: expected a JSON value, got object at '],
  ['smart', (chart) => chart.smart({ a: undefined }), 'smart: expected a JSON value, got undefined at a.'],
  ['smart', (chart) => chart.smart({ a: Symbol('x') } as never), 'smart: expected a JSON value, got symbol at a.'],
  ['smart', (chart) => chart.smart(undefined), 'smart: expected a JSON value, got undefined at the top.'],
]; // biome-ignore format: a table

let place: Outside;
beforeAll(async () => {
  place = await openOutside(['CREATE TABLE a (id INTEGER PRIMARY KEY)', 'INSERT INTO a VALUES (7)'], (agent) => {
    charts.forEach(([, make], at) => void agent.addChart(`c${at}`, (_, chart) => make(chart) as never));
    mistakes.forEach(([, make], at) => void agent.addChart(`m${at}`, (_, chart) => make(chart) as never));
    agent
      .addChart('most', (_, chart) => chart.timeBased('Day', each('2000-01-01', '2027-05-18')))
      .addChart('more', (_, chart) => chart.timeBased('Day', each('2000-01-01', '2027-05-19')))
      .addChart('lines', (_, chart) => chart.multipleTimeBased('Day', ['2000-01-01', '2027-05-19'], []))
      .addChart('wrong', () => ({ countCurrent: 'x' }) as never)
      .customizeCollection('a', (a) =>
        a.addChart('record', ({ recordId }, chart) => chart.objective(Number(recordId), 10)),
      );
  });
});
afterAll(() => place?.stop());

test.each(charts.map(([row, make, ...answers], at) => [row, `${make}`.replace(/^.*?=> chart\./, ''), at, ...answers] as const))(
  '%s: over HTTP and MCP: %s',
  async (_row, _say, at, http, mcp) => {
    const bare = await place.get(`/_charts/c${at}`);
    const wrapped = await place.post(`/_charts/c${at}`, {});
    const told = await place.tool('getChart', { chartName: `c${at}` });
    expect([bare.status, bare.body, wrapped.body.data.attributes.value, told]).toEqual([200, http, http, { json: mcp }]);
  },
); // biome-ignore format: short

test.each(mistakes.map(([row, , cause], at) => [row, cause, at] as const))(
  '%s: an invalid result fails the chart, and the log says why: %s',
  async (_row, cause, at) => {
    const { status, body } = await place.get(`/_charts/m${at}`);
    const told = await place.tool('getChart', { chartName: `m${at}` });
    expect([status, JSON.stringify(body).includes(cause), told, place.causes.at(-1)]).toEqual([
      500,
      false,
      { error: expect.stringMatching(/^CHART_FAILED/) },
      expect.stringContaining(cause),
    ]);
  },
);

test('timeBased, multipleTimeBased: 10,000 periods are shown, one more is refused', async () => {
  const many = (at: string) => place.get(`/_charts/${at}?timezone=UTC`);
  const [shown, refused, lines] = [await many('most'), await many('more'), await many('lines')];
  expect([shown.status, shown.body.length, shown.body[0], shown.body.at(-1), refused.status, lines.status]).toEqual([200, 10_000, { label: '01/01/2000', values: { value: 1 } }, { label: '18/05/2027', values: { value: 1 } }, 500, 500]);
}); // biome-ignore format: short

test('timeBased: the days are in the requested timezone, otherwise in that of the caller', async () => {
  const labels = async (query: string) => (await place.get(`/_charts/c7${query}`)).body.map((one: { label: string }) => one.label);
  expect([await labels('?timezone=UTC'), await labels('')]).toEqual([
    ['30/03/2024', '31/03/2024'],
    ['30/03/2024', '31/03/2024', '01/04/2024'],
  ]);
}); // biome-ignore format: short

test('objective, value: of one record, which must exist; a result without a builder is an error', async () => {
  expect([
    (await place.get('/_charts/a/record?record_id=7')).body,
    (await place.get('/_charts/a/record?record_id=8')).status,
    (await place.get('/_charts/a/record')).status,
    (await place.get('/_charts/wrong')).status,
    (await place.get('/_charts/nothing')).status,
  ]).toEqual([{ value: 7, objective: 10 }, 404, 400, 500, 404]);
});
