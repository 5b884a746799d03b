// Irregular values as databases hold them, grouped and aggregated over real SQL.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine, type Engine } from '../../src/agent/engine.ts';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { accessOf } from '../agent/shop.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql } from './schemas.ts';

const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };

async function open(database: TestDatabase): Promise<Engine> {
  const source = createSqlSource(database.url, { observe: () => undefined, clock: systemClock });
  return createEngine({ sources: [source], observe: () => undefined, clock: systemClock, limits });
}

const types: Record<
  Dialect,
  { readonly label: string; readonly flag: string; readonly instant: string; readonly double: string }
> = {
  sqlite: { label: 'text collate nocase', flag: 'boolean', instant: 'datetime', double: 'double' },
  mariadb: {
    label: 'varchar(20) character set utf8mb4 collate utf8mb4_general_ci',
    flag: 'tinyint(1)',
    instant: 'datetime(6)',
    double: 'double',
  },
  postgres: { label: 'text', flag: 'boolean', instant: 'timestamp', double: 'double precision' },
};

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    const { label, flag, instant, double } = types[server.dialect];
    const rows = [
      `(1, 9223372036854775807, 0.1, 0.1, 'red', ${server.dialect === 'postgres' ? 'true' : '1'}, '2024-03-30 23:59:59.999999')`,
      `(2, 9223372036854775807, 0.2, 0.2, 'Red', ${server.dialect === 'postgres' ? 'true' : '2'}, '2024-03-31 00:00:00.000000')`,
      `(3, 9007199254740993, 1234567890.12, 0.3, 'RED', ${server.dialect === 'postgres' ? 'false' : '0'}, '1969-12-31 23:59:59.999999')`,
      "(4, -1, null, null, 'blue', null, '9999-12-31 23:30:00.000000')",
    ];
    await runSql(database, [
      `create table amounts (id int primary key, big bigint, price decimal(12, 2), rough ${double}, label ${label}, flag ${flag}, at ${instant})`,
      `insert into amounts values ${rows.join(', ')}`,
    ]);
    engine = await open(database);
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  const rows = async (request: Partial<AggregateRequest>) =>
    (await engine.aggregate(accessOf(), { collection: 'amounts', operation: 'Count', limit: 50, ...request })).rows;
  const first = { field: 'id', operator: 'LessThan', value: 3 } as const;

  test('sums and averages of large integers are exact beyond 64 bits', async () => {
    expect([
      await rows({ operation: 'Sum', field: 'big' }),
      await rows({ operation: 'Avg', field: 'big' }),
      await rows({ operation: 'Max', field: 'big' }),
      await rows({ operation: 'Min', field: 'big' }),
    ]).toEqual([[['18455751272964292606']], [['4613937818241073151.5']], [['9223372036854775807']], [[-1]]]);
  });

  test('sums of decimals are exact, and sums of doubles have no artefact digits', async () => {
    expect([
      await rows({ operation: 'Sum', field: 'price' }),
      await rows({ operation: 'Sum', field: 'price', filter: first }),
      await rows({ operation: 'Avg', field: 'price' }),
      await rows({ operation: 'Sum', field: 'rough', filter: first }),
      await rows({ operation: 'Avg', field: 'rough' }),
    ]).toEqual([[[1234567890.42]], [[0.3]], [[411522630.14]], [[0.3]], [[0.2]]]);
  });

  test('strings that differ only in ignored case are one group, shown as the first in byte order', async () => {
    const expected =
      server.dialect === 'postgres'
        ? [
            ['RED', 1],
            ['Red', 1],
            ['blue', 1],
            ['red', 1],
          ]
        : [
            ['RED', 3],
            ['blue', 1],
          ];
    const answer = await rows({ groups: [{ field: 'label' }] });
    expect(server.dialect === 'postgres' ? [...answer].sort() : answer).toEqual(expected);
  });

  test('every true is one group, whichever number stores it', async () => {
    expect(await rows({ groups: [{ field: 'flag' }] })).toEqual([
      [true, 2],
      [null, 1],
      [false, 1],
    ]);
  });

  test('an instant just before midnight is in the day before, to the microsecond; a day after 9999 is null', async () => {
    const groups = [{ field: 'at', bucket: 'Day' }] as const;
    expect([
      await rows({ groups, order: 'groups', timezone: 'UTC' }),
      await rows({ groups, order: 'groups', timezone: 'Asia/Kolkata' }),
    ]).toEqual([
      [
        ['1969-12-31', 1],
        ['2024-03-30', 1],
        ['2024-03-31', 1],
        ['9999-12-31', 1],
      ],
      [
        [null, 1],
        ['1970-01-01', 1],
        ['2024-03-31', 2],
      ],
    ]);
  });
});

describe('sqlite', () => {
  test.each([
    ['text with a space', "'1969-12-31 22:59:59'", "'2024-03-30 23:30:00'"],
    ['text in ISO form', "'1969-12-31T22:59:59.999Z'", "'2024-03-30T23:30:00.000Z'"],
    ['seconds', '-3601', '1711841400'],
    // Milliseconds near 1970 look like seconds.
    ['milliseconds', '-126234000001', '1711841400000', '1965-12-31'],
    ['several formats together', "'1969-12-31T23:59:59+01:00'", '1711841400'],
  ])('dates stored as %s are grouped by their days', async (_, before, after, day = '1969-12-31') => {
    const database = await servers[0]!.create();
    await runSql(database, [
      'create table events (id integer primary key, at datetime)',
      `insert into events values (1, ${before}), (2, ${after}), (3, null)`,
    ]);
    const engine = await open(database);
    const { rows } = await engine.aggregate(accessOf({ timezone: 'Europe/Paris' }), {
      collection: 'events',
      operation: 'Count',
      groups: [{ field: 'at', bucket: 'Day' }],
      limit: 10,
    });
    await engine.close();
    await database.drop();
    expect(rows).toEqual([
      [null, 1],
      [day, 1],
      ['2024-03-31', 1],
    ]);
  });

  test('too many groups to sort in memory are refused, unless they are in the order of the groups', async () => {
    const database = await servers[0]!.create();
    await runSql(database, [
      'create table many (id integer primary key, n integer)',
      'with recursive i(id) as (select 1 union all select id + 1 from i where id < 100001) insert into many select id, id from i',
    ]);
    const engine = await open(database);
    const sum = (order: 'value' | 'groups') =>
      engine.aggregate(accessOf(), {
        collection: 'many',
        operation: 'Sum',
        field: 'n',
        groups: [{ field: 'id' }],
        order,
        limit: 2,
      });
    const refused = await sum('value').catch((error: { message: string }) => error.message);
    const answered = await sum('groups');
    await engine.close();
    await database.drop();
    expect([refused, answered.rows, answered.hasMore]).toEqual([
      "groups: more than 100000 groups, too many to order by this value. Narrow the filters, group by fewer fields, or order by 'groups'.",
      [
        [1, 1],
        [2, 2],
      ],
      true,
    ]);
  });

  test('values that do not match the type of their column are summed as they are', async () => {
    const database = await servers[0]!.create();
    await runSql(database, [
      'create table loose (id integer primary key, n integer, d decimal(10, 2), plain numeric)',
      "insert into loose values (1, 1.5, 0.125, 0.1), (2, 2, 0.1, 0.2), (3, '7', 9007199254740993, 9007199254740993)",
    ]);
    const engine = await open(database);
    const sum = async (field: string) =>
      (await engine.aggregate(accessOf(), { collection: 'loose', operation: 'Sum', field, limit: 1 })).rows[0]?.[0];
    const sums = [await sum('n'), await sum('d'), await sum('plain')];
    await engine.close();
    await database.drop();
    expect(sums).toEqual([10.5, '9007199254740993.225', '9007199254740993.3']);
  });
});

const [mariadb] = servers.filter((server) => server.dialect === 'mariadb');
test.skipIf(!mariadb)('mariadb: a zero date is in no period', async () => {
  const database = await mariadb!.create();
  await runSql(database, [
    "set sql_mode = ''",
    'create table old (id int primary key, d date, t datetime)',
    "insert into old values (1, '0000-00-00', '0000-00-00 00:00:00'), (2, '2024-02-29', '2024-02-29 12:00:00')",
  ]);
  const engine = await open(database);
  const of = async (field: string) =>
    (
      await engine.aggregate(accessOf(), {
        collection: 'old',
        operation: 'Count',
        groups: [{ field, bucket: 'Quarter' }],
        limit: 9,
      })
    ).rows;
  const answers = [await of('d'), await of('t')];
  await engine.close();
  await database.drop();
  expect(answers).toEqual([
    [
      [null, 1],
      ['2024-01-01', 1],
    ],
    [
      [null, 1],
      ['2024-01-01', 1],
    ],
  ]);
});

const [postgres] = servers.filter((server) => server.dialect === 'postgres');
test.skipIf(!postgres)('postgres: infinity is its own period, and years before Christ are in no period', async () => {
  const database = await postgres!.create();
  await runSql(database, [
    'create table old (id int primary key, d date, t timestamptz, f real)',
    "insert into old values (1, 'infinity', '-infinity', 0.1), (2, '0044-03-15 BC', '0044-03-15 BC', 0.2), (3, '2024-02-29', '2024-02-29', 0.3)",
  ]);
  const engine = await open(database);
  const of = async (field: string) =>
    (
      await engine.aggregate(accessOf({ timezone: 'America/New_York' }), {
        collection: 'old',
        operation: 'Count',
        groups: [{ field, bucket: 'Week' }],
        limit: 9,
      })
    ).rows;
  const sum = await engine.aggregate(accessOf(), { collection: 'old', operation: 'Sum', field: 'f', limit: 1 });
  const answers = [await of('d'), await of('t'), sum.rows];
  await engine.close();
  await database.drop();
  expect(answers).toEqual([
    [
      [null, 1],
      ['2024-02-26', 1],
      ['infinity', 1],
    ],
    [
      [null, 1],
      ['-infinity', 1],
      ['2024-02-26', 1],
    ],
    [[0.6]],
  ]);
});
