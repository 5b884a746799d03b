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

  test('of the agent: its periods are those of the timezone in which it is asked for', async () => {
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

  test('of a collection: it is given the record, by inside names', async () => {
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

  test('of a record that is missing or out of scope there is none, and its relations are within scope', async () => {
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

  test('of a collection that the caller may not see, or whose key is hidden, there is none', async () => {
    const request = { chart: 'spent', collection: 'customers', id: 1 };
    await expect(render(request, { browse: ['orders'] })).rejects.toMatchObject({ code: 'UNKNOWN_COLLECTION' });
    await expect(render(request, { hidden: ['customers.id'] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(
      shop.engine.charts.render({ ...accessOf(), can: (verb) => verb !== 'read' }, request),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(() => shop.engine.charts.names(accessOf({ browse: [] }), 'customers')).toThrow('customers');
  });
});

describe('over arrays', () => {
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

  test('names, in the order in which they were added', () => {
    const { charts } = shop.engine;
    expect([
      charts.names(accessOf()),
      charts.names(accessOf(), 'customers'),
      charts.names(accessOf(), 'orders'),
    ]).toEqual([['orders a day', 'who', 'broken', 'stopped', 'handmade', 'nothing'], ['spent'], []]);
  });

  test('an unknown name is told with near ones; of a collection, with those of the collection', async () => {
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

  test('an error of the chart is its name alone, with the cause and the place for the log; one of the engine passes', async () => {
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

  test.each(['handmade', 'nothing'])('what no method of the builder made is a failure: %s', async (chart) => {
    const error = (await failure({ chart })) as { code: string; cause: { cause: Error } };
    expect([error.code, error.cause.cause.message]).toEqual([
      'CHART_FAILED',
      'it must return a result of the result builder',
    ]);
  });

  test.each<[what: string, add: (agent: HeadlessAgent) => unknown, problem: RegExp]>([
    [
      'two of one name',
      (agent) => agent.addChart('a', (_, builder) => builder.value(1)).addChart('a', (_, builder) => builder.value(2)),
      /The chart 'a' is already defined, at .*charts.test.ts:\d+. \(.*charts.test.ts:\d+\)/,
    ],
    ['no function', (agent) => agent.addChart('a', { value: 1 } as never), /must be a function .*charts.test.ts:\d+/],
    ['no name', (agent) => agent.addChart(' ', (_, builder) => builder.value(1)), /A chart needs a name/],
    [
      'no function, of a collection',
      (agent) => agent.customizeCollection('orders', (orders) => void orders.addChart('a', undefined as never)),
      /'a' must be a function/,
    ],
  ])('a wrong definition ends the start at the line of the user: %s', async (_, add, problem) => {
    await expect(sellers[0]!.open({ customize: (agent) => void add(agent) })).rejects.toThrow(problem);
  });
});
