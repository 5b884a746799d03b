// Statements that run in the process, and statements that run in a child. Only a child emits an observation.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import type { CountSelect, Exists, Filter, Order, Select } from '../../src/agent/sources/statement.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { readTables, type Tables } from './collections.ts';
import { runSql, sqliteIsolates } from './schemas.ts';

const fill = (table: string, rows: number) =>
  `insert into ${table} with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rows}) select i, i % 7, 1 + (i - 1) / 10, i, 'row ' || i, null from n`;

const columns =
  '(id integer primary key, kind integer, parent integer references small (id), code integer unique, name text, note text)';
const schema = [
  `create table small ${columns}`,
  `create table large ${columns}`,
  'create index small_parent on small (parent)',
  'create index large_parent on large (parent)',
  'create index large_kind on large (kind, code)',
  'create index large_all on large (kind, parent, code, name)',
  "create view seen as select t0.id from large as t0 where t0.note = 'none'",
  'create view product as select a.id, a.kind from small a cross join small b cross join small c where a.id + b.id * c.id = -1',
  fill('small', 3000),
  fill('large', 30_000),
  `update large set name = '${'x'.repeat(200_000)}' where id = 1`,
  `update large set name = '${'y'.repeat(10_000)}' where id between 101 and 200`,
  "update large set note = 'first' where id <= 28",
  "update large set note = 'last' where id > 29000",
];

interface Opened {
  readonly source: Source;
  readonly tables: Tables;
  readonly database: TestDatabase;
  /** The number of statements that ran in a child. */
  readonly children: () => number;
}

/** Time stands still for the limits of the process. On a busy machine a statement may take longer than they allow. */
const still: Clock = { ...systemClock, monotonic: () => 0 };

async function open(statements: readonly string[], clock: Clock = still): Promise<Opened> {
  const database = await servers[0]!.create();
  await runSql(database, statements);
  let children = 0;
  const source = createSqlSource(database.url, {
    observe: ({ type }) => {
      if (type === 'source.isolated') children++;
    },
    clock,
  });
  onTestFinished(async () => {
    await source.close();
    await database.drop();
  });
  const tables = readTables(source, await source.describe());
  return { source, tables, database, children: () => children };
}

type Given = Partial<Select> & { readonly where: Filter };
const limits = { timeoutMs: 20_000 };

function read({ source, tables }: Opened, given: Given) {
  const table = given.table ?? 'large';
  const id = tables.path(table, 'id');
  const order = [{ path: id, ascending: true }];
  return source.read({ table, columns: [id], joins: [], order, limit: 15, ...given }, limits);
}

async function isolated(make: (t: Tables) => Given): Promise<number> {
  const opened = await open(schema);
  await read(opened, make(opened.tables));
  return opened.children();
}

const always: Filter = { op: 'always' };
const and = (...of: Filter[]): Filter => ({ op: 'and', of });
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

/** Newest first, with the key as the last field of the sort. */
const newest = (t: Tables, keyAscending: boolean): Order[] => [
  { path: t.path('large', 'code'), ascending: false },
  { path: t.path('large', 'id'), ascending: keyAscending },
];

/** Records whose `own` is the `keys` of a record of `table`. */
const referring = (t: Tables, own: string, table: string, keys: string, where: Filter): Exists => ({
  op: 'some',
  own: [t.path('large', own)],
  other: { collection: { name: table, table }, keys: [t.path(table, keys)], joins: [], where },
});

describe.runIf(sqliteIsolates)('with child processes', () => {
  test.each<[string, (t: Tables) => Given]>([
    ['a page by key', () => ({ where: always })],
    ['one row by key', (t) => ({ where: t.test('large', 'id', 'Equal', 5) })],
    ['a few rows by key', (t) => ({ where: t.test('large', 'id', 'In', [1, 2, 3]) })],
    ['one row by a unique column', (t) => ({ where: t.test('large', 'code', 'Equal', 5) })],
    [
      'one row by key with rows joined by key',
      (t) => ({ joins: [t.join('large', '>parent')], where: t.test('large', 'id', 'Equal', 5) }),
    ],
    [
      'one row by key under a scope',
      (t) => ({ where: and(t.test('large', 'id', 'Equal', 5), t.test('large', 'kind', 'Equal', 5)) }),
    ],
    ['rows by a part of an index', (t) => ({ where: t.test('large', 'parent', 'Equal', 5) })],
    ['rows of a range of keys', (t) => ({ where: t.test('large', 'id', 'LessThan', 5) })],
    [
      'the newest rows of an index, with the key in the same direction',
      (t) => ({ where: t.test('large', 'kind', 'Equal', 5), order: newest(t, false) }),
    ],
    [
      'the newest rows of an index, with the key in the other direction',
      (t) => ({ where: t.test('large', 'kind', 'Equal', 5), order: newest(t, true) }),
    ],
    [
      'the newest rows of an index, with rows joined by key',
      (t) => ({
        columns: [t.path('large', 'id'), t.path('large', '>parent:name')],
        joins: [t.join('large', '>parent', t.test('small', 'kind', 'NotEqual', 3))],
        where: t.test('large', 'kind', 'Equal', 5),
        order: newest(t, false),
      }),
    ],
    [
      'the newest rows of an index under a scope that most of them satisfy',
      (t) => ({
        where: and(t.test('large', 'kind', 'Equal', 5), t.test('large', 'name', 'NotEqual', 'none')),
        order: newest(t, false),
      }),
    ],
    [
      'the rows of a few records found by an index',
      (t) => ({ where: referring(t, 'parent', 'small', 'id', t.test('small', 'parent', 'Equal', 5)) }),
    ],
    [
      'ten rows, sorted without an index',
      (t) => ({
        where: t.test('large', 'parent', 'Equal', 50),
        order: [{ path: t.path('large', 'name'), ascending: true }],
      }),
    ],
    [
      'a page of texts of 90 KB together',
      (t) => ({ columns: [t.path('large', 'name')], where: t.test('large', 'id', 'GreaterThan', 100), limit: 9 }),
    ],
  ])('%s: in the process', async (_, make) => {
    expect(await isolated(make)).toBe(0);
  });

  test.each<[string, (t: Tables) => Given]>([
    [
      'a pattern in one row by key',
      (t) => ({ where: and(t.test('large', 'id', 'Equal', 5), t.test('large', 'name', 'Contains', 'x')) }),
    ],
    [
      'a length in one row by key',
      (t) => ({ where: and(t.test('large', 'id', 'Equal', 5), t.test('large', 'name', 'LongerThan', 3)) }),
    ],
    [
      'one row by key with a large text',
      (t) => ({ columns: [t.path('large', 'name')], where: t.test('large', 'id', 'Equal', 1) }),
    ],
    [
      'a page of texts of 110 KB together',
      (t) => ({ columns: [t.path('large', 'name')], where: t.test('large', 'id', 'GreaterThan', 100), limit: 11 }),
    ],
    [
      'rows by key, the last with a large text',
      (t) => ({
        columns: [t.path('large', 'id'), t.path('large', 'name')],
        where: t.test('large', 'id', 'LessThan', 3),
        order: [{ path: t.path('large', 'id'), ascending: false }],
      }),
    ],
    ['many rows by key', (t) => ({ where: t.test('large', 'id', 'In', numbers(1, 200)) })],
    [
      'lists with many combinations',
      (t) => ({
        columns: [t.path('large', 'kind')],
        where: and(
          t.test('large', 'kind', 'In', numbers(0, 30)),
          t.test('large', 'parent', 'In', numbers(0, 30)),
          t.test('large', 'code', 'In', numbers(100_000, 30)),
        ),
      }),
    ],
    ['a search through the whole table', (t) => ({ where: t.test('large', 'name', 'Contains', 'x') })],
    ['the whole table sorted', (t) => ({ where: always, order: [{ path: t.path('large', 'name'), ascending: true }] })],
    ['a search through a small table', (t) => ({ table: 'small', where: t.test('small', 'name', 'Contains', 'x') })],
    [
      'a search through a small table with rows joined by key',
      (t) => ({
        table: 'small',
        joins: [t.join('small', '>parent')],
        where: t.test('small', '>parent:name', 'Contains', 'x'),
      }),
    ],
    [
      'rows of an index that the rest of the condition rejects',
      (t) => ({
        where: and(t.test('large', 'kind', 'Equal', 5), t.test('large', 'note', 'Equal', 'none')),
        order: newest(t, false),
      }),
    ],
    [
      'rows of an index that a joined row rejects',
      (t) => ({
        joins: [t.join('large', '>parent')],
        where: and(t.test('large', 'kind', 'Equal', 5), t.test('large', '>parent:note', 'Equal', 'none')),
        order: newest(t, false),
      }),
    ],
    [
      'a page far from the start',
      (t) => ({ where: t.test('large', 'kind', 'Equal', 5), order: newest(t, false), skip: 4000 }),
    ],
    [
      'the rows of records found by a scan',
      (t) => ({ where: referring(t, 'parent', 'small', 'id', t.test('small', 'note', 'Equal', 'none')) }),
    ],
    [
      'rows for which an index finds many that do not match',
      (t) => ({
        where: { op: 'not', of: referring(t, 'kind', 'large', 'kind', t.test('large', 'note', 'Equal', 'none')) },
      }),
    ],
    [
      'one row for which an index finds many that do not match',
      (t) => ({
        where: and(t.test('large', 'id', 'Equal', 29_999), {
          ...referring(t, 'kind', 'large', 'kind', t.test('large', 'note', 'Equal', 'none')),
          after: [t.path('large', 'id')],
        }),
      }),
    ],
    [
      'the rows of one joined row',
      (t) => ({ joins: [t.join('large', '>parent')], where: t.test('large', '>parent:code', 'Equal', 5) }),
    ],
    ['a page of a view with no match in many rows', () => ({ table: 'seen', where: always })],
  ])('%s: in a child', async (_, make) => {
    expect(await isolated(make)).toBe(1);
  });

  test('a count and a group run in a child process', async () => {
    const opened = await open(schema);
    const { source, tables, children } = opened;
    const one: CountSelect = { table: 'large', joins: [], where: tables.test('large', 'id', 'Equal', 5) };
    expect(await source.count(one, limits)).toBe(1);
    const group = { path: tables.path('large', 'kind') };
    const order = [
      { by: 'measure', index: 0, ascending: true },
      { by: 'group', index: 0, ascending: true },
    ] as const;
    await source.aggregate!({ ...one, measures: [{ operation: 'Count' }], groups: [group], order }, limits);
    expect(children()).toBe(2);
  });

  test('a view over a cross join does not run in the process, although few of its rows are visited', async () => {
    const { source, tables, children } = await open(schema);
    const id = tables.path('product', 'id');
    const where = tables.test('product', 'kind', 'Equal', 5);
    const call = source.read(
      { table: 'product', columns: [id], joins: [], where, order: [{ path: id, ascending: true }], limit: 1 },
      { timeoutMs: 500 },
    );
    await expect(call).rejects.toMatchObject({ code: 'TIMED_OUT' });
    expect(children()).toBe(1);
  });

  test('a statement that exceeds a limit runs in a child process, and later in the process again', async () => {
    const opened = await open(schema);
    const of = (note: string): Given => ({
      where: and(opened.tables.test('large', 'kind', 'Equal', 5), opened.tables.test('large', 'note', 'Equal', note)),
      order: newest(opened.tables, false),
      limit: 4,
    });
    expect([await read(opened, of('first')), opened.children()]).toEqual([[[26], [19], [12], [5]], 1]);
    const last = [[30_000], [29_993], [29_986], [29_979]];
    for (let n = 0; n < 22; n++) expect(await read(opened, of('last'))).toEqual(last);
    expect(opened.children()).toBe(21);
  });

  test.each<[string, number, (reading: number) => number]>([
    ['slow rows end the statement in the process', 1, (reading) => 21 * reading],
    ['a suspended process continues', 0, (reading) => (reading > 2 ? 1000 : 0)],
  ])('%s', async (_, expected, timeAt) => {
    let readings = 0;
    const opened = await open(schema, { ...systemClock, monotonic: () => timeAt(++readings) });
    const where = opened.tables.test('large', 'kind', 'Equal', 5);
    // The introspection reads the time too.
    readings = 0;
    const rows = await read(opened, { where, order: newest(opened.tables, false), limit: 3 });
    expect([rows, opened.children()]).toEqual([[[30_000], [29_993], [29_986]], expected]);
  });

  test('a table and columns with awkward names', async () => {
    const opened = await open([
      'create table "a ``b? where or (" (id integer primary key, "select like ?" text, "x)" integer)',
      `insert into "a \`\`b? where or (" values (1, 'one', 5), (2, 'two', 5)`,
      'create index "y(?) ANY(" on "a ``b? where or (" ("x)")',
    ]);
    const table = 'a ``b? where or (';
    const columns = ['id', 'select like ?', 'x)'].map((name) => opened.tables.path(table, name));
    const where = opened.tables.test(table, 'select like ?', 'Equal', 'two');
    expect([await read(opened, { table, columns, where }), opened.children()]).toEqual([[[2, 'two', 5]], 0]);
  });

  test('while another process locks the file, a read waits in a child process', async () => {
    const opened = await open([...schema.slice(0, 1), fill('small', 10)]);
    const where = opened.tables.test('small', 'id', 'Equal', 5);
    const { driver: Database } = loadSqliteDriver();
    const other = new Database(opened.database.url.slice('sqlite:'.length));
    other.exec('begin exclusive');
    // The timer fires only if the read does not block the process.
    setTimeout(() => other.exec('commit'), 200);
    expect([await read(opened, { table: 'small', where }), opened.children()]).toEqual([[[5]], 1]);
    other.close();
  });

  test('a child process returns the same values: large integers, bytes, NULLs', async () => {
    const database = await servers[0]!.create();
    await runSql(database, [
      'create table things (id integer primary key, big bigint, bytes blob, label text)',
      `insert into things with recursive n (i) as (select 1 union all select i + 1 from n where i < 25000) select i, case i when 24000 then 9007199254740993 else i end, case i % 2 when 0 then x'00ff' end, 'thing ' || i from n`,
    ]);
    const children: string[] = [];
    const source = createSqlSource(database.url, {
      observe: (one) => {
        if (one.type === 'source.isolated') children.push(one.outcome);
      },
      clock: systemClock,
    });
    onTestFinished(async () => {
      await source.close();
      await database.drop();
    });
    const tables = readTables(source, await source.describe());
    const rows = await source.read(
      {
        table: 'things',
        columns: ['id', 'big', 'bytes', 'label'].map((name) => tables.path('things', name)),
        joins: [],
        where: {
          op: 'and',
          of: [
            tables.test('things', 'label', 'IContains', 'THING 24'),
            {
              op: 'or',
              of: [
                tables.test('things', 'bytes', 'Equal', Buffer.from([0, 255])),
                tables.test('things', 'bytes', 'Missing'),
              ],
            },
          ],
        },
        order: [{ path: tables.path('things', 'label'), ascending: false }],
        skip: 1107,
      },
      { timeoutMs: 10_000 },
    );
    expect({ rows, children }).toEqual({
      rows: [
        [24000, '9007199254740993', Buffer.from([0, 255]), 'thing 24000'],
        [2400, 2400, Buffer.from([0, 255]), 'thing 2400'],
        [240, 240, Buffer.from([0, 255]), 'thing 240'],
        [24, 24, Buffer.from([0, 255]), 'thing 24'],
      ],
      children: ['completed', 'completed'],
    });
  });
});
