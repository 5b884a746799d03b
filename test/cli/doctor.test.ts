// `portico doctor` shows the effective settings, hides secrets, reports problems, and changes nothing.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { openStore } from '../../src/store/open.ts';
import { copyDemo } from '../demo.ts';
import { freePort, takePort } from '../ports.ts';
import { startMailServer } from '../smtp.ts';
import { buildOnce, makePlace, type Place, portico } from './command.ts';
import { addPerson } from './prepared.ts';

let place: Place;
beforeAll(buildOnce);
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

/** State and text of each check, with the folder of the test replaced by `~`. */
function findings(stdout: string): string[] {
  return stdout
    .slice(stdout.indexOf('\nChecks\n') + '\nChecks\n'.length)
    .replaceAll(place.folder, '~')
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/, ' '));
}

test('in an empty folder it finds no problems and creates no files', async () => {
  const { code, stdout, stderr } = await portico(['doctor', '--port', '0'], place);
  expect({ code, stderr, made: readdirSync(place.folder), found: findings(stdout) }).toEqual({
    code: 0,
    stderr: '',
    made: [],
    found: [
      `ok Node ${process.versions.node}`,
      expect.stringMatching(/^(ok|note) SQLite: /),
      'ok Data folder ~/.portico is created at the first start',
      'ok Storage ~/.portico/portico.sqlite is created at the first start',
      'ok Database: the demo shop, created at the first start',
      'ok Address: clients on this machine only, at 127.0.0.1',
      'ok Port: any free port',
      'ok Metrics: not served',
      '',
      'No problems found.',
    ],
  });
});

test('every setting is shown with its value and origin, and secrets are masked', async () => {
  const env = {
    SERVICE_SECRET: 'a-secret-of-the-installation',
    SERVICE_STORAGE_URL: 'postgres://keeper:hunter2@127.0.0.1:1/portico?sslpassword=hunter3',
    SERVICE_DATABASE_URL: 'mysql://reader:hunter4@127.0.0.1:1/shop',
    SERVICE_ALLOWED_HOSTS: 'a.example, b.example',
  };
  const { stdout, stderr } = await portico(['doctor', '--host', 'localhost', '--port', '0'], { ...place, env });
  const rows = new Map(stdout.split('\n').map((line) => [line.trim().split(/ {2,}/)[0], line.trim().split(/ {2,}/)]));
  expect(
    [
      'SERVICE_SECRET',
      'SERVICE_STORAGE_URL',
      'SERVICE_DATABASE_URL',
      'SERVICE_ALLOWED_HOSTS',
      'SERVICE_HOST',
      'SERVICE_DCR',
    ].map((name) => rows.get(name)),
  ).toEqual([
    ['SERVICE_SECRET', '***', 'environment'],
    ['SERVICE_STORAGE_URL', 'postgres://***@127.0.0.1:1/portico?***', 'environment'],
    ['SERVICE_DATABASE_URL', 'mysql://***@127.0.0.1:1/shop', 'environment'],
    ['SERVICE_ALLOWED_HOSTS', 'a.example,b.example', 'environment'],
    ['SERVICE_HOST', 'localhost', 'flag'],
    ['SERVICE_DCR', 'true', 'default'],
  ]);
  expect(`${stdout}${stderr}`).not.toMatch(/hunter|a-secret|keeper|reader/);
});

test('each problem is reported in one line, with exit code 1', async () => {
  const taken = await takePort();
  writeFileSync(join(place.folder, 'file'), '');
  const env = {
    SERVICE_DATA_DIR: 'file',
    SERVICE_STORAGE_URL: 'postgres://keeper:hunter2@127.0.0.1:1/portico',
    SERVICE_DATABASE_URL: 'mysql://reader:hunter4@127.0.0.1:1/shop',
    SERVICE_PUBLIC_URL: 'http://data.example.com',
    MCP_SERVER_PORT: String(taken.port),
    SERVICE_METRICS_PORT: '1',
    SERVICE_METRICS_HOST: '192.0.2.1',
  };
  const { code, stdout } = await portico(['doctor'], { ...place, env });
  await taken.free();
  expect([code, ...findings(stdout).slice(2)]).toEqual([
    1,
    'wrong Data folder ~/file is not a folder',
    expect.stringMatching(/^wrong Storage: PostgreSQL at host 127\.0\.0\.1, port 1: nothing listens there/),
    expect.stringMatching(/^wrong Database: MySQL or MariaDB at host 127\.0\.0\.1, port 1: nothing listens there/),
    'wrong Address: SERVICE_PUBLIC_URL is http; assistants and browsers can sign in only over https',
    expect.stringMatching(/^note Public address http:\/\/data\.example\.com does not answer here/),
    `wrong Port ${taken.port} is in use, perhaps by Portico itself; stop that program, or set MCP_SERVER_PORT`,
    'wrong Metrics: port 1: cannot listen on 192.0.2.1 (EADDRNOTAVAIL); set SERVICE_METRICS_PORT or SERVICE_METRICS_HOST',
    'note Metrics: 192.0.2.1 can be reached from other machines; allow only Prometheus to reach it (SERVICE_METRICS_HOST)',
    expect.stringMatching(/^note Secret: processes that share a storage need the same SERVICE_SECRET;/),
    '',
    '6 problems found.',
  ]);
});

test('an existing storage and database are reported with their state', async () => {
  await addPerson(place, { email: 'ada@example.com' });
  copyDemo(join(place.folder, '.portico', 'demo.sqlite'));
  const { stdout } = await portico(['doctor', '--port', '0'], place);
  expect(findings(stdout).slice(2, 5)).toEqual([
    'ok Data folder ~/.portico is writable',
    'ok Storage sqlite:~/.portico/portico.sqlite is up to date',
    'ok Database sqlite:~/.portico/demo.sqlite: 8 tables and views',
  ]);
});

test('with --indexes, the missing indexes of relations and row scopes are listed as SQL statements', async () => {
  const { driver } = loadSqliteDriver();
  const database = new driver(join(place.folder, 'shop.sqlite'));
  database.exec('create table customers (id integer primary key, country text not null)');
  database.exec('create table orders (id integer primary key, customer_id integer references customers (id))');
  database.close();
  const env = { SERVICE_DATABASE_URL: 'sqlite:shop.sqlite' };
  const file = join(place.folder, 'roles.yaml');
  await portico(['roles', 'pull', file], { ...place, env });
  const scope = '\n  North:\n    Production:\n      customers: { field: country, operator: Equal, value: NO }\n';
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^teams:\n/m, `teams:${scope}`));
  const pushed = await portico(['roles', 'push', file, '--yes'], { ...place, env });
  expect(pushed).toMatchObject({ code: 0, stderr: '' });
  const doctor = async (...flags: string[]) => {
    const { code, stdout } = await portico(['doctor', '--port', '0', ...flags], { ...place, env });
    return { code, lines: findings(stdout).filter((line) => /index/i.test(line)) };
  };
  expect([await doctor(), await doctor('--indexes')]).toEqual([
    { code: 0, lines: [] },
    {
      code: 0,
      lines: [
        'note Indexes:',
        `CREATE INDEX "orders_customer_id" ON "orders" ("customer_id"); -- for the relation 'customers:orders'`,
        `CREATE INDEX "customers_country" ON "customers" ("country"); -- for the row scope of team 'North' on 'customers'`,
      ],
    },
  ]);
});

test('listening on all interfaces without https gives a warning', async () => {
  const { code, stdout } = await portico(['doctor', '--host', '0.0.0.0', '--port', '0'], place);
  expect([code, findings(stdout)[5]]).toEqual([0, expect.stringMatching(/^note Listening on 0\.0\.0\.0 without/)]);
  const warns = async (host: string, publicUrl: string) => {
    const told = await portico(['doctor', '--host', host, '--port', '0', '--public-url', publicUrl], place);
    return findings(told.stdout).some((line) => /Listening on .* without/.test(line));
  };
  expect([await warns('0.0.0.0', 'http://data.example.com'), await warns('::', 'https://data.example.com')]).toEqual([
    true,
    false,
  ]);
});

test('a storage of a newer version is reported and not changed', async () => {
  const { driver } = loadSqliteDriver();
  await portico(['user', 'list'], place);
  const file = join(place.folder, '.portico', 'portico.sqlite');
  const database = new driver(file);
  database.prepare('INSERT INTO schema_migrations VALUES (?, ?)').run('999-from-the-future', 1);
  database.close();
  const { code, stdout } = await portico(['doctor', '--port', '0'], place);
  expect([code, findings(stdout)[3], existsSync(file)]).toEqual([
    1,
    expect.stringContaining("created by a newer Portico (it has '999-from-the-future')"),
    true,
  ]);
});

test('ambiguous filters are listed with their unambiguous forms', async () => {
  copyDemo(join(place.folder, 'demo.sqlite'));
  writeFileSync(
    join(place.folder, 'portico.config.mjs'),
    `export default (agent) => agent.customizeCollection('customers', (customers) => customers
      .addSegment('new', { field: 'orders:status', operator: 'NotEqual', value: 'paid' })
      .addSegment('clear', { none: 'orders', where: { field: 'status', operator: 'Equal', value: 'paid' } }));`,
  );
  const env = { SERVICE_DATABASE_URL: `sqlite:${join(place.folder, 'demo.sqlite')}` };
  const { code, stdout } = await portico(['doctor', '--port', '0'], { ...place, env });
  const found = findings(stdout);
  const at = found.findIndex((line) => line.startsWith('note Filters'));
  expect([code, found[at], found[at + 1], stdout.includes("'clear'")]).toEqual([
    0,
    'note Filters that keep their meaning, but cannot be saved again unchanged:',
    `the segment 'new' of 'customers': 'orders:status' leads to many records, so NotEqual can mean two things. If it must hold for every record: {"none":"orders","where":{"field":"status","operator":"Equal","value":"paid"}}. If one record is enough: {"some":"orders","where":{"field":"status","operator":"NotEqual","value":"paid"}}.`,
    false,
  ]);
});

test('ambiguous row scopes, conditions of roles and the newest versions of workflows are listed with their owner', async () => {
  copyDemo(join(place.folder, 'demo.sqlite'));
  await addPerson(place, { email: 'ada@example.com', role: 'Clerk', team: 'South' });
  const config = loadConfig({ env: { SERVICE_DATA_DIR: join(place.folder, '.portico') } });
  const store = await openStore({ config, observe: () => undefined, clock: systemClock });
  const old = (field: string) => ({ field, operator: 'NotEqual', value: 'x' }) as const;
  try {
    await store.permissions.setScope('South', 'customers', old('orders:status'));
    const trigger = { when: old('order_items:product:name') };
    const may = { browse: true, read: true, edit: false, add: false, delete: false, export: false };
    await store.permissions.setRole('Clerk', { orders: { ...may, actions: { Ship: { trigger } } } });
    const { id } = (await store.identity.findUserByEmail('ada@example.com'))!;
    const { renderingId } = (await store.permissions.caller(id))!;
    const publish = async (name: string, when: object, of?: { readonly id: string; readonly since: number }) => {
      const options = [{ id: 'a', when }, { id: 'b' }];
      const steps = [{ id: 'which', type: 'condition', options }];
      const definition = JSON.stringify({ name, collection: 'orders', steps });
      const wish = { renderingId, name, collection: 'orders', concurrency: null, by: id, definition };
      return store.workflows.publish(of ? { ...wish, of } : wish);
    };
    const clear = { field: 'status', operator: 'Equal', value: 'x' };
    await publish('Old', old('order_items:product:name'));
    const corrected = await publish('Corrected', old('order_items:product:name'));
    await publish('Corrected', clear, { id: corrected.id, since: 1 });
  } finally {
    await store.close();
  }
  const env = { SERVICE_DATABASE_URL: `sqlite:${join(place.folder, 'demo.sqlite')}` };
  const { code, stdout } = await portico(['doctor', '--port', '0'], { ...place, env });
  const found = findings(stdout);
  const at = found.findIndex((line) => line.startsWith('note Filters'));
  const owners = found.slice(at + 1, at + 4).map((line) => line.slice(0, line.indexOf(': ')));
  expect([code, owners.sort(), stdout.includes('Corrected')]).toEqual([
    0,
    [
      "the condition of role 'Clerk' for 'Ship' of 'orders'",
      "the row scope of team 'South' on 'customers'",
      "the workflow 'Old' of team 'South'",
    ],
    false,
  ]);
});

test('the identity provider, the clock and the public address are checked', async () => {
  let issuer = '';
  let ahead = 0;
  const server = createServer((req, res) => {
    res.setHeader('Date', new Date(Date.now() + ahead * 1000).toUTCString());
    if (req.url === '/healthz') res.end('{"status":"ok"}');
    else if (req.url === '/.well-known/openid-configuration') res.end(JSON.stringify({ issuer }));
    else res.writeHead(404).end('none');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = async (at: string, publicUrl: string) => {
    const env = { SERVICE_SSO_ISSUER: at, SERVICE_SSO_CLIENT_ID: 'portico', SERVICE_PUBLIC_URL: publicUrl };
    const { code, stdout } = await portico(['doctor', '--port', '0'], { ...place, env });
    return [code, findings(stdout).filter((line) => /provider|Clock|Public address/.test(line))];
  };
  const taken = await takePort();
  await taken.free();
  const gone = `http://127.0.0.1:${taken.port}`;
  issuer = own;
  const right = await ask(own, own);
  ahead = 600;
  const late = await ask(own, `${own}/elsewhere`);
  issuer = 'https://other.example.com';
  const other = await ask(own, gone);
  const away = await ask(gone, own);
  server.close();
  expect([right, late, other, away]).toEqual([
    [0, [`ok Public address ${own} answers`, `ok Identity provider ${own} answers, and the clocks agree`]],
    [
      1,
      [
        expect.stringMatching(/^note Public address .*elsewhere answers with 404/),
        expect.stringMatching(/^wrong Clock: this machine is (59\d|600) seconds behind/),
      ],
    ],
    [
      1,
      [
        expect.stringMatching(/^note Public address .* does not answer here \(ECONNREFUSED\)/),
        expect.stringContaining("its configuration is that of 'https://other.example.com'"),
      ],
    ],
    [
      1,
      [
        `ok Public address ${own} answers`,
        expect.stringMatching(/^wrong Identity provider .*cannot be read \(ECONNREFUSED\); check SERVICE_SSO_ISSUER/),
      ],
    ],
  ]);
});

test('the mail server is asked: it answers, refuses the password, is not there, or cannot encrypt; no mail is sent', async () => {
  const smtp = await startMailServer();
  const closed = await freePort();
  const check = async (url: string) => {
    const env = { SERVICE_MAIL_URL: url, SERVICE_MAIL_FROM: 'portico@example.com' };
    const { code, stdout, stderr } = await portico(['doctor', '--port', '0'], { ...place, env });
    expect(stdout + stderr).not.toMatch(/hunter2|somebody/);
    return [code, ...findings(stdout).filter((line) => line.includes('Mail'))];
  };
  const at = `127.0.0.1:${smtp.port}`;
  expect(await check(`smtp://${at}`)).toEqual([0, `ok Mail server smtp://${at} answers`]);
  expect(await check(`smtp://somebody:hunter2@${at}`)).toEqual([
    1,
    `wrong Mail server smtp://***@${at}: it refuses the user or the password of SERVICE_MAIL_URL`,
  ]);
  expect(await check(`smtps://${at}`)).toEqual([
    1,
    expect.stringMatching(/^wrong Mail server .*: the connection (failed|cannot be encrypted)/),
  ]);
  expect(await check(`smtp://127.0.0.1:${closed}`)).toEqual([
    1,
    expect.stringMatching(/^wrong Mail server .*: (nothing answers|the connection failed)/),
  ]);
  expect(smtp.mails).toEqual([]);
  await smtp.stop();
});
