// Metrics: figures that code names, which measures of an aggregate use.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import type { Access } from '../../src/core/caller.ts';
import { accessOf, type Shop, sellers } from './shop.ts';

function customize(agent: HeadlessAgent): void {
  agent
    .customizeCollection('orders', (orders) => orders.renameField('total', 'sum'))
    .customizeCollection('customers', (customers) => customers.removeField('secret'))
    .addMetric('revenue', { collection: 'orders', measure: { sum: 'total' }, description: 'With tax' })
    .addMetric('dear', {
      collection: 'orders',
      measure: { count: true },
      filter: { field: 'total', operator: 'GreaterThanOrEqual', value: 20 },
    })
    .addMetric('all', { collection: 'orders', measure: { count: true } })
    .addMetric('rate', { collection: 'orders', measure: { ratio: [{ metric: 'dear' }, { metric: 'all' }] } })
    .addMetric('secrets', { collection: 'orders', measure: { countDistinct: 'customer:secret' } })
    .addMetric('dear of named', {
      collection: 'orders',
      measure: { metric: 'dear' },
      filter: { field: 'customer:secret', operator: 'Present' },
    });
}

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({ customize });
  });
  afterAll(() => shop?.close());

  type Given = Omit<AggregateRequest, 'collection' | 'limit'>;
  const ask = (given: Given, access: Access = accessOf()) =>
    shop.engine.aggregate(access, { collection: 'orders', limit: 50, ...given });
  const figures = async (given: Given, access?: Access) =>
    (await ask(given, access)).rows.map((row) => row.map((value) => (value === null ? null : Number(value))));

  test('metrics have the figures of their measure and filter', async () => {
    const direct = await figures({
      measures: {
        revenue: { sum: 'sum' },
        dear: { count: true, where: { field: 'sum', operator: 'GreaterThanOrEqual', value: 20 } },
        rate: { ratio: ['dear', 'all'] },
        all: { count: true },
      },
    });
    const named = await figures({
      measures: {
        revenue: { metric: 'revenue' },
        dear: { metric: 'dear' },
        rate: { metric: 'rate' },
        all: { metric: 'all' },
      },
    });
    expect(named).toEqual(direct);
  });

  test('metrics work with groups, ratios, shares, having, sorts and over', async () => {
    const groups = ['customer:city'];
    const measures = { revenue: { metric: 'revenue' } } as const;
    const plain = { revenue: { sum: 'sum' } } as const;
    for (const more of [
      { groups },
      { groups, having: { measure: 'revenue', operator: 'GreaterThan', value: 10 } as const },
      { groups, sort: [{ measure: 'revenue', ascending: true }] },
    ])
      expect((await ask({ measures, ...more })).rows).toEqual((await ask({ measures: plain, ...more })).rows);
    const parts = await ask({
      groups,
      measures: {
        share: { share: { metric: 'revenue' } },
        mean: { ratio: [{ metric: 'revenue' }, { metric: 'all' }] },
      },
    });
    const direct = await ask({
      groups,
      measures: { share: { share: { sum: 'sum' } }, mean: { ratio: [{ sum: 'sum' }, { count: true }] } },
    });
    expect(parts.rows).toEqual(direct.rows);
    const over = (inner: object) =>
      ask({ measures: { mean: { avg: 'revenue' } }, over: { groups: ['customer_id'], measures: inner as never } });
    expect((await over(measures)).rows).toEqual((await over(plain)).rows);
  });

  test('metrics count only rows that the caller may see', async () => {
    const scoped = accessOf({ scopes: { orders: { field: 'sum', operator: 'LessThan', value: 20 } } });
    const [[dear, all]] = (await figures(
      { measures: { dear: { metric: 'dear' }, all: { metric: 'all' } } },
      scoped,
    )) as [number[]];
    const plain = await shop.engine.count(scoped, { collection: 'orders' });
    expect([dear, all]).toEqual([0, plain]);
    expect(all).toBeLessThan(await shop.engine.count(accessOf(), { collection: 'orders' }));
  });

  test('metrics may use fields that the caller cannot see', async () => {
    const hidden = accessOf({ hidden: ['orders.sum'] });
    const all = { revenue: { metric: 'revenue' }, secrets: { metric: 'secrets' }, named: { metric: 'dear of named' } };
    expect(await figures({ measures: all }, hidden)).toEqual(await figures({ measures: all }));
    await expect(ask({ measures: { revenue: { sum: 'sum' } } }, hidden)).rejects.toMatchObject({
      code: 'UNKNOWN_FIELD',
    });
  });

  test('metrics are listed with their descriptions', () => {
    const { metrics } = shop.engine.describe(accessOf(), 'orders');
    expect(metrics.slice(0, 2)).toEqual([{ name: 'revenue', description: 'With tax' }, { name: 'dear' }]);
    expect(shop.engine.describe(accessOf(), 'customers').metrics).toEqual([]);
  });

  test.each<[string, Given, RegExp]>([
    ['an unknown metric', { measures: { r: { metric: 'revenu' } } }, /'orders' has no metric 'revenu'. Near: revenue/],
    [
      'an unknown name without similar ones',
      { measures: { r: { metric: 'zzzzzzzz' } } },
      /Send one of: revenue, dear, all/,
    ],
    ['no name', { measures: { r: { metric: 7 as never } } }, /has no metric '7'/],
    [
      'a metric with a where',
      { measures: { r: { metric: 'revenue', where: {} } as never } },
      /only "metric" can be here/,
    ],
    ['a name as the measure', { measures: { r: 'revenue' as never } }, /send {"metric":"revenue"}/],
    [
      'a metric outside of over',
      {
        measures: { r: { metric: 'revenue' } },
        over: { groups: ['customer_id'], measures: { n: { count: true } } },
      },
      /has no metrics. With over, send them in over.measures/,
    ],
  ])('%s is refused', async (_, given, problem) => {
    await expect(ask(given)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(problem),
    });
  });
});

describe('a metric that cannot be computed', () => {
  const metric =
    (definition: object, name = 'm') =>
    (agent: HeadlessAgent): void =>
      void agent.addMetric(name, { collection: 'orders', ...definition } as never);

  test.each<[string, (agent: HeadlessAgent) => void, RegExp]>([
    [
      'an unknown collection',
      metric({ collection: 'order', measure: { count: true } }),
      /no collection 'order'. Near: orders/,
    ],
    ['an unknown field', metric({ measure: { sum: 'totl' } }), /'totl'.*total/],
    ['a sum of texts', metric({ collection: 'customers', measure: { sum: 'name' } }), /takes Number/],
    [
      'an unknown field in the filter',
      metric({ measure: { count: true }, filter: { field: 'x', operator: 'Present' } }),
      /'x'/,
    ],
    ['a misspelt option', metric({ measur: { count: true } }), /Near: measure/],
    ['a misspelt member of the filter', metric({ measure: { count: true }, filter: { feld: 'id' } }), /Near: field/],
    ['no measure', metric({}), /needs 'measure'/],
    ['an unknown measure', metric({ measure: { total: 'total' } }), /another of countDistinct/],
    ['an unknown metric', metric({ measure: { metric: 'n' } }), /has no metric 'n'/],
    ['a metric that refers to itself', metric({ measure: { metric: 'm' } }), /'m' refers to itself/],
    ['names of measures', metric({ measure: { ratio: ['a', 'b'] } }), /write the measure/],
    [
      'an ambiguous filter',
      metric({
        collection: 'customers',
        measure: { count: true },
        filter: { field: 'orders:id', operator: 'Missing' },
      }),
      /orders:id/,
    ],
    ['a bad name', metric({ measure: { count: true } }, 'a:b'), /cannot be a name/],
    [
      'two metrics with the same name',
      (agent) => {
        for (const measure of [{ count: true }, { sum: 'total' }]) metric({ measure })(agent);
      },
      /metric 'm' of 'orders' is already defined, at/,
    ],
  ])('%s fails the start with the line', async (_, customize, problem) => {
    const opening = sellers[0]!.open({ customize });
    await expect(opening).rejects.toMatchObject({ code: 'CONFIGURATION', message: expect.stringMatching(problem) });
    await expect(opening).rejects.toThrow(/metrics\.test\.ts:\d+/);
  });
});
