// Spellings of analytic calls. One meaning: read as the specified form. Several meanings: refused with the forms.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../../src/agent/engine.ts';
import { createMemorySource } from '../../../src/agent/sources/memory/source.ts';
import { ask } from '../asking.ts';
import { type McpTestServer, openMcpServer } from '../mcp-server.ts';

type Request = Parameters<Engine['aggregate']>[1] | Parameters<Engine['list']>[1];

const number = (name: string) => ({ name, type: 'Number' as const });
const source = createMemorySource('memory', [
  {
    name: 'orders',
    columns: [
      ...['id', 'customer_id', 'total', 'fee', 'a', 'b', 'a_b', 'count'].map(number),
      { name: 'status', type: 'String' },
      { name: 'placed_at', type: 'Date' },
      { name: 'shipped_at', type: 'Date' },
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
    rows: [],
  },
  { name: 'customers', columns: [number('id'), { name: 'email', type: 'String' }], primaryKey: ['id'], rows: [] },
]);

let server: McpTestServer;
let asked: Request | undefined;
beforeAll(async () => {
  const keep = async (_: unknown, request: Request) => {
    asked = request;
    return { columns: [], rows: [], hasMore: false, cursorAfter: () => '' } as never;
  };
  server = await openMcpServer({
    source,
    around: (engine) => ({ ...engine, aggregate: keep, list: keep }) as unknown as Engine,
  });
});
afterAll(() => server.close());

type Args = Record<string, unknown>;
const months = [{ field: 'placed_at', bucket: 'Month' }];
const sum = { 'sum(total)': { sum: 'total' } };
const r = { r: { sum: 'total' } };
const over100 = { measure: 'r', operator: 'GreaterThan', value: 100 };

const part = (name: string) => ({ field: 'placed_at', part: name });
const moving = { measures: { r: { sum: 'total' }, m: { movingAverage: 'r', last: 3 } } };
const rolling = (measure: unknown) => ({ measures: { r: { sum: 'total' }, m: measure } });
const on = (name: string, operator: string, value: unknown) => ({ expression: part(name), operator, value });
const weekend = { aggregator: 'Or', conditions: [on('Weekday', 'Equal', 6), on('Weekday', 'Equal', 7)] };
const filtered = (filters: unknown) => ({ measures: r, filters });
const meant = (filter: unknown) => ({ measures: r, filter });

describe('one meaning', () => {
  test.each<[Args, Args]>([
    [rolling({ moving_average: 'r', window: 3 }), moving],
    [rolling({ movingAverage: ['r', 3] }), moving],
    [rolling('avg(r) over (order by placed_at rows between 2 preceding and current row)'), moving],
    [rolling({ rollingSum: 'r', size: 12 }), rolling({ running: 'r', last: 12 })],
    [filtered({ ...part('weekday'), operator: 'In', value: ['sat', 'Sunday'] }), meant(weekend)],
    [filtered('weekday(placed_at) in (6, 7)'), meant(weekend)],
    [filtered({ 'month(placed_at)': 12 }), meant(on('MonthOfYear', 'Equal', 12))],
    [filtered({ expression: { hour: 'placed_at' }, op: '<', value: 9 }), meant(on('HourOfDay', 'LessThan', 9))],
    [
      filtered('extract(year from placed_at) > 2024'),
      meant({ field: 'placed_at', operator: 'GreaterThanOrEqual', value: '2025-01-01' }),
    ],
    [
      filtered({ field: 'quarter(placed_at)', operator: '=', value: 4 }),
      meant({
        aggregator: 'And',
        conditions: [on('MonthOfYear', 'GreaterThanOrEqual', 10), on('MonthOfYear', 'LessThan', 13)],
      }),
    ],
    [
      filtered({ field: 'total', operator: '>', value: { times: ['fee', 2] } }),
      meant({ field: 'total', operator: 'GreaterThan', other: { times: ['fee', 2] } }),
    ],
    [{ measures: ['sum(total)'] }, { measures: sum }],
    [{ measures: [{ sum: 'total' }] }, { measures: sum }],
    [{ aggregations: [{ field: 'total', agg: 'sum' }] }, { measures: sum }],
    [{ measures: ['sum(total) as r'] }, { measures: r }],
    [{ measures: [{ r: { sum: 'total' } }] }, { measures: r }],
    [{ measures: { total: 'sum' } }, { measures: { total: { sum: 'total' } } }],
    [{ measures: { sum: 'total' } }, { measures: { sum: { sum: 'total' } } }],
    [{ measures: { count: true } }, { measures: { count: { count: true } } }],
    [{ measures: { n: 'count(distinct status)' } }, { measures: { n: { countDistinct: 'status' } } }],
    [{ measures: { n: { count: 'status', distinct: true } } }, { measures: { n: { countDistinct: 'status' } } }],
    [
      { measures: { r: { sum: '(total - fee) * 2' } } },
      { measures: { r: { sum: { times: [{ minus: ['total', 'fee'] }, 2] } } } },
    ],
    [
      { measures: { r: { sum: 'a - b * total' } } },
      { measures: { r: { sum: { minus: ['a', { times: ['b', 'total'] }] } } } },
    ],
    [{ measures: { q: 'x / y' } }, { measures: { q: { ratio: ['x', 'y'] } } }],
    [{ measures: { q: 'sum(total) / count(*)' } }, { measures: { q: { ratio: [{ sum: 'total' }, { count: true }] } } }],
    [{ measures: { q: { divide: ['x', 'y'] } } }, { measures: { q: { ratio: ['x', 'y'] } } }],
    [{ measures: { q: { ratio: { numerator: 'x', denominator: 'y' } } } }, { measures: { q: { ratio: ['x', 'y'] } } }],
    [
      { measures: { ...r, n: 'count', q: { subtract: ['r', 'n'] } } },
      { measures: { ...r, n: { count: true }, q: { minus: ['r', 'n'] } } },
    ],
    [
      { measures: { ...r, q: { '+': ['r', 'avg(fee)', 1] } } },
      { measures: { ...r, q: { plus: ['r', { avg: 'fee' }, 1] } } },
    ],
    [{ measures: { ...r, q: { ifNull: ['r', 0] } } }, { measures: { ...r, q: { coalesce: ['r', 0] } } }],
    [{ measures: { q: { coalesce: [{ total: 'fee' }, 0] } } }, { measures: { q: { coalesce: [{ sum: 'fee' }, 0] } } }],
    [
      { measures: { ...r, q: '(r - sum(fee)) / r * 100' } },
      { measures: { ...r, q: { times: [{ ratio: [{ minus: ['r', { sum: 'fee' }] }, 'r'] }, 100] } } },
    ],
    [
      { measures: { ...r, q: { ratio: ['r - sum(fee)', 'r'] } } },
      { measures: { ...r, q: { ratio: [{ minus: ['r', { sum: 'fee' }] }, 'r'] } } },
    ],
    [
      { measures: { total: { coalesce: [{ sum: 'fee' }, 0] }, sum: { plus: ['total', 'fee'] } } },
      { measures: { total: { coalesce: [{ sum: 'fee' }, 0] }, sum: { sum: { plus: ['total', 'fee'] } } } },
    ],
    [
      { measures: { ...r, average: { minus: ['r', { avg: 'fee' }] }, total: { minus: ['r', 'max(fee)'] } } },
      { measures: { ...r, average: { minus: ['r', { avg: 'fee' }] }, total: { minus: ['r', { max: 'fee' }] } } },
    ],
    [{ measures: { ...r, q: { ranking: 'r' } } }, { measures: { ...r, q: { rank: 'r' } } }],
    [{ measures: { q: { rank: 'sum(total)' } } }, { measures: { q: { rank: { sum: 'total' } } } }],
    [{ measures: { p: { p05: 'total' } } }, { measures: { p: { percentile: ['total', 0.05] } } }],
    [{ measures: { p: { percentile: ['total', 90] } } }, { measures: { p: { percentile: ['total', 0.9] } } }],
    [{ measures: { p: { percentile: 0.9, field: 'total' } } }, { measures: { p: { percentile: ['total', 0.9] } } }],
    [{ measures: { ...r, q: { running: { measure: 'r' } } } }, { measures: { ...r, q: { running: 'r' } } }],
    [{ measures: { ...r, q: { rank: 'r', order: 'desc' } } }, { measures: { ...r, q: { rank: 'r' } } }],
    [
      { measures: { ...r, q: { rank: { by: 'r', partitionBy: 'status', ascending: true } } } },
      { measures: { ...r, q: { rank: { minus: [0, 'r'] }, per: ['status'] } } },
    ],
    [
      { measures: { ...r, q: { share: 'r', within: ['customer.email', 0] } } },
      { measures: { ...r, q: { share: 'r', per: ['customer:email', 0] } } },
    ],
    [{ measures: { ...r, q: { percentOfTotal: 'r' } } }, { measures: { ...r, q: { times: [{ share: 'r' }, 100] } } }],
    [
      { measures: { q: { percent: { count: true } } } },
      { measures: { q: { times: [{ share: { count: true } }, 100] } } },
    ],
    [
      { measures: { q: { percent: { count: true }, per: [0] } } },
      { measures: { q: { times: [{ share: { count: true }, per: [0] }, 100] } } },
    ],
    [
      { measures: { ...r, n: 'count', q: { percentage: ['n', 'r'] } } },
      { measures: { ...r, n: { count: true }, q: { times: [{ ratio: ['n', 'r'] }, 100] } } },
    ],
    [
      { measures: { q: { sum: "case when status = 'paid' then 1 else 0 end" } } },
      { measures: { q: { count: true, where: { field: 'status', operator: 'Equal', value: 'paid' } } } },
    ],
    [
      { measures: ["sum(case when status = 'paid' then total else 0 end) as q"] },
      {
        measures: {
          q: { coalesce: [{ sum: 'total', where: { field: 'status', operator: 'Equal', value: 'paid' } }, 0] },
        },
      },
    ],
    [
      { measures: { ...r, q: { ratio: ['r', 'count'] } } },
      { measures: { ...r, q: { ratio: ['r', { count: true }] } } },
    ],
    [
      { measures: r, filters: 'status in ("a", "b")' },
      { filter: { field: 'status', operator: 'In', value: ['a', 'b'] } },
    ],
    [{ measures: 'count(*)' }, { measures: { 'count(*)': { count: true } } }],
    [{ measures: 'sum(total) as r, count' }, { measures: { ...r, count: { count: true } } }],
    [{ measures: ['avg:total'] }, { measures: { 'avg:total': { avg: 'total' } } }],
    [
      { measures: { total: ['min', 'average'] } },
      { measures: { 'min(total)': { min: 'total' }, 'avg(total)': { avg: 'total' } } },
    ],
    [
      { measures: { q: { avg: { ratio: ['total', 'fee'] } } } },
      { measures: { q: { avg: { dividedBy: ['total', 'fee'] } } } },
    ],
    [
      { measures: r, groups: [part('Month'), part('Year')] },
      { measures: r, groups: [part('MonthOfYear'), { field: 'placed_at', bucket: 'Year' }] },
    ],
    [
      { measures: { q: { avg: { dateDiff: { unit: 'day', from: 'placed_at', to: 'shipped_at' } } } } },
      { measures: { q: { avg: { difference: ['placed_at', 'shipped_at'], unit: 'day' } } } },
    ],
    [
      { measures: { ...r, q: '(r - previous_r) / r_prev' }, groups: months, compare: { previous: 1 } },
      { measures: { ...r, q: { ratio: [{ minus: ['r', 'previous r'] }, 'previous r'] } } },
    ],
    [
      {
        measures: {
          ...r,
          n: { count: true, where: { field: 'status', operator: 'In', value: ['previous r', 'prev_r'] } },
        },
      },
      { measures: { ...r, n: { where: { operator: 'In', value: ['previous r', 'prev_r'] } } } },
    ],
    [
      { measures: r, groups: months, compare: { previous: 1 }, having: { previous_r: { gt: 1 } }, sort: '-previous_r' },
      {
        having: { measure: 'previous r', operator: 'GreaterThan', value: 1 },
        sort: [{ measure: 'previous r', ascending: false }],
      },
    ],
    [
      {
        measures: { n: { count: true, where: { measure: 'orders', operator: '>', value: 1 } } },
        over: { groupBy: 'status', metrics: { orders: 'count' } },
      },
      {
        measures: { n: { count: true, where: { field: 'orders', operator: 'GreaterThan', value: 1 } } },
        over: { groups: [{ field: 'status' }], measures: { orders: { count: true } } },
      },
    ],
    [
      { measures: r, filters: { expression: { ratio: ['fee', 'total'] }, operator: '>', value: 0.1 } },
      { filter: { expression: { dividedBy: ['fee', 'total'] }, operator: 'GreaterThan', value: 0.1 } },
    ],
    [{ operation: 'median', field: 'total' }, { measures: { 'median(total)': { median: 'total' } } }],
    [
      { operation: 'sum', field: 'total - fee' },
      { measures: { 'sum(total - fee)': { sum: { minus: ['total', 'fee'] } } } },
    ],
    [
      { select: ['status', 'sum(total) as r'], groups: 'status' },
      { measures: r, groups: [{ field: 'status' }] },
    ],
    [
      { measures: r, groups: ["date_trunc('month', placed_at)"] },
      { measures: r, groups: months },
    ],
    [
      { measures: r, groups: { placed_at: 'month' } },
      { measures: r, groups: months },
    ],
    [
      { measures: r, groups: [{ month: 'placed_at' }] },
      { measures: r, groups: months },
    ],
    [
      { measures: r, groups: { field: 'placed_at', bucket: 'weekday' } },
      { measures: r, groups: [{ field: 'placed_at', part: 'Weekday' }] },
    ],
    [
      { measures: r, groups: { field: 'total', ranges: [{ to: 5 }, { from: 5, to: 9 }, { from: 9 }] } },
      { measures: r, groups: [{ field: 'total', ranges: [5, 9] }] },
    ],
    [{ measures: r, groups: ['status'], having: 'r > 100' }, { having: over100 }],
    [{ measures: r, groups: ['status'], having: { 'sum(total)': { gt: 100 } } }, { having: over100 }],
    [
      { measures: r, groups: ['status'], having: { or: [{ r: '> 100' }, { r: { lt: 5 } }] } },
      { having: { aggregator: 'Or', conditions: [over100, { measure: 'r', operator: 'LessThan', value: 5 }] } },
    ],
    [{ measures: r, groups: ['status'], sort: 'r:desc' }, { sort: [{ measure: 'r', ascending: false }] }],
    [{ measures: r, groups: ['status'], order: 'r desc' }, { sort: [{ measure: 'r', ascending: false }] }],
    [{ measures: r, groups: ['status'], sort: ['r', 'desc'] }, { sort: [{ measure: 'r', ascending: false }] }],
    [
      { measures: r, groups: ['status', 'id'], top: { limit: 3, by: 'r', per: 'status' } },
      { top: { n: 3, per: ['status'] }, sort: [{ measure: 'r', ascending: false }] },
    ],
    [
      { measures: r, filters: { field: 'total', operator: '<', value: { field: 'fee' } } },
      { filter: { field: 'total', operator: 'LessThan', other: 'fee' } },
    ],
    [
      { measures: r, filters: { total: { lt: 'fee' } } },
      { filter: { field: 'total', operator: 'LessThan', other: 'fee' } },
    ],
    [
      { measures: r, filters: "status = 'a and b'" },
      { filter: { field: 'status', operator: 'Equal', value: 'a and b' } },
    ],
    [
      { measures: r, filters: 'total - fee > 5' },
      { filter: { expression: { minus: ['total', 'fee'] }, operator: 'GreaterThan', value: 5 } },
    ],
  ])('%j', async (given, meant) => {
    asked = undefined;
    const text = await ask(server, 'aggregate', { collectionName: 'orders', ...given });
    expect(asked, text).toMatchObject(meant);
    for (const name of ['measures', 'operation'] as const)
      if (name in meant)
        expect(Object.keys((asked as unknown as Args)[name] as object)).toEqual(Object.keys(meant[name] as object));
  });

  test('columns of lists, and conditions on them', async () => {
    const fields = ['email', 'count(orders) as n', { name: 'double', expression: 'id * 2' }];
    const filters = { field: 'double', operator: '>', value: 4 };
    const text = await ask(server, 'list', { collectionName: 'customers', fields, filters, sort: 'n:desc' });
    expect(asked, text).toMatchObject({
      fields: ['email', { name: 'n', count: 'orders' }, { name: 'double', expression: { times: ['id', 2] } }],
      filter: { field: 'double', operator: 'GreaterThan', value: 4 },
      sort: [{ field: 'n', ascending: false }],
    });
  });
});

describe('several meanings, or no meaning', () => {
  test.each<[Args, string]>([
    [
      { measures: r, groups: ['month(placed_at)'] },
      '[{"field":"placed_at","bucket":"Month"}] or [{"field":"placed_at","part":"MonthOfYear"}]',
    ],
    [
      { measures: r, groups: ['status', { placed_at: 'hour' }] },
      '["status",{"field":"placed_at","bucket":"Hour"}] or ["status",{"field":"placed_at","part":"HourOfDay"}]',
    ],
    [{ measures: r, groups: [{ field: 'placed_at', step: 'month' }] }, '[{"field":"placed_at","bucket":"Month"}]'],
    [
      {
        measures: r,
        groups: [
          {
            field: 'total',
            ranges: [
              { from: 0, to: 9 },
              { from: 10, to: 19 },
            ],
          },
        ],
      },
      '"ranges":[0,10,19]',
    ],
    [
      { measures: r, groups: [{ field: 'placed_at', granularity: 'month', timezone: 'UTC' }] },
      'send {"groups":[{"field":"placed_at","bucket":"Month"}],"timezone":"UTC"}',
    ],
    [{ measures: { x: { sum: 'a - b' } } }, 'the field "a_b" or {"minus":["a","b"]}'],
    [{ measures: { avg: 'count' } }, '{"count":true} or {"avg":"count"}'],
    [{ measures: { x: { running: 'total' } } }, '{"running":{"sum":"total"}}'],
    [{ measures: { x: { rank: 'total' } } }, '{"rank":{"sum":"total"}}'],
    [{ measures: { x: { minus: ['total', 'fee'] } } }, 'measures.x: send {"sum":{"minus":["total","fee"]}}'],
    [{ measures: { x: 'total - fee' } }, 'measures.x: send {"sum":{"minus":["total","fee"]}}'],
    [
      { measures: { ...r, x: { lag: 'r' }, y: { minus: ['r', 'x'] } }, groups: months },
      '{"measures":{"r":{"sum":"total"},"y":{"minus":["r","previous r"]}},"compare":{"previous":1}}',
    ],
    [
      { measures: { ...r, x: { pct_change: 'r' } }, groups: months },
      '"x":{"ratio":[{"minus":["r","previous r"]},"previous r"]}},"compare":{"previous":1}}',
    ],
    [
      { measures: { x: { sum: { dateDiff: ['placed_at', 'shipped_at', 'day'] } } } },
      '{"difference":["placed_at","shipped_at"],"unit":"day"}',
    ],
    [
      { measures: { ...r, q: { previous: 'r', offset: 12 } }, groups: months },
      '{"measures":{"r":{"sum":"total"}},"compare":{"previous":12}}',
    ],
    [
      { measures: { ...r, q: { minus: ['r', 'previous_r'] } }, groups: months },
      '{"measures":{"r":{"sum":"total"},"q":{"minus":["r","previous r"]}},"compare":{"previous":1}}',
    ],
    [
      { measures: r, filters: { expression: { minus: ['shipped_at', 'placed_at'] }, operator: '>', value: '6 hours' } },
      'filters: for the time between two dates, send {"expression":{"difference":["placed_at","shipped_at"],"unit":"hour"},"operator":"GreaterThan","value":6}',
    ],
    [
      { measures: r, filters: { field: 'total', operator: '>', value: { avg: 'total' } } },
      'Call aggregate with {"collectionName":"orders","measures":{"figure":{"avg":"total"}}}, then send {"field":"total","operator":"GreaterThan","value":0} with the figure as value.',
    ],
    [
      { measures: r, filters: { ...part('Weekday'), operator: 'Equal', value: 0 } },
      'Weekday is a whole number from 1 to 7 (1 is Monday): send {"expression":{"field":"placed_at","part":"Weekday"}',
    ],
    [
      { measures: { q: { stddev: 'total' } } },
      'send {"sqrt":{"dividedBy":[{"minus":[{"sum":{"times":["total","total"]}},{"dividedBy":[{"times":[{"sum":"total"},{"sum":"total"}]},{"count":"total"}]}]},{"minus":[{"count":"total"},1]}]}} for a sample, or {"sqrt":',
    ],
    [
      { measures: { q: { var_pop: 'total' } } },
      'send {"dividedBy":[{"minus":[{"sum":{"times":["total","total"]}},{"dividedBy":[{"times":[{"sum":"total"},{"sum":"total"}]},{"count":"total"}]}]},{"count":"total"}]}.',
    ],
    [
      { measures: { ...r, q: { moving: 'r', window: 3 } }, groups: months },
      'measures.q: send {"movingAverage":"r","last":3}, or {"running":"r","last":3} for the sum.',
    ],
    [
      {
        measures: {
          first: { min: 'placed_at' },
          last: { max: 'placed_at' },
          q: { difference: ['first', 'last'], unit: 'day' },
        },
        groups: ['customer_id'],
        having: { first: { gt: '2026-01-01' } },
      },
      'send {"collectionName":"orders","measures":{"first":{"max":"first"},"last":{"max":"last"},"q":{"max":{"difference":["first","last"],"unit":"day"}}},"groups":["customer_id"],"over":{"groups":["customer_id"],"measures":{"first":{"min":"placed_at"},"last":{"max":"placed_at"}},"having":{"first":{"gt":"2026-01-01"}}}}',
    ],
    [
      { measures: r, filters: { expression: { hours: ['placed_at', 'shipped_at'] }, operator: '<', value: 24 } },
      'filters.expression.hours: send {"difference":["placed_at","shipped_at"],"unit":"hour"}',
    ],
    [
      { measures: { n: { countDistinct: months[0] } }, groups: ['status'] },
      'send {"measures":{"n":{"count":true}},"over":{"groups":["status",{"field":"placed_at","bucket":"Month"}],',
    ],
    [
      { measures: { n: { count: true } }, groups: ['status', { expression: 'total - fee', ranges: [0] }] },
      'send {"groups":["status",{"field":"value 1","ranges":[0]}],"over":{"groups":["status","id"],"measures":{"value 1":{"max":{"minus":["total","fee"]}}}}}',
    ],
    [{ measures: r, filters: "status <> 'paid'" }, '{"field":"status","operator":"NotEqual","value":"paid"}'],
    [{ measures: r, filters: 'shipped_at - placed_at > 3' }, '{"difference":["placed_at","shipped_at"],"unit":"day"}'],
    [{ measures: r, filters: "nothing = 'paid'" }, 'filters: send {"field"'],
    [{ measures: r, groups: ['status'], order: 'desc' }, '{"sort":[{"measure":"r","ascending":false}]}'],
    [{ operation: 'count', groups: ['status'], order: 'desc' }, '{"order":"value"}'],
    [
      { measures: r, groups: ['status'], top: { n: 1, by: 'r' }, sort: [{ group: 0 }] },
      '"sort":[{"measure":"r","ascending":false}]',
    ],
    [
      { measures: { x: { avg: { dateDiff: ['shipped_at', 'placed_at'], unit: 'hours' } } } },
      'or {"difference":["placed_at","shipped_at"],"unit":"hour"}',
    ],
    [
      { measures: { x: { avg: { days: ['placed_at', 'shipped_at'] } } } },
      'send {"difference":["placed_at","shipped_at"],"unit":"day"}, from the first',
    ],
    [
      { measures: r, filters: { field: 'total', operator: '<', valueField: 'fee' } },
      '{"field":"total","operator":"LessThan","value":{"field":"fee"}}',
    ],
    [
      { measures: r, filters: { field: 'total', operator: '<', value: 5, note: 'x' } },
      'a condition has no \'note\': send {"field":"total","operator":"LessThan","value":5}',
    ],
    [{ measures: r, groups: [{ field: 'placed_at', part: 'Quarter' }] }, '[{"field":"placed_at","bucket":"Quarter"}]'],
    [
      { measures: r, filters: { field: 'placed_at', operator: 'PreviousXMonths', value: 6 } },
      '{"field":"placed_at","operator":"GreaterThanOrEqual","value":"20',
    ],
    [
      { measures: { ...r, g: { change: 'r', periods: 12, percent: true } }, groups: months },
      '"g":{"ratio":[{"minus":["r","previous r"]},"previous r"]}},"compare":{"previous":12}}',
    ],
    [
      { measures: r, groups: ['status'], top: { limit: 5, measure: 'r', others: true } },
      'top: has no \'others\': send {"top":{"n":5,"by":"r"}}',
    ],
    [
      { measures: r, groups: [{ expression: { nothing: 'total' }, ranges: [1] }] },
      'groups take fields, with a bucket, a part or ranges, and no expressions',
    ],
    [
      { measures: r, groups: ['status'], over: { avg: 'r' } },
      '{"collectionName":"orders","measures":{"avg of r":{"avg":"r"}},"over":{"groups":["status"],"measures":{"r":{"sum":"total"}}}}',
    ],
  ])('%j', async (given, forms) => {
    asked = undefined;
    const text = await ask(server, 'aggregate', { collectionName: 'orders', ...given });
    expect(asked).toBeUndefined();
    expect(text).toContain(forms);
  });
});

test('a number of related records is refused with a column of it, or with groups of them', async () => {
  const where = { field: 'total', operator: '>', value: 5 };
  const filters = { some: 'orders', where, atLeast: 2 };
  expect(await ask(server, 'list', { collectionName: 'customers', filters })).toContain(
    'send {"fields":["id",{"name":"number of orders","count":"orders","where":{"field":"total","operator":">","value":5}}],"filters":{"field":"number of orders","operator":"GreaterThanOrEqual","value":2}}',
  );
  const text = await ask(server, 'aggregate', { collectionName: 'customers', measures: r, filters });
  expect(text).toContain(
    'call aggregate, and send {"collectionName":"orders","measures":{"n":{"count":true}},"groups":["customer:id"],"filters":{"field":"total","operator":">","value":5},"having":{"measure":"n","operator":"GreaterThanOrEqual","value":2}}',
  );
});

test.each([
  [{ difference: ['placed_at', 'now'], unit: 'day' }, 'day', false],
  [{ difference: ['placed_at', { value: 'now()' }], unit: 'hours' }, 'hours', false],
  [{ age: 'placed_at' }, 'year', false],
  [{ difference: ['placed_at', { value: 'today' }], unit: 'day' }, 'day', true],
  [{ daysBetween: ['placed_at', 'current_date'] }, 'day', true],
])('%j is the time until the call, or until its day', async (avg, unit, isDay) => {
  asked = undefined;
  const before = new Date().toISOString();
  const text = await ask(server, 'aggregate', { collectionName: 'orders', measures: { x: { avg } } });
  const after = new Date().toISOString();
  const measures = { x: { avg: { difference: ['placed_at', { value: expect.any(String) }], unit } } };
  expect(asked, text).toMatchObject({ measures });
  const [{ value }] = JSON.stringify(asked)
    .match(/\{"value":"[^"]+"\}/g)!
    .map((json) => JSON.parse(json)) as [{ value: string }];
  const startOf = (time: string) => `${time.slice(0, 10)}T00:00:00.000Z`;
  const [least, most] = isDay ? [startOf(before), startOf(after)] : [before, after];
  expect([value >= least, value <= most]).toEqual([true, true]);
});
