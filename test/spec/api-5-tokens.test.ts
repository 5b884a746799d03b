// Section 5 of the public API: which token opens what, at the moment of the call.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { type NoteDoor, openNoteDoor } from '../api/note-door.ts';
import { createBrowser } from '../oauth/flow.ts';
import { goThrough, openUpstream } from '../oauth/upstream.ts';

let late = 0;
let door: NoteDoor;
beforeAll(async () => {
  door = await openNoteDoor({ app: { clock: { ...systemClock, now: () => Date.now() + late } } });
  await door.shop.addUser({ email: 'eve@example.com', level: 'editor' });
});
afterAll(() => door?.shop.stop());

const note = { title: 'A note', collectionName: 'customers', recordId: '1' };
const tokens = '/project/My%20project/tokens';
const activity = '/project/My%20project/environment/Production/activity-logs';
const adminLogs = '/project/My%20project/admin-logs';

/** Of reading notes, writing one, the activity log, the admin log, and the list of tokens. */
async function statuses(scopes: readonly string[], email?: string) {
  const secret = await door.secret(scopes, email);
  const asked = [
    await door.ask('GET', '{notes}', { secret }),
    await door.ask('POST', '{notes}', { secret, body: note }),
    await door.ask('GET', activity, { secret }),
    await door.ask('GET', adminLogs, { secret }),
    await door.ask('GET', tokens, { secret }),
  ];
  return asked.map(({ status }) => status);
}

test('Bearer | every request carries `Authorization: Bearer <APPLICATION_TOKEN>`', async () => {
  const secret = await door.secret(['all']);
  const ask = async (headers: Record<string, string>, query = '') =>
    (await fetch(`${door.shop.address}/v1/token${query}`, { headers })).status;
  expect([
    await ask({ authorization: `Bearer ${secret}` }),
    await ask({}),
    await ask({ authorization: `Basic ${btoa(`${secret}:`)}` }),
    await ask({ authorization: secret }),
    await ask({ cookie: `token=${secret}` }),
    await ask({}, `?access_token=${secret}`),
  ]).toEqual([200, 401, 401, 401, 401, 401]);
});

test('Admin role | the generating user must have it; tokens of non-admin users cannot use the notes endpoint', async () => {
  const { identity, members } = door.shop.store;
  const secret = await door.secret(['all'], 'eve@example.com');
  const { id } = (await identity.findUserByEmail('eve@example.com'))!;
  const ask = async () => (await door.ask('GET', '{notes}', { secret })).status;
  const seen = [await ask()];
  await members.change(id, { level: 'admin' });
  seen.push(await ask());
  await members.change(id, { level: 'editor' });
  seen.push(await ask());
  expect(seen).toEqual([403, 200, 403]);
});

test('SSO | when the project uses it, the token must be generated while logged in through it', async () => {
  const upstream = await openUpstream();
  onTestFinished(() => upstream.stop());
  // Passwords stay open beside it, for the session that must not make one.
  const other = await openNoteDoor({ env: { ...upstream.env, SERVICE_SSO_PASSWORDS: 'true' } });
  onTestFinished(() => other.shop.stop());
  const at = (page: string) => other.shop.consoleUrl + page;
  upstream.start([at('/sso/callback')]);
  const through = createBrowser();
  await through.open(await goThrough(through, await through.open(at('/tokens')), 'nina'));
  const form = await through.open(at('/tokens/new?for=api'));
  const { html } = await through.press(form, 'make', { name: 'Hers', scope: 'notes:read', expires: 'never' });
  const [secret = 'none'] = /svc_[\w-]{43}/.exec(html) ?? [];
  const typed = createBrowser();
  await typed.press(await typed.open(at('/tokens')), 'sign-in', { ...other.shop.account });
  const refused = await typed.open(at('/tokens/new?for=api'));
  const without = await other.secret(['notes:read']);
  expect([
    refused.status,
    refused.html.includes('Single sign-on is on here'),
    html.includes('type="password"'),
  ]).toEqual([403, true, false]);
  const statusOf = async (sent: string) => (await other.ask('GET', '/token', { secret: sent })).status;
  expect([await statusOf(secret), await statusOf(without)]).toEqual([200, 401]);
});

test('revoked | at any time; takes effect immediately, and calls then return 401', async () => {
  const { store, account } = door.shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  const { token, secret } = await store.tokens.create({ userId: user.id, name: 'gone', scopes: ['notes:read'] });
  const before = (await door.ask('GET', '{notes}', { secret })).status;
  const gone = await door.ask('DELETE', `${tokens}/${token.id}`);
  expect([before, gone.status, (await door.ask('GET', '{notes}', { secret })).status]).toEqual([200, 204, 401]);
});

test('expire | a token can', async () => {
  const { store, account } = door.shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  const asked = { userId: user.id, name: 'short', scopes: ['notes:read'], expiresAt: Date.now() + 30_000 };
  const { secret } = await store.tokens.create(asked);
  const before = (await door.ask('GET', '{notes}', { secret })).status;
  late = 31_000;
  const after = (await door.ask('GET', '{notes}', { secret })).status;
  late = 0;
  expect([before, after]).toEqual([200, 401]);
});

test('read-only | view activity logs, admin logs, notes', async () => {
  const secret = await door.secret(['activity_logs:read', 'admin_logs:read', 'notes:read']);
  const { body } = await door.ask('GET', '/token', { secret });
  expect([body.level, await statuses(body.scopes)]).toEqual(['read-only', [200, 403, 200, 200, 403]]);
});

test('read-write | also create and update notes', async () => {
  const secret = await door.secret(['notes:read', 'notes:write']);
  const { body } = await door.ask('GET', '/token', { secret });
  const made = await door.ask('POST', '{notes}', { secret, body: note });
  const path = `{notes}/${made.body.id}`;
  const changed = await door.ask('PATCH', path, { secret, body: { title: 'Another' } });
  expect([body.level, made.status, changed.status, changed.body.title]).toEqual(['read-write', 201, 200, 'Another']);
});

test.each([
  ['notes:read', 'read notes', [200, 403, 403, 403, 403]],
  ['notes:write', 'create and update notes', [403, 201, 403, 403, 403]],
  ['activity_logs:read', 'read activity logs', [403, 403, 200, 403, 403]],
  ['admin_logs:read', 'read admin logs', [403, 403, 403, 200, 403]],
  ['all', 'full API access', [200, 201, 200, 200, 200]],
] as const)('%s | %s', async (scope, _, expected) => {
  expect(await statuses([scope])).toEqual(expected);
});
