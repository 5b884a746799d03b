import { describe, expect, test } from 'vitest';
import type { ListRequest } from '../../src/agent/requests.ts';
import { accessOf, databases, type Shop, sellers } from './shop.ts';

const access = accessOf();

/** The first column of every page. */
async function walk({ engine }: Shop, request: ListRequest, between = async (_page: number) => {}): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let cursor: string | undefined, page = 0; ; page++) {
    const answer = await engine.list(access, { ...request, ...(cursor && { cursor }) });
    seen.push(...answer.rows.map((row) => row[0]));
    if (!answer.hasMore || page > 50) return seen;
    cursor = answer.cursorAfter(answer.rows.length - 1)!;
    await between(page);
  }
}

describe.each(sellers)('$name', (seller) => {
  test('pages of one record include ties and nulls, in both directions, by columns and related fields', async () => {
    const shop = await seller.open();
    const pages = (field: string, ascending: boolean) =>
      walk(shop, { collection: 'orders', fields: ['id'], sort: [{ field, ascending }], limit: 1 });
    expect([
      await pages('total', true),
      await pages('total', false),
      await pages('customer_id', true),
      await pages('customer_id', false),
      await pages('customer:city', true),
      await pages('customer:city', false),
      await pages('customer:id', false),
    ]).toEqual([
      [5, 1, 2, 3, 4],
      [4, 3, 2, 1, 5],
      [4, 1, 2, 3, 5],
      [5, 3, 2, 1, 4],
      [4, 5, 1, 2, 3],
      [3, 2, 1, 5, 4],
      [5, 3, 2, 1, 4],
    ]);
    await shop.close();
  });

  test('ties follow the direction of the last field, also if it repeats another', async () => {
    const shop = await seller.open();
    const pages = (...sort: NonNullable<ListRequest['sort']>) =>
      walk(shop, { collection: 'orders', fields: ['id'], sort, limit: 1 });
    expect([
      await pages({ field: 'customer_id' }, { field: 'customer_id', ascending: false }),
      await pages({ field: 'customer:id' }, { field: 'customer_id', ascending: false }),
      await pages({ field: 'customer_id', ascending: false }, { field: 'customer:id' }),
      await pages({ field: 'customer_id' }, { field: 'customer:id' }, { field: 'customer_id' }),
    ]).toEqual([
      [4, 1, 3, 2, 5],
      [4, 1, 3, 2, 5],
      [5, 2, 3, 1, 4],
      [4, 1, 2, 3, 5],
    ]);
    await shop.close();
  });

  test('cursors continue after a composite key', async () => {
    const shop = await seller.open();
    const request = { collection: 'order_lines', fields: ['article'], limit: 2 };
    expect(await walk(shop, request)).toEqual(['pen', 'ink', 'pen', 'pad', 'pen']);
    await shop.close();
  });

  test('a cursor of another query or an invalid cursor is refused', async () => {
    const shop = await seller.open();
    const request = { collection: 'orders', sort: [{ field: 'total' }], limit: 2 };
    const cursor = (await shop.engine.list(access, request)).cursorAfter(0)!;
    const forged = Buffer.from(Buffer.from(cursor, 'base64url').toString().replace('5', '"x"')).toString('base64url');
    const others: Partial<ListRequest>[] = [
      { sort: [{ field: 'total', ascending: false }] },
      { sort: [] },
      { filter: { field: 'total', operator: 'Present' } },
      { search: 'a' },
      { cursor: 'AAAA' },
      { cursor: '' },
      { cursor: forged },
      { cursor: `${cursor}!` },
      { cursor: ` ${cursor}` },
    ];
    for (const other of others)
      await expect(shop.engine.list(access, { ...request, cursor, ...other })).rejects.toMatchObject({
        code: 'INVALID_CURSOR',
      });
    const again = await shop.engine.list(access, { ...request, limit: 1, cursor, fields: ['id'] });
    expect(again.rows).toEqual([[1]]);
    await shop.close();
  });
});

describe.each(databases)('$name', (seller) => {
  test('records inserted or deleted between two pages cause no gap and no repetition', async () => {
    const shop = await seller.open();
    const request: ListRequest = {
      collection: 'orders',
      fields: ['id'],
      sort: [{ field: 'total', ascending: false }],
      limit: 2,
    };
    const seen = await walk(shop, request, async (page) => {
      if (page > 0) return;
      await shop.run(`insert into orders values (6, 1, 99, '2024-04-02 00:00:00')`);
      await shop.run(`insert into orders values (7, 1, 7, '2024-04-02 00:00:00')`);
      await shop.run(`delete from line_notes where order_id = 3`);
      await shop.run(`delete from order_lines where order_id = 3`);
      await shop.run(`delete from orders where id = 3`);
    });
    expect(seen).toEqual([4, 3, 2, 1, 7, 5]);
    await shop.close();
  });
});

describe.each(databases.filter(({ name }) => name !== 'sqlite'))('$name', (seller) => {
  test('timestamps that differ by a microsecond are each shown once', async () => {
    const shop = await seller.open();
    for (let at = 0; at < 9; at++)
      await shop.run(`insert into orders values (${20 - at}, null, 1, '2025-01-01 00:00:00.00000${at}')`);
    const filter = { field: 'placed_at', operator: 'After', value: '2024-12-31' } as const;
    const pages = (ascending: boolean) =>
      walk(shop, { collection: 'orders', fields: ['id'], filter, sort: [{ field: 'placed_at', ascending }], limit: 2 });
    expect([await pages(true), await pages(false)]).toEqual([
      [20, 19, 18, 17, 16, 15, 14, 13, 12],
      [12, 13, 14, 15, 16, 17, 18, 19, 20],
    ]);
    await shop.close();
  });
});

const odd = {
  sqlite: ['datetime', 'date', `'n/a', ''`, `'2024-01-01 00:00:00', '2024-01-01'`, `1700000000, '2024-02-03'`],
  mariadb: [
    'datetime',
    'date',
    `'0000-00-00 00:00:00', '0000-00-00'`,
    `'2024-01-01', '2024-01-01'`,
    `'9999-12-31', '9999-12-31'`,
  ],
  postgres: [
    'timestamptz',
    'date',
    `'-infinity', '0044-03-15 BC'`,
    `'infinity', 'infinity'`,
    `'12024-01-01', '12024-01-01'`,
  ],
  memory: [],
};

test.each(databases.map((seller) => [seller.name, seller] as const))(
  '%s: invalid dates are each shown once',
  async (name, seller) => {
    const shop = await seller.open();
    const [instant, day, ...rows] = odd[name];
    const mode = name === 'mariadb' ? `set sql_mode = '';` : '';
    await shop.run(`create table odds (id integer primary key, at ${instant}, day ${day})`);
    const values = [...rows, 'null, null'].flatMap((row, index) => [
      `(${index * 2}, ${row})`,
      `(${index * 2 + 1}, ${row})`,
    ]);
    await shop.run(`${mode}insert into odds values ${values.join(', ')}`);
    const { engine } = await shop.again();
    const pages = (field: string, ascending: boolean) =>
      walk({ ...shop, engine }, { collection: 'odds', fields: ['id'], sort: [{ field, ascending }], limit: 1 });
    const seen = [
      await pages('at', true),
      await pages('at', false),
      await pages('day', true),
      await pages('day', false),
    ];
    await engine.close();
    await shop.close();
    expect(seen.map((ids) => ids.sort())).toEqual(Array(4).fill([0, 1, 2, 3, 4, 5, 6, 7]));
  },
);
