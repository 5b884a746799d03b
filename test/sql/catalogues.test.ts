// What is particular to one database's catalogue.
import { expect, onTestFinished, test } from 'vitest';
import type { Described, DescribedColumn, Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Operator } from '../../src/core/filter.ts';
import type { Observation } from '../../src/core/observe.ts';
import type { SqliteWish } from '../../src/core/sqlite.ts';
import { type Dialect, servers } from '../databases.ts';
import { readTables } from './collections.ts';
import { nastySchema, runSql, sqliteIsolates } from './schemas.ts';

interface Opened {
  readonly source: Source;
  readonly described: Described;
  readonly observed: readonly Observation[];
}

async function open(dialect: Dialect, statements: readonly string[], sqlite: SqliteWish = 'auto'): Promise<Opened> {
  const database = await servers.find((server) => server.dialect === dialect)!.create();
  await runSql(database, statements);
  const observed: Observation[] = [];
  const source = createSqlSource(database.url, { observe: (one) => observed.push(one), clock: systemClock, sqlite });
  onTestFinished(async () => {
    await source.close();
    await database.drop();
  });
  return { source, described: await source.describe(), observed };
}

const pick = (described: Described, what: (column: DescribedColumn) => unknown) =>
  Object.fromEntries(
    described.tables.map((table) => [
      table.name,
      Object.fromEntries(table.columns.map((column) => [column.name, what(column)])),
    ]),
  );
const has = (dialect: Dialect): boolean => servers.some((server) => server.dialect === dialect);

test('SQLite: keys that may be null, rowids, generated columns and collations are told apart', async () => {
  const { described } = await open('sqlite', [
    'create table rowid_key (id integer primary key, twice int generated always as (id * 2) virtual)',
    'create table text_key (id text primary key)',
    'create table clustered (a text, b text collate nocase, primary key (a, b)) without rowid',
    `create table defaults (id int not null default 1, /* a ' comment */ "from, to" text default 'x' COLLATE NOCASE, check (id > (0)))`,
  ]);
  const outline = pick(described, (column) =>
    [column.nullable && 'nullable', column.readOnly && 'read-only', column.hasDefault && 'default', column.collation]
      .filter(Boolean)
      .join(' '),
  );
  expect({ outline, keys: described.tables.map((table) => table.primaryKey) }).toEqual({
    outline: {
      clustered: { a: 'binary', b: 'insensitive' },
      defaults: { id: 'default binary', 'from, to': 'nullable default insensitive' },
      rowid_key: { id: 'default binary', twice: 'nullable read-only binary' },
      text_key: { id: 'nullable binary' },
    },
    keys: [['a', 'b'], [], ['id'], ['id']],
  });
});

test('SQLite: a view is asked for samples only when that is little work, so that no view holds up the start', async () => {
  const { described } = await open('sqlite', [
    'create table visits (id integer primary key, at datetime not null)',
    "insert into visits (at) values ('2026-01-02T03:04:05.000Z')",
    `create view endless as with recursive c(n) as (select 1 union all select n + 1 from c where n < 1e12)
      select max(n) as n from c`,
    'create view small as select count(*) as n from visits a, visits b',
    'create table many as with recursive c(n) as (select 1 union all select n + 1 from c where n < 150) select n from c',
    'create view large as select max(a.n) as n from many a, many b',
  ]);
  expect(pick(described, (column) => column.type)).toEqual({
    many: { n: 'Number' },
    visits: { id: 'Number', at: 'Date' },
    small: { n: 'Number' },
    large: { n: 'String' },
    endless: { n: 'String' },
  });
});

test('SQLite: virtual tables, broken views and foreign keys that lead nowhere are left out, with a reason', async () => {
  const { described } = await open('sqlite', [
    'create virtual table papers using fts5(title)',
    'create table gone (x integer)',
    'create view broken as select x from gone',
    'create view fine as select 1 as one',
    'create table child (x integer, foreign key (x) references nobody (id))',
    'drop table gone',
  ]);
  expect({ tables: described.tables.map(({ name }) => name), skipped: described.skipped }).toEqual({
    tables: ['child', 'fine'],
    skipped: [
      { table: 'broken', reason: expect.stringMatching(/^the view is broken/) },
      { table: 'papers', reason: 'virtual tables are not served' },
      { table: 'child', reason: 'the foreign key (x) is left out: its target nobody is not served' },
    ],
  });
});

test.each([
  ['ISO with Z', "'2024-01-01T00:00:00.000Z'", "'2024-01-02T00:00:00.000Z'"],
  ['SQLite text', "'2024-01-01 00:00:00'", "'2024-01-02 00:00:00'"],
  ['with microseconds where there are some', "'2024-01-01 00:00:00'", "'2024-01-02 00:00:00.000001'"],
  ['seconds', '1704067200', '1704153600'],
  ['milliseconds', '1704067200000', '1704153600000'],
  ['another zone', "'2024-01-01T02:00:00+02:00'", "'2024-01-01T23:30:00-00:30'"],
  ['mixed', "'2024-01-01 00:00'", '1704153600'],
])('SQLite: instants kept as %s are read, compared and sorted as instants', async (_, first, second) => {
  const { source, described } = await open('sqlite', [
    'create table events (id integer primary key, at datetime)',
    `insert into events (at) values (${second}), (${first}), (null)`,
  ]);
  const tables = readTables(source, described);
  const at = tables.path('events', 'at');
  const id = tables.path('events', 'id');
  const ids = async (is: 'Equal' | 'GreaterThan' | 'LessThanOrEqual', value: string) =>
    (
      await source.read(
        { table: 'events', columns: [id], joins: [], where: tables.test('events', 'at', is, value), order: [] },
        { timeoutMs: 5000 },
      )
    ).flat();
  const sorted = await source.read(
    { table: 'events', columns: [at], joins: [], where: { op: 'always' }, order: [{ path: at, ascending: true }] },
    { timeoutMs: 5000 },
  );
  expect({
    sorted: sorted.flat().map((value) => (value as string | null)?.slice(0, 23) ?? null),
    equal: await ids('Equal', '2024-01-01T00:00:00.000Z'),
    after: await ids('GreaterThan', '2024-01-01T00:00:00.001Z'),
    until: await ids('LessThanOrEqual', '2024-01-01T23:59:59.999Z'),
  }).toEqual({
    sorted: [null, '2024-01-01T00:00:00.000', '2024-01-02T00:00:00.000'],
    equal: [2],
    after: [1],
    until: [2],
  });
});

test.runIf(sqliteIsolates)('the WebAssembly SQLite driver gives the same description and rows', async () => {
  const statements = nastySchema('sqlite');
  const native = await open('sqlite', statements, 'native');
  const wasm = await open('sqlite', statements, 'wasm');
  const read = async ({ source, described }: Opened) => {
    const tables = readTables(source, described);
    const columns = described.tables
      .find(({ name }) => name === 'places')!
      .columns.map(({ name }) => tables.path('places', name));
    return source.read(
      {
        table: 'places',
        columns,
        joins: [],
        where: tables.test('places', 'name', 'IContains', 'o'),
        order: [{ path: columns[0]!, ascending: true }],
      },
      { timeoutMs: 5000 },
    );
  };
  expect({ described: wasm.described, rows: await read(wasm) }).toEqual({
    described: native.described,
    rows: await read(native),
  });
});

test.runIf(has('postgres'))(
  'PostgreSQL: partitions are one table, materialised views are views, other schemas are elsewhere',
  async () => {
    const { described } = await open('postgres', [
      'create schema other',
      'create table other.far (id integer primary key)',
      'create table logs (at date not null, far_id integer references other.far (id), primary key (at)) partition by range (at)',
      "create table logs_2024 partition of logs for values from ('2024-01-01') to ('2025-01-01')",
      'create materialized view totals as select count(*) as n from logs',
      'create table partly (a integer, b text)',
      'create unique index on partly (a) where b is null',
      'create unique index on partly (lower(b))',
      'create unique index on partly (b) include (a)',
    ]);
    expect(described).toMatchObject({
      tables: [
        { name: 'logs', kind: 'table', primaryKey: ['at'], foreignKeys: [] },
        { name: 'partly', uniqueKeys: [['b']] },
        { name: 'totals', kind: 'view' },
      ],
      skipped: [{ table: 'logs', reason: 'the foreign key (far_id) is left out: its target lies in the schema other' }],
    });
  },
);

test.runIf(has('postgres'))('PostgreSQL: arrays include all or none, null elements aside', async () => {
  const { source, described } = await open('postgres', [
    'create table posts (id integer primary key, tags text[], scores integer[])',
    `insert into posts values (1, array['a', 'b'], array[1]), (2, array['b', null], '{}'), (3, null, null), (4, '{}', array[2, 3])`,
  ]);
  const tables = readTables(source, described);
  const id = tables.path('posts', 'id');
  const ids = async (column: string, is: 'IncludesAll' | 'IncludesNone', value: unknown) =>
    (
      await source.read(
        {
          table: 'posts',
          columns: [id],
          joins: [],
          where: tables.test('posts', column, is, value),
          order: [{ path: id, ascending: true }],
        },
        { timeoutMs: 5000 },
      )
    ).flat();
  expect([
    await ids('tags', 'IncludesAll', ['a', 'b']),
    await ids('tags', 'IncludesAll', ['b']),
    await ids('tags', 'IncludesNone', ['a', 'x']),
    await ids('scores', 'IncludesAll', [2]),
    await ids('scores', 'IncludesNone', [1]),
  ]).toEqual([[1], [1, 2], [2, 4], [4], [2, 4]]);
});

test.runIf(has('mariadb'))(
  'MariaDB: a key over part of a column is no key, and collations are told apart',
  async () => {
    const { described } = await open('mariadb', [
      'create table parts (id int primary key, a varchar(50) not null, unique (a(10)), b varchar(20) collate utf8mb4_general_ci, unique (b))',
    ]);
    expect(
      described.tables.map(({ name, uniqueKeys, columns }) => [
        name,
        uniqueKeys,
        columns.map(({ collation }) => collation),
      ]),
    ).toEqual([['parts', [['b']], ['binary', 'insensitive', 'insensitive']]]);
  },
);

test.runIf(has('mariadb'))(
  'MariaDB: a text with characters that the column cannot hold is compared, not refused',
  async () => {
    const { source, described } = await open('mariadb', [
      'create table old (id int primary key, latin varchar(20) character set latin1, wide varchar(20) character set utf8mb3, exact varchar(20) character set latin1 collate latin1_bin)',
      "insert into old values (1, 'é', 'ж', 'é'), (2, '?', '?', 'É'), (3, null, null, null)",
    ]);
    const tables = readTables(source, described);
    const id = tables.path('old', 'id');
    const ids = async (column: string, is: Operator, value: unknown) =>
      (
        await source.read(
          {
            table: 'old',
            columns: [id],
            joins: [],
            where: tables.test('old', column, is, value),
            order: [{ path: id, ascending: true }],
          },
          { timeoutMs: 5000 },
        )
      ).flat();
    const asked = async (column: string, own: string) => [
      await ids(column, 'Equal', '😀'),
      await ids(column, 'NotEqual', '😀'),
      await ids(column, 'In', ['😀', own]),
      await ids(column, 'LessThan', '😀'),
      await ids(column, 'IContains', '😀'),
      await ids(column, 'Contains', own),
    ];
    expect([await asked('latin', 'é'), await asked('wide', 'ж'), await asked('exact', 'é')]).toEqual(
      Array(3).fill([[], [1, 2, 3], [1], [1, 2], [], [1]]),
    );
  },
);
