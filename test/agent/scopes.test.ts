import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessOf, type Shop, sellers } from './shop.ts';

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open();
  });
  afterAll(() => shop?.close());

  const paris = accessOf({ scopes: { customers: { field: 'city', operator: 'Equal', value: 'Paris' } } });

  test('a record outside the row scope is neither listed nor counted', async () => {
    const { rows } = await shop.engine.list(paris, { collection: 'customers', fields: ['name'], limit: 9 });
    expect([rows, await shop.engine.count(paris, { collection: 'customers' })]).toEqual([[['Ada']], 1]);
  });

  test('a related record outside the row scope is null, but the foreign key of the record itself is shown', async () => {
    const answer = await shop.engine.list(paris, {
      collection: 'orders',
      fields: ['id', 'customer_id', 'customer:id', 'customer:name'],
      limit: 9,
    });
    expect(answer.records()).toEqual([
      { id: 1, customer_id: 1, customer: { id: 1, name: 'Ada' } },
      { id: 2, customer_id: 2, customer: null },
      { id: 3, customer_id: 2, customer: null },
      { id: 4, customer_id: null, customer: null },
      { id: 5, customer_id: 3, customer: null },
    ]);
  });

  test('a filter through a relation treats a record outside the row scope as missing', async () => {
    const ids = async (operator: 'Equal' | 'NotEqual' | 'Missing', value?: string) => {
      const filter = { field: 'customer:name', operator, value };
      return (await shop.engine.list(paris, { collection: 'orders', fields: ['id'], filter, limit: 9 })).rows.flat();
    };
    expect([await ids('Equal', 'Bo'), await ids('Missing'), await ids('NotEqual', 'Ada')]).toEqual([
      [],
      [2, 3, 4, 5],
      [2, 3, 4, 5],
    ]);
    const filter = { field: 'customer:id', operator: 'Equal', value: 2 } as const;
    expect(await shop.engine.count(paris, { collection: 'orders', filter })).toBe(0);
  });

  test('a sort through a relation treats records outside the row scope as missing', async () => {
    const sort = [{ field: 'customer:name', ascending: false }];
    const { rows } = await shop.engine.list(paris, { collection: 'orders', fields: ['id'], sort, limit: 9 });
    expect(rows.flat()).toEqual([1, 5, 4, 3, 2]);
  });

  test('a search through relations finds nothing outside the row scope', async () => {
    const search = { collection: 'orders', search: 'bo', searchExtended: true };
    expect([await shop.engine.count(paris, search), await shop.engine.count(accessOf(), search)]).toEqual([0, 2]);
  });

  test('a row scope may use related records that the caller may not see', async () => {
    const access = accessOf({
      scopes: {
        orders: { field: 'customer:city', operator: 'NotEqual', value: 'Rome' },
        customers: { field: 'city', operator: 'Equal', value: 'Paris' },
        order_lines: { field: 'order:customer:name', operator: 'In', value: ['Ada', 'Bo'] },
      },
    });
    const list = async (collection: string, fields: string[]) =>
      (await shop.engine.list(access, { collection, fields, limit: 9 })).rows;
    expect(await list('orders', ['id', 'customer:name'])).toEqual([
      [1, 'Ada'],
      [4, null],
      [5, null],
    ]);
    expect(await list('order_lines', ['order_id', 'article', 'order:total'])).toEqual([
      [1, 'pen', 10.5],
      [1, 'ink', 10.5],
      [2, 'pen', null],
      [3, 'pad', null],
    ]);
    expect(await list('line_notes', ['id', 'order_lines:article'])).toEqual([
      [1, 'ink'],
      [2, 'pad'],
      [3, null],
    ]);
  });

  test('an empty Or as a row scope matches no record', async () => {
    const access = accessOf({ scopes: { orders: { aggregator: 'Or', conditions: [] } } });
    const answer = await shop.engine.list(access, { collection: 'orders', limit: 9 });
    expect([answer.rows, answer.hasMore, await shop.engine.count(access, { collection: 'orders' })]).toEqual([
      [],
      false,
      0,
    ]);
  });

  test('an invalid row scope refuses every query without revealing its condition', async () => {
    const access = accessOf({ scopes: { orders: { field: 'hush', operator: 'Equal', value: 1 } } });
    await expect(shop.engine.list(access, { collection: 'orders', limit: 9 })).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: "The row scope of 'orders' cannot be used. An administrator must correct it.",
    });
  });

  test('dates of a row scope are in the timezone of the caller, not of the request', async () => {
    const access = accessOf({
      timezone: 'Europe/Paris',
      scopes: { orders: { field: 'placed_at', operator: 'Before', value: '2024-04-01' } },
    });
    const request = { collection: 'orders', timezone: 'America/New_York' };
    expect(await shop.engine.count(access, request)).toBe(3);
  });
});
