// The OAuth client for sign-in at a remote server: an entered client, our metadata document, or dynamic
// registration, in this order. Credentials for one authorization server never go to another. The remote server
// is another Portico with metadata that the tests change; the other authorization server belongs to the test.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Stop } from '../../../src/core/clock/stop.ts';
import { createRemoteFetch } from '../../../src/server/workflows/remotes.ts';
import type { RemoteServer } from '../../../src/store/remotes/types.ts';
import type { RemoteAddresses } from '../../../src/workflows/remote-mcp/registration.ts';
import { createRemoteServers, type RemoteServers } from '../../../src/workflows/remote-mcp/remote-servers.ts';
import { issuerOf, openShop, type Shop } from '../../app/shop.ts';
import { register } from '../../oauth/client.ts';
import { signIn } from '../../oauth/flow.ts';
import { type HeldClock, holdClock } from './server.ts';

const hosts = ['127.0.0.1'];
const hasDocument = { now: false };
const addresses: RemoteAddresses = {
  callback: (id) => `http://127.0.0.1:49153/console/remotes/${id}/callback`,
  document: (id) => (hasDocument.now ? `https://console.b.example/console/remotes/${id}/client` : undefined),
};
let shop: Shop;
let clock: HeldClock;
let room: RemoteServers;
let userId: number;
let made = 0;
/** Requests to authorization servers, as `path: header and body`. */
const sent: string[] = [];
let change: (metadata: Record<string, unknown>) => object;
let spoil: ((place: string) => Response | undefined) | undefined;
let other: Server;
let otherIssuer: string;
const otherGot: string[] = [];
/** Makes the other authorization server look like one on the internet. */
let isOtherPublic = false;

beforeAll(async () => {
  clock = holdClock();
  shop = await openShop();
  userId = (await shop.store.identity.findUserByEmail(shop.account.email))!.id;
  other = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    otherGot.push(`${req.url} ${req.headers.authorization ?? ''} ${body}`);
    const found = {
      issuer: otherIssuer,
      authorization_endpoint: `${otherIssuer}/authorize`,
      token_endpoint: `${otherIssuer}/token`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    };
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  otherIssuer = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const fetchRemote = createRemoteFetch(hosts);
  room = createRemoteServers({
    store: shop.store,
    clock,
    observe: () => undefined,
    hosts,
    version: '1',
    addresses,
    fetch: (server) => async (url, init) => {
      const { origin, pathname } = new URL(url);
      if (origin === otherIssuer && isOtherPublic) return fetch(url, init);
      if (origin !== issuerOf(shop)) return fetchRemote(server)(url, init);
      if (pathname.startsWith('/oauth/')) {
        sent.push(`${pathname}: ${new Headers(init?.headers).get('authorization') ?? ''} ${init?.body}`);
        const answer = spoil?.(pathname);
        if (answer) return answer;
      }
      const response = await fetchRemote(server)(url, init);
      if (!pathname.startsWith('/.well-known/')) return response;
      return Response.json(change((await response.json()) as Record<string, unknown>));
    },
  });
});
afterAll(async () => {
  other.close();
  await shop.stop();
});
beforeEach(() => {
  change = (metadata) => metadata;
  spoil = undefined;
  isOtherPublic = false;
  hasDocument.now = false;
  sent.length = 0;
  otherGot.length = 0;
});

const add = () => room.add({ name: `shop ${++made}`, url: shop.mcpUrl, signIn: 'oauth', addedBy: userId });
const person = { sessionId: 'a console session' };
const begin = (server: RemoteServer) => room.begin(server, { userId, ...person });
/** Signs in, and returns the client id. */
async function connect(server: RemoteServer): Promise<string> {
  const address = await begin(server);
  const { searchParams } = await signIn(address, shop.account);
  const [state, code, iss] = ['state', 'code', 'iss'].map((name) => searchParams.get(name));
  const answer = { serverId: server.id, state: `${state}`, code: code ?? null, iss: iss ?? null };
  expect((await room.finish(answer, { userId, ...person }))?.id).toBe(server.id);
  return `${address.searchParams.get('client_id')}`;
}
const call = (server: RemoteServer) =>
  room
    .prepare({ server: server.name, tool: 'describeCollection', values: {}, userId })
    .then(({ execute: make }) => make(new Stop()))
    .then(({ text }) => text.includes('customers'));
const problemOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    ({ code, details }: { code: string; details: { problem?: string } }) => `${code}: ${details.problem}`,
  );
const placesOf = () => sent.map((one) => one.split(':')[0]);
const stateOf = async (serverId: string) => (await shop.store.remotes.grantOf({ serverId, userId }))?.state;
const current = async ({ id }: RemoteServer) => (await shop.store.remotes.find(id))!;

/** Registers a client manually, and enters it for the server. */
async function enter(server: RemoteServer): Promise<string> {
  const { client } = await register(issuerOf(shop), {
    redirect_uris: [room.callback(server.id)],
    token_endpoint_auth_method: 'client_secret_basic',
  });
  await room.saveClient(server, { id: client.client_id, secret: `${client.client_secret}`, issuer: '' }, userId);
  return client.client_id;
}

test('without an entered client and a metadata document, it registers a client', async () => {
  const server = await add();
  await connect(server);
  expect([placesOf(), await call(server)]).toEqual([['/oauth/register', '/oauth/token'], true]);
});

test('if the authorization server supports it, the metadata document is the client, and none is registered', async () => {
  hasDocument.now = true;
  const server = await add();
  const address = addresses.document(server.id)!;
  const document = room.document(server.id)!;
  expect(document).toMatchObject({ client_id: address, redirect_uris: [room.callback(server.id)] });
  shop.documents.set(new URL(address).pathname, document);
  expect([await connect(server), placesOf(), await call(server)]).toEqual([address, ['/oauth/token'], true]);
  change = ({ client_id_metadata_document_supported: _, ...metadata }) => metadata;
  expect((await begin(await add())).searchParams.get('client_id')).not.toContain('https://');
});

test('an entered client takes precedence, and its secret is sent only to the token endpoint of its issuer', async () => {
  hasDocument.now = true;
  const server = await add();
  const id = await enter(server);
  expect((await current(server)).client).toEqual({ id, issuer: issuerOf(shop) });
  expect(await connect(await current(server))).toBe(id);
  expect(sent).toEqual([expect.stringMatching(/^\/oauth\/token: Basic /)]);
  // The secret is stored in one place, so a new secret applies at once.
  const held = JSON.stringify((await shop.store.remotes.grantOf({ serverId: server.id, userId }))!.held);
  expect(held).not.toContain(`${await shop.store.remotes.secretOf(server.id)}`);
  clock.pass(15 * 60_000);
  sent.length = 0;
  expect([await call(server), sent]).toEqual([true, [expect.stringMatching(/^\/oauth\/token: Basic .*refresh_token/)]]);
});

test('a wrong secret asks for the administrator, and a changed client asks the user to reconnect', async () => {
  const server = await add();
  const id = await enter(server);
  await connect(await current(server));
  clock.pass(15 * 60_000);
  spoil = () => Response.json({ error: 'invalid_client' }, { status: 401 });
  expect(await problemOf(call(server))).toContain(
    'REMOTE_REFUSED: its authorization server does not accept the client id or the client secret. An administrator',
  );
  spoil = undefined;
  expect([await stateOf(server.id), await call(server)]).toEqual(['connected', true]);
  await room.saveClient(server, { id: `${id}-2`, secret: 'x', issuer: '' }, userId);
  clock.pass(15 * 60_000);
  sent.length = 0;
  expect([await problemOf(call(server)), await stateOf(server.id), sent]).toEqual([
    'REMOTE_RECONNECT: undefined',
    'reconnect',
    [],
  ]);
});

test('a client belongs to one authorization server: another one receives none of its data', async () => {
  const server = await add();
  await enter(server);
  isOtherPublic = true;
  change = (metadata) => ('resource' in metadata ? { ...metadata, authorization_servers: [otherIssuer] } : metadata);
  expect(await problemOf(begin(await current(server)))).toBe(
    `REMOTE_REFUSED: its client id belongs to ${issuerOf(shop)}, but its authorization server has changed. An administrator can enter a client id of the new one.`,
  );
  change = (metadata) => metadata;
  const address = await begin(await current(server));
  await room.saveClient(server, { id: 'of-the-other', secret: 'secret-of-the-other', issuer: otherIssuer }, userId);
  const { searchParams } = await signIn(address, shop.account);
  const answer = { serverId: server.id, state: `${searchParams.get('state')}`, code: searchParams.get('code') };
  sent.length = 0;
  expect(await problemOf(room.finish({ ...answer, iss: searchParams.get('iss') }, { userId, ...person }))).toContain(
    'REMOTE_REFUSED: its client id has changed.',
  );
  expect([sent, otherGot.filter((one) => !one.startsWith('/.well-known/')), `${otherGot}`.includes('secret')]).toEqual([
    [],
    [],
    false,
  ]);
});

// CWE-918: metadata of a server is untrusted. The administrator allowed the host with its own port, not another port.
test('an authorization server at another port of an allowed host is reached only if an administrator entered it', async () => {
  const server = await add();
  change = (metadata) => ('resource' in metadata ? { ...metadata, authorization_servers: [otherIssuer] } : metadata);
  expect(await problemOf(begin(server))).toContain('REMOTE_UNAVAILABLE');
  expect(otherGot).toEqual([]);
  await room.saveClient(server, { id: 'portico', secret: '', issuer: otherIssuer }, userId);
  expect((await begin(await current(server))).origin).toBe(otherIssuer);
});

test('metadata of an authorization server with another issuer is refused', async () => {
  change = (metadata) => ('issuer' in metadata ? { ...metadata, issuer: otherIssuer } : metadata);
  expect(await problemOf(begin(await add()))).toBe(
    'REMOTE_REFUSED: the metadata of its authorization server belongs to another one.',
  );
});

test('if no client is possible, the error says what an administrator can do', async () => {
  change = ({ registration_endpoint: _, ...metadata }) => metadata;
  const server = await add();
  const remedy = `An administrator can register Portico there and enter the client id on the page of '${server.name}'.`;
  expect(await problemOf(begin(server))).toBe(
    `REMOTE_REFUSED: its authorization server does not support automatic client registration. ${remedy}`,
  );
  change = (metadata) => metadata;
  spoil = () => Response.json({ error: 'invalid_redirect_uri', error_description: 'not you' }, { status: 403 });
  expect(await problemOf(begin(server))).toBe(
    `REMOTE_REFUSED: its authorization server did not register Portico (status 403). ${remedy}`,
  );
});

test.each([
  [{ id: '' }, 'clientId'],
  [{ id: 'one\ntwo' }, 'clientId'],
  [{ secret: 'ä' }, 'clientSecret'],
  [{ issuer: 'http://login.example' }, 'issuer'],
  [{ issuer: 'https://login.example/?a=b' }, 'issuer'],
])('an entered client is validated: %j', async (more, argument) => {
  const entered = room.saveClient(await add(), { id: 'portico', secret: '', issuer: otherIssuer, ...more }, userId);
  await expect(entered).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', details: { argument } });
});
