// What each operator means, on rows with NULLs, wildcards, capitals and non-ASCII letters; then the exact SQL.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Filter } from '../../src/agent/plan/types.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Operator } from '../../src/core/filter.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { readTables, type Tables } from './collections.ts';
import { nastySchema, runSql } from './schemas.ts';

type Case = readonly [field: string, is: Operator, value: unknown, ids: readonly number[]];

const all = [1, 2, 3, 4, 5];
/** Each condition is also negated, which must return the other rows: conditions are never unknown. */
const cases: readonly Case[] = [
  ['name', 'Missing', null, [5]],
  ['name', 'Equal', null, [5]],
  ['name', 'NotEqual', null, [1, 2, 3, 4]],
  ['name', 'Equal', 'Root', [1]],
  ['name', 'Equal', 'root', []],
  ['name', 'NotEqual', 'Root', [2, 3, 4, 5]],
  ['name', 'In', ['Root', 'ÄRGER Über', null], [1, 4]],
  ['name', 'In', [], []],
  ['name', 'NotIn', [], all],
  ['name', 'NotIn', ['Root', 'Root', 'x'], [2, 3, 4, 5]],
  ['name', 'GreaterThan', 'Root', [3, 4]],
  ['name', 'LessThanOrEqual', 'Root', [1, 2]],
  ['name', 'Contains', '_', [2]],
  ['name', 'Contains', '%', [2]],
  ['name', 'Contains', '\\', [3]],
  ['name', 'Contains', '|', [3]],
  ['name', 'Contains', '*?[x]', [3]],
  ['name', 'Contains', 'oo', [1]],
  ['name', 'Contains', 'OO', []],
  ['name', 'Contains', '', [1, 2, 3, 4]],
  ['name', 'NotContains', 'oo', [2, 3, 4, 5]],
  ['name', 'IContains', 'OO', [1]],
  ['name', 'IContains', 'ärger ü', [4]],
  ['name', 'IContains', '*?[X]', [3]],
  ['name', 'IContains', '0% _PURE', [2]],
  ['name', 'IContains', 'arger', []],
  ['name', 'NotIContains', 'OO', [2, 3, 4, 5]],
  ['name', 'StartsWith', 'Ro', [1]],
  ['name', 'StartsWith', 'ro', []],
  ['name', 'StartsWith', '1_0', []],
  ['name', 'EndsWith', 'ot', [1]],
  ['name', 'EndsWith', '_', [2]],
  ['name', 'EndsWith', 'T', []],
  ['name', 'IStartsWith', 'äR', [4]],
  ['name', 'IEndsWith', 'OT', [1]],
  ['name', 'Like', 'R%', [1]],
  ['name', 'Like', 'r%', []],
  ['name', 'Like', '_oot', [1]],
  ['name', 'Like', '%\\_pure\\_', [2]],
  ['name', 'Like', '%*?[x]', [3]],
  ['name', 'Like', '%k\\\\s%', [3]],
  ['name', 'ILike', 'r_OT', [1]],
  ['name', 'ILike', 'ä%ü___', [4]],
  ['name', 'LongerThan', 10, [2, 3]],
  ['name', 'ShorterThan', 10, [1]],
  ['rating', 'Equal', 12345678.25, [2]],
  ['rating', 'Equal', '12345678.25', [2]],
  ['rating', 'NotEqual', 0, [1, 2, 3, 4]],
  ['rating', 'LessThan', 0, [4]],
  ['rating', 'LessThanOrEqual', 4.5, [1, 4, 5]],
  ['rating', 'GreaterThan', -0.1, [1, 2, 5]],
  ['rating', 'In', [4.5, -0.1, 7], [1, 4]],
  ['id', 'Equal', 2, [2]],
  ['id', 'Equal', 2.5, []],
  ['id', 'GreaterThan', 2.5, [3, 4, 5]],
  ['id', 'LessThan', '99999999999999999999', all],
  ['id', 'Equal', '99999999999999999999', []],
  ['id', 'In', [1, 3000000000, '9007199254740993'], [1]],
  ['id', 'In', [1, 2.5], [1]],
  ['id', 'NotIn', [1, 2, 3], [4, 5]],
  ['id', 'In', Array.from({ length: 3000 }, (_, index) => index + 3), [3, 4, 5]],
  ['code', 'In', Array.from({ length: 3000 }, (_, index) => (index ? `no ${index}` : 'p')), [2]],
  ['code', 'NotIn', ['p', 'r'], [3, 4, 5]],
  ['is_open', 'Equal', true, [1, 4]],
  ['is_open', 'NotEqual', true, [2, 3, 5]],
  ['is_open', 'In', [false], [2, 5]],
  ['opened_at', 'Equal', '2024-03-31T01:30:00.123Z', [2]],
  ['opened_at', 'GreaterThanOrEqual', '2024-03-31T01:30:00.123Z', [2, 5]],
  ['opened_at', 'LessThan', '2024-03-31T01:30:00.123Z', [1, 4]],
  ['opened_at', 'LessThan', '1970-01-01T00:00:00.000Z', [4]],
  ['opened_at', 'Missing', null, [3]],
];

describe.each([...servers])('$dialect', (server) => {
  let database: TestDatabase;
  let source: Source;
  let tables: Tables;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, nastySchema(server.dialect));
    source = createSqlSource(database.url, { observe: () => undefined, clock: systemClock });
    tables = readTables(source, await source.describe());
  });
  afterAll(async () => {
    await source.close();
    await database.drop();
  });

  const ids = async (where: Filter): Promise<unknown[]> => {
    const id = tables.path('places', 'id');
    const rows = await source.read(
      { table: 'places', columns: [id], joins: [], where, order: [{ path: id, ascending: true }] },
      { timeoutMs: 5000 },
    );
    return rows.map(([value]) => value);
  };

  test.each(
    cases.map(([field, is, value, found]) => [field, is, JSON.stringify(value)?.slice(0, 40), value, found] as const),
  )('%s %s %s matches the right rows, and its negation all others', async (field, is, _, value, found) => {
    const where = tables.test('places', field, is, value);
    expect([await ids(where), await ids({ op: 'not', of: where })]).toEqual([
      found,
      all.filter((id) => !found.includes(id)),
    ]);
  });

  test('And, Or, empty branches and their negations follow De Morgan', async () => {
    const low = tables.test('places', 'rating', 'LessThan', 1);
    const open = tables.test('places', 'is_open', 'Equal', true);
    const both: Filter = { op: 'and', of: [low, open] };
    expect({
      both: await ids(both),
      notBoth: await ids({ op: 'not', of: both }),
      either: await ids({ op: 'or', of: [low, open] }),
      neither: await ids({ op: 'not', of: { op: 'or', of: [low, open] } }),
      nothing: await ids({ op: 'or', of: [] }),
      everything: await ids({ op: 'and', of: [] }),
      notNever: await ids({ op: 'not', of: { op: 'never' } }),
    }).toEqual({
      both: [4],
      notBoth: [1, 2, 3, 5],
      either: [1, 4, 5],
      neither: [2, 3],
      nothing: [],
      everything: all,
      notNever: all,
    });
  });

  test('nulls are first in ascending order and last in descending', async () => {
    const id = tables.path('places', 'id');
    const name = tables.path('places', 'rating');
    const read = async (ascending: boolean) =>
      (
        await source.read(
          {
            table: 'places',
            columns: [id],
            joins: [],
            where: { op: 'always' },
            order: [
              { path: name, ascending },
              { path: id, ascending: true },
            ],
          },
          { timeoutMs: 5000 },
        )
      ).map(([value]) => value);
    expect([await read(true), await read(false)]).toEqual([
      [3, 4, 5, 1, 2],
      [2, 1, 5, 4, 3],
    ]);
  });

  test('limit and skip cut a page, also without the other', async () => {
    const id = tables.path('places', 'id');
    const page = async (cut: { limit?: number; skip?: number }) =>
      (
        await source.read(
          {
            table: 'places',
            columns: [id],
            joins: [],
            where: { op: 'always' },
            order: [{ path: id, ascending: false }],
            ...cut,
          },
          { timeoutMs: 5000 },
        )
      ).map(([value]) => value);
    expect([
      await page({ limit: 2 }),
      await page({ limit: 2, skip: 1 }),
      await page({ skip: 3 }),
      await page({ limit: 0 }),
    ]).toEqual([[5, 4], [4, 3], [2, 1], []]);
  });

  test('a row excluded by its join is missing, also if the condition uses further relations', async () => {
    const t = 'places';
    const parent = '>parent_id';
    const columns = [tables.path(t, 'id'), tables.path(t, `${parent}:name`), tables.path(t, `${parent}:${parent}:id`)];
    const order = [{ path: columns[0]!, ascending: true }];
    const grand: Filter = { op: 'not', of: tables.test(t, `${parent}:name`, 'StartsWith', 'Ro') };
    const looking = (where: Filter) => ({ ...tables.join(t, parent, where), joins: [tables.join(t, parent)] });
    const read = (where: Filter, filter: Filter = { op: 'always' }) =>
      source.read(
        {
          table: t,
          columns,
          joins: [looking(where), tables.join(t, `${parent}:${parent}`)],
          where: filter,
          order,
        },
        { timeoutMs: 5000 },
      );
    expect({
      free: await read({ op: 'always' }),
      own: await read(tables.test(t, 'is_open', 'Equal', true)),
      further: await read(grand),
      filtered: await read(grand, tables.test(t, `${parent}:name`, 'NotEqual', 'Root')),
      count: await source.count(
        {
          table: t,
          joins: [looking(grand)],
          where: tables.test(t, `${parent}:id`, 'Missing'),
        },
        { timeoutMs: 5000 },
      ),
    }).toEqual({
      free: [
        [1, null, null],
        [2, 'Root', null],
        [3, 'Root', null],
        [4, '100% _pure_', 1],
        [5, 'ÄRGER Über', 2],
      ],
      own: [
        [1, null, null],
        [2, 'Root', null],
        [3, 'Root', null],
        [4, null, null],
        [5, 'ÄRGER Über', 2],
      ],
      further: [
        [1, null, null],
        [2, 'Root', null],
        [3, 'Root', null],
        [4, null, null],
        [5, 'ÄRGER Über', 2],
      ],
      filtered: [
        [1, null, null],
        [4, null, null],
        [5, 'ÄRGER Über', 2],
      ],
      count: 2,
    });
  });

  test('composite foreign keys join on all their columns', async () => {
    const t = 'order lines';
    const columns = [
      tables.path(t, 'line'),
      tables.path(t, '>visit_place:guests'),
      tables.path(t, '>visit_place:>place_id:name'),
    ];
    const rows = await source.read(
      {
        table: t,
        columns,
        joins: [tables.join(t, '>visit_place'), tables.join(t, '>visit_place:>place_id')],
        where: { op: 'always' },
        order: [{ path: columns[0]!, ascending: true }],
      },
      { timeoutMs: 5000 },
    );
    expect(rows).toEqual([
      [1, 0, 'Root'],
      [2, 7, '100% _pure_'],
      [3, null, null],
    ]);
  });

  test('a statement shape is built once: other values give the same text', () => {
    const select = (value: unknown) => ({
      table: 'places',
      columns: [tables.path('places', 'id')],
      joins: [],
      where: tables.test('places', 'name', 'In', value),
      order: [],
      limit: 3,
    });
    expect(source.explain(select(['a', 'b', 'c']))).toBe(source.explain(select(['x', 'y', 'z', 'w'])));
  });

  test('user text is never part of the SQL', async () => {
    const evil = `'; drop table places; -- \\' " \` ? $1 :x ??`;
    expect(
      await ids({
        op: 'or',
        of: (['Equal', 'Contains', 'IContains', 'Like', 'ILike', 'GreaterThan'] as const).map((is) =>
          tables.test('places', 'code', is, evil),
        ),
      }),
    ).toEqual([1, 2, 4, 5]);
    expect(await ids({ op: 'always' })).toEqual(all);
  });
});
