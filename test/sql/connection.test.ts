// Database URLs and their parts: which ones connect, the errors of the others, and that no error contains a secret.
import { describe, expect, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { SqlConnectionOptions } from '../../src/index.ts';
import { servers, type TestServer } from '../databases.ts';
import { runSql } from './schemas.ts';
import { openTlsServer } from './tls-server.ts';

const parts = { observe: () => undefined, clock: systemClock };

/** The names of the tables, or the error message. */
async function tablesOf(given: string | SqlConnectionOptions): Promise<string> {
  let source: ReturnType<typeof createSqlSource> | undefined;
  try {
    source = createSqlSource(given, parts);
    return (await source.describe()).tables.map(({ name }) => name).join();
  } catch (error) {
    return (error as Error).message;
  } finally {
    await source?.close();
  }
}

function partsOf(server: TestServer, url: string): SqlConnectionOptions {
  if (server.dialect === 'sqlite') return { dialect: 'sqlite', storage: url.slice('sqlite:'.length) };
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    dialect: server.dialect,
    host: hostname,
    ...(port && { port: Number(port) }),
    username: decodeURIComponent(username),
    ...(password && { password: decodeURIComponent(password) }),
    database: decodeURIComponent(pathname.slice(1)),
  };
}

describe.each([...servers])('$dialect', (server) => {
  test('the parts of an address connect to the same database as its URL', async () => {
    const database = await server.create();
    await runSql(database, ['create table things (id integer primary key)']);
    const told = [
      await tablesOf(database.url),
      await tablesOf(partsOf(server, database.url)),
      await tablesOf({ uri: database.url }),
    ];
    await database.drop();
    expect(told).toEqual(['things', 'things', 'things']);
  });
});

describe.each(servers.filter(({ dialect }) => dialect !== 'sqlite'))('$dialect, a server', (server) => {
  test('a wrong password or database is reported without the password', async () => {
    const database = await server.create();
    const right = partsOf(server, database.url);
    const wrongs = [
      await tablesOf({ ...right, username: 'nobody', password: 's3cr3t/@:' }),
      await tablesOf({ ...right, database: 'no such database' }),
      await tablesOf({ ...right, port: 1, password: 's3cr3t' }),
    ];
    await database.drop();
    expect([wrongs.join().includes('s3cr3t'), ...wrongs]).toEqual([
      false,
      expect.stringMatching(/rejects the user or the password/),
      expect.stringMatching(/has no database 'no such database'/),
      expect.stringMatching(/port 1: nothing listens there/),
    ]);
  });

  test('no more connections are opened than the maximum of the pool', async () => {
    const database = await server.create();
    await runSql(database, ['create table things (id integer primary key)']);
    const source = createSqlSource({ uri: database.url, pool: { max: 1, idleTimeoutMs: 50 } }, parts);
    const { tables } = await source.describe();
    const asked = Array.from({ length: 5 }, () =>
      source.count({ table: tables[0]!.name, joins: [], where: { op: 'always' } }, { timeoutMs: 5000 }),
    );
    const counts = await Promise.all(asked);
    await source.close();
    await database.drop();
    expect(counts).toEqual([0, 0, 0, 0, 0]);
  });

  test('a server without TLS: disabled and preferred connect, required and verify do not', async () => {
    const database = await server.create();
    await runSql(database, ['create table things (id integer primary key)']);
    const modes = ['disabled', 'preferred', 'required', 'verify'] as const;
    const told: string[] = [];
    const uri = database.url.replace('127.0.0.1', 'localhost');
    for (const sslMode of modes) told.push(await tablesOf({ uri, sslMode }));
    await database.drop();
    const none = expect.stringMatching(/: it offers no TLS .*\(sslMode: 'disabled' in code\)/);
    expect(told).toEqual(['things', 'things', none, none]);
  });
});

describe.each(servers.filter(({ dialect }) => dialect !== 'sqlite'))('$dialect, a server with TLS', (server) => {
  test('preferred and required encrypt; verify requires a certificate of a known authority, for the host', async () => {
    const database = await server.create();
    await runSql(database, ['create table things (id integer primary key)']);
    const dialect = server.dialect as 'postgres' | 'mariadb';
    const tls = await openTlsServer(dialect, database.url, 'localhost');
    const stranger = await openTlsServer(dialect, database.url, 'elsewhere.example');
    const told: Record<string, readonly [string, number]> = {};
    const connect = async (what: string, options: SqlConnectionOptions) => {
      const before = tls.encrypted();
      told[what] = [await tablesOf(options), tls.encrypted() - before];
    };
    await connect('disabled', { uri: tls.url, sslMode: 'disabled' });
    await connect('preferred', { uri: tls.url, sslMode: 'preferred' });
    await connect('required', { uri: tls.url, sslMode: 'required' });
    await connect('verify', { uri: tls.url, sslMode: 'verify' });
    await connect('verify with its authority', { uri: tls.url, sslMode: 'verify', ssl: { ca: tls.ca } });
    await connect('verify for another name', { uri: stranger.url, sslMode: 'verify', ssl: { ca: stranger.ca } });
    await stranger.close();
    await tls.close();
    await database.drop();
    const untrusted = expect.stringMatching(/: its certificate cannot be verified \(.*sslMode: 'required' in code/);
    expect(told).toEqual({
      disabled: ['things', 0],
      preferred: ['things', 1],
      required: ['things', 1],
      verify: [untrusted, expect.any(Number)],
      'verify with its authority': ['things', 1],
      'verify for another name': [untrusted, expect.any(Number)],
    });
  });
});

test.each<[what: string, given: unknown, problem: RegExp]>([
  ['an invalid scheme', 'mongodb://u:s3cr3t@h/d', /address is malformed: expected sqlite:<path>/],
  ['no address', {}, /needs 'uri', or 'dialect'/],
  ['both', { uri: 'sqlite:x', dialect: 'sqlite' }, /takes 'uri' or 'dialect', not both/],
  ['an unknown part', { dialect: 'postgres', pasword: 's3cr3t' }, /has no option 'pasword'\. Near: password/],
  ['an unknown dialect', { dialect: 'oracle' }, /'dialect' must be sqlite, mysql, mariadb or postgres/],
  ['a dialect of the prototype', { dialect: 'constructor' }, /'dialect' must be/],
  ['a port that is a string', { dialect: 'postgres', port: '5432' }, /'port' must be a number from 1 to 65535/],
  ['no database', { dialect: 'mysql', host: 'h', password: 's3cr3t' }, /needs 'database'/],
  ['no database in a URL', 'mysql://root:s3cr3t@host', /names no database/],
  ['no file', { dialect: 'sqlite' }, /needs 'storage'/],
  ['a missing file', { dialect: 'sqlite', storage: '/no/such.sqlite' }, /\/no\/such\.sqlite does not exist/],
  [
    'a file for a server',
    { dialect: 'postgres', storage: 'x', database: 'd' },
    /does not accept 'storage' with postgres/,
  ],
  ['TLS for a file', { uri: 'sqlite:x', sslMode: 'verify' }, /does not accept 'sslMode' with SQLite/],
  ['schemas of a file', { uri: 'sqlite:x', schemas: ['a'] }, /does not accept 'schemas' with SQLite/],
  ['an unknown TLS mode', { uri: 'postgres://h/d', sslMode: 'on' }, /'sslMode' must be one of disabled, preferred/],
  [
    'MySQL verified by an address',
    { uri: 'mysql://u:s3cr3t@10.0.0.1/d', sslMode: 'verify' },
    /by an IP address: use the name/,
  ],
  ['unused certificates', { uri: 'postgres://h/d', ssl: { ca: 'x' } }, /certificates in 'ssl', but no 'sslMode'/],
  ['two TLS settings', { uri: 'postgres://h/d?sslmode=require', sslMode: 'verify' }, /in 'uri' and in 'sslMode'/],
  [
    'an unknown member of the pool',
    { uri: 'postgres://h/d', pool: { maximum: 1 } },
    /'pool' has no option 'maximum'. Near: max/,
  ],
  ['no schemas', { uri: 'postgres://h/d', schemas: [] }, /'schemas' must be a list of names, at least one/],
])('%s is reported, without secrets', async (_what, given, problem) => {
  const message = await tablesOf(given as SqlConnectionOptions);
  expect([message, message.includes('s3cr3t')]).toEqual([expect.stringMatching(problem), false]);
});
