// Charts of measures: an aggregate of a collection with the rights of the caller, in the forms of other charts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MeasuresChart } from '../../src/agent/charts/definitions.ts';
import { accessOf, type Rights, type Shop, sellers } from './shop.ts';

const [memory] = sellers;
const count = { orders: { count: true } } as const;
const month = { field: 'placed_at', bucket: 'Month' } as const;
const byCity: MeasuresChart = { collection: 'orders', measures: count, groups: ['customer:city'] };

let shop: Shop;
beforeAll(async () => {
  shop = await memory!.open({
    customize: (agent) => {
      agent
        .addMetric('sales', { collection: 'orders', measure: { sum: 'total' } })
        .addChart('by city', byCity)
        .addChart('secrets', { ...byCity, groups: ['customer:secret'] })
        .addChart('of secrets', {
          collection: 'customers',
          measures: { of: { count: true, where: { field: 'secret', operator: 'Equal', value: 'x1' } } },
        })
        .addChart('sales', { collection: 'orders', measures: { sales: { metric: 'sales' } } })
        .addChart('code', (_, builder) => builder.value(7));
    },
  });
});
afterAll(() => shop.close());

const draw = (chart: Partial<MeasuresChart>, rights: Rights = {}) =>
  shop.engine.charts.draw(accessOf(rights), { collection: 'orders', measures: count, timezone: 'UTC', ...chart });
const names = (rights: Rights = {}) => shop.engine.charts.names(accessOf(rights));

test.each<readonly [what: string, chart: Partial<MeasuresChart>, result: unknown]>([
  ['one figure', {}, { countCurrent: 5 }],
  [
    'no figure',
    { measures: { mean: { avg: 'total' } }, filter: { field: 'total', operator: 'GreaterThan', value: 99 } },
    { countCurrent: null },
  ],
  [
    'several figures',
    { measures: { ...count, all: { sum: 'total' } } },
    [
      { key: 'orders', value: 5 },
      { key: 'all', value: 85.5 },
    ],
  ],
  [
    'labels, in the order of the sort',
    { groups: ['customer:city'], sort: [{ measure: 'orders', ascending: true }, { group: 0 }] },
    [
      { key: 'Paris', value: 1 },
      { key: 'no value', value: 2 },
      { key: 'Rome', value: 2 },
    ],
  ],
  [
    'the first labels',
    { groups: ['customer:city'], measures: { all: { sum: 'total' } }, limit: 1 },
    [{ key: 'Rome', value: 40 }],
  ],
  [
    'periods without gaps, in their order: a count is 0, an average has no value',
    {
      measures: { ...count, mean: { avg: 'total' } },
      groups: [{ field: 'placed_at', bucket: 'Day' }],
      filter: { field: 'id', operator: 'In', value: [1, 5] },
    },
    {
      labels: ['30/03/2024', '31/03/2024', '01/04/2024'],
      values: [
        { key: 'orders', values: [1, 0, 1] },
        { key: 'mean', values: [10.5, null, 5] },
      ],
    },
  ],
  [
    'one line',
    { groups: [month] },
    [
      { label: 'Mar 24', values: { value: 4 } },
      { label: 'Apr 24', values: { value: 1 } },
    ],
  ],
  [
    'a line for each value of the second group',
    { groups: [month, 'customer:name'], measures: { all: { sum: 'total' } }, sort: [{ group: 0 }, { group: 1 }] },
    {
      labels: ['Mar 24', 'Apr 24'],
      values: [
        { key: 'no value', values: [30, null] },
        { key: 'Ada', values: [10.5, null] },
        { key: 'Bo', values: [40, null] },
        { key: 'Cy', values: [null, 5] },
      ],
    },
  ],
])('%s', async (_, chart, result) => {
  expect(await draw(chart)).toEqual(result);
});

test('periods are those of the timezone of the request', async () => {
  const paris = [
    { label: 'Mar 24', values: { value: 3 } },
    { label: 'Apr 24', values: { value: 2 } },
  ];
  expect(await draw({ groups: [month], timezone: 'Europe/Paris' })).toEqual(paris);
});

test.each<readonly [what: string, chart: Partial<MeasuresChart>, problem: string]>([
  ['three groups', { groups: ['id', 'total', 'customer_id'] }, 'groups: a chart has at most 2'],
  [
    'two groups with two measures',
    { groups: ['id', 'total'], measures: { ...count, all: { sum: 'total' } } },
    'a chart with two groups has one measure',
  ],
  ['a comparison of lines', { groups: [month, 'total'], compare: { previous: 1 } }, 'compare: a chart that compares'],
  ['a text', { measures: { last: { max: 'customer:name' } } }, 'measures: a chart shows numbers only.'],
  ['an unknown field', { groups: ['colour'] }, "'orders' has no field 'colour'"],
  ['an unknown collection', { collection: 'orderz' }, "No collection 'orderz'"],
])('%s is refused', async (_, chart, problem) => {
  await expect(draw(chart)).rejects.toThrow(problem);
});

test('more groups than a page are refused, unless there is a limit', async () => {
  const small = await memory!.open({ limits: { pageSizeLimit: 2, queryTimeoutMs: 10_000 } });
  const chart = { ...byCity, groups: ['id'] };
  await expect(small.engine.charts.draw(accessOf(), chart)).rejects.toThrow('groups: more than 2: send limit');
  expect(await small.engine.charts.draw(accessOf(), { ...chart, limit: 2 })).toHaveLength(2);
  await small.close();
});

describe('the permissions of the caller', () => {
  test('charts count only rows that the caller may see', async () => {
    const rights: Rights = { scopes: { orders: { field: 'customer_id', operator: 'Equal', value: 2 } } };
    const render = (chart: string) => shop.engine.charts.render(accessOf(rights), { chart });
    expect(await render('by city')).toEqual([{ key: 'Rome', value: 2 }]);
    expect(await render('sales')).toEqual({ countCurrent: 40 });
    expect(await draw({}, rights)).toEqual({ countCurrent: 2 });
  });

  test.each<readonly [what: string, rights: Rights, visible: string[]]>([
    ['all permissions', {}, ['by city', 'secrets', 'of secrets', 'sales', 'code']],
    ['a hidden field, of a group or a condition', { hidden: ['customers.secret'] }, ['by city', 'sales', 'code']],
    ['a hidden collection behind a relation', { browse: ['orders'] }, ['sales', 'code']],
    ['no collection', { browse: [] }, ['code']],
    [
      'a hidden field of a metric, which is code',
      { hidden: ['orders.total'] },
      ['by city', 'secrets', 'of secrets', 'sales', 'code'],
    ],
  ])('%s', async (_, rights, visible) => {
    expect(names(rights)).toEqual(visible);
    for (const chart of ['by city', 'secrets', 'of secrets', 'sales'].filter((name) => !visible.includes(name)))
      await expect(shop.engine.charts.render(accessOf(rights), { chart })).rejects.toMatchObject({
        code: 'UNKNOWN_CHART',
        details: { near: expect.not.arrayContaining([chart]) },
      });
  });
});

test.each<readonly [what: string, chart: object, problem: RegExp]>([
  [
    'a field',
    { ...byCity, groups: ['customer:colour'] },
    /The chart 'x': 'customers' has no field 'colour'.*test.ts:\d+/,
  ],
  ['a collection', { ...byCity, collection: 'orderz' }, /The chart 'x': No collection 'orderz'/],
  ['a measure', { ...byCity, measures: { all: { sum: 'customer:name' } } }, /The chart 'x': .*sum/],
  ['a filter', { ...byCity, filter: { field: 'total', operator: 'Like', value: 'a' } }, /The chart 'x': /],
  [
    'a condition',
    { ...byCity, measures: { n: { count: true, where: { field: 'nope', operator: 'Present' } } } },
    /no field 'nope'/,
  ],
  ['a segment', { ...byCity, segment: 'open' }, /The chart 'x': .*segment/],
  ['a sort', { ...byCity, sort: [{ measure: 'revenue' }] }, /no measure 'revenue'/],
  ['an option', { ...byCity, filters: {} }, /addChart\('x'\) has no option 'filters'.*Near: filter/],
  [
    'three groups',
    { ...byCity, groups: ['id', 'total', 'customer_id'] },
    /'groups' must be a list of at most 2 groups/,
  ],
])('a chart with an invalid %s ends the start with its line', async (_, chart, problem) => {
  const opened = memory!.open({ customize: (agent) => void agent.addChart('x', chart as MeasuresChart) });
  await expect(opened).rejects.toThrow(problem);
});
