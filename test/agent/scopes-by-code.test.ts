// A row scope that code evaluates is read-only, because records can change between the code and the write. Records that
// a write only points to are still checked outside the transaction.
import { afterEach, describe, expect, test } from 'vitest';
import type { PlainFilter } from '../../src/core/filter.ts';
import { accessOf, type Shop, sellers } from './shop.ts';

const opened: Shop[] = [];
afterEach(async () => {
  for (const shop of opened.splice(0)) await shop.close();
});

const large: PlainFilter = { field: 'size', operator: 'Equal', value: 'large' };
const placed_at = '2024-05-01T00:00:00.000Z';

describe.each(sellers)('on $name', (seller) => {
  async function open(of: 'total' | 'id' = 'total') {
    let asked = 0;
    const shop = await seller.open({
      customize: (agent) =>
        agent.customizeCollection('orders', (orders) => {
          orders
            .addField('size', {
              columnType: 'String',
              dependencies: [of],
              async getValues(records, { collection }) {
                asked++;
                // This code waits for the database, so no transaction may wait for the code.
                await collection('customers')!.list({}, ['id']);
                return records.map((record) => (Number(record[of]) > 15 ? 'large' : 'small'));
              },
            })
            .emulateFieldFiltering('size');
        }),
    });
    opened.push(shop);
    const totals = async () =>
      Object.fromEntries(
        (await shop.engine.list(accessOf(), { collection: 'orders', fields: ['id', 'total'], limit: 50 })).rows,
      );
    return { ...shop, access: accessOf({ scopes: { orders: large } }), totals, asked: () => asked };
  }

  const readOnly = (field = 'size') => ({ code: 'FORBIDDEN', message: expect.stringContaining(`'${field}'`) });

  test('every write under such a row scope is refused with the name of the field, while reads work', async () => {
    const { engine, access, totals } = await open();
    const before = await totals();
    const orders = { collection: 'orders' };
    const seen = await engine.list(access, { ...orders, fields: ['id'], limit: 50 });
    expect(seen.rows).toEqual([[2], [3], [4]]);
    const filter = { field: 'total', operator: 'LessThan', value: 35 } as const;
    const link = { collection: 'customers', relation: 'orders', id: 1, ids: [4] };
    const line = { collection: 'order_lines', ids: ['2|1'], values: { article: 'mug', 'order:total': 44 } };
    for (const preview of [true, false])
      for (const write of [
        () => engine.create(access, { ...orders, records: [{ id: 7, total: 30, placed_at }] }, { preview }),
        () => engine.update(access, { ...orders, ids: [2], values: { total: 25 } }, { preview }),
        () => engine.update(access, { ...orders, filter, values: { total: 31 } }, { preview }),
        () => engine.delete(access, { ...orders, ids: [2] }, { preview }),
        () => engine.associate(access, link, { preview }),
        () => engine.dissociate(access, link, { preview }),
        // Nested in a write to another collection.
        () => engine.update(access, line, { preview }),
      ])
        await expect(write()).rejects.toMatchObject(readOnly());
    expect(await totals()).toEqual(before);
  });

  test('writes under a row scope that the database evaluates only in part are refused as well', async () => {
    const { engine } = await open();
    const inked: PlainFilter = { field: 'order_lines:article', operator: 'Equal', value: 'ink' };
    const access = accessOf({ scopes: { orders: { aggregator: 'Or', conditions: [inked, large] } } });
    const update = (of: typeof access) => engine.update(of, { collection: 'orders', ids: [1], values: { total: 1 } });
    await expect(update(access)).rejects.toMatchObject(readOnly());
    await expect(update(accessOf({ scopes: { orders: inked } }))).resolves.toMatchObject({ count: 1 });
  });

  test('a foreign key must refer to a record within such a row scope', async () => {
    const { engine, access } = await open();
    const line = (order_id: number) =>
      engine.create(access, { collection: 'order_lines', records: [{ order_id, line: 9, article: 'cap' }] });
    await line(2);
    await expect(line(5)).rejects.toMatchObject({ code: 'INVALID_RECORD' });
  });
});
