// Rights that change during an export: each part is sent with the rights at that moment (CWE-613), for records and for
// the logs of the console.
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { servers, type TestDatabase } from '../databases.ts';
import { createBrowser } from '../oauth/flow.ts';
import { sessionToken } from '../rest/front-end.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { disabled, everything, rolePolicies } from './oracle.ts';
import { openWorld, type World } from './world.ts';

const ends: (() => Promise<void>)[] = [];
let world: World;
let storage: TestDatabase;
beforeAll(async () => {
  storage = await servers[0]!.create();
  ends.unshift(() => storage.drop());
  const small = { SERVICE_PAGE_SIZE: '1', SERVICE_PAGE_SIZE_LIMIT: '1' };
  world = await openWorld(servers[0]!, (end) => ends.unshift(end), { SERVICE_STORAGE_URL: storage.url, ...small });
});
afterAll(async () => {
  for (const end of ends) await end();
});

const policyOf = (name: string) => [...rolePolicies, disabled].find((policy) => policy.name === name)!;
const onlyFirst = {
  name: 'a row scope',
  scope: { collection: 'orders', filter: { field: 'id', operator: 'LessThan', value: 2 } },
} as const;

test.each([
  ['a row scope', onlyFirst, 'completed', ['boots']],
  ['no right to export', policyOf('no exports'), 'denied FORBIDDEN', ['boots']],
  ['no right to browse', policyOf('no orders'), 'denied FORBIDDEN', ['boots']],
  ['a hidden field', policyOf('a hidden field'), 'failed UNKNOWN_FIELD', ['boots']],
  ['a disabled user', disabled, 'denied UNAUTHENTICATED', ['boots']],
] as const)('records: %s before the second page', async (_, policy, outcome, labels) => {
  await world.apply(everything);
  const authorization = `Bearer ${await sessionToken(world.apiUrl, world.clerk)}`;
  let pages = 0;
  world.beforeList(async () => {
    // Applies the policy just before the second page.
    if (++pages === 1) await world.apply(policy);
  });
  await world.logged();
  const response = await fetch(`${world.apiUrl}/orders.csv?fields[orders]=id,label,margin`, {
    headers: { authorization },
  });
  const text = await response.text().catch((error: Error) => error.message);
  world.beforeList(async () => undefined);
  expect(response.status).toBe(200);
  if (outcome === 'completed') expect([...text.matchAll(/[a-z]{4,}(?=,\d)/g)].map(([label]) => label)).toEqual(labels);
  else expect(text).toBe('terminated');
  const [entry] = await world.logged();
  expect([entry?.outcome, entry?.code].filter(Boolean).join(' ')).toBe(outcome);
});

const LINES = 40_000;

/** Adds `LINES` entries to a log. */
async function fill(log: 'activity' | 'admin-log'): Promise<void> {
  const table = log === 'activity' ? 'activity_logs' : 'admin_logs';
  const column = log === 'activity' ? 'client_name' : 'subject';
  const [row] = await askSql(storage, `SELECT * FROM ${table} ORDER BY id DESC LIMIT 1`);
  const names = Object.keys(row!).filter((name) => name !== 'id');
  const copied = names.map((name) => (name === column ? `'${'x'.repeat(180)}'` : name)).join(', ');
  await runSql(storage, [
    `INSERT INTO ${table} (${names.join(', ')}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LINES}) SELECT ${copied} FROM ${table}, n WHERE ${table}.id = ${row!.id}`,
  ]);
}

/** Reads an export. `change` is made after its first part. */
const readExport = (address: URL, headers: Readonly<Record<string, string>>, change?: () => Promise<unknown>) =>
  new Promise<{ readonly bytes: number; readonly isWhole: boolean }>((resolve, reject) => {
    const sent = request(address, { headers }, (response) => {
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        const isFirst = bytes === 0;
        bytes += part.length;
        if (!isFirst || !change) return;
        response.pause();
        void change().then(() => response.resume());
      });
      response.on('error', () => undefined);
      response.on('close', () => resolve({ bytes, isWhole: response.complete }));
    });
    sent.on('error', reject);
    sent.end();
  });

test.each(['activity', 'admin-log'] as const)('the console: %s is cut off when the user is disabled', async (log) => {
  await world.apply(everything);
  await fill(log);
  const browser = createBrowser();
  const eve = await world.addUser({ email: `${log}@example.test`, level: 'admin' });
  const { id } = (await world.store.identity.findUserByEmail(eve.email))!;
  await browser.press(await browser.open(`${world.consoleUrl}/account`), 'sign-in', { ...eve });
  const address = new URL(`${world.consoleUrl}/${log}/export?format=ndjson`);
  const headers = { cookie: browser.cookieHeader(address) };
  const whole = await readExport(address, headers);
  expect(whole.isWhole).toBe(true);
  const cut = await readExport(address, headers, () => world.store.identity.setDisabled(id, true));
  expect(cut.isWhole).toBe(false);
  expect(cut.bytes).toBeLessThan(whole.bytes);
});

test('the public API: an export is cut off when the token is revoked, and when its user loses the Admin role', async () => {
  await world.apply(everything);
  await fill('activity');
  const { email } = await world.addUser({ email: 'exporter@example.test', level: 'admin' });
  const { id: userId } = (await world.store.identity.findUserByEmail(email))!;
  const { project, environment } = await world.store.identity.place();
  const path = `/v1/project/${encodeURIComponent(project)}/environment/${encodeURIComponent(environment)}`;
  const address = new URL(`${path}/activity-logs/export`, world.consoleUrl);
  const { members, tokens } = world.store;
  const made = { userId, name: 'export', scopes: ['activity_logs:read'] };
  const { token, secret } = await tokens.create(made);
  const headers = { authorization: `Bearer ${secret}` };
  const seen = [
    await readExport(address, headers),
    await readExport(address, headers, () => members.change(userId, { level: 'developer' })),
  ];
  await members.change(userId, { level: 'admin' });
  seen.push(await readExport(address, headers, () => tokens.revoke(token.id)));
  expect(seen.map(({ isWhole }) => isWhole)).toEqual([true, false, false]);
});
