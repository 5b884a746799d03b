import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { hashToken } from '../../src/core/secret.ts';
import { servers } from '../databases.ts';
import { createStorage } from '../store/spares.ts';
import {
  authorizationUrl,
  bearer,
  callMcp,
  connect,
  insecure,
  redeem,
  refresh,
  register,
  type Session,
} from './client.ts';
import { type Browser, createBrowser, signIn } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';
const asking = { redirectUri, scope: 'mcp:read' };

let late = 0;
const clock = { ...systemClock, now: () => Date.now() + late };
let testServer: OAuthTestServer;
beforeAll(async () => {
  testServer = await startServer({ clock });
});
afterAll(() => testServer.stop());
beforeEach(() => {
  late = 0;
});

/** One browser for each server; after the first sign-in it only consents. */
const browsers = new WeakMap<OAuthTestServer, Browser>();
const browserAt = (at: OAuthTestServer): Browser => {
  const browser = browsers.get(at) ?? createBrowser();
  browsers.set(at, browser);
  return browser;
};
const connected = async (from = testServer): Promise<Session> => {
  const metadata = { client_name: 'Notebook', redirect_uris: [redirectUri] };
  const browser = browserAt(from);
  return connect(await register(from.paths.issuer, metadata), from.account, { ...asking, browser });
};
const status = async (session: Session, token = session.tokens.access_token) =>
  (await callMcp(testServer.paths.resource, token)).status;
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { error?: string }) => error.error ?? `${error}`,
  );
const refreshed = (session: Session, token = `${session.tokens.refresh_token}`) => refresh(session, token);
const events = () => testServer.observed.flatMap((one) => (one.type === 'security' ? [one.event] : []));

describe('an access token', () => {
  test('opens its own resource, and the result is cached synchronously', async () => {
    const session = await connected();
    const request = bearer(session.tokens.access_token);
    const first = await testServer.gate.check(request);
    const again = testServer.gate.check(request);
    expect([
      again === first,
      testServer.gate.isCurrent(first),
      session.tokens.expires_in,
      session.tokens.scope,
    ]).toEqual([true, true, 900, 'mcp:read']);
  });

  test('is stored as a hash, and so are the other secrets of the client', async () => {
    const session = await connected();
    const { access_token, refresh_token } = session.tokens;
    const find = async (model: string, token: string) => {
      const row = await testServer.store.oauth.find(model, hashToken(token));
      return row && !JSON.stringify(row).includes(token);
    };
    expect([
      await find('AccessToken', access_token),
      await find('RefreshToken', `${refresh_token}`),
      await find('AuthorizationCode', `${session.code.parameters.get('code')}`),
      await testServer.store.oauth.find('AccessToken', access_token),
    ]).toEqual([true, true, true, undefined]);
  });

  test('that expired is refused, even if it was cached', async () => {
    const session = await connected();
    const before = await status(session);
    late = 901_000;
    const { status: after, body } = await callMcp(testServer.paths.resource, session.tokens.access_token);
    expect([before, after, body]).toEqual([200, 401, 'The token is unknown, expired or revoked. Sign in again.']);
  });

  test.each([
    ['another audience', { aud: 'https://other.example/mcp' }, 'The token was issued for another resource.'],
    ['no audience', { aud: undefined }, 'The token was issued for another resource.'],
    ['another kind', { kind: 'RefreshToken' }, 'This is not an access token.'],
    ['no expiry', { exp: undefined }, 'The token has expired. Refresh it or sign in again.'],
    [
      'a certificate it is bound to',
      { 'x5t#S256': 'abc' },
      'The token is bound to a certificate and cannot be used here.',
    ],
    ['another account than its grant', { accountId: '999' }, 'The authorization was revoked. Sign in again.'],
    ['another client than its grant', { clientId: 'another' }, 'The authorization was revoked. Sign in again.'],
  ])('with %s is refused', async (_name, change, problem) => {
    const session = await connected();
    const row = await testServer.store.oauth.find('AccessToken', hashToken(session.tokens.access_token));
    await testServer.store.oauth.upsert({
      ...row!,
      id: hashToken('a-token-of-the-test'),
      payload: { ...row!.payload, ...change },
    });
    expect(await callMcp(testServer.paths.resource, 'a-token-of-the-test')).toEqual({ status: 401, body: problem });
  });

  test.each([
    [undefined, 'An access token is required. Sign in through the authorization server that the challenge names.'],
    ['Bearer', 'The Authorization header must be `Bearer <token>` or `DPoP <token>`.'],
    ['Basic dXNlcjpwYXNz', 'The Authorization header must be `Bearer <token>` or `DPoP <token>`.'],
    [`Bearer ${'x'.repeat(2000)}`, 'The Authorization header must be `Bearer <token>` or `DPoP <token>`.'],
    ['Bearer abcdefghijklmnopqrstuvwxyz', 'The token is unknown, expired or revoked. Sign in again.'],
  ])('is read only from the header: %j', async (authorization, problem) => {
    const response = await fetch(testServer.paths.resource, {
      method: 'POST',
      headers: authorization ? { authorization } : {},
    });
    const challenge = `resource_metadata="${testServer.local}/.well-known/oauth-protected-resource/mcp", scope="mcp:read"`;
    expect([response.status, await response.text(), response.headers.get('www-authenticate')]).toEqual([
      401,
      problem,
      `Bearer ${authorization ? 'error="invalid_token", ' : ''}${challenge}`,
    ]);
  });

  test('of a client that needs more scopes gets a challenge that names them', () => {
    expect(testServer.gate.scopeChallenge(bearer('x'), ['mcp:read', 'mcp:action'])).toBe(
      `Bearer error="insufficient_scope", resource_metadata="${testServer.local}/.well-known/oauth-protected-resource/mcp", scope="mcp:read mcp:action"`,
    );
  });

  test('of a disabled user is refused immediately, and works again when the user is enabled', async () => {
    const session = await connected();
    const { id } = (await testServer.store.identity.findUserByEmail(testServer.account.email))!;
    const seen = [await status(session)];
    await testServer.store.identity.setDisabled(id, true);
    seen.push(await status(session));
    const refreshing = await outcome(refreshed(session));
    await testServer.store.identity.setDisabled(id, false);
    expect([...seen, refreshing, await status(session)]).toEqual([200, 401, 'invalid_grant', 200]);
  });
});

describe('revocation', () => {
  test.each(['access_token', 'refresh_token'] as const)(
    'of the %s ends the authorization immediately',
    async (which) => {
      const session = await connected();
      const before = await status(session);
      const auth = await testServer.gate.check(bearer(session.tokens.access_token));
      const { server, client, authentication } = session;
      await oauth.revocationRequest(server, client, authentication, `${session.tokens[which]}`, insecure);
      expect([
        before,
        testServer.gate.isCurrent(auth),
        await status(session),
        await outcome(refreshed(session)),
      ]).toEqual([200, false, 401, 'invalid_grant']);
    },
  );

  test.each(servers.filter(({ dialect }) => dialect !== 'sqlite').map((server) => [server.dialect, server] as const))(
    'in one process applies to the next call in another, on %s',
    async (_dialect, server) => {
      const database = await createStorage(server);
      const one = await startServer({ storageUrl: database.url });
      const two = await startServer({ storageUrl: database.url, beside: one });
      try {
        const session = await connected(one);
        const there = `${two.local}/mcp`;
        const before = await callMcp(there, session.tokens.access_token);
        const auth = await two.gate.check(bearer(session.tokens.access_token));
        const { server: issuer, client, authentication } = session;
        await oauth.revocationRequest(issuer, client, authentication, session.tokens.access_token, insecure);
        const after = await callMcp(there, session.tokens.access_token);
        expect([before.status, await two.gate.isCurrent(auth), after.status]).toEqual([200, false, 401]);
      } finally {
        await two.stop();
        await one.stop();
        await database.drop();
      }
    },
  );
});

describe('an authorization code', () => {
  test('used twice is refused, and its tokens are revoked', async () => {
    const session = await connected();
    const before = await status(session);
    const again = await outcome(redeem(session, session.code));
    expect([
      before,
      again,
      await status(session),
      await outcome(refreshed(session)),
      events().includes('token.reused'),
    ]).toEqual([200, 'invalid_grant', 401, 'invalid_grant', true]);
  });
});

describe('a refresh token', () => {
  test('without a grace period is strict: of five concurrent refreshes one succeeds', async () => {
    const strict = await startServer({ env: { SERVICE_REFRESH_GRACE_SECONDS: '0' } });
    try {
      const session = await connected(strict);
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => outcome(refreshed(session))));
      expect(outcomes.filter((one) => one === 'ok')).toEqual(['ok']);
    } finally {
      await strict.stop();
    }
  });
});

describe('the resource', () => {
  test.each([
    ['unchanged', (resource: string) => resource],
    ['with a trailing slash', (resource: string) => `${resource}/`],
    ['in capitals', (resource: string) => resource.replace('http://localhost', 'HTTP://LOCALHOST')],
    ['with a query of Portico', (resource: string) => `${resource}?readonly&collections=a,b`],
    ['omitted', () => undefined],
  ])('%s gives a token for it', async (_name, spell) => {
    const registered = await register(testServer.paths.issuer, {
      client_name: 'Notebook',
      redirect_uris: [redirectUri],
    });
    const resource = spell(testServer.paths.resource);
    const { url, verifier } = await authorizationUrl(registered, { redirectUri, ...(resource ? { resource } : {}) });
    const callback = await signIn(url, testServer.account, browserAt(testServer));
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: registered.client.client_id,
      code: `${callback.searchParams.get('code')}`,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      ...(resource ? { resource } : {}),
    });
    const response = await fetch(`${testServer.paths.issuer}/oauth/token`, { method: 'POST', body });
    const { access_token } = (await response.json()) as { access_token: string };
    const row = await testServer.store.oauth.find('AccessToken', hashToken(access_token));
    expect([response.headers.get('cache-control'), row?.payload.aud]).toEqual(['no-store', testServer.paths.resource]);
  });

  test.each(['https://other.example/mcp', 'http://localhost/mcp', 'not a url', '?x=1', '#x', '/more'])(
    'spelled %s is refused as invalid_target',
    async (spelling) => {
      const registered = await register(testServer.paths.issuer, {
        client_name: 'Notebook',
        redirect_uris: [redirectUri],
      });
      const resource = /^[?#/]/.test(spelling) ? testServer.paths.resource + spelling : spelling;
      const { url } = await authorizationUrl(registered, { redirectUri, resource });
      // The user has not decided about the client yet, so the page links back instead of redirecting.
      const { html } = await createBrowser().open(url);
      const [, link = ''] = /<a class="back" href="([^"]+)"/.exec(html) ?? [];
      const back = new URL(link.replaceAll('&amp;', '&')).searchParams;
      expect(['error', 'state', 'iss'].map((name) => back.get(name))).toEqual([
        'invalid_target',
        'the-state',
        testServer.paths.issuer,
      ]);
    },
  );
});

describe('a client secret', () => {
  test('is stored as a hash, and a wrong one is refused', async () => {
    const registered = await register(testServer.paths.issuer, {
      client_name: 'Notebook',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_basic',
    });
    const secret = `${registered.client.client_secret}`;
    const row = await testServer.store.oauth.find('Client', registered.client.client_id);
    const wrong = { ...registered, authentication: oauth.ClientSecretBasic(hashToken(secret)) };
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x' });
    const ask = async (by: typeof registered) => {
      const headers = new Headers();
      by.authentication(by.server, by.client, body, headers);
      return (await fetch(`${by.server.token_endpoint}`, { method: 'POST', body, headers })).status;
    };
    expect([row?.payload.client_secret === hashToken(secret), await ask(wrong), await ask(registered)]).toEqual([
      true,
      401,
      400,
    ]);
  });
});
