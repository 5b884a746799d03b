// Device authorization (RFC 8628): a terminal starts it, and the user approves on our pages in another browser.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import knex from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/core/secret.ts';
import { register } from './client.ts';
import { type Browser, createBrowser, type Page } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';
import { ask, clientId, deviceGrant, poll, refresh, send } from './terminal.ts';

let server: OAuthTestServer;
let issuer: string;
let folder: string;
let filename: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portico-device-'));
  filename = join(folder, 'storage.sqlite');
  server = await startServer({ cloud: true, storageUrl: `sqlite:${filename}` });
  issuer = server.paths.issuer;
  await server.addUser({ email: 'eve@example.com', password: 'another password', level: 'editor' });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const titleOf = (page: Page): string => /<h1>(.*?)<\/h1>/s.exec(page.html)?.[1] ?? page.html;
const events = () => server.observed.flatMap((one) => (one.type === 'security' ? [one.event] : []));

async function atConsent(browser: Browser, address: string, account = server.account): Promise<Page> {
  const page = await browser.press(await browser.open(address), 'continue');
  return page.html.includes('name="password"') ? browser.press(page, 'sign-in', { ...account }) : page;
}

test('the metadata names the endpoint and the grant type', async () => {
  const metadata = (await (await fetch(server.paths.authorizationServerMetadata)).json()) as Record<string, unknown>;
  expect([
    metadata.device_authorization_endpoint,
    metadata.grant_types_supported,
    metadata.scopes_supported,
    metadata.portico_cloud_resource,
  ]).toEqual([
    `${issuer}/oauth/device_authorization`,
    ['authorization_code', 'refresh_token', deviceGrant],
    ['mcp:read', 'mcp:write', 'mcp:action', 'offline_access', 'cloud:read'],
    `${issuer}/v1/cloud`,
  ]);
});

test('a terminal gets the response of RFC 8628 section 3.2, and polls', async () => {
  const asked = await ask(issuer);
  expect(asked).toEqual({
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${issuer}/oauth/device`,
    verification_uri_complete: `${issuer}/oauth/device?user_code=${asked.user_code}`,
    expires_in: 600,
    interval: 2,
  });
  const first = await poll(issuer, asked.device_code);
  await poll(issuer, asked.device_code);
  const tooSoon = await poll(issuer, asked.device_code);
  expect([first.status, first.body.error, tooSoon.status, tooSoon.body.error]).toEqual([
    400,
    'authorization_pending',
    400,
    'slow_down',
  ]);
});

// CWE-312: the storage holds neither the device code nor the user code in plain text.
test('only hashes of the codes are stored, and a hash does not work as a code', async () => {
  const { device_code, user_code } = await ask(issuer);
  const browser = createBrowser();
  await atConsent(browser, `${issuer}/oauth/device?user_code=${user_code}`);
  const file = knex({ client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true });
  const rows = (await file('oauth_store')) as Record<string, unknown>[];
  await file.destroy();
  const kept = JSON.stringify(rows);
  expect(rows.filter(({ model }) => model === 'DeviceCode').length).toBeGreaterThan(0);
  expect([device_code, user_code, user_code.replace('-', '')].filter((code) => kept.includes(code))).toEqual([]);
  for (const { id, uid } of rows.filter(({ model }) => model === 'DeviceCode')) {
    const told = await poll(issuer, `~${id}`);
    expect([told.status, told.body.error]).toEqual([400, 'invalid_grant']);
    expect(titleOf(await createBrowser().open(`${issuer}/oauth/device?user_code=${uid}`))).not.toContain('Sign in');
  }
});

test('a user compares the code, signs in, allows, and the terminal gets tokens for its own resource', async () => {
  const asked = await ask(issuer);
  const browser = createBrowser();
  const entry = await browser.open(asked.verification_uri_complete);
  const page = await atConsent(browser, asked.verification_uri_complete);
  const before = await poll(issuer, asked.device_code);
  const done = await browser.press(page, 'allow');
  const { status, body } = await poll(issuer, asked.device_code);
  const token = await server.store.oauth.listByAccount('AccessToken', '1');
  expect([
    [entry.status, titleOf(entry), entry.html.includes(`value="${asked.user_code}"`)],
    [page.status, titleOf(page), page.html.includes(asked.user_code), page.html.includes('127.0.0.1, just now')],
    before.body.error,
    [done.status, titleOf(done)],
    [status, body.scope, body.token_type, body.expires_in],
    token.map(({ payload }) => [payload.aud, payload.scope, payload.clientId]),
  ]).toEqual([
    [200, 'Is this the code in your terminal?', true],
    [200, 'Allow the Portico command line to connect?', true, true],
    'authorization_pending',
    [200, 'Your terminal is connected'],
    [200, 'cloud:read', 'Bearer', 900],
    [[`${issuer}/v1/cloud`, 'cloud:read', clientId]],
  ]);
});

test('its refresh token rotates, and a code used twice revokes everything', async () => {
  const asked = await ask(issuer);
  const browser = createBrowser();
  await browser.press(await atConsent(browser, asked.verification_uri_complete), 'allow');
  const first = await poll(issuer, asked.device_code);
  const second = await refresh(issuer, `${first.body.refresh_token}`);
  expect([second.status, second.body.scope, second.body.refresh_token !== first.body.refresh_token]).toEqual([
    200,
    'cloud:read',
    true,
  ]);
  await poll(issuer, asked.device_code);
  const ended = await refresh(issuer, `${second.body.refresh_token}`);
  expect([ended.status, ended.body.error]).toEqual([400, 'invalid_grant']);
});

test('a typed code is read in any case, with or without its dash', async () => {
  const asked = await ask(issuer);
  const browser = createBrowser();
  const page = await browser.open(asked.verification_uri);
  const typed = asked.user_code.toLowerCase().replace('-', ' ');
  const next = await browser.press(page, 'continue', { user_code: typed });
  expect([titleOf(page), titleOf(next)]).toEqual(['Connect a terminal', 'Sign in']);
});

test('a refusal by the user reaches the terminal', async () => {
  const asked = await ask(issuer);
  const browser = createBrowser();
  const page = await browser.press(await atConsent(browser, asked.verification_uri_complete), 'deny');
  const { status, body } = await poll(issuer, asked.device_code);
  expect([titleOf(page), status, body.error]).toEqual(['Not connected', 400, 'access_denied']);
});

test('a cancelled sign-in is a refusal too', async () => {
  const asked = await ask(issuer);
  const browser = createBrowser();
  const signIn = await browser.press(await browser.open(asked.verification_uri_complete), 'continue');
  const page = await browser.press(signIn, 'cancel');
  const { body } = await poll(issuer, asked.device_code);
  expect([titleOf(page), body.error]).toEqual(['Not connected', 'access_denied']);
});

test('an editor sees why they cannot allow it, and a forged form does not help', async () => {
  const asked = await ask(issuer);
  const browser = createBrowser();
  const eve = { email: 'eve@example.com', password: 'another password' };
  const page = await atConsent(browser, asked.verification_uri_complete, eve);
  const csrf = [...page.html.matchAll(/name="csrf" value="([^"]+)"/g)][0]![1]!;
  const forced = await browser.open(page.url, {
    method: 'POST',
    body: new URLSearchParams({ csrf, action: 'allow' }),
  });
  const waiting = await poll(issuer, asked.device_code);
  const done = await browser.press(forced, 'deny');
  expect([
    [
      page.status,
      page.html.includes('value="allow"'),
      page.html.includes('Ask an administrator for one of these levels.'),
    ],
    [forced.status, forced.html.includes('Ask an administrator')],
    waiting.body.error,
    titleOf(done),
    events().includes('device.not-entitled'),
  ]).toEqual([[403, false, true], [403, true], 'authorization_pending', 'Not connected', true]);
});

test('another user can take over on the consent page', async () => {
  const asked = await ask(issuer);
  const browser = createBrowser();
  const eve = { email: 'eve@example.com', password: 'another password' };
  const hers = await atConsent(browser, asked.verification_uri_complete, eve);
  const entry = await browser.press(hers, 'switch');
  const page = await browser.press(await browser.press(entry, 'continue'), 'sign-in', { ...server.account });
  await browser.press(page, 'allow');
  const { status } = await poll(issuer, asked.device_code);
  expect([titleOf(entry), page.status, status]).toEqual(['Is this the code in your terminal?', 200, 200]);
});

test('a form of another page or site changes nothing', async () => {
  const asked = await ask(issuer);
  const browser = createBrowser();
  const page = await browser.open(asked.verification_uri_complete);
  const form = { user_code: asked.user_code, confirm: 'yes', xsrf: 'made up' };
  const forged = await browser.open(page.url, { method: 'POST', body: new URLSearchParams(form) });
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(forged.html)![1]!;
  const elsewhere = await browser.open(page.url, {
    method: 'POST',
    body: new URLSearchParams({ ...form, xsrf }),
    headers: { 'sec-fetch-site': 'cross-site' },
  });
  const next = await browser.press(await browser.open(asked.verification_uri_complete), 'continue');
  expect([forged.status, titleOf(forged), elsewhere.status, titleOf(next)]).toEqual([
    400,
    'Connect a terminal',
    403,
    'Sign in',
  ]);
});

describe('limits of the grant', () => {
  test('a registered client cannot use the grant', async () => {
    const { client } = await register(issuer, {
      client_name: 'Notebook',
      redirect_uris: ['https://notebook.example/callback'],
      grant_types: ['authorization_code', deviceGrant],
    });
    const { status, body } = await send(`${issuer}/oauth/device_authorization`, {
      client_id: client.client_id,
      scope: 'cloud:read',
    });
    const asked = await ask(issuer);
    const stolen = await poll(issuer, asked.device_code, client.client_id);
    expect([status, body.error, stolen.status]).toEqual([400, 'invalid_request', 400]);
  });

  test('the command line gets no other resource, and cannot use the authorization endpoint', async () => {
    const resource = server.paths.resource;
    const device = await send(`${issuer}/oauth/device_authorization`, {
      client_id: clientId,
      scope: 'mcp:read',
      resource,
    });
    const query = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: 'http://localhost:1/callback',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const authorize = await fetch(`${issuer}/oauth/authorize?${query}`, { redirect: 'manual' });
    expect([device.status, device.body.error, authorize.status]).toEqual([400, 'invalid_target', 400]);
  });

  test('scopes of /mcp are not granted', async () => {
    const asked = await ask(issuer, { scope: 'cloud:read mcp:read mcp:write' });
    const browser = createBrowser();
    await browser.press(await atConsent(browser, asked.verification_uri_complete), 'allow');
    const { body } = await poll(issuer, asked.device_code);
    const mcp = await fetch(server.paths.resource, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect([body.scope, mcp.status]).toEqual(['cloud:read', 401]);
  });
});

test('guesses of codes are limited by address, and raise security events', async () => {
  const own = await startServer({ cloud: true, env: { SERVICE_SIGN_IN_ATTEMPTS: '3' } });
  try {
    const browser = createBrowser();
    const asked = await ask(own.paths.issuer);
    const statuses: number[] = [];
    let page = await browser.open(`${own.paths.issuer}/oauth/device`);
    for (const guess of ['BBBB-BBBB', 'CCCC-CCCC', '<script>', asked.user_code]) {
      page = await browser.press(page, 'continue', { user_code: guess });
      statuses.push(page.status);
      if (page.status === 400) expect(page.html).not.toContain('<script>');
    }
    const refused = own.observed.flatMap((one) => (one.type === 'security' ? [one.event] : []));
    expect([statuses, page.headers.has('retry-after'), refused]).toEqual([
      [400, 400, 400, 429],
      true,
      ['device.code-refused', 'device.code-refused', 'device.code-refused', 'device.throttled'],
    ]);
  } finally {
    await own.stop();
  }
});

test('an expired code is reported to the user and the terminal', async () => {
  let late = 0;
  const { systemClock } = await import('../../src/core/clock.ts');
  const own = await startServer({ cloud: true, clock: { ...systemClock, now: () => Date.now() + late } });
  try {
    const asked = await ask(own.paths.issuer);
    const row = (await own.store.oauth.find('DeviceCode', hashToken(asked.device_code)))!;
    // The package uses the system clock.
    await own.store.oauth.upsert({ ...row, payload: { ...row.payload, exp: Math.floor(Date.now() / 1000) - 1 } });
    late = 601_000;
    const browser = createBrowser();
    const page = await browser.press(await browser.open(asked.verification_uri_complete), 'continue');
    const told = await poll(own.paths.issuer, asked.device_code);
    expect([page.status, titleOf(page), told.status, told.body.error]).toEqual([
      400,
      'Connect a terminal',
      400,
      'expired_token',
    ]);
  } finally {
    await own.stop();
  }
});

test('without the setting, the endpoints do not exist', async () => {
  const own = await startServer();
  try {
    const statuses = await Promise.all(
      ['device', 'device_authorization', 'device/abc'].map(
        async (path) => (await fetch(`${own.paths.issuer}/oauth/${path}`)).status,
      ),
    );
    const { body } = await send(`${own.paths.issuer}/oauth/token`, {
      grant_type: deviceGrant,
      device_code: 'x'.repeat(43),
      client_id: clientId,
    });
    expect([statuses, body.error]).toEqual([[404, 404, 404], 'invalid_client']);
  } finally {
    await own.stop();
  }
});
