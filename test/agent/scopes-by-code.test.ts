// Writes under a row scope that code decides: it is asked outside the transaction about what the record holds before and
// after, however the source keeps its transactions apart.
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
                // Where the code waits for the database, no transaction may wait for the code.
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

  test('an update keeps to the rows of the scope, before and after', async () => {
    const { engine, access, totals } = await open();
    const update = (ids: number[], total: number, preview = false) =>
      engine.update(access, { collection: 'orders', ids, values: { total } }, { preview });
    const previewed = await update([2], 25, true);
    await update([2, 3], 40);
    await expect(update([2, 1], 50)).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND', details: { missing: ['1'] } });
    await expect(update([3], 5)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const filter = { field: 'total', operator: 'LessThan', value: 35 } as const;
    const filtered = await engine.update(access, { collection: 'orders', filter, values: { total: 31 } });
    expect([previewed.changes?.[0]?.fields, filtered.ids, await totals()]).toEqual([
      { total: { before: 20, after: 25 } },
      ['4'],
      { 1: 10.5, 2: 40, 3: 40, 4: 31, 5: 5 },
    ]);
  });

  test('a create and a delete do, and code is asked once about the same values', async () => {
    const { engine, access, totals, asked } = await open();
    const create = (...records: { id: number; total: number }[]) =>
      engine.create(access, { collection: 'orders', records: records.map((each) => ({ ...each, placed_at })) });
    await create({ id: 7, total: 30 }, { id: 8, total: 31 });
    const once = asked();
    await expect(create({ id: 9, total: 32 }, { id: 10, total: 3 })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(engine.delete(access, { collection: 'orders', ids: [5] })).rejects.toMatchObject({
      code: 'RECORD_NOT_FOUND',
    });
    await engine.delete(access, { collection: 'orders', ids: [7] });
    expect([once, await totals()]).toEqual([1, { 1: 10.5, 2: 20, 3: 20, 4: 30, 5: 5, 8: 31 }]);
  });

  test('beside what code decides, the database is asked about a relation to many within the transaction', async () => {
    const { engine, totals } = await open();
    const inked: PlainFilter = { field: 'order_lines:article', operator: 'Equal', value: 'ink' };
    const access = accessOf({ scopes: { orders: { aggregator: 'Or', conditions: [large, inked] } } });
    const update = (id: number, total: number) =>
      engine.update(access, { collection: 'orders', ids: [id], values: { total } });
    await update(1, 1);
    await update(2, 21);
    await expect(update(2, 2)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(update(5, 50)).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    expect(await totals()).toEqual({ 1: 1, 2: 21, 3: 20, 4: 30, 5: 5 });
  });

  test('relations, what is written along, and what points there keep to it', async () => {
    const { engine, access, totals } = await open();
    const link = { collection: 'customers', relation: 'orders', id: 1 };
    await engine.associate(access, { ...link, ids: [4] });
    await expect(engine.associate(access, { ...link, ids: [5] })).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    const line = (order_id: number) =>
      engine.create(access, { collection: 'order_lines', records: [{ order_id, line: 9, article: 'cap' }] });
    await line(2);
    await expect(line(5)).rejects.toMatchObject({ code: 'INVALID_RECORD' });
    const along = (ids: string[], total: number) =>
      engine.update(access, { collection: 'order_lines', ids, values: { article: 'mug', 'order:total': total } });
    await along(['2|1'], 44);
    await expect(along(['3|1'], 4)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(along(['1|1'], 44)).rejects.toMatchObject({ code: 'INVALID_RECORD' });
    expect(await totals()).toEqual({ 1: 10.5, 2: 44, 3: 20, 4: 30, 5: 5 });
  });
});

test('what the database fills in anew at every try cannot be judged by code, and nothing is written', async () => {
  let count = 0;
  const shop = await sellers[0]!.open({
    customize: (agent) =>
      agent.customizeCollection('orders', (orders) => {
        orders
          .addField('size', { columnType: 'String', dependencies: ['id'], getValues: (all) => all.map(() => 'large') })
          .emulateFieldFiltering('size');
      }),
    wrap: (source) => ({
      ...source,
      read: source.read,
      describe: source.describe,
      // Gives each record a key of its own, as a sequence does that nothing takes back.
      writing: {
        ...source.writing!,
        transaction: (work, options) =>
          source.writing!.transaction(
            (session) =>
              work({
                ...session,
                insert: (insert) =>
                  session.insert({ ...insert, rows: insert.rows.map(([, ...row]) => [1000 + ++count, ...row]) }),
              }),
            options,
          ),
      },
    }),
  });
  const records = [{ id: 7, total: 1, placed_at }];
  const access = accessOf({ scopes: { orders: large } });
  await expect(shop.engine.create(access, { collection: 'orders', records })).rejects.toMatchObject({
    code: 'CONFIGURATION',
  });
  expect(await shop.engine.count(accessOf(), { collection: 'orders' })).toBe(5);
  await shop.close();
});
