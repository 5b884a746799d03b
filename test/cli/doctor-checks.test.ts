// The checks of `portico doctor` in this process: every problem that it can name, and that it never shows a secret.
// doctor.test.ts runs the command.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { examine } from '../../src/cli/doctor.ts';
import { describeSettings } from '../../src/core/config/shown.ts';
import { loadConfig, settings } from '../../src/core/config.ts';
import { copyDemo } from '../demo.ts';
import { takePort } from '../ports.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portico-doctor-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Input = NonNullable<Parameters<typeof loadConfig>[0]>;

/** The lines of the checks, with the folder of the test replaced by `~`. */
async function ask(env: Record<string, string> = {}, flags: Input['flags'] = {}) {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const input = { flags, env: { SERVICE_DATA_DIR: join(folder, 'data'), MCP_SERVER_PORT: '0', ...env } };
  const isSound = await examine(loadConfig(input));
  const text = written.mock.calls.map(([chunk]) => String(chunk)).join('');
  written.mockRestore();
  const [set = '', found = ''] = text.replaceAll(folder, '~').split('\nChecks\n');
  const lines = found.split('\n').map((line) => line.trim().replace(/ {2,}/, ' '));
  return { isSound, text, set, lines: lines.filter((line) => line !== '') };
}

test('an empty folder has no problems, and stays empty', async () => {
  const { isSound, lines } = await ask();
  expect([isSound, readdirSync(folder), lines]).toEqual([
    true,
    [],
    [
      `ok Node ${process.versions.node}`,
      expect.stringMatching(/^(ok|note) SQLite: /),
      'ok Data folder ~/data is created at the first start',
      'ok Storage ~/data/portico.sqlite is created at the first start',
      'ok Database: the demo shop, created at the first start',
      'ok Address: clients on this machine only, at 127.0.0.1',
      'ok Port: any free port',
      'ok Metrics: not served',
      'No problems found.',
    ],
  ]);
});

test.each([
  ['20.19.0', 'ok'],
  ['20.18.3', 'wrong'],
  ['18.20.0', 'wrong'],
  ['22.0.0', 'ok'],
])('Node %s is %s', async (version, state) => {
  vi.spyOn(process, 'versions', 'get').mockReturnValue({ ...process.versions, node: version });
  const { isSound, lines } = await ask();
  expect([isSound, lines[0]]).toEqual([state === 'ok', expect.stringMatching(new RegExp(`^${state} Node ${version}`))]);
});

test('the WebAssembly SQLite is noted', async () => {
  const { isSound, lines } = await ask({ SERVICE_SQLITE: 'wasm' });
  expect([isSound, lines[1]]).toEqual([true, expect.stringMatching(/^note SQLite: WebAssembly, slower/)]);
});

test('problems are counted, each in its own line', async () => {
  const taken = await takePort();
  onTestFinished(() => taken.free());
  writeFileSync(join(folder, 'data'), '');
  const { isSound, lines } = await ask({
    SERVICE_STORAGE_URL: 'postgres://keeper:hunter2@127.0.0.1:1/portico',
    SERVICE_DATABASE_URL: `crm=mysql://reader:hunter4@127.0.0.1:1/crm\nsqlite:${join(folder, 'gone.sqlite')}`,
    SERVICE_METRICS_PORT: `${taken.port}`,
    MCP_SERVER_PORT: `${taken.port}`,
    SERVICE_TRUSTED_PROXIES: '10.0.0.1,::/0',
  });
  expect([isSound, lines.slice(2)]).toEqual([
    false,
    [
      'wrong Data folder ~/data is not a folder',
      expect.stringMatching(/^wrong Storage: PostgreSQL at host 127\.0\.0\.1, port 1: nothing listens there/),
      expect.stringMatching(/^wrong Database 'crm': MySQL or MariaDB at host 127\.0\.0\.1, port 1: nothing listens/),
      expect.stringMatching(/^wrong Database 'gone': .*does not exist/),
      'ok Address: clients on this machine only, at 127.0.0.1',
      `wrong Port ${taken.port} is in use, perhaps by Portico itself; stop that program, or set MCP_SERVER_PORT`,
      `wrong Metrics: port ${taken.port} is in use, perhaps by Portico itself; stop that program, or set SERVICE_METRICS_PORT`,
      expect.stringMatching(/^note Secret: processes that share a storage need the same SERVICE_SECRET;/),
      expect.stringMatching(/^wrong Proxies: SERVICE_TRUSTED_PROXIES trusts every address \(::\/0\)/),
      '7 problems found.',
    ],
  ]);
  rmSync(join(folder, 'data'));
  const one = await ask({ SERVICE_PUBLIC_URL: 'http://data.example.invalid' });
  expect([one.isSound, one.lines.at(-1)]).toEqual([false, '1 problem found.']);
});

test('existing databases are read and not changed', async () => {
  mkdirSync(join(folder, 'data'));
  copyDemo(join(folder, 'data', 'demo.sqlite'));
  const { isSound, lines } = await ask();
  expect([isSound, lines.slice(2, 5)]).toEqual([
    true,
    [
      'ok Data folder ~/data is writable',
      'ok Storage ~/data/portico.sqlite is created at the first start',
      'ok Database sqlite:~/data/demo.sqlite: 8 tables and views',
    ],
  ]);
  expect(readdirSync(join(folder, 'data'))).toEqual(['demo.sqlite']);
  expect(existsSync(join(folder, 'data', 'secret'))).toBe(false);
});

test('the origin of each setting is shown, every secret is masked, and the user and query of an address too', async () => {
  const secrets = Object.entries(settings).flatMap(([name, row]) => ('secret' in row && row.secret ? [name] : []));
  const config = loadConfig({
    code: { pageSize: 7 },
    flags: { host: 'localhost' },
    env: {
      SERVICE_DATABASE_URL: 'crm=mysql://reader:hunter4@h/crm?ssl-key=hunter5\nsqlite:a.sqlite?key=hunter6',
      SERVICE_STORAGE_URL: 'sqlite:/b.sqlite?key=hunter7',
    },
    file: { pageSizeLimit: 70 },
  });
  const values = {
    ...Object.fromEntries(secrets.map((name) => [name, 'hunter8'])),
    ssoProviders: '[{"id":"a","issuer":"https://id.example","clientId":"b","clientSecret":"hunter9"}]',
  };
  const shown = describeSettings({ ...config, ...values, database: config.database, storageUrl: config.storageUrl });
  expect(secrets).toEqual(expect.arrayContaining(['secret', 'envSecret', 'adminPassword', 'redisUrl', 'mcpToken']));
  expect(shown.filter(({ value }) => value.includes('hunter'))).toEqual([]);
  const of = (name: string) => shown.filter((one) => one.name === name).map(({ value, origin }) => [value, origin])[0];
  expect([of('database'), of('storageUrl'), of('host'), of('pageSize'), of('pageSizeLimit'), of('port')]).toEqual([
    ['crm=mysql://***@h/crm?***, sqlite:a.sqlite?***', 'environment'],
    ['sqlite:/b.sqlite?***', 'environment'],
    ['localhost', 'flag'],
    ['7', 'code'],
    ['70', 'file'],
    ['3931', 'default'],
  ]);
  const token = await ask({ SERVICE_STORAGE_URL: 'postgres://only-a-token@127.0.0.1:1/portico' });
  expect(token.text).not.toContain('only-a-token');
});

test('another program at the public address, and a clock that differs in either direction, are found', async () => {
  let ahead = 0;
  let health = '{"status":"ok"}';
  const server = createServer((req, res) => {
    const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    res.setHeader('Date', new Date(Date.now() + ahead * 1000).toUTCString());
    if (req.url === '/portico/healthz') res.end(health);
    else if (req.url === '/.well-known/openid-configuration') res.end(JSON.stringify({ issuer: own }));
    else res.writeHead(404).end('none');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { SERVICE_SSO_ISSUER: own, SERVICE_SSO_CLIENT_ID: 'portico', SERVICE_PUBLIC_URL: `${own}/portico` };
  const found = async () => (await ask(env)).lines.filter((line) => /provider|Clock|Public address/.test(line));
  const provider = `ok Identity provider ${own} answers, and the clocks agree`;
  expect(await found()).toEqual([`ok Public address ${own}/portico answers`, provider]);
  for (health of ['<html>', '{"status":"up"}', '[]', 'null'])
    expect(await found()).toEqual([
      expect.stringMatching(/^note Public address .* answers with 200: expected/),
      provider,
    ]);
  for (const [seconds, text] of [
    [90, / seconds behind of the identity provider/],
    [-90, / seconds ahead of the identity provider/],
  ] as const) {
    ahead = seconds;
    expect((await found())[1]).toMatch(text);
  }
  for (ahead of [50, -50]) expect((await found())[1]).toBe(provider);
});
