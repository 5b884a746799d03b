// Regression tests for write defects of similar engines.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CodeFilter } from '../../src/agent/customize/context.ts';
import { refusalOf } from './attempt.ts';
import { accessOf, type Shop, sellers } from './shop.ts';

const all = accessOf();
const rome = { field: 'city', operator: 'Equal', value: 'Rome' } as const;

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  let filters: CodeFilter[];
  beforeEach(async () => {
    filters = [];
    shop = await seller.open({
      customize: (agent) =>
        agent
          .customizeCollection('customers', (customers) =>
            customers
              .addHook('Before', 'Update', (context) => context.narrow({ field: 'id', operator: 'LessThan', value: 3 }))
              .addHook('After', 'Update', ({ filter }) => void filters.push(filter)),
          )
          .customizeCollection('orders', (orders) =>
            orders
              .importField('town', { path: 'customer:city' })
              .replaceFieldWriting('total', (value) => ({ total: value, 'customer:secret': `${value}` })),
          ),
    });
  });
  afterEach(() => shop?.close());

  const order = (id: number, more: object) => ({ id, total: id, placed_at: '2024-05-01T00:00:00Z', ...more });
  const rows = async (collection: string, fields: string[]) =>
    (await shop.engine.list(all, { collection, fields, limit: 50 })).rows;

  test('a hook before an update can restrict its filter, and a hook after it sees the restricted filter', async () => {
    const filter = { field: 'id', operator: 'Present' } as const;
    const { ids } = await shop.engine.update(all, { collection: 'customers', filter, values: { city: 'Bern' } });
    const conditions = [filter, { field: 'id', operator: 'LessThan', value: 3 }];
    expect([ids, filters]).toEqual([['1', '2'], [{ conditionTree: { aggregator: 'And', conditions } }]]);
  });

  test('a batch of creates gives each record its own related record', async () => {
    const records = [
      order(10, {}),
      order(11, { customer: { id: 21, name: 'Of 11' } }),
      order(12, { customer_id: 1 }),
      order(13, { customer: { id: 23, name: 'Of 13' } }),
    ].map((record) => (record.id === 10 ? { ...record, customer: { id: 20, name: 'Of 10' } } : record));
    await shop.engine.create(all, { collection: 'orders', records });
    const made = (await rows('orders', ['id', 'customer:name', 'customer:secret'])).filter(([id]) => Number(id) > 9);
    expect(made).toEqual([
      [10, 'Of 10', '10'],
      [11, 'Of 11', '11'],
      [12, 'Ada', '12'],
      [13, 'Of 13', '13'],
    ]);
  });

  test('writes of replaced and imported fields are atomic', async () => {
    const before = [await rows('orders', ['id', 'total']), await rows('customers', ['id', 'city', 'secret'])];
    const refused = [
      // The order already exists, so its customer must not be written.
      await refusalOf(
        shop.engine.create(all, { collection: 'orders', records: [order(1, { customer_id: 2, town: 'Oslo' })] }),
      ),
      // The second customer already exists, so the first must not be written either.
      await refusalOf(
        shop.engine.create(all, {
          collection: 'orders',
          records: [order(10, { customer: { id: 30, name: 'X' } }), order(11, { customer: { id: 3, name: 'Y' } })],
        }),
      ),
    ];
    const after = [await rows('orders', ['id', 'total']), await rows('customers', ['id', 'city', 'secret'])];
    expect([refused.map(({ code }) => code), after]).toEqual([['INVALID_RECORD', 'INVALID_RECORD'], before]);
  });

  test('an update that makes its own filter false still updates the related records', async () => {
    const filter = { field: 'total', operator: 'Equal', value: 20 } as const;
    await shop.engine.update(all, { collection: 'orders', filter, values: { total: 1, town: 'Bern' } });
    expect([await rows('orders', ['total']), (await rows('customers', ['city'])).flat()]).toEqual([
      [[10.5], [1], [1], [30], [5]],
      ['Paris', 'Bern', null],
    ]);
  });

  test('writing a missing record or one outside the row scope is refused', async () => {
    const scoped = accessOf({ scopes: { customers: rome } });
    const update = { collection: 'customers', values: { city: 'Rome' } };
    const codes = [
      await refusalOf(shop.engine.update(all, { ...update, ids: [77] })),
      await refusalOf(shop.engine.update(scoped, { ...update, ids: [1] })),
      await refusalOf(shop.engine.delete(scoped, { collection: 'line_notes', ids: [77] })),
    ];
    expect(codes.map(({ code }) => code)).toEqual(['RECORD_NOT_FOUND', 'RECORD_NOT_FOUND', 'RECORD_NOT_FOUND']);
  });

  test('a created record and the target of a foreign key must be within the row scope', async () => {
    const scoped = accessOf({ scopes: { customers: rome } });
    const codes = [
      await refusalOf(shop.engine.create(scoped, { collection: 'customers', records: [{ id: 9, name: 'X' }] })),
      await refusalOf(shop.engine.create(scoped, { collection: 'orders', records: [order(9, { customer_id: 1 })] })),
      await refusalOf(
        shop.engine.create(scoped, { collection: 'orders', records: [order(9, { customer: { id: 9, name: 'X' } })] }),
      ),
    ];
    expect(codes.map(({ code }) => code)).toEqual(['FORBIDDEN', 'INVALID_RECORD', 'FORBIDDEN']);
  });

  test('writing one field with two values is refused', async () => {
    const values = { total: 3, 'customer:secret': 'x' };
    const { code, message } = await refusalOf(shop.engine.update(all, { collection: 'orders', ids: [1], values }));
    expect([code, message]).toEqual(['INVALID_RECORD', expect.stringContaining('written twice with different values')]);
  });
});
