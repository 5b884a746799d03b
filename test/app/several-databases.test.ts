// `portico start` with several databases: their collections side by side, names that exist twice, one that is down.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { databasesOf, maskDatabases } from '../../src/core/config/databases.ts';
import { loadConfig } from '../../src/core/config.ts';
import { buildOnce, makePlace, type Place, portico, startServer as startProcess } from '../cli/command.ts';
import { remoteServers, servers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { callTool } from './call.ts';
import { signedIn } from './shop.ts';
import { openWire, type Wire } from './wire.ts';

const table = (name: string, label: string) => [
  `create table ${name} (id integer not null primary key, label varchar(20), made_at timestamp null)`,
  `insert into ${name} (id, label, made_at) values (1, '${label}', '2026-01-02 03:04:05')`,
];

async function createWith(create: () => Promise<TestDatabase>, ...tables: readonly string[]): Promise<TestDatabase> {
  const database = await create();
  await runSql(
    database,
    tables.flatMap((name) => table(name, `${database.dialect} ${name}`)),
  );
  return database;
}

describe('the setting', () => {
  const named = (text: string) => databasesOf(text).map(({ name, prefix }) => [name, prefix]);

  test('a name before the address is the name and the prefix; without one, the database or file has the name', () => {
    expect(
      named(
        'crm=postgres://a:b@host/customers\nmysql://u:p@host:3306/shop?ssl=true\n\n  sqlite:./data/old stock.v2.sqlite  ',
      ),
    ).toEqual([
      ['crm', 'crm.'],
      ['shop', ''],
      ['old-stock-v2', ''],
    ]);
  });

  test("an '=' within an address does not begin one", () => {
    expect(named('sqlite:a=b.sqlite')).toEqual([['a-b', '']]);
    expect(named('postgres://u:p=x@host/shop')).toEqual([['shop', '']]);
  });

  test.each([
    ['two of one name', 'postgres://u:hunter2@a/shop\nmysql://u:hunter2@b/SHOP', /name 'SHOP'.*--database other=/],
    ['a name with a space', 'my shop=postgres://u:hunter2@a/shop', /expected a name of at most 50 letters/],
    ['only line breaks', ' \n', /expected an address/],
  ])('%s: refused, without any part of an address', (_, text, message) => {
    const read = () => loadConfig({ env: { SERVICE_DATABASE_URL: text } });
    expect(read).toThrow(message);
    expect(read).not.toThrow(/hunter2/);
    expect(() => databasesOf(text)).toThrow(message);
  });

  test('lists of a config file and repeated flags are the same as lines', () => {
    expect(maskDatabases('crm=postgres://a:b@host/crm?password=c\nsqlite:x.sqlite')).toBe(
      'crm=postgres://***@host/crm?***, sqlite:x.sqlite',
    );
  });
});

describe('the command', () => {
  let place: Place;
  beforeAll(buildOnce);
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.remove());

  test('flags can be repeated; the welcome, doctor and /readyz show every database by name, and no password', async () => {
    const all = await Promise.all(servers.map(({ create }, at) => createWith(create, `items_${at}`)));
    const flags = all.flatMap(({ url }, at) => ['--database', `db${at}=${url}`]);
    const server = await startProcess(flags, { folder: place.folder, env: { SERVICE_LOG_LEVEL: 'Info' } });
    try {
      const ready = (await (await fetch(`${server.origin}/readyz`)).json()) as unknown;
      expect(ready).toEqual({
        status: 'ready',
        databases: Object.fromEntries(all.map((_, at) => [`db${at}`, 'ready'])),
      });
      for (const [at, { url }] of all.entries()) {
        expect(server.stdout).toContain(`db${at}=`);
        expect(server.stderr).toContain(`"db${at}"`);
        const { password } = new URL(url);
        if (password) expect(server.stdout + server.stderr).not.toContain(password);
      }
      const doctor = await portico(['doctor', '--port', '0', ...flags], place);
      for (const at of all.keys())
        expect(doctor.stdout).toMatch(new RegExp(`ok +Database 'db${at}' .*: 1 tables and views`));
      expect(existsSync(join(place.folder, '.portico', 'demo.sqlite'))).toBe(false);
    } finally {
      server.signal('SIGTERM');
      await server.ended;
      await Promise.all(all.map((database) => database.drop()));
    }
  });

  test('a table in two databases: the start names it and says what to write, and then it starts', async () => {
    const [a, b] = [
      await createWith(servers[0]!.create, 'orders', 'customers'),
      await createWith(servers[0]!.create, 'orders', 'customers'),
    ];
    const [one, two] = ['one.sqlite', 'two.sqlite'].map((name) => join(place.folder, name));
    await runSql({ ...a, url: `sqlite:${one}` }, [...table('orders', 'a'), ...table('customers', 'a')]);
    await runSql({ ...b, url: `sqlite:${two}` }, [...table('orders', 'b'), ...table('customers', 'b')]);
    const refused = await portico(
      ['start', '--port', '0', '--database', `sqlite:${one}`, '--database', `sqlite:${two}`],
      place,
    );
    expect(refused).toMatchObject({
      code: 1,
      stderr:
        "portico: The table 'customers' (and 1 more) exists in both 'one' and 'two'. Write a name before the address of one of them: --database two=... Its collections are then named 'two.customers'.\n",
    });
    writeFileSync(join(place.folder, 'urls'), `sqlite:${one}\ntwo=sqlite:${two}\n`);
    const env = { SERVICE_DATABASE_URL_FILE: 'urls' };
    const written = await portico(['schema', 'write'], { ...place, env });
    expect(written).toMatchObject({ code: 0, stderr: '' });
    const server = await startProcess([], { folder: place.folder, env });
    server.signal('SIGTERM');
    await server.ended;
    await Promise.all([a.drop(), b.drop()]);
  });

  test('a database that cannot be reached at the start is named by doctor', async () => {
    const file = join(place.folder, 'one.sqlite');
    await runSql({ dialect: 'sqlite', url: `sqlite:${file}`, drop: async () => {} }, table('orders', 'a'));
    const env = { SERVICE_DATABASE_URL: `sqlite:${file}\ncrm=postgres://reader:hunter2@127.0.0.1:1/crm` };
    const { code, stdout, stderr } = await portico(['doctor', '--port', '0'], { ...place, env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/ok +Database 'one' .*: 1 tables/);
    expect(stdout).toMatch(/wrong +Database 'crm': PostgreSQL at host 127\.0\.0\.1, port 1: nothing listens there/);
    expect(stdout + stderr).not.toContain('hunter2');
  });
});

test('the timezone of a column names its database first; without, the start says so', async () => {
  const database = await createWith(servers[0]!.create, 'orders');
  const other = await createWith(servers[0]!.create, 'contacts');
  const start = (zones: string) =>
    startServer({
      database: `shop=${database.url}\ncrm=${other.url}`,
      env: { SERVICE_DATABASE_COLUMN_TIMEZONES: zones },
    });
  await expect(start('orders.made_at=Europe/Paris')).rejects.toThrow(
    "'orders.made_at=Europe/Paris' must start with the name of a database, such as shop.orders.made_at=Europe/Paris. The databases are: shop, crm.",
  );
  const server = await start('shop.orders.made_at=Europe/Paris');
  const { token } = await signedIn(server);
  const read = (collectionName: string) =>
    callTool(server.mcpUrl, token, 'list', { collectionName, fields: ['made_at'] });
  expect(JSON.stringify(await read('shop.orders'))).toContain('2026-01-02T02:04:05');
  expect(JSON.stringify(await read('crm.contacts'))).toContain('2026-01-02T03:04:05');
  await server.stop();
  await Promise.all([database.drop(), other.drop()]);
});

// A file must contain a test.
if (remoteServers.length === 0) test.skip('on a server', () => {});

describe.each(remoteServers)('$dialect beside SQLite', ({ create }) => {
  let databases: readonly TestDatabase[];
  let wire: Wire;
  let server: TestServer;
  let token: string;
  beforeAll(async () => {
    databases = [await createWith(servers[0]!.create, 'orders'), await createWith(create, 'orders')];
    const url = new URL(databases[1]!.url);
    wire = await openWire({ host: url.hostname, port: Number(url.port) });
    url.port = String(wire.port);
    server = await startServer({
      database: `shop=${databases[0]!.url}\ncrm=${url.href}`,
      env: { SERVICE_QUERY_SECONDS: '2' },
    });
    token = (await signedIn(server)).token;
  });
  afterAll(async () => {
    await server?.stop();
    await wire?.close();
    await Promise.all((databases ?? []).map((database) => database.drop()));
  });
  const list = (collectionName: string) =>
    callTool(server.mcpUrl, token, 'list', { collectionName, fields: ['label'] });
  const ready = async () => {
    const response = await fetch(`${server.address}/readyz`);
    return [response.status, await response.json()];
  };

  test('the same table of both is served under two names, each with its own rows', async () => {
    expect(JSON.stringify(await list('shop.orders'))).toContain('sqlite orders');
    expect(JSON.stringify(await list('crm.orders'))).toContain(`${databases[1]!.dialect} orders`);
    expect(await list('orders')).toMatchObject({ error: expect.stringMatching(/^UNKNOWN_COLLECTION/) });
  });

  test('while one is down, the other answers, calls for it are refused, and /readyz names it', async () => {
    await list('crm.orders');
    wire.cut();
    try {
      expect(await list('crm.orders')).toMatchObject({ error: expect.stringMatching(/^SOURCE_UNAVAILABLE/) });
      expect(JSON.stringify(await list('shop.orders'))).toContain('sqlite orders');
      expect(await ready()).toEqual([200, { status: 'ready', databases: { shop: 'ready', crm: 'unavailable' } }]);
    } finally {
      wire.mend();
    }
    await expect
      .poll(ready, { timeout: 20_000 })
      .toEqual([200, { status: 'ready', databases: { shop: 'ready', crm: 'ready' } }]);
    expect(JSON.stringify(await list('crm.orders'))).toContain(`${databases[1]!.dialect} orders`);
  });
});
