// The tool getChart, over the real endpoint.
import { afterEach, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { Rights } from '../agent/shop.ts';
import { type Counter, openCounter } from './counter.ts';

let counter: Counter;
afterEach(() => counter.house.close());

const addCharts = (agent: HeadlessAgent) => {
  agent
    .addChart('Orders', async (context, build) =>
      build.value((await context.collection('orders').list({}, ['id'])).length, 3),
    )
    .addChart('Plain', (_, build) => build.value(7))
    .addChart('Share', (_, build) => build.percentage(12.5))
    .addChart('Goal', (_, build) => build.objective(3, 10))
    .addChart('By city', (_, build) => build.distribution({ Paris: 1, Rome: 2 }))
    .addChart('Best', (_, build) => build.leaderboard({ Ada: 1, Bo: 2 }))
    .addChart('Days', (_, build) =>
      build.timeBased('Day', [
        { date: '2024-03-30T23:30:00Z', value: 1 },
        { date: '2024-04-01T08:00:00Z', value: null },
      ]),
    )
    .addChart('Lines', (_, build) =>
      build.multipleTimeBased(
        'Month',
        ['2024-01-01', '2024-02-01'],
        [
          { label: 'in', values: [1, 2] },
          { label: 'out', values: [3, null] },
        ],
      ),
    )
    .addChart('Clever', (_, build) => build.smart({ nodes: [{ id: 1 }], text: 'hi' }))
    .addChart('Long', (_, build) =>
      build.distribution(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key ${i}`, i]))),
    )
    .addChart('Huge', (_, build) => build.smart('x y '.repeat(50_000)))
    .addChart('By month', {
      collection: 'orders',
      measures: { orders: { count: true }, all: { sum: 'total' } },
      groups: [{ field: 'placed_at', bucket: 'Month' }],
      timezone: 'UTC',
    })
    .addChart('Broken', () => {
      throw new Error('secret of the operator');
    })
    .customizeCollection('customers', (customers) =>
      customers.addChart('Spent', async (context, build) =>
        build.value(String((await context.getRecord(['name'])).name).length),
      ),
    );
};

async function open(rights: Rights = {}) {
  counter = await openCounter({}, rights, { customize: addCharts });
  return (given: Record<string, unknown>) => counter.ask('getChart', given);
}

test('every kind of chart, in a compact form', async () => {
  const chart = await open();
  const named = (chartName: string) => chart({ chartName });
  expect([
    await named('Orders'),
    await named('Plain'),
    await named('Share'),
    await named('Goal'),
    await named('By city'),
    await named('Best'),
    await chart({ chartName: 'Days', timezone: 'Europe/Paris' }),
    await named('Lines'),
    await named('Clever'),
    await chart({ chartName: 'Spent', collectionName: 'customers', recordId: '2' }),
  ]).toEqual([
    '{"value":5,"previous":3}',
    '{"value":7}',
    '{"value":12.5}',
    '{"value":3,"objective":10}',
    '{"columns":["key","value"],"rows":[["Paris",1],["Rome",2]]}',
    '{"columns":["key","value"],"rows":[["Bo",2],["Ada",1]]}',
    '{"columns":["period","value"],"rows":[["31/03/2024",1],["01/04/2024",null]]}',
    '{"columns":["period","in","out"],"rows":[["Jan 24",1,3],["Feb 24",2,null]]}',
    '{"data":{"nodes":[{"id":1}],"text":"hi"}}',
    '{"value":2}',
  ]);
});

test('a chart of measures, in code and by the caller, with the rights of the caller', async () => {
  const chart = await open({
    scopes: { orders: { field: 'customer_id', operator: 'Present' } },
    hidden: ['customers.secret'],
  });
  const mine = { collectionName: 'orders', measures: { orders: { count: true } } };
  const groups = [{ field: 'placed_at', bucket: 'Month' }];
  expect([
    await chart({ chartName: 'By month' }),
    await chart(mine),
    await chart({ ...mine, groups, timezone: 'UTC' }),
    await chart({
      collection: 'orders',
      measures: { all: 'sum(total)', most: { max: 'total' } },
      groups: ['customer:city'],
    }),
    await chart({ ...mine, filters: { field: 'total', operator: 'GreaterThan', value: 10 }, limit: 1 }),
  ]).toEqual([
    '{"columns":["period","orders","all"],"rows":[["Mar 24",3,50.5],["Apr 24",1,5]]}',
    '{"value":4}',
    '{"columns":["period","value"],"rows":[["Mar 24",3],["Apr 24",1]]}',
    '{"columns":["key","all","most"],"rows":[["Rome",40,20],["Paris",10.5,10.5],["no value",5,5]]}',
    '{"value":3}',
  ]);
  expect([
    await chart({ ...mine, groups: ['customer:secret'] }),
    await chart({ ...mine, groups: ['id', 'total', 'customer_id'] }),
    await chart({ ...mine, chartName: 'By month' }),
    await chart({ collectionName: 'orders', groups }),
    await chart({ measures: mine.measures }),
    await chart({ collectionName: 'customers', measures: { all: { sum: 'orders:total' } } }),
  ]).toEqual([
    expect.stringMatching(/^UNKNOWN_FIELD: 'customers' has no field 'secret'/),
    'INVALID_ARGUMENT: groups: a chart has at most 2: the labels and the lines.',
    'INVALID_ARGUMENT: chartName: send either a chart or measures.',
    'INVALID_ARGUMENT: groups: needs measures: {"measures":{"orders":{"count":true}}}.',
    expect.stringMatching(/^INVALID_ARGUMENT: collectionName: /),
    expect.stringMatching(/^INVALID_ARGUMENT: measures: 'orders' leads to many records: .*"collectionName":"orders"/),
  ]);
});

test('a long chart is cut within the budget, and the note says so', async () => {
  const chart = await open();
  const long = JSON.parse(await chart({ chartName: 'Long' }));
  const huge = await chart({ chartName: 'Huge' });
  expect([long.rows.length < 5000, long.hasMore, long.note, huge.length < 9000, JSON.parse(huge).note]).toEqual([
    true,
    true,
    expect.stringMatching(/^Cut at \d+ of 5000 rows: an answer is limited to about 8000 tokens\. /),
    true,
    'Cut: an answer is limited to about 8000 tokens.',
  ]);
});

test('errors say what to send, and show nothing of the code', async () => {
  const chart = await open({ scopes: { customers: { field: 'id', operator: 'Equal', value: 1 } } });
  expect([
    await chart({}),
    await chart({ chartName: 'Order' }),
    await chart({ chartName: 'Spent' }),
    await chart({ chartName: 'Spent', collectionName: 'customers' }),
    await chart({ chartName: 'Spent', collectionName: 'customers', recordId: 2 }),
    await chart({ chartName: 'Spent', collectionName: 'customers', recordId: 'two' }),
    await chart({ chartName: 'Spent', recordId: 1 }),
    await chart({ chartName: 'Broken' }),
    await chart({ chartName: 'Plain', timezone: 'Mars' }),
  ]).toEqual([
    'INVALID_ARGUMENT: chartName: send the name of a chart; describeCollection lists them.',
    "UNKNOWN_CHART: No chart 'Order'. Near: Orders.",
    "UNKNOWN_CHART: No chart 'Spent'.",
    "INVALID_ARGUMENT: recordId: this chart is for one record of 'customers': send its id.",
    "RECORD_NOT_FOUND: No record '2' in 'customers', or you may not see it.",
    'INVALID_VALUE: recordId: expected a number, got "two".',
    'INVALID_ARGUMENT: collectionName: send the collection of the record.',
    "CHART_FAILED: The code of the chart 'Broken' failed, not your call. Tell the operator; the log has the cause.",
    "INVALID_ARGUMENT: timezone: expected an IANA name such as 'Europe/Paris'.",
  ]);
});

test('charts are listed with their collections, and charts of a hidden collection are unknown', async () => {
  const chart = await open({ browse: ['orders'] });
  const hidden = await chart({ chartName: 'Spend', collectionName: 'customers', recordId: 1 });
  const index = JSON.parse(await counter.ask('describeCollection', {})).charts;
  await counter.house.close();
  await open();
  expect([
    hidden,
    index.slice(0, 3),
    JSON.parse(await counter.ask('describeCollection', { collectionName: 'customers' })).charts,
  ]).toEqual([
    "UNKNOWN_COLLECTION: No collection 'customers'. Call describeCollection without a name for the list.",
    ['Orders', 'Plain', 'Share'],
    ['Spent'],
  ]);
});
