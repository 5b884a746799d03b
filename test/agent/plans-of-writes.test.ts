// Golden files with the plans and SQL of aggregates and writes, beside those of lists (plans.test.ts). Writes run and
// are rolled back. `npx vitest run test/agent/plans-of-writes.test.ts -u` updates the files.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExplainRequests } from '../../src/agent/operations/explain.ts';
import { accessOf, databases, type Rights, type Shop, sellers } from './shop.ts';

type Asked = { [O in keyof ExplainRequests]: readonly [O, ExplainRequests[O], Rights?] }[keyof ExplainRequests];

const scopes: Rights = {
  scopes: {
    orders: { field: 'customer:city', operator: 'Equal', value: 'Rome' },
    customers: { field: 'city', operator: 'Present' },
  },
};
const throughMany: Rights = { scopes: { orders: { field: 'order_lines:article', operator: 'Equal', value: 'pen' } } };
const back: Rights = { scopes: { orders: { field: 'customer:orders:total', operator: 'Equal', value: 20 } } };
const placed_at = '2024-05-01T00:00:00Z';

const plans: Readonly<Record<string, Asked>> = {
  'aggregate-by-month-and-city': [
    'aggregate',
    {
      collection: 'orders',
      operation: 'Sum',
      field: 'total',
      groups: [{ field: 'placed_at', bucket: 'Month' }, { field: 'customer:city' }],
      filter: { field: 'total', operator: 'GreaterThan', value: 1 },
      limit: 10,
    },
  ],
  'aggregate-of-nothing': [
    'aggregate',
    { collection: 'orders', operation: 'Count', filter: { aggregator: 'Or', conditions: [] }, limit: 10 },
  ],
  'aggregate-of-a-computed-field': [
    'aggregate',
    { collection: 'orders', operation: 'Count', field: 'size', groups: [{ field: 'customer:city' }], limit: 10 },
  ],
  'create-two': [
    'create',
    {
      collection: 'orders',
      records: [
        { id: 8, total: 1, placed_at, customer_id: 2 },
        { id: 9, total: 2, placed_at, customer_id: 2 },
      ],
    },
  ],
  'create-under-scopes': [
    'create',
    { collection: 'orders', records: [{ id: 8, total: 1, placed_at, customer_id: 2 }] },
    scopes,
  ],
  'update-under-a-scope-through-many': [
    'update',
    { collection: 'orders', ids: [1, 2], values: { total: 20 } },
    throughMany,
  ],
  'update-under-a-scope-that-looks-back': ['update', { collection: 'orders', ids: [2], values: { total: 20 } }, back],
  'update-by-a-filter-through-many': [
    'update',
    {
      collection: 'orders',
      filter: { field: 'order_lines:article', operator: 'Equal', value: 'ink' },
      values: { total: 7 },
    },
  ],
  'delete-under-a-scope-that-looks-back': ['delete', { collection: 'orders', ids: [3] }, back],
  'update-by-ids': ['update', { collection: 'orders', ids: [1, 2], values: { total: 7 } }],
  'update-by-a-filter-under-scopes': [
    'update',
    { collection: 'orders', filter: { field: 'total', operator: 'GreaterThan', value: 15 }, values: { total: 7 } },
    scopes,
  ],
  'delete-of-a-composite-key': ['delete', { collection: 'order_lines', ids: ['2|1'] }],
  'delete-under-scopes': ['delete', { collection: 'orders', ids: [3] }, { scopes: { orders: scopes.scopes!.orders! } }],
};

describe.each(databases)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({
      customize: (agent) =>
        agent.customizeCollection('orders', (orders) => {
          orders.addField('size', {
            columnType: 'String',
            dependencies: ['total'],
            getValues: (records) => records.map(({ total }) => (Number(total) > 15 ? 'large' : 'small')),
          });
          orders.emulateFieldFiltering('size');
        }),
    });
    await shop.run('delete from line_notes');
    await shop.run('delete from order_lines where order_id = 3');
  });
  afterAll(() => shop?.close());

  test.each(Object.entries(plans))(
    'the plan of %s equals the reviewed file',
    async (name, [operation, request, rights]) => {
      const before = await shop.engine.list(accessOf(), { collection: 'orders', limit: 99 });
      const text = await shop.engine.explain(accessOf(rights), request, operation);
      await expect(text).toMatchFileSnapshot(`plans/${name}.${seller.name}.plan`);
      expect((await shop.engine.list(accessOf(), { collection: 'orders', limit: 99 })).rows).toEqual(before.rows);
    },
  );
});

test('every list and aggregate reports its plan to the observer', async () => {
  const plans: string[] = [];
  const shop = await sellers[0]!.open({
    observe: (seen) => seen.type === 'query.planned' && plans.push(`${seen.collection}: ${seen.plan()}`),
  });
  const request = { collection: 'customers', fields: ['id'], limit: 1 } as const;
  await shop.engine.list(accessOf(), request);
  await shop.engine.aggregate(accessOf(), { collection: 'customers', operation: 'Count', limit: 1 });
  const told = [
    await shop.engine.explain(accessOf(), request),
    await shop.engine.explain(accessOf(), { collection: 'customers', operation: 'Count', limit: 1 }, 'aggregate'),
  ];
  expect(plans).toEqual(told.map((text) => `customers: ${text}`));
  await shop.close();
});

test('a write to a memory source has no statement', async () => {
  const shop = await sellers[0]!.open();
  const text = await shop.engine.explain(
    accessOf(),
    { collection: 'orders', ids: [1], values: { total: 7 } },
    'update',
  );
  expect(text).toBe('update orders, as a preview, which reads the records first\n  no statement\n');
  await shop.close();
});
