// An unreachable server or file: the operator's message names the location, the cause and the fix. The caller's message
// names none of these, and neither contains a password.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { explainRedis, messageForOperator } from '../../src/core/errors/connection.ts';
import { toAppError } from '../../src/core/errors.ts';
import type { SqlConnectionOptions } from '../../src/index.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { buildOnce, makePlace, portico } from '../cli/command.ts';
import { remoteServers } from '../databases.ts';
import { redisUrl } from '../redis.ts';
import { openTlsServer, type TlsServer } from '../sql/tls-server.ts';

const SECRET = 's3cr3t';
const silence = await listen(() => undefined);
const closing = await listen((socket) => socket.end());
const folder = mkdtempSync(join(tmpdir(), 'portico-test-'));
beforeAll(buildOnce);
afterAll(() => {
  for (const { server } of [silence, closing]) server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function listen(meet: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    meet(socket);
  }).unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as { port: number }).port };
}

const errorOf = (work: () => Promise<unknown>): Promise<Error> =>
  work().then(
    () => new Error('it connects'),
    (error: Error) => error,
  );

/** The error at the start, and the error of a later call. */
async function sourceSays(given: string | SqlConnectionOptions): Promise<{ start: string; call: string }> {
  const source = createSqlSource(given, { observe: () => undefined, clock: systemClock });
  try {
    const start = await errorOf(() => source.describe());
    // Without catalogue data, the statement is plain.
    const call = await errorOf(() =>
      source.count({ table: 'things', joins: [], where: { op: 'always' } }, { timeoutMs: 5000 }),
    );
    return { start: toAppError(start, '').message, call: toAppError(call, '').message };
  } finally {
    await source.close();
  }
}

async function storageSays(url: string): Promise<string> {
  const database = openDatabase({ url, dataDir: folder, sqlite: 'auto' });
  const error = await errorOf(async () => database.knex.raw('select 1'));
  await database.close();
  return messageForOperator(toAppError(error, ''));
}

describe.each(remoteServers)('$dialect', ({ dialect, create }) => {
  const system = dialect === 'postgres' ? 'PostgreSQL' : 'MySQL or MariaDB';
  const usual = dialect === 'postgres' ? 5432 : 3306;
  const other = remoteServers.length > 1 ? (dialect === 'postgres' ? 3306 : 5432) : closing.port;
  let good: URL;
  let drop: () => Promise<void>;
  let tls: TlsServer;
  beforeAll(async () => {
    const database = await create();
    good = new URL(database.url);
    drop = database.drop;
    tls = await openTlsServer(dialect as 'postgres' | 'mariadb', database.url, 'elsewhere.example');
  });
  afterAll(async () => {
    await tls.close();
    await drop();
  });
  const change = (
    parts: Partial<Record<'username' | 'password' | 'hostname' | 'port' | 'pathname' | 'search', string>>,
  ) => Object.assign(new URL(good), parts).href;

  const cases: readonly (readonly [
    what: string,
    url: () => string,
    cause: RegExp,
    change: RegExp,
    at?: () => string,
  ])[] = [
    [
      'refused',
      () => change({ port: '1' }),
      /nothing listens there \(ECONNREFUSED\)/,
      /change host and port/,
      () => 'host 127.0.0.1, port 1',
    ],
    [
      'host unknown',
      () => change({ hostname: 'no.such.host.invalid' }),
      /host name is unknown/,
      /Correct the host/,
      () => 'host no.such.host.invalid, port ',
    ],
    [
      'a user that is not there',
      () => change({ username: 'nobody_here' }),
      /rejects the user or the password/,
      /Correct them/,
    ],
    ['database missing', () => change({ pathname: '/nosuch' }), /has no database 'nosuch'/, /Create the database/],
    ['TLS where there is none', () => change({ search: '?sslmode=no-verify' }), /offers no TLS/, /\?sslmode=disable/],
    [
      'a certificate that is not trusted',
      () => `${tls.url}?sslmode=verify-full`,
      /certificate cannot be verified \([A-Z_]+\)/,
      /\?sslmode=no-verify/,
      () => `host localhost, port ${new URL(tls.url).port}`,
    ],
    [
      'silence',
      () => change({ port: String(silence.port), search: '?connect_timeout=1' }),
      /did not answer in time/,
      /firewall/,
      () => `port ${silence.port}`,
    ],
    [
      'closed at once',
      () => change({ port: String(closing.port) }),
      /connection was closed/,
      /listens on this port/,
      () => `port ${closing.port}`,
    ],
    [
      'another kind of server',
      () => change({ port: String(other), search: '?connect_timeout=1' }),
      /does not speak the protocol|did not answer in time|connection was closed/,
      /scheme|listens on this port/,
      () => `port ${other}`,
    ],
  ];

  test.each(cases.map((each) => ({ each, what: each[0] })))('$what', async ({ each: [what, url, cause, cure, at] }) => {
    const address = new URL(url());
    // This case needs the correct password.
    if (what !== 'database missing') address.password = SECRET;
    const { start, call } = await sourceSays(address.href);
    const storage = await storageSays(address.href);
    for (const [told, setting] of [
      [start, /SERVICE_DATABASE_URL \(--database\)/],
      [storage, /SERVICE_STORAGE_URL/],
    ] as const) {
      expect(told).toMatch(new RegExp(`^${system} at `));
      expect(told).toContain(at?.() ?? `host ${good.hostname}, port ${good.port || usual}`);
      expect(told).toMatch(cause);
      expect(told).toMatch(cure);
      expect(told).toMatch(setting);
    }
    // The caller's message has no hosts, ports or names.
    expect(call).toMatch(/^The database (cannot be reached at the moment|cannot be used: .*)/);
    expect(call).toMatch(/the log (has|says)/);
    expect(call).not.toMatch(/host \w|port \d|127\.0\.0\.1|localhost|nosuch|SERVICE_/);
    expect([start, call, storage].join()).not.toContain(SECRET);
  });
});

const demand = (message: string, more: object) => Object.assign(new Error(message), more);
// Servers that require TLS, are full or refuse the host would need their own installation. These are the errors of
// their drivers.
test.each<[what: string, error: Error, says: RegExp]>([
  [
    'PostgreSQL requires TLS',
    demand('no pg_hba.conf entry for host "1.2.3.4", user "u", database "d", no encryption', { code: '28000' }),
    /accepts encrypted connections only.*\?sslmode=require/,
  ],
  [
    'PostgreSQL rejects the host',
    demand('no pg_hba.conf entry for host "1.2.3.4", user "u", database "d", SSL encryption', { code: '28000' }),
    /does not accept this user from this machine/,
  ],
  [
    'MariaDB requires TLS',
    demand('Connections using insecure transport are prohibited', { code: 'ER_UNKNOWN', errno: 3159 }),
    /accepts encrypted connections only/,
  ],
  [
    'a wrong password',
    demand('password authentication failed for user "u"', { code: '28P01' }),
    /rejects the user or the password/,
  ],
  [
    'no password where one is required',
    new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
    /rejects the user or the password/,
  ],
  ['full', demand('sorry, too many clients already', { code: '53300' }), /has no free connection/],
  ['Redis requires a password', new Error('NOAUTH Authentication required.'), /requires a password/],
  ['Redis: wrong password', new Error(`WRONGPASS invalid username-password pair`), /rejects the user or the password/],
  ['any other error', new Error(`ODDITY of ${SECRET}`), /cannot be used \(ODDITY\)/],
])('%s', (_, error, says) => {
  const told = explainRedis(error, `redis://u:${SECRET}@cache.example:6380/0`);
  expect(told).toMatch(says);
  expect(told).toMatch(/^Redis at host cache\.example, port 6380: /);
  expect(told).not.toContain(SECRET);
});

test('files', async () => {
  const text = join(folder, 'notes.txt');
  writeFileSync(text, 'This is no database, though it is long enough to be taken for one.'.repeat(20));
  const says = (path: string) => {
    try {
      createSqlSource(`sqlite:${path}`, { observe: () => undefined, clock: systemClock });
      return 'opened';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const keeps = (path: string) => {
    try {
      openDatabase({ url: `sqlite:${path}`, dataDir: folder, sqlite: 'auto' });
      return 'opened';
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const [path, cause] of [
    [text, 'is not a SQLite database'],
    [folder, 'is a folder'],
  ] as const) {
    expect(says(path)).toMatch(new RegExp(`^The database ${path} ${cause}.*SERVICE_DATABASE_URL`));
    expect(keeps(path)).toMatch(new RegExp(`^SERVICE_STORAGE_URL: the storage '${path}' ${cause}`));
  }
  expect(says('/no/such.sqlite')).toMatch(/^The database \/no\/such\.sqlite does not exist\./);
  expect(says(join(text, 'below'))).toMatch(/cannot be reached \(ENOTDIR\)/);
  expect(keeps(join(text, 'below'))).toMatch(/cannot be created \(E[A-Z]+\)/);
});

test('the commands name the unreachable server: doctor for all three, start, and the log without Redis', async () => {
  const place = makePlace();
  const env = {
    SERVICE_STORAGE_URL: `postgres://u:${SECRET}@127.0.0.1:1/keeps`,
    SERVICE_DATABASE_URL: `mysql://u:${SECRET}@no.such.host.invalid:3307/shop`,
    SERVICE_REDIS_URL: `redis://:${SECRET}@127.0.0.1:2`,
  };
  const doctor = await portico(['doctor', '--port', '0'], { ...place, env });
  const lines = doctor.stdout.split('\n').map((line) => line.trim().replace(/ {2,}/, ' '));
  for (const said of [
    /^wrong Storage: PostgreSQL at host 127\.0\.0\.1, port 1: nothing listens there.*SERVICE_STORAGE_URL/,
    /^wrong Database: MySQL or MariaDB at host no\.such\.host\.invalid, port 3307: the host name/,
    /^wrong Redis: Redis at host 127\.0\.0\.1, port 2: nothing listens there.*SERVICE_REDIS_URL/,
  ])
    expect(lines).toContainEqual(expect.stringMatching(said));
  const { SERVICE_DATABASE_URL, SERVICE_STORAGE_URL } = env;
  const source = await portico(['start', '--port', '0'], { ...place, env: { SERVICE_DATABASE_URL } });
  const storage = await portico(['start', '--port', '0'], { ...place, env: { SERVICE_STORAGE_URL } });
  place.remove();
  expect([source.code, storage.code]).toEqual([1, 1]);
  expect(source.stderr).toMatch(/^portico: MySQL or MariaDB at host no\.such\.host\.invalid, port 3307: /m);
  expect(storage.stderr).toMatch(/^portico: PostgreSQL at host 127\.0\.0\.1, port 1: /m);
  expect([doctor, source, storage].map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(SECRET);
});

test.skipIf(redisUrl === undefined)('the doctor reports a Redis that answers', async () => {
  const place = makePlace();
  const env = { SERVICE_REDIS_URL: redisUrl as string };
  const { stdout } = await portico(['doctor', '--port', '0'], { ...place, env });
  place.remove();
  expect(stdout).toMatch(/ok +Redis redis:\/\/.* answers/);
});
