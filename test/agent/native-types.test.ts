// Columns with values that do not compare as text. Expected results come from the database itself, in plain SQL: the
// rows that an operator finds, their order, and the first and the last value.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlDataSource } from '../../src/agent/data-sources.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const access = accessOf();
const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };

interface Native {
  readonly type: string;
  /** SQL literals of the rows. */
  readonly values: readonly string[];
  /** Values as callers send them, with the same values in SQL. */
  readonly asked?: Readonly<Record<string, string>>;
  /** Ordering operators and sorts are refused, since no order is certainly right. */
  readonly unordered?: true;
  /** Without max and min. */
  readonly extremes?: false;
  /** The SQL expression to order by, if it is not the column. */
  readonly by?: string;
}

const same = (...values: string[]) => Object.fromEntries(values.map((value) => [value, `'${value}'`]));

const postgres: readonly Native[] = [
  {
    type: 'interval',
    values: [
      "'02:00:00'",
      "'10 days'",
      "'9 days'",
      "'1 month'",
      "'29 days'",
      "'30 days'",
      "'-1 day'",
      "'1 day'",
      "'24:00:00'",
      "'1 year 2 mons'",
      "'00:00:00.5'",
    ],
    asked: {
      ...same('9 days', '1 day', '02:00:00', '-1 day', '1 month', '1 year 2 mons 3 days 04:05:06.7'),
      P1M: "'P1M'",
      PT2H: "'2 hours'",
      P9D: "'9 days'",
    },
  },
  {
    type: 'money',
    values: ["'9'", "'10'", "'100'", "'-5.25'", "'9.99'", "'1234567.89'", "'90071992547409.93'"],
    asked: {
      '9.5': '9.5::money',
      '10': '10::money',
      '90071992547409.93': "'90071992547409.93'::money",
      '-5.25': '(-5.25)::money',
    },
  },
  {
    type: 'inet',
    values: [
      "'10.0.0.9'",
      "'10.0.0.10'",
      "'10.0.0.0/8'",
      "'10.0.0.9/8'",
      "'::1'",
      "'fe80::1/64'",
      "'192.168.1.1'",
      "'9.9.9.9'",
    ],
    asked: same('10.0.0.9', '10.0.0.10', '10.0.0.0/8', '::1', '9.255.0.0'),
  },
  {
    type: 'cidr',
    values: ["'10.0.0.0/8'", "'9.0.0.0/8'", "'10.0.0.0/16'", "'192.168.1.0/24'", "'::/0'"],
    asked: same('10.0.0.0/8', '9.0.0.0/8', '::/0'),
  },
  {
    type: 'macaddr',
    values: ["'08:00:2b:01:02:03'", "'08:00:2b:01:02:10'", "'fe:00:00:00:00:00'"],
    asked: { ...same('08:00:2b:01:02:03', 'f0:00:00:00:00:00'), '08-00-2B-01-02-10': "'08:00:2b:01:02:10'" },
    extremes: false,
  },
  {
    type: 'varbit(20)',
    values: ["B'1'", "B'10'", "B'01'", "B'101'", "B'11'", "B'00000000001'"],
    asked: { '1': "B'1'", '101': "B'101'", '0': "B'0'" },
    extremes: false,
  },
  {
    type: 'bit(4)',
    values: ["B'1000'", "B'0111'", "B'1111'"],
    asked: { '1000': "B'1000'", '0111': "B'0111'" },
    extremes: false,
  },
  { type: 'timetz', values: ["'10:00+02'", "'09:00+00'", "'10:00+00'"], unordered: true },
  { type: 'int4range', values: ["'[10,20)'", "'[9,20)'", "'empty'", "'[100,)'"], unordered: true },
  { type: 'tsvector', values: ["'a b'", "'zz'", "'b:1'"], unordered: true },
  { type: 'pg_lsn', values: ["'0/10'", "'0/9'", "'1/0'"], unordered: true },
  { type: 'pair', values: ["row(10, 'a')", "row(9, 'b')"], unordered: true },
  { type: 'citext', values: ["'b'", "'A'", "'a'", "'B'", "'c'"], asked: same('a', 'B', 'C') },
  { type: 'mood', values: ["'sad'", "'ok'", "'happy'"], asked: same('sad', 'ok', 'happy') },
  { type: 'positive', values: ['10', '9', '100'], asked: { '9': '9', '10': '10' } },
  {
    type: 'numeric',
    values: ["'NaN'", '10', '9', "'Infinity'", "'-Infinity'", '-1'],
    asked: { NaN: "'NaN'", Infinity: "'Infinity'", '-Infinity': "'-Infinity'", '9': '9' },
  },
  {
    type: 'double precision',
    values: ["'NaN'", '10.5', '9', "'Infinity'", "'-Infinity'"],
    asked: { NaN: "'NaN'", Infinity: "'Infinity'", '-Infinity': "'-Infinity'", '9': '9' },
  },
  {
    type: 'real',
    values: ["'NaN'", '10.5', '9.1', "'Infinity'"],
    asked: { NaN: "'NaN'", Infinity: "'Infinity'", '9.1': '9.1::real' },
  },
  {
    type: 'date',
    values: ["'infinity'", "'-infinity'", "'2024-01-01'", "'0044-03-15 BC'", "'10000-01-01'"],
    asked: { infinity: "'infinity'", '-infinity': "'-infinity'", '2024-01-01': "'2024-01-01'" },
  },
  {
    type: 'timestamptz',
    values: ["'infinity'", "'-infinity'", "'2024-01-01 00:00:00+00'", "'0044-03-15 00:00:00+00 BC'"],
    asked: { infinity: "'infinity'", '-infinity': "'-infinity'", '2024-01-01T00:00:00Z': "'2024-01-01 00:00:00+00'" },
  },
  {
    type: 'timestamp',
    values: ["'infinity'", "'-infinity'", "'2024-01-01 00:00:00'"],
    asked: { infinity: "'infinity'", '-infinity': "'-infinity'" },
  },
  { type: 'time', values: ["'24:00:00'", "'09:00:00'", "'10:00:00.5'"], asked: same('09:00:00', '10:00:00') },
  { type: 'char(5)', values: ["'b'", "'a  '", "'ab'"], asked: same('a', 'ab') },
];

const mariadb: readonly Native[] = [
  {
    type: "enum('sad', 'ok', 'happy')",
    values: ["'sad'", "'ok'", "'happy'"],
    asked: { sad: '1', ok: '2', happy: '3' },
    by: 'v + 0',
  },
  { type: "set('b', 'a', 'c')", values: ["'b'", "'a'", "'b,a'", "'c'", "''"], unordered: true },
  { type: 'year', values: ['1999', '2024', '1901'], asked: { '1999': '1999', '2000': '2000' } },
  {
    type: 'time',
    values: ["'838:59:59'", "'100:00:00'", "'20:00:00'", "'-10:00:00'", "'09:00:00'"],
    asked: { ...same('20:00:00', '100:00:00', '-10:00:00', '838:59:59') },
  },
  { type: 'bit(8)', values: ["b'1'", "b'10'", "b'11111111'"], asked: { '1': '1', '2': '2', '200': '200' } },
  { type: 'char(5)', values: ["'b'", "'a'", "'ab'"], asked: same('a', 'ab') },
  {
    type: 'inet6',
    values: ["'::1'", "'fe80::1'", "'10.0.0.9'", "'10.0.0.10'"].slice(0, 2),
    asked: same('::1', 'fe80::'),
  },
  { type: 'inet4', values: ["'10.0.0.9'", "'10.0.0.10'", "'9.9.9.9'"], asked: same('10.0.0.9', '10.0.0.10') },
  { type: 'decimal(10,2)', values: ['9', '10', '100', '-1.5'], asked: { '9': '9', '9.5': '9.5' } },
  {
    type: 'bigint unsigned',
    values: ['18446744073709551615', '9', '10'],
    asked: { '18446744073709551615': '18446744073709551615', '9': '9' },
  },
];

const sqlite: readonly Native[] = [
  {
    type: 'real',
    values: ['9e999', '-9e999', '10', '9'],
    asked: { Infinity: '9e999', '-Infinity': '-9e999', '9': '9' },
  },
  { type: 'numeric', values: ['9', '10', '100'], asked: { '9': '9', '9.5': '9.5' } },
  { type: 'money', values: ['9', '10', '100'], asked: { '9': '9', '9.5': '9.5' } },
  { type: 'text collate nocase', values: ["'b'", "'A'", "'c'"], asked: same('a', 'B') },
];

const all: Record<Dialect, readonly Native[]> = { postgres, mariadb, sqlite };
const prepare: Record<Dialect, readonly string[]> = {
  postgres: [
    'create extension if not exists citext',
    "create type mood as enum ('sad', 'ok', 'happy')",
    'create type pair as (a int, b text)',
    'create domain positive as int check (value > 0)',
  ],
  mariadb: [],
  sqlite: [],
};
const signs = {
  Equal: '=',
  NotEqual: '<>',
  LessThan: '<',
  LessThanOrEqual: '<=',
  GreaterThan: '>',
  GreaterThanOrEqual: '>=',
} as const;
const orders = ['LessThan', 'LessThanOrEqual', 'GreaterThan', 'GreaterThanOrEqual'];

for (const server of servers)
  describe(server.dialect, () => {
    const { dialect } = server;
    let database: TestDatabase;
    let engine: Engine;

    beforeAll(async () => {
      database = await server.create();
      await runSql(database, [
        ...prepare[dialect],
        ...all[dialect].flatMap(({ type, values }, at) => [
          `create table t${at} (id int primary key, v ${type} null)`,
          ...[...values, 'null'].map((value, id) => `insert into t${at} values (${id + 1}, ${value})`),
        ]),
      ]);
      engine = await createHeadlessAgent()
        .addDataSource(createSqlDataSource(database.url))
        .createEngine({ observe: () => {}, clock: systemClock, limits });
    });
    afterAll(async () => {
      await engine?.close();
      await database?.drop();
    });

    const truth = async (sql: string) => (await askSql(database, sql)).map(({ id }) => Number(id));

    for (const [at, native] of all[dialect].entries()) {
      const { type, values, asked = {}, unordered, extremes = true, by = 'v' } = native;
      const table = `t${at}`;
      const list = async (more: object) =>
        (await engine.list(access, { collection: table, fields: ['id'], limit: 100, ...more })).rows.flat();

      test(`${type}: no value is returned as null, and each value finds its row in a filter`, async () => {
        const { rows } = await engine.list(access, {
          collection: table,
          fields: ['id', 'v'],
          sort: [{ field: 'id' }],
          limit: 100,
        });
        expect(rows.filter(([, value]) => value === null).map(([id]) => id)).toEqual([values.length + 1]);
        for (const [id, value] of rows.slice(0, -1)) {
          if (typeof value === 'string' && / BC|^1\d{4}-/.test(value)) continue;
          const found = await list({ filter: { field: 'v', operator: 'Equal', value } });
          expect([value, found.includes(id)]).toEqual([value, true]);
        }
      });

      if (unordered)
        test(`${type}: order operators, sorts, Max and Min are refused`, async () => {
          const { fields } = engine.describe(access, table);
          const field = fields.find(({ name }) => name === 'v')!;
          expect([field.sortable, field.operators.filter((operator) => orders.includes(operator))]).toEqual([
            false,
            [],
          ]);
          await expect(list({ sort: [{ field: 'v' }] })).rejects.toThrow();
          for (const operation of ['Max', 'Min'] as const)
            await expect(
              engine.aggregate(access, { collection: table, operation, field: 'v', limit: 5 }),
            ).rejects.toThrow();
        });
      else {
        const offered = () => engine.describe(access, table).fields.find(({ name }) => name === 'v')!.operators;
        test(`${type}: every operator finds the rows that SQL finds`, async () => {
          for (const [value, sql] of Object.entries(asked))
            for (const [operator, sign] of Object.entries(signs)) {
              if (!offered().includes(operator)) continue;
              const left = /^\d+$/.test(sql) ? by : 'v';
              const none = operator === 'NotEqual' ? ' or v is null' : '';
              const wanted = await truth(`select id from ${table} where ${left} ${sign} ${sql}${none} order by id`);
              const got = await list({ filter: { field: 'v', operator, value }, sort: [{ field: 'id' }] });
              expect([operator, value, got]).toEqual([operator, value, wanted]);
            }
        });

        test(`${type}: pages are in the order of SQL`, async () => {
          const nulls = dialect === 'postgres' ? ' nulls first' : '';
          const wanted = await truth(`select id from ${table} order by ${by}${nulls}, id`);
          const seen: unknown[] = [];
          for (let cursor: string | undefined, page = 0; page < 40; page++) {
            const answer = await engine.list(access, {
              collection: table,
              fields: ['id'],
              sort: [{ field: 'v' }],
              limit: 2,
              ...(cursor && { cursor }),
            });
            seen.push(...answer.rows.flat());
            if (!answer.hasMore) break;
            cursor = answer.cursorAfter(answer.rows.length - 1)!;
          }
          expect(seen).toEqual(wanted);
        });

        test(`${type}: groups, Min and Max are those of SQL`, async () => {
          const [row] = await askSql(
            database,
            `select count(*) as n from (select 1 as one from ${table} group by v) g`,
          );
          const groups = await engine.aggregate(access, {
            collection: table,
            operation: 'Count',
            groups: [{ field: 'v' }],
            limit: 100,
          });
          expect(groups.rows.length).toBe(Number(row!.n));
          const [first, last] = await Promise.all(
            ['', ' desc'].map(
              async (direction) =>
                (await truth(`select id from ${table} where v is not null order by ${by}${direction}, id limit 1`))[0],
            ),
          );
          const cell = async (id: unknown) =>
            (await list({ fields: ['v'], filter: { field: 'id', operator: 'Equal', value: id } }))[0];
          for (const [operation, id] of [
            ['Min', first],
            ['Max', last],
          ] as const) {
            const asking = engine.aggregate(access, { collection: table, operation, field: 'v', limit: 5 });
            if (extremes) {
              const [[value]] = (await asking).rows as [[unknown]];
              const equal = await list({ filter: { field: 'v', operator: 'Equal', value }, sort: [{ field: 'id' }] });
              expect([operation, value, equal.includes(id)]).toEqual([
                operation,
                await cell(id).then((one) => (equal.includes(id) ? value : one)),
                true,
              ]);
            } else await asking.catch(() => undefined);
          }
        });
      }
    }
  });
