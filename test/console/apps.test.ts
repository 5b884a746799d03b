// Connected apps in the console: users see their own, administrators see all. A revocation applies to the next call
// with the current token.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../app/call.ts';
import { issuerOf } from '../app/shop.ts';
import { authorizationUrl, byDocument, connect, redeem, refresh, register } from '../oauth/client.ts';
import type { Account } from '../oauth/flow.ts';
import { createBrowser } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

let testServer: ConsoleTestServer;
let bob: Account;
beforeAll(async () => {
  testServer = await openConsoleServer();
  bob = await testServer.addUser({ email: 'bob@example.com', firstName: 'Bob', lastName: 'Marsh' });
  await testServer.store.permissions.setRole('Member', {
    '*': { browse: true, read: true, edit: true, add: true, delete: true, export: true },
  });
});
afterAll(() => testServer.stop());

const redirectUri = 'https://notebook.example/callback';

async function connected(account: Account, name: string, typed: Record<string, string | readonly string[]> = {}) {
  const registered = await register(issuerOf(testServer), { client_name: name, redirect_uris: [redirectUri] });
  const browser = createBrowser();
  const asking = { redirectUri, scope: 'mcp:read mcp:write', resource: testServer.mcpUrl };
  const { url, verifier } = await authorizationUrl(registered, asking);
  const page = await browser.press(await browser.open(url), 'sign-in', { ...account });
  const { leftTo } = await browser.press(page, 'allow', typed);
  const { validateAuthResponse } = await import('oauth4webapi');
  const parameters = validateAuthResponse(registered.server, registered.client, leftTo!, 'the-state');
  const tokens = await redeem(registered, { parameters, verifier, redirectUri });
  return { registered, tokens, clientId: registered.client.client_id };
}
/** A signed-in client with a metadata document on its own host. */
async function connectedByDocument(account: Account, name: string) {
  const clientId = 'https://paper.b.example/client.json';
  testServer.documents.set('/client.json', { client_id: clientId, client_name: name, redirect_uris: [redirectUri] });
  const asking = { redirectUri, scope: 'mcp:read', resource: testServer.mcpUrl };
  return { clientId, ...(await connect(await byDocument(issuerOf(testServer), clientId), account, asking)) };
}
const grantOf = async (clientId: string) =>
  (await testServer.store.connections.list({ limit: 500 })).find((one) => one.clientId === clientId)!;
const works = async (token: string) => (await ask(testServer.mcpUrl, token, 'tools/list', {})).status;
const pathOf = (id: string) => testServer.at(`/apps/${id}`);

// CWE-451: a client chooses its own name, so every list also shows its host.
test('every list shows the host and the name of the client, without invisible characters', async () => {
  const name = 'Claude\u3164 by\u202e\u{e0041} Anthropic';
  const { clientId, tokens } = await connectedByDocument(testServer.account, name);
  await ask(testServer.mcpUrl, tokens.access_token, 'tools/call', { name: 'describeCollection', arguments: {} });
  // Log entries of reads are written in batches.
  await expect
    .poll(async () =>
      (await testServer.store.activity.search({ userId: testServer.ada.id, limit: 5 })).map((one) => one.clientId),
    )
    .toContain(clientId);
  const { browser, page: activity } = await testServer.browse(testServer.account, '/activity');
  const shown = 'paper.b.example (calls itself “Claude by Anthropic”)';
  const entry = /href="([^"]*\/activity\/\d+)"/.exec(activity.html)![1]!;
  const pages = {
    activity: read(activity),
    entry: read(await browser.open(new URL(entry, testServer.at('')).href)),
    start: read(await browser.open(testServer.at(''))),
    'admin log': read(await browser.open(testServer.at('/admin-log'))),
  };
  for (const [which, text] of Object.entries(pages)) expect(text, which).toContain(shown);
  const [logged] = await testServer.store.activity.search({ userId: testServer.ada.id, limit: 1 });
  expect(logged).toMatchObject({ clientId, clientName: 'Claude by Anthropic' });
  await testServer.store.connections.end({ id: (await grantOf(clientId)).id, clientName: name });
});

describe('an own connection', () => {
  test('shows the client, scopes, limits, start and expiry', async () => {
    const { tokens, clientId } = await connected(testServer.account, 'Narrow', {
      limit: 'read-only',
      which: 'some',
      collection: ['orders', 'reviews'],
      lasts: 'day',
    });
    await works(tokens.access_token);
    const unused = read((await testServer.browse(testServer.account, '/apps')).page);
    expect(unused).toMatch(
      /notebook\.example unverified Calls itself “Narrow”\. Permissions read your data Limits read-only; only 2 collections \(orders, reviews\) Returns to notebook\.example Since .{10,30} Last used never Expires .{10,30} Disconnect/,
    );
    await testServer.store.connections.end({ id: (await grantOf(clientId)).id, clientName: 'Narrow' });
  });

  test('loses its access and refresh token when revoked, and the admin log shows it', async () => {
    const { registered, tokens, clientId } = await connected(testServer.account, 'Short');
    const { browser, page } = await testServer.browse(testServer.account, '/apps');
    const before = await works(tokens.access_token);
    const { id } = await grantOf(clientId);
    const after = await browser.press(
      { ...page, html: page.html.slice(page.html.lastIndexOf('<form', page.html.indexOf(`/apps/${id}`))) },
      'disconnect',
    );
    const status = await works(tokens.access_token);
    const refused = await refresh(registered, `${tokens.refresh_token}`).catch(
      (error: { error: string }) => error.error,
    );
    const event = testServer.observed.find((one) => one.type === 'security' && one.event === 'connection.revoked');
    expect([
      before,
      read(after).includes('The app no longer has access'),
      read(after).includes('Short'),
      status,
      refused,
      event,
    ]).toEqual([
      200,
      true,
      false,
      401,
      'invalid_grant',
      expect.objectContaining({ userId: testServer.ada.id, clientId, detail: id }),
    ]);
  });
});

test('the owner names a connection, and nobody else; limits stay', async () => {
  const typed = { limit: 'read-only', which: 'some', collection: ['orders'], lasts: 'day' };
  const { clientId, tokens } = await connected(bob, 'Twin', typed);
  const { id } = await grantOf(clientId);
  const send = async (account: Account, name: string, from: string) => {
    const { browser, page } = await testServer.browse(account, from);
    const answer = await browser.open(pathOf(id), {
      method: 'POST',
      body: new URLSearchParams({ csrf: csrfOf(page), action: 'name', name }),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    return answer.url;
  };
  const saved = await send(bob, ` the\u202e laptop ${'x'.repeat(100)}`, '/apps');
  const refused = await send(testServer.account, 'of Ada', '/apps');
  const own = read((await testServer.browse(bob, '/apps')).page);
  const all = (await testServer.browse(testServer.account, '/apps/everyone')).page;
  const found = await (await testServer.browse(testServer.account, '/apps')).browser.open(
    testServer.at('/apps/everyone?app=the+laptop'),
  );
  expect([
    saved,
    refused,
    own.includes('Name the laptop xxx') && own.includes('Limits read-only; only 1 collection (orders)'),
    read(all).includes('Name the laptop xxx') && !all.html.includes('class="naming"'),
    read(found).includes('Twin'),
    (await grantOf(clientId)).name.length,
    await works(tokens.access_token),
  ]).toEqual([testServer.at('/apps?named=yes'), testServer.at('/apps?ended=gone'), true, true, true, 80, 200]);
  await send(bob, '', '/apps');
  expect((await grantOf(clientId)).name).toBe('');
  await testServer.store.connections.end({ id, clientName: 'Twin' });
});

describe('a connection of another user', () => {
  const post = async (account: Account, path: string, body: Record<string, string> = {}, csrf = true) => {
    const { browser, page } = await testServer.browse(account, '/apps');
    return browser.open(path, {
      method: 'POST',
      body: new URLSearchParams({ ...(csrf && { csrf: csrfOf(page) }), ...body }),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
  };

  test('is shown to administrators only, who can end it', async () => {
    const ada = await connected(testServer.account, 'Of Ada');
    const bobs = await connected(bob, 'Of Bob', { which: 'some', collection: ['orders'] });
    const { page } = await testServer.browse(bob, '/apps');
    await post(bob, pathOf((await grantOf(ada.clientId)).id));
    const everybody = await (await testServer.browse(bob, '/apps')).browser.open(testServer.at('/apps/everyone'));
    expect([read(page).includes('Of Bob'), read(page).includes('Of Ada'), everybody.status]).toEqual([
      true,
      false,
      404,
    ]);
    expect(await works(ada.tokens.access_token)).toBe(200);

    const admin = (await testServer.browse(testServer.account, '/apps/everyone')).page;
    expect([
      read(admin).includes('Of Bob'),
      read(admin).includes('Of Ada'),
      read(admin).includes('only 1 collection '),
    ]).toEqual([true, true, true]);
    const ended = await post(testServer.account, pathOf((await grantOf(bobs.clientId)).id), { from: '/apps/everyone' });
    expect([ended.url, await works(bobs.tokens.access_token), await works(ada.tokens.access_token)]).toEqual([
      testServer.at('/apps/everyone?ended=app'),
      401,
      200,
    ]);
  });

  test('is found by user and by app', async () => {
    const one = await connected(testServer.account, 'Findable One');
    await connected(bob, 'Findable Two');
    const { browser } = await testServer.browse(testServer.account, '/apps');
    const look = async (query: Record<string, string>) =>
      [
        ...read(await browser.open(`${testServer.at('/apps/everyone')}?${new URLSearchParams(query)}`)).matchAll(
          /Findable \w+/g,
        ),
      ].map(([name]) => name);
    expect([
      await look({ app: 'findable' }),
      await look({ app: 'findable', user: 'BOB' }),
      await look({ user: 'byron', app: 'findable' }),
      await look({ app: one.clientId }),
      await look({ app: 'nothing of that' }),
      await look({ after: 'x’; DROP', app: 'findable' }),
    ]).toEqual([
      ['Findable Two', 'Findable One'],
      ['Findable Two'],
      ['Findable One'],
      ['Findable One'],
      [],
      ['Findable Two', 'Findable One'],
    ]);
  });

  test('is found behind a page of others, which are newer', async () => {
    const { store } = testServer;
    const { clientId } = await connected(testServer.account, 'Buried One');
    const { id } = await grantOf(clientId);
    const grant = (await store.oauth.find('Grant', id))!;
    const connection = { ...(grant.payload.connection as object), clientName: 'One of many' };
    for (let at = 0; at < 60; at++)
      await store.oauth.upsert({
        ...grant,
        id: `many-${at}`,
        clientId: 'many',
        payload: { ...grant.payload, connection },
      });
    await connected(bob, 'Buried Two');
    const { browser } = await testServer.browse(testServer.account, '/apps');
    const page = read(await browser.open(testServer.at('/apps/everyone?app=buried')));
    expect([...page.matchAll(/Buried \w+/g)].map(([name]) => name)).toEqual(['Buried Two', 'Buried One']);
  });

  test('is not ended by a cross-site form', async () => {
    const { tokens, clientId } = await connected(testServer.account, 'Stays');
    const { id } = await grantOf(clientId);
    const { browser, page } = await testServer.browse(testServer.account, '/apps');
    const forged = await browser.open(pathOf(id), {
      method: 'POST',
      body: new URLSearchParams({ csrf: csrfOf(page) }),
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    const without = await post(testServer.account, pathOf(id), {}, false);
    const get = await browser.open(pathOf(id));
    expect([forged.status, without.status, get.status, await works(tokens.access_token)]).toEqual([403, 403, 405, 200]);
  });
});

test('names of apps are shown as text', async () => {
  await connected(testServer.account, '<script>alert(1)</script>');
  const { page } = await testServer.browse(testServer.account, '/apps');
  expect([page.html.includes('<script>alert'), page.html.includes('&lt;script&gt;')]).toEqual([false, true]);
});
