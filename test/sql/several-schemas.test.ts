// Tables of several PostgreSQL schemas, or of several databases of a MariaDB server, in one data source. They are read,
// joined and written like those of one schema, with foreign keys between them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createEngineAgent, type Observation } from '../../src/entries/engine.ts';
import { createSqlDataSource, type Engine } from '../../src/index.ts';
import { accessOf } from '../agent/shop.ts';
import { remoteServers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from './schemas.ts';

const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };

// A test file must contain a test.
if (remoteServers.length === 0) test.skip('skipped: needs a database server', () => {});

describe.each(remoteServers)('$dialect', (server) => {
  let home: TestDatabase;
  let other: string;
  let engine: Engine;
  const observed: Observation[] = [];

  beforeAll(async () => {
    home = await server.create();
    other = `${new URL(home.url).pathname.slice(1)}_sales'1`;
    const quoted = server.dialect === 'mariadb' ? `\`${other}\`` : `"${other}"`;
    await runSql(home, [
      `create ${server.dialect === 'mariadb' ? 'database' : 'schema'} ${quoted}`,
      'create table customers (id integer not null primary key, name varchar(20) not null)',
      'create table orders (id integer not null primary key)',
      `create table ${quoted}.orders (id integer not null primary key, customer_id integer, place varchar(9) not null, unique (place))`,
      `alter table ${quoted}.orders add foreign key (customer_id) references ${server.dialect === 'mariadb' ? `\`${new URL(home.url).pathname.slice(1)}\`.` : 'public.'}customers (id)`,
      `create table ${quoted}.order_lines (order_id integer not null, line integer not null, primary key (order_id, line), foreign key (order_id) references ${quoted}.orders (id))`,
      `create view ${quoted}.places as select place from ${quoted}.orders`,
      "insert into customers values (1, 'Ada'), (2, 'Bo')",
      'insert into orders values (7)',
      `insert into ${quoted}.orders values (1, 1, 'Rome'), (2, 2, 'Oslo'), (3, null, 'Bonn')`,
      `insert into ${quoted}.order_lines values (1, 1), (1, 2)`,
    ]);
    const own = server.dialect === 'mariadb' ? new URL(home.url).pathname.slice(1) : 'public';
    engine = await createEngineAgent()
      .addDataSource(createSqlDataSource({ uri: home.url, schemas: [own, other] }), {
        rename: { [`${other}.orders`]: 'sales' },
      })
      .createEngine({ observe: (one) => observed.push(one), clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine?.close();
    const quoted = server.dialect === 'mariadb' ? `\`${other}\`` : `"${other}"`;
    await runSql(home, [
      `drop ${server.dialect === 'mariadb' ? 'database' : 'schema'} ${quoted}${server.dialect === 'mariadb' ? '' : ' cascade'}`,
    ]);
    await home.drop();
  });

  test('tables of the first schema keep their names, others are prefixed; foreign keys cross schemas', () => {
    const shown = engine.index(accessOf()).map(({ name, relations }) => [name, relations]);
    expect(shown).toEqual(
      [
        ['customers', ['sales']],
        ['orders', []],
        ['sales', ['customer', `${other}.order_lines`]],
        [`${other}.order_lines`, ['order']],
        [`${other}.places`, []],
      ].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
  });

  test('reads, joins, filters and groups across schemas in one statement', async () => {
    const { rows } = await engine.list(accessOf(), {
      collection: 'sales',
      fields: ['id', 'customer:name'],
      filter: { field: 'customer:name', operator: 'NotEqual', value: 'Bo' },
      sort: [{ field: 'customer:name', ascending: false }],
      limit: 9,
    });
    const counted = await engine.aggregate(accessOf(), {
      collection: `${other}.order_lines`,
      operation: 'Count',
      groups: [{ field: 'order:customer:name' }],
      limit: 9,
    });
    expect([rows, counted.rows]).toEqual([
      [
        [1, 'Ada'],
        [3, null],
      ],
      [['Ada', 2]],
    ]);
  });

  test('writes reach the table of the right schema, within a row scope through the other', async () => {
    const scoped = accessOf({ scopes: { sales: { field: 'customer:name', operator: 'Equal', value: 'Ada' } } });
    const created = await engine.create(scoped, {
      collection: 'sales',
      records: [{ id: 9, customer_id: 1, place: 'Lima' }],
    });
    const changed = await engine.update(scoped, { collection: 'sales', ids: ['9'], values: { place: 'Quito' } });
    const refused = await engine.update(scoped, { collection: 'sales', ids: ['2'], values: { place: 'x' } }).then(
      () => 'written',
      (error) => error.code,
    );
    const left = await askSql(
      home,
      `select place from ${server.dialect === 'mariadb' ? `\`${other}\`` : `"${other}"`}.orders where id in (2, 9) order by id`,
    );
    const gone = await engine.delete(scoped, { collection: 'sales', ids: ['9'] });
    expect([created.ids, changed.count, refused, left.map(({ place }) => place), gone.count]).toEqual([
      ['9'],
      1,
      'RECORD_NOT_FOUND',
      ['Oslo', 'Quito'],
      1,
    ]);
    expect(await engine.count(accessOf(), { collection: 'orders' })).toBe(1);
  });

  test('database errors name the fields', async () => {
    const problemOf = (values: object) =>
      engine.create(accessOf(), { collection: 'sales', records: [{ id: 8, place: 'Lima', ...values }] }).then(
        () => 'written',
        (error) => error.message,
      );
    expect([await problemOf({ place: 'Rome' }), await problemOf({ customer_id: 99 })]).toEqual([
      expect.stringMatching(/place/),
      expect.stringMatching(/customer_id/),
    ]);
    await expect(engine.delete(accessOf(), { collection: 'sales', ids: ['1'] })).rejects.toMatchObject({
      code: 'RECORD_IN_USE',
    });
  });

  test('filters and row scopes through to-many relations read the tables of their own schema', async () => {
    const idsOf = async (access: ReturnType<typeof accessOf>, collection: string, filter?: object) =>
      (
        await engine.list(access, { collection, fields: ['id'], ...(filter && { filter: filter as never }), limit: 9 })
      ).rows.flat();
    const lines = { field: `${other}.order_lines:line`, operator: 'Equal', value: 2 };
    const through = { field: `sales:${other}.order_lines:line`, operator: 'GreaterThan', value: 0 };
    const places = { field: 'sales:place', operator: 'StartsWith', value: 'O' };
    const scoped = accessOf({ scopes: { sales: lines as never } });
    expect([
      await idsOf(accessOf(), 'sales', lines),
      await idsOf(accessOf(), 'customers', through),
      await idsOf(accessOf(), 'customers', places),
      await idsOf(scoped, 'sales'),
      await engine.count(scoped, { collection: 'sales' }),
    ]).toEqual([[1], [1], [2], [1], 1]);
  });

  test('a view without a key is reported', () => {
    expect(observed.filter(({ type }) => type === 'source.keys')).toEqual([
      { type: 'source.keys', source: expect.stringContaining('://'), guessed: [], without: [`${other}.places`] },
    ]);
  });
});
