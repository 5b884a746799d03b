// A condition through a relation to many holds if at least one related record satisfies it and the caller may see it.
import { afterEach, describe, expect, test } from 'vitest';
import type { PlainFilter } from '../../src/core/filter.ts';
import { type Counted, counted } from './counted.ts';
import { accessOf, type Rights, type Shop, type ShopOptions, sellers } from './shop.ts';

const opened: Shop[] = [];
afterEach(async () => {
  for (const shop of opened.splice(0)) await shop.close();
});

describe.each(sellers)('on $name', (seller) => {
  async function open(options: ShopOptions = {}) {
    const shop = await seller.open(options);
    opened.push(shop);
    return {
      ...shop,
      async ids(collection: string, filter: PlainFilter, rights: Rights = {}) {
        const { rows } = await shop.engine.list(accessOf(rights), { collection, fields: ['id'], filter, limit: 50 });
        return rows.flat();
      },
    };
  }

  test('each condition holds if some related record satisfies it', async () => {
    const { ids } = await open();
    const leaf = (field: string, operator: string, value?: unknown) =>
      ({ field, operator, ...(value !== undefined && { value }) }) as PlainFilter;
    const both = (...conditions: PlainFilter[]): PlainFilter => ({ aggregator: 'And', conditions });
    expect([
      await ids('customers', leaf('orders:total', 'GreaterThan', 15)),
      await ids('customers', { some: 'orders', where: leaf('total', 'NotEqual', 20) }),
      await ids('customers', both({ some: 'orders', where: leaf('id', 'Equal', 2) }, leaf('orders:id', 'Equal', 3))),
      await ids('customers', leaf('orders:order_lines:article', 'In', ['pen', 'pad'])),
      await ids('customers', { some: 'orders', where: leaf('customer:city', 'Missing') }),
      await ids('orders', leaf('customer:orders:total', 'Equal', 20)),
      await ids('orders', leaf('order_lines@@@line_notes@@@text', 'Equal', 'lined')),
      await ids('orders', leaf('order_lines:article', 'In', [])),
    ]).toEqual([[2], [1, 3], [2], [1, 2], [3], [2, 3], [3], []]);
  });

  test('lists, counts and aggregates with such a filter take one statement', async () => {
    let meter: Counted | undefined;
    const { engine } = await open({
      wrap: (source) => {
        meter = counted(source);
        return meter.source;
      },
    });
    const asked = {
      collection: 'customers',
      filter: { field: 'orders:total', operator: 'LessThan', value: 15 },
    } as const;
    const { rows } = await engine.list(accessOf(), { ...asked, fields: ['name'], limit: 50 });
    const count = await engine.count(accessOf(), asked);
    const total = await engine.aggregate(accessOf(), { ...asked, operation: 'Count', limit: 1 });
    expect([rows, count, total.rows, meter?.statements()]).toEqual([[['Ada'], ['Cy']], 2, [[2]], 3]);
  });

  test('rows outside the row scope do not count, and a hidden collection does not exist', async () => {
    const { ids } = await open();
    const filter = { field: 'orders:total', operator: 'Equal', value: 20 } as const;
    const scopes = { orders: { field: 'id', operator: 'NotIn', value: [2, 3] } } as const;
    expect(await ids('customers', filter, { scopes })).toEqual([]);
    for (const rights of [{ browse: ['customers'] }, { hidden: ['orders.customer_id'] }])
      await expect(ids('customers', filter, rights)).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
    await expect(ids('customers', filter, { hidden: ['orders.total'] })).rejects.toMatchObject({
      code: 'UNKNOWN_FIELD',
      details: { collection: 'orders', field: 'total' },
    });
  });

  test('a row scope through a to-many relation uses all related rows, also where its collection is joined', async () => {
    const { ids, engine } = await open();
    const scopes = {
      customers: { field: 'orders:total', operator: 'Equal', value: 20 },
      orders: { field: 'id', operator: 'GreaterThan', value: 3 },
    } as const;
    const all = { field: 'id', operator: 'Present' } as const;
    const { rows } = await engine.list(accessOf({ scopes: { customers: scopes.customers } }), {
      collection: 'orders',
      fields: ['id', 'customer:name'],
      limit: 50,
    });
    expect([await ids('customers', all, { scopes }), rows]).toEqual([
      [2],
      [
        [1, null],
        [2, 'Bo'],
        [3, 'Bo'],
        [4, null],
        [5, null],
      ],
    ]);
  });

  test('segments, replaced operators and added fields can use to-many relations', async () => {
    const { engine, ids } = await open({
      customize: (agent) =>
        agent
          .customizeCollection('customers', (customers) =>
            customers
              .addSegment('buyers of ink', { field: 'orders:order_lines:article', operator: 'Equal', value: 'ink' })
              .addField('size', {
                columnType: 'Number',
                dependencies: ['id'],
                getValues: (records) => records.map(() => 0),
              })
              .replaceFieldOperator('size', 'GreaterThan', (value) => ({
                field: 'orders:total',
                operator: 'GreaterThan',
                value,
              })),
          )
          .customizeCollection('orders', (orders) =>
            orders
              .addField('double', {
                columnType: 'Number',
                dependencies: ['total'],
                getValues: (records) => records.map(({ total }) => Number(total) * 2),
              })
              .emulateFieldFiltering('double'),
          ),
    });
    const { rows } = await engine.list(accessOf(), {
      collection: 'customers',
      fields: ['id'],
      segment: 'buyers of ink',
      limit: 50,
    });
    expect([
      rows.flat(),
      await ids('customers', { field: 'size', operator: 'GreaterThan', value: 15 }),
      await ids('customers', { field: 'orders:double', operator: 'Equal', value: 40 }),
      await ids('order_lines', { field: 'order:customer:size', operator: 'GreaterThan', value: 15 }).catch(
        ({ code }) => code,
      ),
    ]).toEqual([[1], [2], [2], 'UNKNOWN_FIELD']);
    // The database cannot combine these with a computed field, so it is queried again about the rows that were read.
    const or = (...conditions: PlainFilter[]): PlainFilter => ({ aggregator: 'Or', conditions });
    const forty: PlainFilter = { field: 'double', operator: 'Equal', value: 40 };
    expect([
      await ids('orders', or(forty, { field: 'order_lines:article', operator: 'Equal', value: 'ink' })),
      await ids('orders', or(forty, { field: 'order_lines:line_notes:text', operator: 'Equal', value: 'loose' })),
      await ids('orders', or(forty, { field: 'customer:orders:double', operator: 'Equal', value: 21 })),
    ]).toEqual([
      [1, 2, 3],
      [2, 3],
      [1, 2, 3],
    ]);
  });

  test('columns and sorts through a to-many relation are refused', async () => {
    const { engine } = await open();
    const list = (request: object) =>
      engine.list(accessOf(), { collection: 'customers', fields: ['id'], limit: 50, ...request });
    for (const request of [{ fields: ['orders:total'] }, { sort: [{ field: 'orders:total' }] }])
      await expect(list(request)).rejects.toMatchObject({ code: 'RELATION_TO_MANY' });
    await expect(list({ filter: { field: 'orders', operator: 'Present' } })).rejects.toMatchObject({
      code: 'RELATION_TO_MANY',
    });
  });

  test('writes apply such filters and row scopes before and after the change', async () => {
    const { engine, ids } = await open();
    const buyers = { field: 'orders:total', operator: 'Equal', value: 20 } as const;
    const open20 = { field: 'customer:orders:total', operator: 'Equal', value: 20 } as const;
    const update = (collection: string, request: object, rights: Rights = {}) =>
      engine.update(accessOf(rights), { collection, ...request } as never);
    const byFilter = await update('customers', { filter: buyers, values: { city: 'Oslo' } });
    const scoped = { scopes: { customers: buyers } };
    const seen = await update('customers', { ids: [2], values: { city: 'Bergen' } }, scoped);
    await expect(update('customers', { ids: [1], values: { city: 'Lagos' } }, scoped)).rejects.toMatchObject({
      code: 'RECORD_NOT_FOUND',
    });
    // The scope also covers this order, and checks its state after the write.
    const within = { scopes: { orders: open20 } };
    await expect(update('orders', { ids: [2], values: { customer_id: 1, total: 10 } }, within)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    const order = { id: 7, total: 20, placed_at: '2024-04-02T00:00:00Z' };
    const create = (customer_id: number, total: number) =>
      engine.create(accessOf(within), { collection: 'orders', records: [{ ...order, customer_id, total }] });
    await expect(create(1, 10)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const made = await create(1, 20);
    await engine.delete(accessOf(within), { collection: 'orders', ids: [7] });
    await expect(engine.delete(accessOf(within), { collection: 'orders', ids: [4] })).rejects.toMatchObject({
      code: 'RECORD_NOT_FOUND',
    });
    expect([
      byFilter.ids,
      seen.records[0]?.city,
      made.ids,
      await ids('customers', { field: 'city', operator: 'In', value: ['Oslo', 'Lagos'] }),
      await ids('orders', { field: 'id', operator: 'Present' }),
    ]).toEqual([['2'], 'Bergen', ['7'], [], [1, 2, 3, 4, 5]]);
  });
});
