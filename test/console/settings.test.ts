// The settings page: the current settings of the process, only for administrators and without secrets; and the warnings
// there and in `portico doctor`.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findProblems } from '../../src/core/config/findings.ts';
import { settingGroups } from '../../src/core/config/shown.ts';
import { loadConfig, settings } from '../../src/core/config.ts';
import type { Page } from '../oauth/flow.ts';
import { runSql } from '../sql/schemas.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
beforeAll(async () => {
  server = await openConsoleServer({
    env: {
      SERVICE_SECRET: 'a-secret-of-the-installation',
      SERVICE_MCP_TOKEN: 'svc_of-somebody',
      SERVICE_REDIS_URL: 'redis://:hunter2@127.0.0.1:1/0',
      SERVICE_SSO_MAPPING: '',
      SERVICE_WEBHOOK_HOSTS: 'a.internal,b.internal',
      SERVICE_TRUSTED_PROXIES: '10.0.0.1,::/0',
      SERVICE_SCHEMA_SECONDS: '0',
    },
    app: { customize: (agent) => void agent.customizeCollection('customers', () => undefined) },
  });
});
afterAll(() => server?.stop());

/** The text in the row of a setting. */
const lineOf = (page: Page, env: string): string => {
  const lines = page.html.split(/<div(?: class="set")?><dt>/);
  const [html = ''] = lines.find((part) => part.startsWith(`<code>${env}</code>`))?.split('</div>') ?? [];
  return read({ ...page, html });
};

test('an administrator sees every setting with its value and origin, and no secret', async () => {
  const { page } = await server.browse(server.account, '/settings');
  const all = Object.values(settings).map(({ env }) => env);
  expect(all.filter((env) => !page.html.includes(`<code>${env}</code>`))).toEqual([]);
  expect(lineOf(page, 'SERVICE_SECRET')).toMatch(/set, and not shown from environment$/);
  expect(lineOf(page, 'SERVICE_REDIS_URL')).toMatch(/set, and not shown from environment$/);
  expect(lineOf(page, 'SERVICE_ENV_SECRET')).toMatch(/not set from default$/);
  expect(lineOf(page, 'SERVICE_WEBHOOK_HOSTS')).toMatch(/a\.internal,b\.internal from environment$/);
  expect(lineOf(page, 'SERVICE_HOST')).toMatch(/\( --host \) 127\.0\.0\.1 from default$/);
  expect(page.html).not.toMatch(/hunter2|a-secret|svc_of/);
  // One form reads the tables again, and one finds settings: none changes any.
  expect(page.html.match(/<form method="post"(?![^>]*sign-out)[^>]*>/g)).toEqual([
    expect.stringContaining('/settings"'),
  ]);
  expect(page.html).not.toMatch(/<details class="more settings-group" open>/);
  expect(read(page)).toMatch(/Data and storage \d+ settings, \d set here/);
  expect(read(page)).toContain('SERVICE_TRUSTED_PROXIES trusts every address (::/0)');
});

test('the page can show only the settings that are set', async () => {
  const { browser } = await server.browse(server.account, '/settings');
  const page = await browser.open(server.at('/settings?shown=set'));
  expect([page.html.includes('SERVICE_WEBHOOK_HOSTS'), page.html.includes('SERVICE_CIMD')]).toEqual([true, false]);
});

test('settings are found by words of their name, purpose or value, also among those that are set', async () => {
  const { browser } = await server.browse(server.account, '/settings');
  const shown = async (query: Record<string, string>) => {
    const page = await browser.open(server.at(`/settings?${new URLSearchParams(query)}`));
    return { page, names: [...page.html.matchAll(/<dt><code>(\w+)</g)].map(([, name]) => name) };
  };
  const { names, page } = await shown({ find: 'Mail server' });
  expect(names).toContain('SERVICE_MAIL_URL');
  expect(names.length).toBeLessThan(5);
  expect(page.html).toMatch(/<details class="more settings-group" open>/);
  expect((await shown({ find: 'A.INTERNAL' })).names).toEqual(['SERVICE_WEBHOOK_HOSTS']);
  expect((await shown({ find: 'SERVICE_', shown: 'set' })).names).not.toContain('SERVICE_MAIL_URL');
  expect((await shown({ find: 'hunter2' })).names).toEqual([]);
  expect(read((await shown({ find: 'hunter2' })).page)).toContain('No setting matches');
});

test('the button reads the tables again, and shows the error of a failure', async () => {
  const { browser, page } = await server.browse(server.account, '/settings');
  const change = (sql: string) => runSql({ dialect: 'sqlite', url: server.database, drop: async () => {} }, [sql]);
  const names = async () => {
    const access = await server.store.permissions.accessOf(server.ada.id);
    return server.engine.describe(access!, 'customers').fields.map(({ name }) => name);
  };
  await change('ALTER TABLE customers ADD COLUMN nickname TEXT');
  expect(await names()).not.toContain('nickname');
  const reloaded = await browser.press(page, 'reload');
  expect(read(reloaded)).toContain('The tables were read again. Portico now serves their current columns.');
  expect(await names()).toContain('nickname');
  await change('ALTER TABLE customers RENAME TO clients');
  const refused = await browser.press(reloaded, 'reload');
  expect(read(refused)).toContain('The previous tables stay in use.');
  expect(await names()).toContain('nickname');
  await change('ALTER TABLE clients RENAME TO customers');
});

test('only administrators can open the page', async () => {
  const eve = await server.addUser({ email: 'eve@example.com', level: 'developer' });
  const { browser, page } = await server.browse(eve, '');
  const refused = await browser.open(server.at('/settings'));
  expect([page.html.includes('/settings'), refused.status, refused.html.includes('SERVICE_')]).toEqual([
    false,
    404,
    false,
  ]);
});

test('every setting is in one group', () => {
  expect(settingGroups.flatMap(([, names]) => names).sort()).toEqual(Object.keys(settings).sort());
});

const storage = 'postgres://keeper:hunter2@db.example.com/portico';
test.each([
  [{}, []],
  [{ SERVICE_HOST: '0.0.0.0' }, ['note Listening on 0.0.0.0']],
  [{ SERVICE_HOST: '0.0.0.0', SERVICE_PUBLIC_URL: 'https://data.example.com' }, []],
  [{ SERVICE_PUBLIC_URL: 'http://data.example.com' }, ['wrong Address: SERVICE_PUBLIC_URL']],
  [{ SERVICE_PUBLIC_URL: 'http://[::1]:8080' }, []],
  [{ SERVICE_METRICS_PORT: '9464', SERVICE_METRICS_HOST: '10.0.0.1' }, ['note Metrics: 10.0.0.1']],
  [{ SERVICE_METRICS_PORT: '9464' }, []],
  [{ SERVICE_METRICS_HOST: '10.0.0.1' }, []],
  [{ SERVICE_STORAGE_URL: 'sqlite:/data/portico.sqlite' }, []],
  [
    { SERVICE_HOST: '0.0.0.0', SERVICE_TRUSTED_PROXIES: '::/0' },
    ['wrong Proxies: SERVICE_TRUSTED_PROXIES', 'note Listening on 0.0.0.0'],
  ],
  [
    { SERVICE_STORAGE_URL: storage },
    ['note Secret: processes', 'note Encryption: unencrypted connection to SERVICE_STORAGE_URL (?sslmode=require)'],
  ],
  [
    { SERVICE_STORAGE_URL: `${storage}?sslmode=prefer`, SERVICE_SECRET: 'x' },
    ['note Encryption: unencrypted connection to SERVICE_STORAGE_URL'],
  ],
  [{ SERVICE_STORAGE_URL: `${storage}?sslmode=require`, SERVICE_SECRET: 'x' }, []],
  [{ SERVICE_STORAGE_URL: 'mysql://root@127.0.0.1/portico', SERVICE_SECRET: 'x' }, []],
  [
    { SERVICE_REDIS_URL: 'redis://:hunter2@cache.example.com' },
    ['note Encryption: unencrypted connection to SERVICE_REDIS_URL (rediss:)'],
  ],
  [{ SERVICE_REDIS_URL: 'rediss://:hunter2@cache.example.com' }, []],
  [
    { SERVICE_TRUSTED_PROXIES: '10.0.0.0/8,0.0.0.0/0' },
    ['wrong Proxies: SERVICE_TRUSTED_PROXIES trusts every address'],
  ],
  [
    { SERVICE_SSO_ISSUER: 'https://id.example.com', SERVICE_SSO_CLIENT_ID: 'x', SERVICE_SSO_PASSWORDS: 'true' },
    ['note Sign-in: passwords work'],
  ],
  [
    { SERVICE_SERVER_URL: 'https://platform.example.com', SERVICE_ACTIVITY_DAYS: '3' },
    ['note Logs: SERVICE_ACTIVITY_DAYS'],
  ],
] as const)('the problems of %o are: %o', (env, expected) => {
  const found = findProblems(loadConfig({ env })).map(({ state, text }) => `${state} ${text}`);
  expect(found.map((text, at) => text.slice(0, expected[at]?.length))).toEqual(expected);
  expect(found.join()).not.toContain('hunter2');
});
