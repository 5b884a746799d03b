// The exact SQL. It never contains values, and names are always quoted.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Filter } from '../../src/agent/plan/types.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import type { Select } from '../../src/agent/sources/statement.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { readTables, type Tables } from './collections.ts';
import { nastySchema, quotedColumn, runSql, spaceTable } from './schemas.ts';

const place =
  (where: (t: Tables) => Filter) =>
  (t: Tables): Select => ({
    table: 'places',
    columns: [t.path('places', 'id')],
    joins: [],
    where: where(t),
    order: [],
  });

const statements: Record<string, (t: Tables) => Select> = {
  page: (t) => ({
    table: 'places',
    columns: [t.path('places', 'name'), t.path('places', '>parent_id:name')],
    joins: [t.join('places', '>parent_id', t.test('places', 'is_open', 'Equal', true))],
    where: { op: 'not', of: t.test('places', '>parent_id:name', 'Contains', 'x') },
    order: [
      { path: t.path('places', '>parent_id:name'), ascending: false },
      { path: t.path('places', 'id'), ascending: true },
    ],
    limit: 15,
    skip: 30,
  }),
  names: (t) => ({
    table: spaceTable,
    columns: [t.path(spaceTable, quotedColumn)],
    joins: [t.join(spaceTable, '>visit_place')],
    where: { op: 'always' },
    order: [],
  }),
  branches: place((t) => ({
    op: 'or',
    of: [
      t.test('places', 'name', 'In', ['a', 'b', 'c']),
      { op: 'and', of: [t.test('places', 'id', 'GreaterThan', 3), t.test('places', 'rating', 'NotEqual', 1.5)] },
      { op: 'not', of: t.test('places', 'code', 'Missing') },
    ],
  })),
  ilike: place((t) => t.test('places', 'name', 'ILike', 'a%')),
  longer: place((t) => t.test('places', 'name', 'LongerThan', 3)),
  instant: place((t) => t.test('places', 'opened_at', 'LessThan', '2024-01-01T00:00:00.000Z')),
};

const expected: Record<Dialect, Record<keyof typeof statements, string>> = {
  sqlite: {
    page: 'with `portico page 0` as (select `t0`.`name` as c0, `t1`.`name` as c1, 0 as part, `t1`.`name` as o0, `t0`.`id` as o1 from `places` as `t0` left join `places` as `t1` on `t1`.`id` = `t0`.`parent_id` and `t1`.`is_open` = ? where ((not (instr(`t1`.`name`, ?) > 0) or `t1`.`name` is null) and `t1`.`name` is not null) order by `t1`.`name` desc, `t0`.`id` asc limit 47), `portico page 1` as (select `t2`.`name` as c0, `t3`.`name` as c1, 1 as part, `t3`.`name` as o0, `t2`.`id` as o1 from `places` as `t2` left join `places` as `t3` on `t3`.`id` = `t2`.`parent_id` and `t3`.`is_open` = ? where ((not (instr(`t3`.`name`, ?) > 0) or `t3`.`name` is null) and `t3`.`name` is null) order by `t2`.`id` asc limit max(0, 47 - (select count(*) from `portico page 0`))) select c0, c1 from (select * from `portico page 0` union all select * from `portico page 1`) as p order by part, o0 desc, o1 asc limit 15 offset ?',
    names:
      'select `t0`.`the "name" of ``it``` from `order lines` as `t0` left join `visits` as `t1` on `t1`.`place_id` = `t0`.`visit_place` and `t1`.`day` = `t0`.`visit_day`',
    branches:
      'select `t0`.`id` from `places` as `t0` where (`t0`.`name` in (?, ?, ?, ?) or (`t0`.`id` > ? and (`t0`.`rating` <> ? or `t0`.`rating` is null)) or `t0`.`code` is not null)',
    ilike: 'select `t0`.`id` from `places` as `t0` where `t0`.`name` glob ?',
    longer: 'select `t0`.`id` from `places` as `t0` where length(`t0`.`name`) > ?',
    instant:
      "select `t0`.`id` from `places` as `t0` where case typeof(`t0`.`opened_at`) when 'text' then strftime('%Y-%m-%dT%H:%M:%fZ', `t0`.`opened_at`) when 'null' then null else strftime('%Y-%m-%dT%H:%M:%fZ', case when abs(`t0`.`opened_at`) >= 100000000000 then `t0`.`opened_at` / 1000.0 else `t0`.`opened_at` end, 'unixepoch') end < ?",
  },
  mariadb: {
    page: "select `t0`.`name`, `t1`.`name` from `places` as `t0` left join `places` as `t1` on `t1`.`id` = `t0`.`parent_id` and `t1`.`is_open` = ? where (not (`t1`.`name` collate utf8mb4_bin like ? escape '|') or `t1`.`name` is null) order by `t1`.`name` desc, `t0`.`id` asc limit 15 offset 30",
    names:
      'select `t0`.`the "name" of ``it``` from `order lines` as `t0` left join `visits` as `t1` on `t1`.`place_id` = `t0`.`visit_place` and `t1`.`day` = `t0`.`visit_day`',
    branches:
      'select `t0`.`id` from `places` as `t0` where (`t0`.`name` in (?, ?, ?, ?) or (`t0`.`id` > ? and (`t0`.`rating` <> cast(? as decimal(65, 30)) or `t0`.`rating` is null)) or `t0`.`code` is not null)',
    ilike:
      "select `t0`.`id` from `places` as `t0` where lower(`t0`.`name`) collate utf8mb4_bin like lower(?) escape '|'",
    longer: 'select `t0`.`id` from `places` as `t0` where char_length(`t0`.`name`) > ?',
    instant: 'select `t0`.`id` from `places` as `t0` where `t0`.`opened_at` < ?',
  },
  postgres: {
    page: 'with "portico page 0" as (select "t0"."name" as c0, "t1"."name" as c1, 0 as part, "t1"."name" as o0, "t0"."id" as o1 from "places" as "t0" left join "places" as "t1" on "t1"."id" = "t0"."parent_id" and "t1"."is_open" = $1 where ((not ("t1"."name" like $2) or "t1"."name" is null) and "t1"."name" is not null) order by "t1"."name" desc, "t0"."id" asc limit 47), "portico page 1" as (select "t2"."name" as c0, "t3"."name" as c1, 1 as part, "t3"."name" as o0, "t2"."id" as o1 from "places" as "t2" left join "places" as "t3" on "t3"."id" = "t2"."parent_id" and "t3"."is_open" = $3 where ((not ("t3"."name" like $4) or "t3"."name" is null) and "t3"."name" is null) and (select count(*) from "portico page 0") < 47 order by "t2"."id" asc limit 47) select c0, c1 from (select * from "portico page 0" union all select * from "portico page 1") as p order by part, o0 desc, o1 asc limit 15 offset $5',
    names:
      'select "t0"."the ""name"" of `it`" from "order lines" as "t0" left join "visits" as "t1" on "t1"."place_id" = "t0"."visit_place" and "t1"."day" = "t0"."visit_day"',
    branches:
      'select "t0"."id" from "places" as "t0" where ("t0"."name" = any($1::text[]) or ("t0"."id" > $2::bigint and ("t0"."rating" <> $3::numeric or "t0"."rating" is null)) or "t0"."code" is not null)',
    ilike: 'select "t0"."id" from "places" as "t0" where "t0"."name" collate "default" ilike $1',
    longer: 'select "t0"."id" from "places" as "t0" where char_length("t0"."name") > $1::numeric',
    instant: 'select "t0"."id" from "places" as "t0" where "t0"."opened_at" < $1::timestamptz',
  },
};

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

  test('statements have the expected text, and the database accepts them', async () => {
    const written: Record<string, string> = {};
    for (const [name, make] of Object.entries(statements)) {
      written[name] = source.explain(make(tables));
      await source.read(make(tables), { timeoutMs: 5000 });
    }
    expect(written).toEqual(expected[server.dialect]);
  });

  test('equality with null and with a value are different shapes', async () => {
    const ids = async (value: unknown) =>
      (await source.read(place((t) => t.test('places', 'code', 'Equal', value))(tables), { timeoutMs: 5000 })).flat();
    expect([await ids('p'), await ids(null), await ids('p'), await ids(null)]).toEqual([[2], [3], [2], [3]]);
  });
});
