// Statements that run in the process, and statements that run in a child. Only a child emits an observation.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Filter } from '../../src/agent/plan/types.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import type { Select } from '../../src/agent/sources/statement.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { readTables, type Tables } from './collections.ts';
import { runSql, sqliteIsolates } from './schemas.ts';

const fill = (table: string, rows: number) =>
  `insert into ${table} with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rows}) select i, i % 7, 1 + (i - 1) / 10, i, 'row ' || i from n`;

async function isolated(make: (t: Tables) => Partial<Select> & { readonly where: Filter }): Promise<number> {
  const database = await servers[0]!.create();
  const columns =
    '(id integer primary key, kind integer, parent integer references small (id), code integer unique, name text)';
  await runSql(database, [
    `create table small ${columns}`,
    `create table large ${columns}`,
    'create index large_parent on large (parent)',
    'create index large_kind on large (kind)',
    fill('small', 3000),
    fill('large', 30_000),
    `update large set name = '${'x'.repeat(200_000)}' where id = 1`,
  ]);
  let children = 0;
  const source = createSqlSource(database.url, {
    observe: ({ type }) => {
      if (type === 'source.isolated') children++;
    },
    clock: systemClock,
  });
  onTestFinished(async () => {
    await source.close();
    await database.drop();
  });
  const tables = readTables(source, await source.describe());
  const given = make(tables);
  const table = given.table ?? 'large';
  const id = tables.path(table, 'id');
  await source.read(
    { table, columns: [id], joins: [], order: [{ path: id, ascending: true }], limit: 15, ...given },
    { timeoutMs: 10_000 },
  );
  return children;
}

const always: Filter = { op: 'always' };

describe.runIf(sqliteIsolates)('with the native driver', () => {
  test.each<[string, number, (t: Tables) => Partial<Select> & { readonly where: Filter }]>([
    ['a page by key', 1, () => ({ where: always })],
    ['a page by key of a small table', 1, () => ({ table: 'small', where: always })],
    ['one row by key', 0, (t) => ({ where: t.test('large', 'id', 'Equal', 5) })],
    ['a few rows by key', 0, (t) => ({ where: t.test('large', 'id', 'In', [1, 2, 3]) })],
    ['one row by a unique column', 0, (t) => ({ where: t.test('large', 'code', 'Equal', 5) })],
    [
      'one row by key with rows joined by key',
      0,
      (t) => ({ joins: [t.join('large', '>parent')], where: t.test('large', 'id', 'Equal', 5) }),
    ],
    [
      'one row by key under a scope',
      0,
      (t) => ({ where: { op: 'and', of: [t.test('large', 'id', 'Equal', 5), t.test('large', 'kind', 'Equal', 5)] } }),
    ],
    [
      'a pattern in one row by key',
      1,
      (t) => ({
        where: { op: 'and', of: [t.test('large', 'id', 'Equal', 5), t.test('large', 'name', 'Contains', 'x')] },
      }),
    ],
    ['rows by a part of an index', 1, (t) => ({ where: t.test('large', 'parent', 'Equal', 5) })],
    ['rows of a range of keys', 1, (t) => ({ where: t.test('large', 'id', 'LessThan', 5) })],
    [
      'one row by key whose text is large',
      1,
      (t) => ({ columns: [t.path('large', 'name')], where: t.test('large', 'id', 'Equal', 1) }),
    ],
    [
      'many rows by key',
      1,
      (t) => ({
        where: t.test(
          'large',
          'id',
          'In',
          Array.from({ length: 200 }, (_, at) => at + 1),
        ),
      }),
    ],
    ['a search through all of it', 1, (t) => ({ where: t.test('large', 'name', 'Contains', 'x') })],
    ['all of it sorted', 1, (t) => ({ where: always, order: [{ path: t.path('large', 'name'), ascending: true }] })],
    ['a search through a small table', 1, (t) => ({ table: 'small', where: t.test('small', 'name', 'Contains', 'x') })],
    [
      'a search through a small table with rows joined by key',
      1,
      (t) => ({
        table: 'small',
        joins: [t.join('small', '>parent')],
        where: t.test('small', '>parent:name', 'Contains', 'x'),
      }),
    ],
  ])('%s runs in a child %i times', async (_, children, make) => {
    expect(await isolated(make)).toBe(children);
  });

  test('a child gives the values that the process would: large integers, bytes, NULLs', async () => {
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
