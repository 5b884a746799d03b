// Golden files with plans and their SQL, for reviewers. `npx vitest run test/agent/plans.test.ts -u` updates them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { systemClock } from '../../src/core/clock.ts';
import { accessOf, databases, type Rights, type Shop } from './shop.ts';

const plans: Readonly<Record<string, readonly [ListRequest, Rights?]>> = {
  'a-page': [{ collection: 'orders', limit: 15, skip: 30 }],
  'relation-filter-and-sort': [
    {
      collection: 'order_lines',
      fields: ['article', 'order:total', 'order:customer:id', 'order:customer:name'],
      filter: {
        aggregator: 'Or',
        conditions: [
          { field: 'order:customer:city', operator: 'In', value: ['Paris', 'Rome', null] },
          { field: 'order:placed_at', operator: 'PreviousMonth' },
        ],
      },
      sort: [{ field: 'order:customer:name', ascending: false }],
      limit: 15,
    },
  ],
  'scopes-on-both-ends': [
    { collection: 'orders', fields: ['id', 'customer_id', 'customer:id', 'customer:name'], limit: 15 },
    {
      scopes: {
        orders: { field: 'customer:city', operator: 'NotEqual', value: 'Rome' },
        customers: { field: 'name', operator: 'StartsWith', value: 'A' },
      },
    },
  ],
  'scope-through-a-relation-of-a-joined-collection': [
    { collection: 'order_lines', fields: ['article', 'order:total'], limit: 15 },
    { scopes: { orders: { field: 'customer:city', operator: 'Present' } } },
  ],
  'filter-through-many': [
    {
      collection: 'customers',
      fields: ['name'],
      filter: {
        some: 'orders',
        where: {
          aggregator: 'And',
          conditions: [
            { field: 'order_lines:article', operator: 'Equal', value: 'ink' },
            { field: 'customer:city', operator: 'Present' },
          ],
        },
      },
      limit: 15,
    },
    { scopes: { orders: { field: 'total', operator: 'GreaterThan', value: 5 } } },
  ],
  'scope-through-many-of-a-joined-collection': [
    { collection: 'orders', fields: ['id', 'customer:name'], limit: 15 },
    { scopes: { customers: { field: 'orders:total', operator: 'GreaterThan', value: 5 } } },
  ],
  search: [{ collection: 'customers', fields: ['name'], search: '3 -"new york"', limit: 15 }],
  'nothing-can-match': [{ collection: 'orders', filter: { field: 'id', operator: 'In', value: [] }, limit: 15 }],
};

const customized: Readonly<Record<string, ListRequest>> = {
  'computed-and-imported': { collection: 'orders', fields: ['id', 'summary', 'customer name'], limit: 15 },
  'replaced-operator-and-sorting': {
    collection: 'orders',
    fields: ['id'],
    filter: { field: 'customer:initial', operator: 'Equal', value: 'A' },
    sort: [{ field: 'customer:initial' }],
    limit: 15,
  },
  'emulated-filter-and-sorting': {
    collection: 'orders',
    fields: ['id', 'summary'],
    segment: 'dear',
    filter: { field: 'summary', operator: 'Like', value: '%Paris%' },
    sort: [{ field: 'summary' }],
    limit: 15,
    skip: 15,
  },
};

function customizeShop(agent: HeadlessAgent): void {
  agent
    .customizeCollection('customers', (customers) =>
      customers
        .removeField('secret')
        .addField('initial', {
          columnType: 'String',
          dependencies: ['name'],
          getValues: (records) => records.map(({ name }) => String(name)[0]),
        })
        .replaceFieldOperator('initial', 'Equal', (value) => ({ field: 'name', operator: 'StartsWith', value }))
        .replaceFieldSorting('initial', [{ field: 'name' }]),
    )
    .customizeCollection('orders', (orders) =>
      orders
        .importField('customer name', { path: 'customer:name' })
        .addField('summary', {
          columnType: 'String',
          dependencies: ['total', 'customer:initial', 'customer:city'],
          getValues: (records) => records.map((record) => JSON.stringify(record)),
        })
        .addSegment('dear', { field: 'total', operator: 'GreaterThan', value: 10 })
        .emulateFieldOperator('summary', 'Like')
        .emulateFieldSorting('summary'),
    );
}

describe.each(databases)('$name, customized', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({ customize: customizeShop });
  });
  afterAll(() => shop?.close());

  test.each(Object.entries(customized))('the plan of %s equals the reviewed file', async (name, request) => {
    const text = await shop.engine.explain(accessOf(), request);
    await expect(text).toMatchFileSnapshot(`plans/${name}.${seller.name}.plan`);
  });
});

describe.each(databases)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({ clock: { ...systemClock, now: () => Date.parse('2024-03-15T12:00:00Z') } });
  });
  afterAll(() => shop?.close());

  test.each(Object.entries(plans))('the plan of %s equals the reviewed file', async (name, [request, rights]) => {
    const text = await shop.engine.explain(accessOf(rights), request);
    await expect(text).toMatchFileSnapshot(`plans/${name}.${seller.name}.plan`);
  });

  test('the plan of a second page equals the reviewed file', async () => {
    const request = {
      collection: 'orders',
      fields: ['id'],
      sort: [{ field: 'customer_id', ascending: false }],
      limit: 2,
    };
    const { cursorAfter } = await shop.engine.list(accessOf(), request);
    const text = await shop.engine.explain(accessOf(), { ...request, cursor: cursorAfter(1)! });
    await expect(text).toMatchFileSnapshot(`plans/second-page.${seller.name}.plan`);
  });
});
