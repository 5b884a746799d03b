// Charts of the agent and of collections, as callers request them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { ChartRequest } from '../../src/agent/charts/charts.ts';
import { AppError } from '../../src/core/errors.ts';
import { accessOf, type Rights, type Shop, sellers } from './shop.ts';

const cause = new Error('a secret of the code');

function addCharts(agent: HeadlessAgent): void {
  agent
    .addChart('orders a day', async ({ collection }, builder) => {
      const orders = await collection('orders').list({}, ['placed_at', 'total']);
      return builder.timeBased(
        'Day',
        orders.map(({ placed_at, total }) => ({ date: String(placed_at), value: Number(total) })),
      );
    })
    .addChart('who', ({ caller, timezone }, builder) => builder.smart({ name: caller.firstName, timezone }))
    .addChart('broken', () => Promise.reject(cause))
    .addChart('stopped', () => Promise.reject(new AppError('TIMED_OUT', { seconds: 5 })))
    .addChart('handmade', () => ({ countCurrent: 1 }))
    .addChart('nothing', () => undefined)
    .customizeCollection('customers', (customers) =>
      customers
        .renameField('name', 'full name')
        .addChart('spent', async ({ collection, recordId, getRecord }, builder) => {
          const conditionTree = { field: 'customer_id', operator: 'Equal', value: recordId } as const;
          const orders = await collection('orders').list({ conditionTree }, ['total']);
          const { name } = await getRecord(['name']);
          return builder.distribution({ [String(name)]: orders.reduce((sum, { total }) => sum + Number(total), 0) });
        }),
    )
    .customizeCollection('order_lines', (lines) =>
      lines.addChart('line', async ({ recordId, compositeRecordId, getRecord }, builder) =>
        builder.smart({ recordId, compositeRecordId, ...(await getRecord(['article', 'order:customer:city'])) }),
      ),
    );
}

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({ customize: addCharts });
  });
  afterAll(() => shop?.close());

  const render = (request: ChartRequest, rights?: Rights) => shop.engine.charts.render(accessOf(rights), request);

  test('a chart of the agent has the periods of the timezone of the request', async () => {
    const days = async (timezone: string) => {
      const result = await render({ chart: 'orders a day', timezone });
      return (result as { label: string; values: { value: unknown } }[]).map(({ label, values }) => [
        label,
        values.value,
      ]);
    };
    expect([await days('UTC'), await days('Europe/Paris')]).toEqual([
      [
        ['30/03/2024', 10.5],
        ['31/03/2024', 70],
        ['01/04/2024', 5],
      ],
      [
        ['31/03/2024', 50.5],
        ['01/04/2024', 35],
      ],
    ]);
    expect(await render({ chart: 'who' }, { timezone: 'Asia/Tokyo' })).toEqual({ name: 'Ada', timezone: 'Asia/Tokyo' });
  });

  test('a chart of a collection gets the record under the names before renaming', async () => {
    expect([
      await render({ chart: 'spent', collection: 'customers', id: 2 }),
      await render({ chart: 'spent', collection: 'customers', id: '1' }),
      await render({ chart: 'line', collection: 'order_lines', id: '1|2' }),
    ]).toEqual([
      [{ key: 'Bo', value: 40 }],
      [{ key: 'Ada', value: 10.5 }],
      { recordId: '1|2', compositeRecordId: [1, 2], article: 'ink', order: { customer: { city: 'Paris' } } },
    ]);
  });

  test('a chart of a missing record or one outside the row scope is refused, and its relations are scoped', async () => {
    const paris = { customers: { field: 'city', operator: 'Equal', value: 'Paris' } } as const;
    const line = { chart: 'line', collection: 'order_lines', id: [2, 1] } as const;
    await expect(render({ chart: 'spent', collection: 'customers', id: 9 })).rejects.toMatchObject({
      code: 'RECORD_NOT_FOUND',
    });
    await expect(render({ chart: 'spent', collection: 'customers', id: 2 }, { scopes: paris })).rejects.toMatchObject({
      code: 'RECORD_NOT_FOUND',
    });
    expect(await render(line, { scopes: paris })).toMatchObject({ order: { customer: null } });
  });

  test('a chart of a hidden collection, or of one whose key is hidden, is refused', async () => {
    const request = { chart: 'spent', collection: 'customers', id: 1 };
    await expect(render(request, { browse: ['orders'] })).rejects.toMatchObject({ code: 'UNKNOWN_COLLECTION' });
    await expect(render(request, { hidden: ['customers.id'] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(
      shop.engine.charts.render({ ...accessOf(), can: (verb) => verb !== 'read' }, request),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(() => shop.engine.charts.names(accessOf({ browse: [] }), 'customers')).toThrow('customers');
  });
});

describe('over a memory source', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await sellers[0]!.open({ customize: addCharts });
  });
  afterAll(() => shop?.close());
  const failure = (request: ChartRequest) =>
    shop.engine.charts.render(accessOf(), request).then(
      () => undefined,
      (error: AppError) => error,
    );

  test('charts are listed in the order in which they were added', () => {
    const { charts } = shop.engine;
    expect([
      charts.names(accessOf()),
      charts.names(accessOf(), 'customers'),
      charts.names(accessOf(), 'orders'),
    ]).toEqual([['orders a day', 'who', 'broken', 'stopped', 'handmade', 'nothing'], ['spent'], []]);
  });

  test('an unknown chart is refused with similar names of the same collection', async () => {
    const messages = [
      await failure({ chart: 'order a day' }),
      await failure({ chart: 'spend', collection: 'customers', id: 1 }),
      await failure({ chart: 'who', collection: 'customers', id: 1 }),
      await failure({ chart: 'spent', collection: 'customers' }),
      await failure({ chart: 'line', collection: 'order_lines', id: 1 }),
      await failure({ chart: 'who', timezone: 'Paris' }),
    ].map((error) => error?.message);
    expect(messages).toEqual([
      "No chart 'order a day'. Near: orders a day.",
      "No chart 'spend'. Near: spent.",
      "No chart 'who'.",
      "id: this chart is for one record of 'customers': send its id.",
      'id: expected an id of 2 parts, order_id|line, got 1.',
      "timezone: expected an IANA name such as 'Europe/Paris'.",
    ]);
  });

  test('an error of chart code shows only the name of the chart and logs the cause; an engine error is passed on', async () => {
    const broken = await failure({ chart: 'broken' });
    const { cause: told } = broken as { cause: Error };
    expect([broken?.code, broken?.message, told.cause]).toEqual([
      'CHART_FAILED',
      "The code of the chart 'broken' failed, not your call. Tell the operator; the log has the cause.",
      cause,
    ]);
    expect(told.message).toMatch(/^the chart 'broken', added at .*charts.test.ts:\d+, failed: /);
    expect((await failure({ chart: 'stopped' }))?.code).toBe('TIMED_OUT');
  });

  test.each(['handmade', 'nothing'])(
    'a result that the builder did not create gives CHART_FAILED: %s',
    async (chart) => {
      const error = (await failure({ chart })) as { code: string; cause: { cause: Error } };
      expect([error.code, error.cause.cause.message]).toEqual([
        'CHART_FAILED',
        'it must return a result of the result builder',
      ]);
    },
  );

  test.each<[what: string, add: (agent: HeadlessAgent) => unknown, problem: RegExp]>([
    [
      'two charts with the same name',
      (agent) => agent.addChart('a', (_, builder) => builder.value(1)).addChart('a', (_, builder) => builder.value(2)),
      /The chart 'a' is already defined, at .*charts.test.ts:\d+. \(.*charts.test.ts:\d+\)/,
    ],
    ['no function', (agent) => agent.addChart('a', { value: 1 } as never), /must be a function .*charts.test.ts:\d+/],
    ['no name', (agent) => agent.addChart(' ', (_, builder) => builder.value(1)), /A chart needs a name/],
    [
      'no function for a chart of a collection',
      (agent) => agent.customizeCollection('orders', (orders) => void orders.addChart('a', undefined as never)),
      /'a' must be a function/,
    ],
  ])('an invalid definition ends the start with its line: %s', async (_, add, problem) => {
    await expect(sellers[0]!.open({ customize: (agent) => void add(agent) })).rejects.toThrow(problem);
  });
});
