import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessOf, type Shop, sellers } from './shop.ts';

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open();
  });
  afterAll(() => shop?.close());

  test('a collection that the caller may not browse does not exist in any error or list', async () => {
    const access = accessOf({ browse: ['orders'] });
    const unknown = { code: 'UNKNOWN_COLLECTION', details: { collection: 'customers', near: [] } };
    expect(() => shop.engine.describe(access, 'customers')).toThrow(expect.objectContaining(unknown));
    await expect(shop.engine.list(access, { collection: 'customers', limit: 1 })).rejects.toMatchObject(unknown);
    await expect(shop.engine.count(access, { collection: 'customers' })).rejects.toMatchObject(unknown);
    expect(shop.engine.index(access)).toEqual([
      { name: 'orders', kind: 'table', fields: 4, relations: [], writable: true },
    ]);
  });

  test('a relation to a collection that the caller may not browse is an unknown field', async () => {
    const access = accessOf({ browse: ['orders'] });
    const unknown = {
      code: 'UNKNOWN_FIELD',
      details: { collection: 'orders', field: 'customer:name', near: ['customer_id'] },
    };
    const request = { collection: 'orders', limit: 1 };
    await expect(shop.engine.list(access, { ...request, fields: ['customer:name'] })).rejects.toMatchObject(unknown);
    await expect(shop.engine.list(access, { ...request, sort: [{ field: 'customer:name' }] })).rejects.toMatchObject(
      unknown,
    );
    const filter = { field: 'customer:name', operator: 'Equal', value: 'Ada' } as const;
    await expect(shop.engine.list(access, { ...request, filter })).rejects.toMatchObject(unknown);
    expect(shop.engine.describe(access, 'orders').relations).toEqual([]);
  });

  test('a hidden field is unknown in fields, filters, sorts, relations and searches', async () => {
    const access = accessOf({ hidden: ['customers.secret'] });
    const unknown = { code: 'UNKNOWN_FIELD', details: { collection: 'customers', field: 'secret', near: [] } };
    const request = { collection: 'customers', limit: 5 };
    const filter = { field: 'secret', operator: 'Equal', value: 'x1' } as const;
    await expect(shop.engine.list(access, { ...request, fields: ['secret'] })).rejects.toMatchObject(unknown);
    await expect(shop.engine.list(access, { ...request, sort: [{ field: 'secret' }] })).rejects.toMatchObject(unknown);
    await expect(shop.engine.count(access, { collection: 'customers', filter })).rejects.toMatchObject(unknown);
    const far = { collection: 'orders', fields: ['customer:secret'], limit: 1 };
    await expect(shop.engine.list(access, far)).rejects.toMatchObject(unknown);
    expect((await shop.engine.list(access, request)).columns).toEqual(['id', 'name', 'city']);
    expect(await shop.engine.count(access, { collection: 'customers', search: 'x1' })).toBe(0);
    expect(await shop.engine.count(access, { collection: 'orders', search: 'x1', searchExtended: true })).toBe(0);
    expect(await shop.engine.count(accessOf(), { collection: 'customers', search: 'x1' })).toBe(1);
    expect(shop.engine.describe(access, 'customers').fields.map((field) => field.name)).toEqual(['id', 'name', 'city']);
  });

  test('a hidden foreign key hides its relation, from both sides', async () => {
    const access = accessOf({ hidden: ['orders.customer_id'] });
    const described = (name: string) => shop.engine.describe(access, name).relations.map((relation) => relation.name);
    expect([described('orders'), described('customers')]).toEqual([['order_lines'], []]);
    const request = { collection: 'orders', fields: ['customer:id'], limit: 1 };
    await expect(shop.engine.list(access, request)).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
  });

  test('a list whose key is hidden has no cursor, since a cursor contains the key', async () => {
    const access = accessOf({ hidden: ['orders.id'] });
    const answer = await shop.engine.list(access, { collection: 'orders', fields: ['total'], limit: 2 });
    expect([answer.rows, answer.hasMore, answer.cursorAfter(1)]).toEqual([[[10.5], [20]], true, undefined]);
  });
});
