// Operator policies for clients: by domain, number, lifetime, and single client.
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { authorizationUrl, byDocument, callMcp, connect, discover, refresh, register } from './client.ts';
import { createBrowser } from './flow.ts';
import { type OAuthTestServer, type OAuthTestServerOptions, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';
const started: OAuthTestServer[] = [];
afterEach(async () => {
  for (const testServer of started.splice(0)) await testServer.stop();
});
async function start(env: Record<string, string> = {}, options: OAuthTestServerOptions = {}): Promise<OAuthTestServer> {
  const testServer = await startServer({ env, ...options });
  started.push(testServer);
  return testServer;
}

const register201 = async ({ paths }: OAuthTestServer, redirect_uris: string[]) => {
  const { registration_endpoint } = await discover(paths.issuer);
  const response = await fetch(`${registration_endpoint}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Notebook', redirect_uris }),
  });
  const { error, error_description } = (await response.json()) as Record<string, string | undefined>;
  return [response.status, error, error_description];
};

describe('redirects of registered clients', () => {
  test('are limited to the allowed domains without the denied ones; the list does not apply to devices', async () => {
    const testServer = await start({
      SERVICE_DCR_REDIRECT_DOMAINS: 'notebook.example,paper.example',
      SERVICE_DCR_REDIRECT_DENIED_DOMAINS: 'old.paper.example',
    });
    const denied = await register201(testServer, ['https://old.paper.example/cb']);
    const other = await register201(testServer, [redirectUri, 'https://elsewhere.example/cb']);
    expect([denied, other]).toEqual([
      [
        400,
        'invalid_redirect_uri',
        'redirect_uris must not point to old.paper.example: its domain is on the deny-list of this server',
      ],
      [
        400,
        'invalid_redirect_uri',
        'redirect_uris must not point to elsewhere.example: its domain is not on the allow-list of this server',
      ],
    ]);
    for (const uri of [
      redirectUri,
      'https://new.paper.example/cb',
      'http://localhost:33418/',
      'cursor://anysphere/cb',
    ]) {
      expect((await register201(testServer, [uri]))[0]).toBe(201);
    }
  });

  test('a list that is set later applies to registered clients, not to metadata documents', async () => {
    const open = await start();
    const registered = await register(open.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const testServer = await start({ SERVICE_DCR_REDIRECT_DENIED_DOMAINS: 'notebook.example' });
    const row = await open.store.oauth.find('Client', registered.client.client_id);
    await testServer.store.oauth.upsert(row!);
    const { url } = await authorizationUrl(
      { ...registered, server: await discover(testServer.paths.issuer) },
      { redirectUri },
    );
    testServer.documents.set('https://notebook.example/client', {
      client_id: 'https://notebook.example/client',
      client_name: 'Notebook',
      redirect_uris: [redirectUri],
    });
    const document = await byDocument(testServer.paths.issuer, 'https://notebook.example/client');
    const pages = [
      await createBrowser().open(url),
      await createBrowser().open((await authorizationUrl(document, { redirectUri })).url),
    ];
    expect(pages.map(({ status, leftTo }) => [status, leftTo])).toEqual([
      [400, undefined],
      [200, undefined],
    ]);
  });

  test('of more than 2,000 characters are refused', async () => {
    const testServer = await start();
    expect((await register201(testServer, [`https://notebook.example/${'x'.repeat(2000)}`]))[0]).toBe(400);
  });
});

test('metadata documents of denied domains are not fetched', async () => {
  const testServer = await start({ SERVICE_CIMD_DENIED_DOMAINS: 'paper.example' });
  for (const host of ['paper.example', 'app.paper.example', 'notebook.example']) {
    const id = `https://${host}/client.json`;
    testServer.documents.set(id, { client_id: id, client_name: 'Paper', redirect_uris: [redirectUri] });
  }
  const status = async (host: string) => {
    const client = await byDocument(testServer.paths.issuer, `https://${host}/client.json`);
    return (await createBrowser().open((await authorizationUrl(client, { redirectUri })).url)).status;
  };
  expect([await status('paper.example'), await status('app.paper.example'), await status('notebook.example')]).toEqual([
    400, 400, 200,
  ]);
});

test('the number of registered clients is limited: the oldest unused one is deleted, with a warning', async () => {
  const testServer = await start({ SERVICE_DCR_MOST: '2' });
  const metadata = { client_name: 'Notebook', redirect_uris: [redirectUri] };
  const used = await connect(await register(testServer.paths.issuer, metadata), testServer.account, { redirectUri });
  const unused = await register(testServer.paths.issuer, metadata);
  const next = await register(testServer.paths.issuer, metadata);
  const told = testServer.observed.filter((one) => one.type === 'security' && one.event === 'clients.full').length;
  const left = await Promise.all(
    [used, unused, next].map(
      async ({ client }) => (await testServer.store.oauth.find('Client', client.client_id)) !== undefined,
    ),
  );
  expect([told, left]).toEqual([1, [true, false, true]]);
});

test('if all registered clients are used, another registration is refused', async () => {
  const testServer = await start({ SERVICE_DCR_MOST: '1' });
  const metadata = { client_name: 'Notebook', redirect_uris: [redirectUri] };
  await connect(await register(testServer.paths.issuer, metadata), testServer.account, { redirectUri });
  expect([(await register201(testServer, [redirectUri]))[0], await testServer.store.oauth.countClients()]).toEqual([
    429, 1,
  ]);
});

test('a client is deleted if it was not used for long and has no connection', async () => {
  const testServer = await start();
  const metadata = { client_name: 'Notebook', redirect_uris: [redirectUri] };
  const connected = await connect(await register(testServer.paths.issuer, metadata), testServer.account, {
    redirectUri,
  });
  const ended = await connect(await register(testServer.paths.issuer, metadata), testServer.account, { redirectUri });
  const grant = await testServer.gate.check({
    method: 'POST',
    headers: { authorization: `Bearer ${ended.tokens.access_token}` },
  });
  await testServer.store.connections.end({ id: `${grant.grantId}`, clientName: 'Notebook' });
  const left = async (idleSince: number) => {
    await testServer.store.oauth.sweep(0, 0, idleSince);
    const rows = [connected, ended].map(({ client }) => testServer.store.oauth.find('Client', client.client_id));
    return (await Promise.all(rows)).map((row) => row !== undefined);
  };
  expect([await left(systemClock.now() - 60_000), await left(systemClock.now() + 60_000)]).toEqual([
    [true, true],
    [true, false],
  ]);
});

describe('a blocked client', () => {
  const blocked = async () => {
    const testServer = await start();
    const registered = await register(testServer.paths.issuer, {
      client_name: 'Notebook',
      redirect_uris: [redirectUri],
    });
    const browser = createBrowser();
    const session = await connect(registered, testServer.account, { redirectUri, browser });
    return { place: testServer, registered, browser, session, clientId: registered.client.client_id };
  };
  const outcome = (promise: Promise<unknown>) =>
    promise.then(
      () => 'ok',
      (error: { error?: string }) => error.error,
    );

  test('has no valid token, gets no new one, and the error does not make it register again', async () => {
    const { place: testServer, registered, session, clientId } = await blocked();
    const before = (await callMcp(testServer.paths.resource, session.tokens.access_token)).status;
    const ended = await testServer.store.connections.block({ clientId });
    const after = (await callMcp(testServer.paths.resource, session.tokens.access_token)).status;
    expect([before, ended, after, await outcome(refresh(registered, `${session.tokens.refresh_token}`))]).toEqual([
      200,
      1,
      401,
      'unauthorized_client',
    ]);
  });

  test('lets no user sign in, not even in a running sign-in, and the page says why', async () => {
    const { place: testServer, registered, browser, clientId } = await blocked();
    const { url } = await authorizationUrl(registered, { redirectUri, prompt: 'consent' });
    const consent = await browser.open(url);
    await testServer.store.connections.block({ clientId });
    const pressed = await browser.press(consent, 'allow');
    const anew = await browser.open(url);
    expect(
      [pressed, anew].map(({ status, leftTo, html }) => [status, leftTo, html.includes('This app is blocked here')]),
    ).toEqual([
      [400, undefined, expect.any(Boolean)],
      [400, undefined, true],
    ]);
  });

  test('asks again after it is unblocked; its ended connections stay ended', async () => {
    const { place: testServer, registered, browser, session, clientId } = await blocked();
    await testServer.store.connections.block({ clientId });
    expect(await testServer.store.connections.block({ clientId })).toBeUndefined();
    expect((await testServer.store.connections.listBlocked()).map((one) => one.clientId)).toEqual([clientId]);
    const unblocked = [
      await testServer.store.connections.unblock({ clientId }),
      await testServer.store.connections.unblock({ clientId }),
    ];
    const page = await browser.open((await authorizationUrl(registered, { redirectUri })).url);
    expect([
      unblocked,
      page.html.includes('value="allow"'),
      (await callMcp(testServer.paths.resource, session.tokens.access_token)).status,
    ]).toEqual([[true, false], true, 401]);
  });

  test('has no valid token either if its grant was made at the same moment', async () => {
    const { place: testServer, session, clientId } = await blocked();
    const { grantId } = await testServer.gate.check({
      method: 'POST',
      headers: { authorization: `Bearer ${session.tokens.access_token}` },
    });
    const rows = [
      await testServer.store.oauth.find('Grant', `${grantId}`),
      ...(await testServer.store.oauth.listByAccount(
        'AccessToken',
        (await testServer.store.oauth.find('Grant', `${grantId}`))!.accountId!,
      )),
    ];
    await testServer.store.connections.block({ clientId });
    for (const row of rows) await testServer.store.oauth.upsert(row!);
    const { status, body } = await callMcp(testServer.paths.resource, session.tokens.access_token);
    expect([status, body]).toEqual([401, 'An administrator has blocked this app.']);
  });
});

// RFC 1034 section 3.1: a trailing dot names the same host in DNS, TLS and browsers.
describe('a dot at the end of a host', () => {
  test('does not bypass a deny-list', async () => {
    const testServer = await start({
      SERVICE_CIMD_DENIED_DOMAINS: 'paper.example',
      SERVICE_DCR_REDIRECT_DENIED_DOMAINS: 'evil.example',
    });
    const [status] = await register201(testServer, ['https://evil.example./cb']);
    const id = 'https://paper.example./client.json';
    testServer.documents.set(id, { client_id: id, client_name: 'Paper', redirect_uris: [redirectUri] });
    const asked = new URLSearchParams({ client_id: id, response_type: 'code' });
    const page = await fetch(`${testServer.local}/oauth/authorize?${asked}`, { redirect: 'manual' });
    expect([status, page.status, testServer.fetched]).toEqual([400, 400, []]);
  });

  test('does not reach internal hosts', async () => {
    const testServer = await start();
    for (const host of ['localhost.', 'db.internal.', 'printer.local.']) {
      const query = new URLSearchParams({ client_id: `https://${host}/client.json`, response_type: 'code' });
      await fetch(`${testServer.local}/oauth/authorize?${query}`, { redirect: 'manual' });
    }
    expect(testServer.fetched).toEqual([]);
  });
});

// RFC 4291 section 2.5.1: an IPv6 subnet has 2^64 addresses and one owner.
test('limits for one address count an IPv6 /64 as one address', async () => {
  const testServer = await start({ SERVICE_TRUSTED_PROXIES: 'loopback', SERVICE_DCR_PER_HOUR: '5' });
  const from = async (address: string) => {
    const response = await fetch(`${testServer.local}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ redirect_uris: [redirectUri] }),
    });
    return response.status;
  };
  const statuses = [];
  for (let n = 1; n <= 7; n++) statuses.push(await from(`2001:db8:1:2:${n}::${n}`));
  expect([statuses, await from('2001:db8:1:3::1'), await from('203.0.113.7')]).toEqual([
    [201, 201, 201, 201, 201, 429, 429],
    201,
    201,
  ]);
});

// RFC 6177 section 2: a site often gets a /48, which is 65,536 subnets.
test('limits for one address count a /48 as sixteen addresses, and IPv4-mapped IPv6 as IPv4', async () => {
  const testServer = await start({ SERVICE_TRUSTED_PROXIES: 'loopback', SERVICE_DCR_PER_HOUR: '1' });
  const from = async (address: string) => {
    const response = await fetch(`${testServer.local}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ redirect_uris: [redirectUri] }),
    });
    return response.status;
  };
  const statuses = [];
  for (let n = 1; n <= 18; n++) statuses.push(await from(`2001:db8:1:${n}::1`));
  expect(statuses).toEqual([...Array(16).fill(201), 429, 429]);
  expect(await from('2001:db8:2:1::1')).toBe(201);
  expect(await from('203.0.113.7')).toBe(201);
  expect(await from('::ffff:203.0.113.7')).toBe(429);
  expect(await from('::ffff:cb00:7107')).toBe(429);
  expect(await from('203.0.113.8')).toBe(201);
});

// RFC 8252 sections 7.1 and 8.4: an app's scheme is a reversed domain name, and a redirect must not open another
// program.
test.each([
  ...[
    'ms-msdt:/id',
    'search-ms:query=x',
    'intent://x#y',
    'chrome://settings',
    'smb://host/x',
    'ftp://host/x',
    'file:///x',
  ],
  ...[
    'x-apple.systempreferences:x',
    'mailto:a@b.example',
    'tel:1',
    'notebook://callback',
    'ms-settings:',
    'JaVaScRiPt:1',
  ],
])('a redirect to %s is refused', async (uri) => {
  expect((await register201(await start(), [uri]))[0]).toBe(400);
});

test.each(['com.example.notebook:/cb', 'cursor://anysphere.cursor-mcp/cb', 'vscode://vscode.mcp/cb'])(
  'a redirect to %s is accepted',
  async (uri) => {
    expect((await register201(await start(), [uri]))[0]).toBe(201);
  },
);

// RFC 7591 section 5, Unicode Standard Annex 44 (Default_Ignorable_Code_Point, Bidi_Control): client names have no
// invisible characters.
test.each([
  ...['\u3164', '\u115f', '\u1160', '\uffa0', '\u00ad', '\u180e', '\u061c', '\ufe0f', '\u2800', '\u{e0041}', '\u200b'],
])('%j is removed from a name, and a name of only such characters is dropped', async (char) => {
  const testServer = await start();
  const named = async (client_name: string) => {
    const response = await fetch(`${testServer.local}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirectUri], client_name }),
    });
    return ((await response.json()) as { client_name?: string }).client_name;
  };
  expect([await named(`Note${char}book`), await named(char)]).toEqual(['Notebook', undefined]);
});
