// Traffic between an agent and its platform: read, changed and replayed by an attacker without the secret.
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { randomToken } from '../../src/core/secret.ts';
import { connectStore } from '../../src/remote-store/connect.ts';
import { createNonces } from '../../src/remote-store/nonces.ts';
import { authorize, hashOf, rpcKeyOf } from '../../src/remote-store/signature.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { messageOf } from '../app/agent.ts';
import { servers, type TestDatabase } from '../databases.ts';
import type { TestServer } from '../server.ts';
import {
  createNotes,
  envSecret,
  openPlatformProxy,
  type PlatformProxy,
  type ProxiedRequest,
  send,
  startPlatform,
} from './platform-servers.ts';

let notes: TestDatabase;
let storage: TestDatabase;
let platform: TestServer;
let proxy: PlatformProxy;
let store: OpenedStore;
const open = (more: Partial<Parameters<typeof connectStore>[0]> = {}) =>
  connectStore({ serverUrl: proxy.address, envSecret, clock: systemClock, observe: () => undefined, ...more });
/** The number of observations already read. */
let heard = 0;
const events = () => {
  const told = platform.observed.slice(heard).flatMap((one) => (one.type === 'security' ? [one.event] : []));
  heard = platform.observed.length;
  return told;
};
const codeOf = async (act: () => Promise<unknown>) => {
  try {
    await act();
    return 'it worked';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};
const signed = (path: string, args: unknown, { time = systemClock.now(), secret = envSecret } = {}): ProxiedRequest => {
  const body = JSON.stringify(args);
  const nonce = randomToken(128);
  const authorization = authorize({ path, time, nonce, body: hashOf(body), environment: '' }, rpcKeyOf(secret));
  return { path: `/platform${path}`, headers: { 'content-type': 'application/json', authorization }, body };
};

beforeAll(async () => {
  notes = await createNotes();
  storage = await servers[0]!.create();
  platform = await startPlatform(notes.url, {
    SERVICE_STORAGE_URL: storage.url,
    SERVICE_SECRET: 'a secret that two processes share',
  });
  proxy = await openPlatformProxy(platform.address);
  store = await open();
});
beforeEach(() => {
  proxy.change = {};
  proxy.passed.length = 0;
  events();
});
afterAll(async () => {
  await store?.close();
  await proxy?.close();
  await platform?.stop();
  await notes?.drop();
  await storage?.drop();
});

test('neither the secret nor the key derived from it is sent', async () => {
  const again = await open();
  await again.identity.verifyPassword(platform.account.email, 'wrong');
  await again.close();
  const all = JSON.stringify(proxy.passed);
  expect([proxy.passed.length > 1, all.includes(envSecret), all.includes(rpcKeyOf(envSecret))]).toEqual([
    true,
    false,
    false,
  ]);
});

test('a wrong secret returns 401 without details, and raises a security event', async () => {
  const message = await messageOf(() => open({ envSecret: 'another secret, as long as the right one is' }));
  const answer = await send(platform.address, signed('/v1/nothing/such', {}, { secret: 'x'.repeat(40) }));
  const bare = await send(platform.address, { path: '/platform/v1/versions', headers: {}, body: '{}' });
  expect([message, answer.status, answer.body, answer.headers['portico-signature'], bare.status, events()]).toEqual([
    `serverUrl: the platform at ${proxy.address}/platform does not accept this envSecret. Use the same one on both.`,
    401,
    '{"refused":"not-signed","detail":"The request is not signed with the secret of this environment."}',
    undefined,
    401,
    ['platform.not-signed', 'platform.not-signed', 'platform.not-signed'],
  ]);
});

test.each([
  ['reads', () => store.identity.place()],
  ['changes something', () => store.windows.add('attempts of a test', 60_000)],
])('a request that %s is accepted once', async (_what, act) => {
  await act();
  const replayed = await send(platform.address, proxy.passed.at(-1)!);
  expect([replayed.status, JSON.parse(replayed.body).refused, events()]).toEqual([
    409,
    'replayed',
    ['platform.replayed'],
  ]);
});

test('a request with an effect is accepted once across all processes of the platform', async () => {
  const other = await startPlatform(
    notes.url,
    { SERVICE_STORAGE_URL: storage.url, SERVICE_SECRET: 'a secret that two processes share' },
    platform.account,
  );
  onTestFinished(() => other.stop());
  await store.windows.add('counted once', 60_000);
  const replayed = await send(other.address, proxy.passed.at(-1)!);
  const { count } = await platform.store.windows.add('counted once', 60_000);
  expect([replayed.status, count]).toEqual([409, 2]);
});

test('when the nonce table is full, requests as old as the dropped nonces are refused', () => {
  const nonces = createNonces(platform.store.windows, 2);
  const take = (nonce: string, time: number) => nonces.take(nonce, time, 'again');
  expect([take('a', 1), take('b', 2), take('c', 3), take('a', 1), take('d', 1), take('e', 2), take('b', 2)]).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
    false,
  ]);
});

test('a body or a path that was changed in transit is refused', async () => {
  const [good, other] = [signed('/v1/oauth/find', { 0: 'Client', 1: 'x' }), signed('/v1/identity/listUsers', {})];
  const body = await send(platform.address, { ...good, body: good.body.replace('Client', 'Grant') });
  const path = await send(platform.address, { ...other, path: '/platform/v1/tokens/list' });
  expect([body.status, JSON.parse(body.body).refused, path.status, events()]).toEqual([
    401,
    'forged',
    401,
    ['platform.forged', 'platform.not-signed'],
  ]);
});

test('an agent whose request was changed in transit gets an error, and nothing happens', async () => {
  proxy.change.request = (one) => ({ ...one, body: one.body.replace('first', 'other') });
  const code = await codeOf(() => store.windows.add('the first', 60_000));
  proxy.change = {};
  expect([code, (await store.windows.add('the other', 60_000)).count]).toEqual(['PLATFORM_UNAVAILABLE', 1]);
});

test.each([
  ['five minutes late', -299_000, 200],
  ['later', -301_000, 401],
  ['early', 299_000, 200],
  ['earlier', 301_000, 401],
])('a request with a clock that is %s', async (_how, by, status) => {
  const answer = await send(platform.address, signed('/v1/versions', {}, { time: systemClock.now() + by }));
  expect(answer.status).toBe(status);
});

test('an agent with a wrong clock does not start, and the error names the difference', async () => {
  const clock = { ...systemClock, now: () => systemClock.now() - 400_000 };
  expect(await messageOf(() => open({ clock }))).toMatch(
    /^serverUrl: The platform refused a request: The clocks differ by (399|400|401) s: correct the clock of the agent's/,
  );
});

test.each<[string, NonNullable<PlatformProxy['change']['answer']>]>([
  ['of another request', (one) => ({ ...one, body: '{"value":{"permissions":1,"grants":1,"keys":1}}' })],
  ['without a signature', ({ headers: { 'portico-signature': _, ...headers }, ...one }) => ({ ...one, headers })],
  ['with another status', (one) => ({ ...one, status: 201 })],
  ['of a proxy', () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' })],
])('an answer %s is refused', async (_what, answer) => {
  proxy.change.answer = answer;
  expect(await codeOf(async () => store.versions())).toBe('PLATFORM_UNAVAILABLE');
});

test('the answer to one request is refused for another', async () => {
  let kept: Parameters<NonNullable<PlatformProxy['change']['answer']>>[0] | undefined;
  proxy.change.answer = (one) => (kept ??= one);
  await store.identity.findUserByEmail(platform.account.email);
  expect(await codeOf(() => store.identity.findUserByEmail('nobody@example.com'))).toBe('PLATFORM_UNAVAILABLE');
});

test('an agent cannot call administrative methods of the platform', async () => {
  const paths = ['identity/addUser', 'permissions/setRole', 'rights/apply', 'settings/get', 'keys/list', 'close'];
  const answers = await Promise.all(paths.map((path) => send(platform.address, signed(`/v1/${path}`, {}))));
  const refused = await codeOf(() => store.permissions.setRole('Administrator', {}));
  expect([answers.map(({ status }) => status), refused]).toEqual([paths.map(() => 404), 'DENIED']);
});

test.each<[string, unknown]>([
  ['/v1/oauth/find', { 0: { toString: 'x' }, 1: 'y' }],
  ['/v1/identity/findUser', { 0: [1] }],
  ['/v1/identity/findUser', {}],
  ['/v1/oauth/upsert', { 0: { model: 'Client', id: { a: 1 }, payload: {} } }],
  ['/v1/mark', { 0: { userId: '1' } }],
  ['/v1/oauth/find', null],
])('%s with %j returns 400, before the storage is called', async (path, args) => {
  const { status, body } = await send(platform.address, signed(path, args));
  expect([status, JSON.parse(body).error.code]).toEqual([400, 'INVALID_ARGUMENT']);
});

test('errors of the platform pass through unchanged, and absent values stay absent', async () => {
  const profile = { firstName: 'Ada', lastName: 'Byron', timezone: 'Nowhere/Else' };
  const [there, here] = [
    await messageOf(() => platform.store.identity.setProfile(1, profile)),
    await messageOf(() => store.identity.setProfile(1, profile)),
  ];
  const nobody = await store.identity.findUser(999);
  const list = await store.connections.list({ userId: 1, after: undefined, limit: 5 } as never);
  expect([here, nobody, list, await store.identity.findUser(1)]).toEqual([
    there,
    undefined,
    [],
    await platform.store.identity.findUser(1),
  ]);
});

test('a completed mark cannot be completed again differently', async () => {
  const mark = await store.activity.begin({
    userId: 1,
    renderingId: 1,
    clientId: 'c',
    clientName: 'C',
    action: 'update',
    type: 'write',
    startedAt: 1,
  });
  await mark.complete({ outcome: 'failed', code: 'X' });
  await mark.complete({ outcome: 'completed', recordIds: ['1'] });
  const [entry] = await platform.store.activity.list({ limit: 1 });
  expect(entry).toMatchObject({ action: 'update', outcome: 'failed', code: 'X' });
  expect(mark.versions).toEqual(await platform.store.versions());
});

test('a log batch whose answer was lost is stored once', async () => {
  const entry = { userId: 1, renderingId: 1, clientId: 'lost', clientName: 'L', action: 'list', type: 'read' } as const;
  let lost = 0;
  proxy.change.answer = (one, { path }) =>
    path.endsWith('/record') && lost++ === 0 ? { status: 502, headers: {}, body: '' } : one;
  store.activity.record({ ...entry, outcome: 'completed', startedAt: 1, durationMs: 1 });
  await store.activity.flush();
  const found = (await platform.store.activity.list({ limit: 50 })).filter(({ clientId }) => clientId === 'lost');
  expect([lost, found.length]).toEqual([2, 1]);
});

test('only POST is allowed, and other methods get no details', async () => {
  const response = await fetch(`${platform.address}/platform/v1/versions`);
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
});
