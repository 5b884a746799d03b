// The settings of a server, a database or a user change what SQL means. Portico's connections have their own, so the
// answers are those of the interpreter, whatever the operator has set.

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { judgeAggregates } from '../agent/oracle/aggregates.ts';
import { judge, type OpenSource, seedFrom } from '../agent/oracle/judge.ts';
import { judgeLinks } from '../agent/oracle/judge-links.ts';
import { judgeWrites } from '../agent/oracle/judge-writes.ts';
import { accessOf } from '../agent/shop.ts';
import { servers, type TestServer } from '../databases.ts';
import { hasMariadbServer, type MariadbServer, startMariadb } from './mariadb-server.ts';

const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed with other settings ${seed} (ORACLE_SEED=${seed} asks the same again)`);

async function judgeAll(some: readonly TestServer[], open: OpenSource): Promise<void> {
  await judge(seed, 60, some, open);
  await judgeAggregates(seed, 20, some, open);
  await judgeWrites(seed, 40, some, open);
  await judgeLinks(seed, 20, some, open);
}

/** Settings that an operator may have. Nine of them changed answers or failed calls before connections had their own. */
const mariadbSettings = [
  "sql_mode = 'ORACLE,EMPTY_STRING_IS_NULL,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,TIME_ROUND_FRACTIONAL'",
  ...['autocommit = 0', 'sql_auto_is_null = 1', 'sql_select_limit = 3', 'sql_safe_updates = 1'],
  ...['foreign_key_checks = 0', 'unique_checks = 0', 'check_constraint_checks = 0', 'completion_type = 2'],
  ...['sql_big_selects = 0', 'max_join_size = 2', 'max_sort_length = 8', "time_zone = '+05:30'"],
  ...['character_set_results = latin1', 'div_precision_increment = 0', "tx_isolation = 'READ-UNCOMMITTED'"],
].join(', ');

describe.runIf(hasMariadbServer && servers.some(({ dialect }) => dialect === 'mariadb'))('mariadb', () => {
  let server: MariadbServer;
  let count = 0;
  const create: TestServer['create'] = async () => {
    const name = `portico_${++count}`;
    await server.run(`create database ${name} character set utf8mb4`);
    return {
      dialect: 'mariadb',
      url: server.url(name),
      drop: async () => void (await server.run(`drop database ${name}`)),
    };
  };
  /** The server runs `init_connect` for users without administrative rights. */
  const open = (url: string, clock: Clock) =>
    createSqlSource(url.replace('root@', 'app@'), { clock, observe: () => {} });

  beforeAll(async () => {
    server = await startMariadb();
    await server.run('create user app@localhost');
    await server.run(
      'grant select, insert, update, delete, create, drop, references, index, alter on *.* to app@localhost',
    );
    await server.run(`set global init_connect = "set ${mariadbSettings}"`);
  }, 60_000);
  afterAll(() => server?.stop());

  test('random calls have the same answers', () => judgeAll([{ dialect: 'mariadb', create }], open), 240_000);

  test('constraints hold, and no read leaves a transaction open', async () => {
    const { url, drop } = await create();
    const database = new URL(url).pathname.slice(1);
    const tables = [
      'create table parents (id int primary key)',
      `create table children (id int primary key, name varchar(5) not null, size int check (size > 0),
        parent_id int references parents (id))`,
      "insert into children values (1, 'one', 1, null)",
    ];
    for (const sql of tables) await server.run(sql, database);
    const engine = await createHeadlessAgent()
      .addDataSource(() => open(url, systemClock))
      .createEngine({ observe: () => {}, clock: systemClock, limits: { pageSizeLimit: 100, queryTimeoutMs: 20_000 } });
    try {
      const create = (values: Record<string, unknown>) =>
        engine.create(accessOf(), { collection: 'children', records: [{ id: 2, ...values }] });
      await expect(create({ name: 'longer than five' })).rejects.toThrow(/^Nothing was written to 'children'/);
      await expect(create({ name: 'two', size: -1 })).rejects.toThrow(/^Nothing was written to 'children'/);
      await expect(create({ name: 'two', parent_id: 7 })).rejects.toThrow(/^Nothing was written to 'children'/);
      const names = async () =>
        (await engine.list(accessOf(), { collection: 'children', fields: ['name'], limit: 10 })).rows.flat();
      expect(await names()).toEqual(['one']);
      await server.run("update children set name = 'uno'", database);
      expect(await names()).toEqual(['uno']);
      // A transaction that is still open would hold the table.
      await server.run('set statement lock_wait_timeout = 5 for alter table children add note int', database);
    } finally {
      await engine.close();
      await drop();
    }
  });
});

const postgresSettings = [
  ...['standard_conforming_strings = off', 'backslash_quote = on', 'array_nulls = off', 'transform_null_equals = on'],
  ...["datestyle = 'SQL, DMY'", 'intervalstyle = iso_8601', 'extra_float_digits = -15', 'bytea_output = escape'],
  ...["timezone = 'Asia/Kolkata'", 'client_encoding = LATIN1', 'quote_all_identifiers = on', 'xmloption = document'],
  ...['default_transaction_isolation = serializable', 'plan_cache_mode = force_generic_plan', 'row_security = off'],
  ...['gin_fuzzy_search_limit = 1', 'enable_indexscan = off', 'enable_nestloop = off'],
];

describe.runIf(servers.some(({ dialect }) => dialect === 'postgres'))('postgres', () => {
  const role = `portico_settings_${process.pid}`;
  const some = servers.filter(({ dialect }) => dialect === 'postgres');
  const open = (address: string, clock: Clock) => {
    const url = new URL(address);
    url.username = role;
    url.password = 'secret';
    return createSqlSource(url.href, { clock, observe: () => {} });
  };
  async function run(...statements: readonly string[]): Promise<void> {
    const database = await some[0]!.create();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const sql of statements) await client.query(sql);
    await client.end();
    await database.drop();
  }

  beforeAll(() =>
    run(
      `create role ${role} superuser login password 'secret'`,
      ...postgresSettings.map((setting) => `alter role ${role} set ${setting}`),
    ),
  );
  afterAll(() => run(`drop role ${role}`));

  test('random calls have the same answers', () => judgeAll(some, open), 240_000);
});
