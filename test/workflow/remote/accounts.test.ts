// Accounts at remote servers with user sign-in. The remote server is another Portico with its
// real authorization server and pages. Two instances over one storage simulate two processes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stop } from '../../../src/core/clock/stop.ts';
import { createRemoteFetch } from '../../../src/server/workflows/remotes.ts';
import type { RemoteAddresses } from '../../../src/workflows/remote-mcp/registration.ts';
import { createRemoteServers, type RemoteServers } from '../../../src/workflows/remote-mcp/remote-servers.ts';
import { openShop, type Shop } from '../../app/shop.ts';
import { signIn } from '../../oauth/flow.ts';
import { type HeldClock, holdClock } from './server.ts';

const addresses: RemoteAddresses = {
  callback: (id) => `http://127.0.0.1:49153/console/remotes/${id}/callback`,
  document: () => undefined,
};
const hosts = ['127.0.0.1'];
let shop: Shop;
let clock: HeldClock;
let userId: number;
let made = 0;
/** The requests to the token endpoint. `spoil` replaces its response. */
const tokenRequests: URLSearchParams[] = [];
let spoil: (() => Response | Promise<Response>) | undefined;

const fetchRemote = createRemoteFetch(hosts);
const roomOf = (store: Pick<Shop['store'], 'remotes'> = shop.store): RemoteServers =>
  createRemoteServers({
    store,
    clock,
    observe: () => undefined,
    hosts,
    version: '1',
    addresses,
    fetch: (server) => async (url, init) => {
      if (`${url}`.endsWith('/oauth/token')) {
        tokenRequests.push(new URLSearchParams(`${init?.body}`));
        if (spoil) return spoil();
      }
      return fetchRemote(server)(url, init);
    },
  });
let one: RemoteServers;
let other: RemoteServers;

beforeAll(async () => {
  clock = holdClock();
  shop = await openShop();
  userId = (await shop.store.identity.findUserByEmail(shop.account.email))!.id;
  one = roomOf();
  other = roomOf();
});
afterAll(() => shop.stop());

const session = { sessionId: 'a console session' };
const add = () => one.add({ name: `shop ${++made}`, url: shop.mcpUrl, signIn: 'oauth', addedBy: userId });
async function answered(name = 'a console session') {
  const server = await add();
  const address = await one.begin(server, { userId, sessionId: name });
  const { searchParams } = await signIn(address, shop.account);
  const answer = {
    serverId: server.id,
    state: `${searchParams.get('state')}`,
    code: searchParams.get('code'),
    iss: searchParams.get('iss'),
  };
  return { server, address, answer };
}
async function connected() {
  const { server, answer } = await answered();
  await other.finish(answer, { userId, ...session });
  tokenRequests.length = 0;
  return server;
}
const call = (room: RemoteServers, server: string) =>
  room
    .prepare({ server, tool: 'describeCollection', values: {}, userId })
    .then(({ execute: make }) => make(new Stop()))
    .then(({ text }) => text.includes('customers'));
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: { code: string }) => error.code,
  );
const stateOf = async (serverId: string) => (await shop.store.remotes.grantOf({ serverId, userId }))?.state;

test('a user signs in at the server, with PKCE and for its resource only, and calls use their account', async () => {
  const { server, address, answer } = await answered();
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    code_challenge_method: 'S256',
    resource: shop.mcpUrl,
    redirect_uri: addresses.callback(server.id),
    state: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(await codeOf(call(one, server.name))).toBe('REMOTE_RECONNECT');
  expect(await one.finish(answer, { userId, ...session })).toEqual(server);
  expect([await call(one, server.name), await call(other, server.name)]).toEqual([true, true]);
  await shop.store.activity.flush();
  const log = await shop.store.activity.list({ limit: 3 });
  expect(log[0]).toMatchObject({ userId, clientName: 'Portico' });
  expect((await shop.store.remotes.accountsOf(userId))[0]).toMatchObject({
    state: 'connected',
    usedAt: expect.any(Number),
  });
});

test('a response counts once, in the session that asked, with the expected issuer', async () => {
  const { answer } = await answered();
  expect(await one.finish(answer, { userId, sessionId: 'another session' })).toBeUndefined();
  expect(await one.finish({ ...answer, state: 'x' }, { userId, ...session })).toBeUndefined();
  const wrong = { ...answer, iss: 'https://other.example' };
  expect(await codeOf(one.finish(wrong, { userId, ...session }))).toBe('REMOTE_REFUSED');
  expect(await one.finish(answer, { userId, ...session })).toBeUndefined();
  const { answer: second } = await answered();
  expect(await codeOf(one.finish({ ...second, code: null }, { userId, ...session }))).toBe('REMOTE_REFUSED');
});

test('a response to the URL of another server connects nothing', async () => {
  const { answer, server } = await answered();
  const { id } = await add();
  expect(await one.finish({ ...answer, serverId: id }, { userId, ...session })).toBeUndefined();
  expect([await one.finish(answer, { userId, ...session }), await stateOf(server.id)]).toEqual([undefined, undefined]);
});

test('an expired access token is renewed once, by one of two processes', async () => {
  const { name } = await connected();
  clock.pass(15 * 60_000);
  const calls = await Promise.all([call(one, name), call(other, name), call(one, name), call(other, name)]);
  expect(calls).toEqual([true, true, true, true]);
  expect(tokenRequests.map((body) => [body.get('grant_type'), body.get('resource')])).toEqual([
    ['refresh_token', shop.mcpUrl],
  ]);
});

test('a failed renewal keeps the account; a refused one requires the user to reconnect', async () => {
  const { id, name } = await connected();
  clock.pass(15 * 60_000);
  spoil = () => new Response('down', { status: 503 });
  expect([await codeOf(call(one, name)), await stateOf(id)]).toEqual(['REMOTE_UNAVAILABLE', 'connected']);
  spoil = () => Response.json({ error: 'invalid_grant' }, { status: 400 });
  expect([await codeOf(call(one, name)), await stateOf(id)]).toEqual(['REMOTE_RECONNECT', 'reconnect']);
  spoil = undefined;
  expect(await codeOf(call(other, name))).toBe('REMOTE_RECONNECT');
});

test('a token revoked at the server is noticed at the next call, and the user must reconnect', async () => {
  const { id, name } = await connected();
  const [connection] = await shop.store.connections.list({ userId, limit: 1 });
  await shop.store.connections.end({ id: connection!.id, clientName: 'Portico' });
  expect([await codeOf(call(one, name)), await stateOf(id)]).toEqual(['REMOTE_RECONNECT', 'reconnect']);
});

test('an account that is disconnected during a renewal stays disconnected', async () => {
  const { id, name } = await connected();
  clock.pass(15 * 60_000);
  spoil = async () => {
    spoil = undefined;
    await shop.store.remotes.disconnect({ serverId: id, userId }, userId);
    return Response.json({ access_token: 'late', token_type: 'Bearer', expires_in: 900 });
  };
  expect([await codeOf(call(one, name)), await stateOf(id)]).toEqual(['REMOTE_RECONNECT', undefined]);
});

test('a finished call returns its result, even if the storage is then unreachable', async () => {
  const server = await connected();
  const noteUse = () => Promise.reject(new Error('away'));
  const room = roomOf({ remotes: { ...shop.store.remotes, noteUse } });
  expect(await call(room, server.name)).toBe(true);
});
