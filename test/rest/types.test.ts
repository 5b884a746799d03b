// Values of every type on every database, in documents and in tables, with a key that is not a number. Ids and filters
// find them again.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { openRestServer, type RestTestServer } from './rest-server.ts';
import { openStores } from './stores.ts';

const uuid = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
const instant = {
  sqlite: '2026-11-20T11:11:52.442Z',
  mariadb: '2026-11-20 11:11:52.442',
  postgres: '2026-11-20T11:11:52.442Z',
};
/** By name: column type, SQL literal, JSON value; and for strings the CSV cell. */
type Kinds = Readonly<Record<string, readonly [type: string, sql: string, shown: unknown, cell?: string]>>;

const json = `{"b":1.0,"a":[12345678901234567890]}`;
const common = (dialect: Dialect): Kinds => ({
  name: [dialect === 'mariadb' ? 'varchar(40)' : 'text', `'=é "x"'`, '=é "x"', `"'=é ""x"""`],
  amount: ['decimal(10, 2)', '-1.50', -1.5],
  is: [dialect === 'mariadb' ? 'tinyint(1)' : 'boolean', dialect === 'postgres' ? 'true' : '1', true],
  at: [
    { sqlite: 'datetime', mariadb: 'datetime(3)', postgres: 'timestamptz' }[dialect],
    `'${instant[dialect]}'`,
    '2026-11-20T11:11:52.442Z',
  ],
  day: ['date', `'2026-11-20'`, '2026-11-20'],
  hour: ['time', `'14:30:00'`, '14:30:00'],
  bytes: [
    { sqlite: 'blob', mariadb: 'varbinary(20)', postgres: 'bytea' }[dialect],
    dialect === 'postgres' ? `'\\x00ff10'` : `x'00ff10'`,
    // By declared length: a short column is shown in hexadecimal, others as a file.
    dialect === 'mariadb' ? '00ff10' : 'data:application/octet-stream;base64,AP8Q',
    dialect === 'mariadb' ? '00ff10' : '"data:application/octet-stream;base64,AP8Q"',
  ],
});
const kinds: { readonly [D in Dialect]: Kinds } = {
  sqlite: { ...common('sqlite'), data: ['json', `'${json}'`, JSON.parse(json), `"${json.replaceAll('"', '""')}"`] },
  mariadb: {
    ...common('mariadb'),
    big: ['decimal(30, 2)', '12345678901234567890.12', '12345678901234567890.12'],
    data: ['json', `'${json}'`, JSON.parse(json), `"${json.replaceAll('"', '""')}"`],
    mood: [`enum('a', 'b')`, `'b'`, 'b'],
  },
  postgres: {
    ...common('postgres'),
    big: ['numeric(30, 2)', '-12345678901234567890.12', '-12345678901234567890.12'],
    data: ['json', `'${json}'`, JSON.parse(json), `"${json.replaceAll('"', '""')}"`],
    mood: ['mood', `'b'`, 'b'],
    words: ['text[]', `array['x', null]`, ['x', null], `"[""x"",null]"`],
  },
};

describe.each(servers.map((server) => [server.dialect, server] as const))('%s', (dialect, server) => {
  const columns = Object.entries(kinds[dialect]);
  const names = ['id', ...columns.map(([name]) => name)];
  let database: TestDatabase;
  let testServer: RestTestServer;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      ...(dialect === 'postgres' ? [`create type mood as enum ('a', 'b')`] : []),
      `create table kinds (id uuid not null primary key, ${columns.map(([name, [type]]) => `${dialect === 'mariadb' ? `\`${name}\`` : `"${name}"`} ${type}`).join(', ')})`,
      `insert into kinds values ('${uuid}', ${columns.map(([, [, sql]]) => sql).join(', ')})`,
      `insert into kinds (id) values ('${uuid.replace('9', 'a')}')`,
    ]);
    const source = createSqlSource(database.url, { clock: systemClock, observe: () => {} });
    testServer = await openRestServer({ engine: await openStores(() => {}, source) });
  });
  afterAll(async () => {
    await testServer?.close();
    await database?.drop();
  });

  const text = async (path: string) => (await testServer.ask(path)).text();
  const shown = Object.fromEntries([['id', uuid], ...columns.map(([name, [, , value]]) => [name, value])]);
  const record = (attributes: object) => ({ type: 'kinds', id: (attributes as { id: string }).id, attributes });
  const jsonapi = { version: '1.0' };

  test('documents', async () => {
    const none = Object.fromEntries(names.map((name) => [name, name === 'id' ? uuid.replace('9', 'a') : null]));
    const list = await text('/kinds?sort=id');
    expect([JSON.parse(list), JSON.parse(await text(`/kinds/${uuid.toUpperCase()}`)), list.includes(json)]).toEqual([
      { jsonapi, data: [record(shown), record(none)] },
      { jsonapi, data: record(shown) },
      true,
    ]);
  });

  test('tables', async () => {
    const cells = columns.map(([, [, , value, cell]]) => cell ?? String(value));
    expect(await text('/kinds.csv?sort=id')).toBe(
      `${names}\r\n${[uuid, ...cells]}\r\n${uuid.replace('9', 'a')}${','.repeat(columns.length)}\r\n`,
    );
  });

  test.each([
    ['name', 'i_contains', 'É'],
    ['amount', 'less_than', '-1'],
    ['is', 'equal', 'yes'],
    ['is', 'not_in', 'no'],
    ['at', 'equal', '2026-11-20T12:11:52.442+01:00'],
    ['day', 'in', '2026-11-20, 2026-11-21'],
    ['bytes', 'equal', '00FF10'],
    ['id', 'equal', uuid.toUpperCase()],
  ])('%s %s %s', async (field, operator, value) => {
    const filters = {
      aggregator: 'and',
      conditions: [
        { field, operator, value },
        { field: 'amount', operator: 'present' },
      ],
    };
    expect(JSON.parse(await text(`/kinds/count?filters=${encodeURIComponent(JSON.stringify(filters))}`))).toEqual({
      count: 1,
    });
  });
});
