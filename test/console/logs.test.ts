// The logs in the console: users find their own entries, administrators all. Entries of other users return 404.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actionNames, toOwnName } from '../../src/api/logs/activity-actions.ts';
import { describeAction, describeChange } from '../../src/console/ui/log-words.ts';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import type { Account } from '../oauth/flow.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

const FROM = Date.parse('2026-03-28T23:30:00.000Z');
let server: ConsoleTestServer;
let eve: Account;

beforeAll(async () => {
  server = await openConsoleServer();
  eve = await server.addUser({ email: 'eve@example.com', firstName: 'Eve', timezone: 'Europe/Paris' });
  const record = async (account: Account, more: Partial<ActivityEntry>) => {
    const user = await server.userOf(account);
    const { renderingId } = (await server.store.permissions.caller(user.id))!;
    server.store.activity.record({
      ...{ userId: user.id, renderingId, clientId: 'c', clientName: '<b>Notebook</b>', action: 'list', type: 'read' },
      ...{ collection: 'orders', outcome: 'completed', startedAt: FROM, durationMs: 2, ...more },
    });
  };
  for (let n = 0; n < 60; n++) await record(eve, { startedAt: FROM + (n >> 3) });
  await record(server.account, {
    action: 'delete',
    type: 'write',
    recordIds: ['42'],
    outcome: 'denied',
    code: 'FORBIDDEN',
  });
  await server.store.activity.flush();
});
afterAll(() => server?.stop());

const rowsOf = (html: string): number => html.split('<th scope="row">').length - 1;

test('users see only their own entries, in pages, whatever the URL requests', async () => {
  const { browser, page } = await server.browse(eve, '/activity');
  const older = /href="([^"]+)" rel="next"/.exec(page.html)![1]!.replaceAll('&amp;', '&');
  const second = await browser.open(new URL(older, server.at('')).href);
  const asked = await browser.open(server.at(`/activity?person=${server.account.email}`));
  const [mine] = await server.store.activity.search({ userId: server.ada.id, limit: 1 });
  const stranger = await browser.open(server.at(`/activity/${mine!.id}`));
  const log = await browser.open(server.at('/admin-log'));
  expect([rowsOf(page.html), rowsOf(second.html), rowsOf(asked.html)]).toEqual([50, 10, 50]);
  expect([page.html.includes('<b>Notebook'), read(page).includes('Admin log'), read(asked).includes('42')]).toEqual([
    false,
    false,
    false,
  ]);
  expect([stranger.status, log.status]).toEqual([404, 404]);
});

test('days are in the timezone of the user, and filters find the entry', async () => {
  const { browser } = await server.browse(eve, '/activity');
  const inParis = await browser.open(server.at('/activity?from=2026-03-29&to=2026-03-29'));
  const before = await browser.open(server.at('/activity?to=2026-03-28'));
  expect([rowsOf(inParis.html), rowsOf(before.html), read(before).includes('No results')]).toEqual([50, 0, true]);
  expect(read(inParis)).toContain('29 Mar 2026, 00:30 CET');
});

test('the action is in words, and the filter chooses it by them', async () => {
  const { browser } = await server.browse(server.account, '/activity');
  const page = await browser.open(server.at('/activity?action=delete'));
  expect(rowsOf(page.html)).toBe(1);
  expect(page.html).toContain('<option value="delete" selected>Deleted records</option>');
  expect(read(page)).toMatch(/Notebook\S* Deleted records orders /);
  const other = await browser.open(server.at('/activity?action=countRecords'));
  expect(other.html).toContain('<option value="countRecords" selected>Count records</option>');
});

test('every action of the logs has words', () => {
  const words = [...actionNames.map((name) => describeAction(toOwnName(name))), describeChange('start-rule.pause')];
  expect(words.filter((text) => !/^[A-Z][a-z]+( [a-z]+| SQL| AI| API)*$/.test(text))).toEqual([]);
  expect(['role.add', 'user.totp-on', 'remote-server.change', 'scope.set'].map(describeChange)).toEqual([
    ...['Role added', 'Authenticator app added', 'Remote server changed', 'Row scope changed'],
  ]);
});

test('an administrator finds an entry by the record, opens it, and downloads all matches as a file', async () => {
  const { browser } = await server.browse(server.account, '/activity');
  const page = await browser.open(server.at('/activity?record=42&outcome=denied'));
  const entry = await browser.open(
    new URL(/<a href="([^"]+\/activity\/\d+)"/.exec(page.html)![1]!, server.at('')).href,
  );
  const csv = await browser.open(server.at('/activity/export?format=csv&record=42'));
  const lines = await browser.open(server.at('/activity/export?format=ndjson&person=eve@example.com'));
  expect([rowsOf(page.html), read(entry).includes('denied: FORBIDDEN'), read(entry).includes('Ada Byron')]).toEqual([
    1,
    true,
    true,
  ]);
  expect(csv.html.split('\r\n').length).toBe(3);
  expect(lines.html.trimEnd().split('\n').length).toBe(60);
});

test('the admin log shows the values before and after', async () => {
  const user = await server.userOf(eve);
  await server.store.members.change(user.id, { level: 'editor' }, server.ada.id);
  const { browser } = await server.browse(server.account, '/admin-log');
  const page = await browser.open(server.at('/admin-log?resource=user-project&type=update'));
  const entry = await browser.open(
    new URL(/<a href="([^"]+\/admin-log\/\d+)"/.exec(page.html)![1]!, server.at('')).href,
  );
  expect(read(page)).toContain('User changed');
  expect(read(entry)).toContain('Name in the API user.set');
  expect(read(entry)).toMatch(/Before .*level user .*After .*level editor/);
});
