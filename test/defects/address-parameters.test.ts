// Database URLs copied from other tools: known parameters are used, and a warning names unknown ones.
import { describe, expect, onTestFinished, test } from 'vitest';
import { readAddress } from '../../src/agent/sources/sql/connection/address.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { remoteServers } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';

const read = (url: string) => {
  const { pool, connectionTimeoutMs, sslMode, schemas, isPooled, warnings, url: left } = readAddress(url);
  return { most: pool.max, ms: connectionTimeoutMs, tls: sslMode, schemas, isPooled, warnings, left };
};
const nothing = { most: 10, ms: 10_000, tls: undefined, schemas: [], isPooled: false, warnings: [] };

test.each<[name: string, query: string, means: Partial<ReturnType<typeof read>>]>([
  ['Prisma', '?schema=public&connection_limit=3&connect_timeout=30', { schemas: ['public'], most: 3, ms: 30_000 }],
  ['Prisma with PgBouncer', '?pgbouncer=true&connection_limit=1', { isPooled: true, most: 1 }],
  ['Prisma, no limits', '?connect_timeout=0', {}],
  ['Prisma, TLS', '?sslmode=require&sslaccept=strict', { tls: 'verify' }],
  ['Prisma, any certificate', '?sslaccept=accept_invalid_certs', { tls: 'required' }],
  ['libpq', '?sslmode=prefer', { tls: 'preferred' }],
  ['libpq, no TLS', '?sslmode=disable', { tls: 'disabled' }],
  ['libpq, verified certificate', '?sslmode=verify-full', { tls: 'verify' }],
  ['native to the driver', '?sslmode=no-verify', { tls: 'required' }],
  ['JDBC', '?currentSchema=sales,public', { schemas: ['sales', 'public'] }],
  ['Heroku and others', '?ssl=true', { tls: 'verify' }],
  ['passed to the driver', '?application_name=x', { left: 'postgres://u:secret@h/x?application_name=x' }],
  [
    'files',
    '?sslmode=verify-full&sslrootcert=/ca',
    { left: 'postgres://u:secret@h/x?sslmode=verify-full&sslrootcert=/ca' },
  ],
])('PostgreSQL, %s: %s', (_, query, means) => {
  expect(read(`postgres://u:secret@h/x${query}`)).toEqual({ ...nothing, left: 'postgres://u:secret@h/x', ...means });
});

test.each<[name: string, query: string, means: Partial<ReturnType<typeof read>>]>([
  ['Prisma', '?connection_limit=3&connect_timeout=5', { most: 3, ms: 5000 }],
  ['the driver', '?connectionLimit=4&connectTimeout=2500&charset=utf8mb4', { most: 4, ms: 2500 }],
  ['DigitalOcean', '?ssl-mode=REQUIRED', { tls: 'required' }],
  ['the mysql command', '?ssl-mode=VERIFY_IDENTITY', { tls: 'verify' }],
  ['PlanetScale', '?sslaccept=strict', { tls: 'verify' }],
  ['ssl', '?ssl=true', { tls: 'verify' }],
  ['no ssl', '?ssl=false', { tls: 'disabled' }],
  [
    'native to the driver',
    '?ssl={"rejectUnauthorized":false}',
    { left: 'mysql://u:secret@h/x?ssl={%22rejectUnauthorized%22:false}' },
  ],
])('MySQL, %s: %s', (_, query, means) => {
  expect(read(`mysql://u:secret@h/x${query}`)).toEqual({ ...nothing, left: 'mysql://u:secret@h/x', ...means });
});

test.each<[url: string, warnings: readonly RegExp[]]>([
  [
    'postgres://u:secret@h/x?pool_timeout=7&statement_cache_size=0',
    [/'pool_timeout', which has no effect here/, /'statement_cache_size'/],
  ],
  ['postgres://u:secret@h/x?shema=hidden', [/'shema'.*Near: schema/]],
  ['postgres://u:secret@h/x?sslmode=disable&channel_binding=hidden', [/'channel_binding'/]],
  ['mysql://u:secret@h/x?serverVersion=8.0&charset=latin1', [/'serverVersion'/, /'charset'/]],
  ['mariadb://u:secret@h/x?multipleStatements=true', [/'multipleStatements'/]],
  ['mysql://u:secret@h/x?schemaa', [/'schemaa'.*Near: schema/]],
])('%s is accepted with a warning', (url, says) => {
  const { warnings, left } = read(url);
  expect(warnings).toEqual(says.map((said) => expect.stringMatching(said)));
  expect(warnings.join()).not.toMatch(/secret|hidden|latin1|8\.0/);
  expect(left).not.toContain('?');
});

test.each<[url: string, says: RegExp]>([
  ['postgres://u:secret@h/x?connection_limit=many', /'connection_limit' .* must be a whole number above 0/],
  ['postgres://u:secret@h/x?sslmode=on', /'sslmode' .* must be one of disable, allow/],
  ['postgres://u:secret@h/x?schema=', /'schema' .* must be a name/],
  ['mysql://u:secret@h/x?ssl-mode=YES', /'ssl-mode' .* must be one of disabled/],
])('%s is refused', (url, says) => {
  expect(() => readAddress(url)).toThrow(says);
});

describe.each(remoteServers)('$dialect', ({ dialect, create }) => {
  test('a URL of Prisma serves its schema, keeps its limit, and warns of parameters without effect', async () => {
    const database = await create();
    onTestFinished(() => database.drop());
    const name = new URL(database.url).pathname.slice(1);
    const isPostgres = dialect === 'postgres';
    await runSql(database, [
      'create table things (id int primary key)',
      ...(isPostgres ? ['create schema sales', 'create table sales.orders (id int primary key)'] : []),
    ]);
    const observed: Observation[] = [];
    const schema = isPostgres ? 'sales' : name;
    const url = `${database.url}?schema=${schema}&connection_limit=2&pool_timeout=5&sslmode=prefer&pgbouncer=true`;
    const source = createSqlSource(url, { observe: (one) => observed.push(one), clock: systemClock });
    const { tables } = await source.describe();
    const count = () =>
      source.count({ table: tables[0]?.name ?? '', joins: [], where: { op: 'always' } }, { timeoutMs: 5000 });
    for (let tries = 0; tries < 20; tries++) await Promise.all(Array.from({ length: 6 }, count));
    await source.close();
    expect(tables.map((table) => table.name)).toEqual([isPostgres ? 'orders' : 'things']);
    const pools = observed.filter((one) => one.type === 'pool.changed');
    expect([Math.max(...pools.map(({ used }) => used)), pools[0]?.most]).toEqual([2, 2]);
    const warned = observed.flatMap((one) => (one.type === 'warning' ? [one.message] : []));
    const unknown = isPostgres ? ["'pool_timeout'"] : ["'pool_timeout'", "'pgbouncer'"];
    expect(warned).toEqual(unknown.map((each) => expect.stringContaining(each)));
  });

  test('with PgBouncer no statement is prepared in a session', async () => {
    if (dialect !== 'postgres') return;
    const database = await create();
    onTestFinished(() => database.drop());
    await runSql(database, ['create view prepared as select name from pg_prepared_statements']);
    const prepared = async (query: string) => {
      const source = createSqlSource(`${database.url}${query}`, { observe: () => undefined, clock: systemClock });
      await source.describe();
      const counts = [];
      for (let at = 0; at < 4; at++)
        counts.push(await source.count({ table: 'prepared', joins: [], where: { op: 'always' } }, { timeoutMs: 5000 }));
      await source.close();
      return counts.at(-1);
    };
    expect([await prepared('?connection_limit=1'), await prepared('?connection_limit=1&pgbouncer=true')]).toEqual([
      1, 0,
    ]);
  });

  test('the storage applies the same parameters', async () => {
    const database = await create();
    onTestFinished(() => database.drop());
    const observed: Observation[] = [];
    if (dialect === 'postgres') await runSql(database, ['create schema keeps']);
    const url = `${database.url}?schema=keeps&connection_limit=2&pool_timeout=5`;
    const store = openDatabase({ url, dataDir: '/', sqlite: 'auto', observe: (one) => observed.push(one) });
    await store.knex.schema.createTable('kept', (table) => table.integer('id'));
    const most = (store.knex.client as { pool: { max: number } }).pool.max;
    await store.close();
    const warned = observed.flatMap((one) => (one.type === 'warning' ? [one.message] : []));
    expect([most, warned]).toEqual([
      2,
      [/SERVICE_STORAGE_URL: .*'pool_timeout'/, ...(dialect === 'postgres' ? [] : [/'schema' .* no effect/])].map(
        (said) => expect.stringMatching(said),
      ),
    ]);
    if (dialect === 'postgres')
      expect(await askSql(database, "select count(*) as n from pg_tables where schemaname = 'keeps'")).toEqual([
        { n: '1' },
      ]);
  });
});
