// Parameters that OpenID clients send, and users who repeat or skip steps: it works, or the page explains what to do.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorizationUrl, connect, type Registered, refresh, register } from './client.ts';
import { createBrowser } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';
let testServer: OAuthTestServer;
beforeAll(async () => {
  testServer = await startServer({ cloud: true, env: { SERVICE_DCR_PER_HOUR: '1000' } });
  await testServer.addUser({ email: 'bob@example.com', password: 'another password', firstName: 'Bob' });
});
afterAll(() => testServer.stop());

const bob = { email: 'bob@example.com', password: 'another password' };
const notebook = (metadata: Record<string, unknown> = {}) =>
  register(testServer.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri], ...metadata });

describe('a client of OpenID', () => {
  // RFC 6749 section 3.3: a server may ignore unsupported scopes, and returns the granted ones.
  test.each([
    ['openid', 'mcp:read'],
    ['openid mcp:read', 'mcp:read'],
    ['openid profile email mcp:read mcp:write', 'mcp:read mcp:write'],
    ['openid profile email address phone offline_access', 'mcp:read'],
    ['mcp:read offline_access', 'mcp:read'],
  ])('that asks for %s gets %s, and refreshes', async (scope, given) => {
    const session = await connect(await notebook(), testServer.account, { redirectUri, scope });
    const { server, client } = session;
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: `${session.tokens.refresh_token}`,
      client_id: client.client_id,
      scope,
    });
    const again = await fetch(`${server.token_endpoint}`, { method: 'POST', body });
    expect([session.tokens.scope, again.status]).toEqual([given, 200]);
  });

  // RFC 6749 section 3.1: unknown parameters are ignored.
  test.each([
    ['nonce', 'n-0S6_WzA2Mj'],
    ['max_age', '0'],
    ['acr_values', 'urn:mace:incommon:iap:silver'],
    ['claims', '{"id_token":{"auth_time":{"essential":true}}}'],
    ['id_token_hint', 'eyJhbGciOiJub25lIn0.e30.'],
  ])('that sends %s gets the page, and a code', async (name, value) => {
    const { url } = await authorizationUrl(await notebook(), { redirectUri, scope: 'openid mcp:read' });
    url.searchParams.set(name, value);
    const browser = createBrowser();
    const page = await browser.press(await browser.open(url), 'sign-in', { ...testServer.account });
    const { leftTo } = await browser.press(page, 'allow');
    expect(leftTo?.searchParams.has('code')).toBe(true);
  });

  // RFC 7591 section 2: unknown metadata is ignored.
  test('that registers with OpenID metadata connects', async () => {
    const registered: Registered = await notebook({
      subject_type: 'pairwise',
      default_max_age: 60,
      require_auth_time: true,
      default_acr_values: ['1'],
      id_token_signed_response_alg: 'RS256',
    });
    const session = await connect(registered, testServer.account, { redirectUri, scope: 'openid' });
    expect(typeof (await refresh(session, `${session.tokens.refresh_token}`)).access_token).toBe('string');
  });
});

describe('two users who sign in in two tabs of one browser', () => {
  test('each reach their own consent; the tab that is too late says what to do', async () => {
    const [one, two] = [await notebook(), await notebook()];
    const browser = createBrowser();
    const first = await browser.open((await authorizationUrl(one, { redirectUri })).url);
    const second = await browser.open((await authorizationUrl(two, { redirectUri })).url);
    const ada = await browser.press(first, 'sign-in', { ...testServer.account });
    const other = await browser.press(second, 'sign-in', bob);
    const allowed = await browser.press(other, 'allow');
    const late = await browser.press(ada, 'allow');
    expect([
      other.status,
      other.html.includes('Bob'),
      other.html.includes('<script'),
      allowed.leftTo?.searchParams.has('code'),
      late.leftTo,
      late.status,
      late.html.includes('connect again'),
    ]).toEqual([200, true, false, true, undefined, 400, true]);
  });

  test('as the same user: both work', async () => {
    const [one, two] = [await notebook(), await notebook()];
    const browser = createBrowser();
    const first = await browser.open((await authorizationUrl(one, { redirectUri })).url);
    const second = await browser.open((await authorizationUrl(two, { redirectUri })).url);
    const pages = [];
    for (const page of [first, second]) pages.push(await browser.press(page, 'sign-in', { ...testServer.account }));
    const left = [];
    for (const page of pages) left.push((await browser.press(page, 'allow')).leftTo?.searchParams.has('code'));
    expect(left).toEqual([true, true]);
  });
});

describe('the page for a code of a terminal', () => {
  const codeOf = async () => {
    const body = new URLSearchParams({ client_id: 'portico-cli' });
    const answer = await fetch(`${testServer.local}/oauth/device_authorization`, { method: 'POST', body });
    return ((await answer.json()) as { user_code: string }).user_code;
  };
  const failures = () => testServer.observed.filter(({ type }) => type === 'failure').length;

  // A restarted browser restores the page without the session cookie.
  test('without its cookie shows the form again, which works', async () => {
    const user_code = await codeOf();
    const first = await createBrowser().open(`${testServer.local}/oauth/device`);
    const restarted = createBrowser();
    const again = await restarted.press(first, 'continue', { user_code });
    const next = await restarted.press(again, 'continue', { user_code });
    const [shown, goesOn] = [again.html.includes(`value="${user_code}"`), next.html.includes('name="password"')];
    expect([again.status, shown, goesOn]).toEqual([200, true, true]);
    expect(failures()).toBe(0);
  });

  // RFC 8628 section 5.1: every code is counted as a guess.
  test('without its cookie counts towards the rate limit, and causes no server error', async () => {
    const statuses = new Set<number>();
    for (let i = 0; i < 14; i++) {
      const body = new URLSearchParams({ user_code: 'BCDF-GHJK', xsrf: 'x', confirm: 'yes' });
      statuses.add(
        (await fetch(`${testServer.local}/oauth/device`, { method: 'POST', body, redirect: 'manual' })).status,
      );
    }
    expect([[...statuses], failures()]).toEqual([[303, 429], 0]);
  });
});

// RFC 7591 section 3.2.2: every invalid value is invalid_client_metadata.
describe('registrations with values that are not strings', () => {
  const odd: unknown[] = [{ toString: 1 }, { a: 'b' }, [{ toString: 1 }], [[]], 7, true, null];
  test.each([
    'token_endpoint_auth_signing_alg',
    'id_token_signed_response_alg',
    'userinfo_signed_response_alg',
    'introspection_signed_response_alg',
    'authorization_signed_response_alg',
    'request_object_signing_alg',
    'id_token_encrypted_response_alg',
    'token_endpoint_auth_method',
    'client_name',
    'client_uri',
    'contacts',
    'grant_types',
    'response_types',
    'scope',
    'jwks',
    'jwks_uri',
    'redirect_uris',
  ])('%s', async (name) => {
    const statuses = [];
    for (const value of odd) {
      const response = await fetch(`${testServer.local}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'N', redirect_uris: [redirectUri], [name]: value }),
      });
      statuses.push(response.status);
    }
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
  });
});

// OAuth 2.1 section 7.12.2; RFC 9700 sections 4.1.3 and 4.18: the response goes into the query only.
describe.each(['fragment', 'form_post', 'web_message', 'jwt', 'query.jwt', 'Query'])('response_mode=%s', (mode) => {
  test.each(['in the URL', 'pushed'])('%s gives no code', async (how) => {
    const registered = await notebook();
    const browser = createBrowser();
    const { url } = await authorizationUrl(registered, { redirectUri });
    await browser.press(await browser.open(url), 'sign-in', { ...testServer.account });
    url.searchParams.set('response_mode', mode);
    let address = url.href;
    if (how === 'pushed') {
      const answer = await fetch(`${testServer.local}/oauth/par`, { method: 'POST', body: url.searchParams });
      const { request_uri = 'none' } = (await answer.json()) as { request_uri?: string };
      address = `${testServer.local}/oauth/authorize?${new URLSearchParams({ client_id: registered.client.client_id, request_uri })}`;
    }
    const page = await browser.open(address);
    expect([
      page.html.includes('value="allow"'),
      page.html.includes('<form'),
      page.leftTo?.hash ?? '',
      page.leftTo?.searchParams.has('code') ?? false,
    ]).toEqual([false, false, '', false]);
  });
});
