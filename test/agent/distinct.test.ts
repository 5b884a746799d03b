// Lists of distinct values: the same combinations as SELECT DISTINCT that is written by hand, on every database.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { accessOf, type Rights } from './shop.ts';

const types = {
  sqlite: { text: 'text', folded: 'text collate nocase', time: 'datetime', flag: 'boolean' },
  mariadb: { text: 'varchar(40) collate utf8mb4_bin', folded: 'varchar(40)', time: 'datetime(3)', flag: 'tinyint(1)' },
  postgres: { text: 'text collate "C"', folded: 'text collate "C"', time: 'timestamptz', flag: 'boolean' },
} satisfies Record<Dialect, Record<string, string>>;

function schema(dialect: Dialect): string[] {
  const { text, folded, time, flag } = types[dialect];
  const yes = dialect === 'postgres' ? 'true' : '1';
  const zone = dialect === 'postgres' ? '+00' : '';
  return [
    `create table places (id int primary key, city ${text})`,
    `create table items (id int primary key, place_id int references places(id), price decimal(12, 2), status ${text},
      label ${folded}, at ${time}, sent date, flag ${flag}, document ${dialect === 'postgres' ? 'jsonb' : 'json'})`,
    "insert into places values (1, 'Oslo'), (2, 'Lyon'), (3, null)",
    `insert into items values
      (1, 1, 10.10, 'paid', 'A', '2024-03-31 00:30:00.000${zone}', '2024-03-01', ${yes}, null),
      (2, 1, 10.1, 'paid', 'a', '2024-03-31 00:30:00.000${zone}', '2024-03-01', null, null),
      (3, 2, null, 'open', null, null, '2024-03-01', null, null),
      (4, null, null, 'open', 'b', '2024-04-01 00:30:00.000${zone}', null, null, null),
      (5, null, 3, null, 'B', null, null, ${yes}, null),
      (6, 3, 3, 'paid', 'b', null, null, ${yes}, null)`,
  ];
}

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, schema(server.dialect));
    const agent = createHeadlessAgent();
    agent.addDataSource(() => createSqlSource(database.url, { observe: () => undefined, clock: systemClock }));
    agent.customizeCollection('items', (items) =>
      items
        .addField('word', {
          columnType: 'String',
          dependencies: ['status'],
          getValues: (records) => records.map(({ status }) => (status === null ? null : `${status}!`)),
        })
        .emulateFieldSorting('word')
        .replaceFieldSorting('label', [{ field: 'id', ascending: true }]),
    );
    agent.customizeCollection('places', (places) => places.addHook('After', 'List', () => {}));
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
    engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  const list = (fields: readonly string[], more: Partial<ListRequest> = {}, rights: Rights = {}) =>
    engine.list(accessOf(rights), { collection: 'items', distinct: true, fields, limit: 50, ...more });
  const refusal = (fields: readonly string[], more: Partial<ListRequest> = {}, rights: Rights = {}) =>
    list(fields, more, rights).then(
      ({ rows }) => `answered ${JSON.stringify(rows)}`,
      (error: Error) => error.message,
    );
  const byHand = async (sql: string) =>
    (await askSql(database, sql)).map((row) =>
      Object.values(row).map((value) => (value === null || typeof value === 'string' ? value : Number(value))),
    );

  test('a distinct list returns the combinations of SELECT DISTINCT, with nulls first and equal', async () => {
    const nulls = server.dialect === 'postgres' ? ' nulls first' : '';
    const last = server.dialect === 'postgres' ? ' nulls last' : '';
    const place = 'left join places p on p.id = i.place_id';
    expect((await list(['status'])).rows).toEqual(
      await byHand(`select distinct status from items order by status${nulls}`),
    );
    expect((await list(['status', 'place:city'])).rows).toEqual(
      await byHand(`select distinct status, city from items i ${place} order by status${nulls}, city${nulls}`),
    );
    const sort = [{ field: 'place:city', ascending: false }];
    expect((await list(['status', 'place:city'], { sort })).rows).toEqual(
      await byHand(`select distinct status, city from items i ${place} order by city desc${last}, status${nulls}`),
    );
    const filter = { field: 'id', operator: 'LessThan', value: 4 } as const;
    expect((await list(['status'], { filter })).rows).toEqual([['open'], ['paid']]);
  });

  test('decimals, dates and booleans have the same values as in a list', async () => {
    expect((await list(['price'])).rows).toEqual([[null], [3], [10.1]]);
    expect((await list(['at'])).rows).toEqual([[null], ['2024-03-31T00:30:00.000Z'], ['2024-04-01T00:30:00.000Z']]);
    expect((await list(['sent', 'flag'])).rows).toEqual([
      [null, null],
      [null, true],
      ['2024-03-01', null],
      ['2024-03-01', true],
    ]);
    const labels = (await list(['label'])).rows.flat();
    expect(labels).toEqual(server.dialect === 'postgres' ? [null, 'A', 'B', 'a', 'b'] : [null, 'A', 'B']);
  });

  test('pages have hasMore and a cursor that belongs to the call', async () => {
    const all = (await list(['status', 'place:city'])).rows;
    const pages: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(['status', 'place:city'], { limit: 2, ...(cursor && { cursor }) });
      pages.push(...page.rows);
      cursor = page.hasMore ? page.cursorAfter(page.rows.length - 1) : undefined;
    } while (cursor);
    expect(pages).toEqual(all);
    expect((await list(['status', 'place:city'], { limit: 2, skip: 2 })).rows).toEqual(all.slice(2, 4));
    const first = await list(['status', 'place:city'], { limit: 2 });
    expect(await refusal(['status'], { cursor: first.cursorAfter(1)! })).toMatch(/cursor/);
    expect(first.records()[0]).toEqual({ status: null, place: { city: null } });
  });

  test('fields that code computes are grouped after reading', async () => {
    expect((await list(['word'])).rows).toEqual([[null], ['open!'], ['paid!']]);
  });

  test('row scopes hide values, and related rows that they hide are null', async () => {
    const own = { items: { field: 'status', operator: 'Equal', value: 'paid' } } as const;
    expect((await list(['status'], {}, { scopes: own })).rows).toEqual([['paid']]);
    const places = { places: { field: 'id', operator: 'Equal', value: 2 } } as const;
    expect((await list(['place:city'], {}, { scopes: places })).rows).toEqual([[null], ['Lyon']]);
  });

  test('related records can be listed distinct', async () => {
    const request = { collection: 'places', id: 1, relation: 'items', fields: ['price'], distinct: true, limit: 5 };
    expect((await engine.listRelated(accessOf(), request)).rows).toEqual([[10.1]]);
  });

  test('an invalid distinct list is refused with what to send', async () => {
    expect(await refusal([])).toMatch('distinct needs fields, such as ["status"]');
    expect(await refusal(['document'])).toMatch("'document' is Json, which has no distinct values");
    expect(await refusal(['status'], { sort: [{ field: 'price' }] })).toMatch('sort takes the listed fields: status');
    expect(await refusal(['label'], { sort: [{ field: 'label' }] })).toMatch("code orders 'label'");
    expect(await refusal(['city'], { collection: 'places' })).toMatch('Leave distinct out');
    expect(await refusal(['price'], {}, { hidden: ['items.price'] })).toMatch("'items' has no field 'price'");
    expect(await refusal(['place:city'], {}, { hidden: ['places.city'] })).toMatch("'places' has no field 'city'");
    const many = { collection: 'places', fields: ['items:status'] };
    expect(await refusal([], many)).toMatch("'items' of 'places' leads to many records");
  });
});
