// Signing in through an external OpenID provider: what works, and every attack that must fail.
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { createStorage } from '../store/spares.ts';
import { authorizationUrl, callMcp, type Registered, redeem, register } from './client.ts';
import { type Browser, createBrowser, type Page } from './flow.ts';
import { type OAuthTestServer, type OAuthTestServerOptions, startServer } from './oauth-server.ts';
import { atUpstream, goThrough, openUpstream, signInThrough, type Upstream } from './upstream.ts';

const redirectUri = 'http://localhost:6276/oauth/callback';
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface World {
  readonly place: OAuthTestServer;
  readonly upstream: Upstream;
}

async function openWorld(env: Record<string, string> = {}, options: OAuthTestServerOptions = {}): Promise<World> {
  const upstream = await openUpstream();
  closing.push(() => upstream.stop());
  const testServer = await startServer({ ...options, env: { ...upstream.env, ...env } });
  closing.push(() => testServer.stop());
  upstream.start([testServer.paths.ssoCallback('')]);
  return { place: testServer, upstream };
}

interface Begun {
  readonly browser: Browser;
  readonly registered: Registered;
  readonly page: Page;
  readonly verifier: string;
}

async function begin({ place: testServer }: World, browser = createBrowser(), name = 'Notebook'): Promise<Begun> {
  const registered = await register(testServer.paths.issuer, { client_name: name, redirect_uris: [redirectUri] });
  const { url, verifier } = await authorizationUrl(registered, { redirectUri });
  return { browser, registered, verifier, page: await browser.open(url) };
}

const events = (testServer: OAuthTestServer): readonly string[] =>
  testServer.observed.flatMap((one) => (one.type === 'security' ? [one.event] : []));
const whys = (testServer: OAuthTestServer, event: string): readonly (string | undefined)[] =>
  testServer.observed.flatMap((one) => (one.type === 'security' && one.event === event ? [one.detail] : []));
const text = (page: Page): string =>
  page.html
    .replace(/<(style|head|svg).*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
const isConsent = (page: Page): boolean => page.html.includes('value="allow"');

test.each([{}, { basePath: '/data' }])('an SDK client signs in through the provider and calls: %j', async (options) => {
  const { place: testServer } = await openWorld({}, options);
  const kept: Record<string, unknown> = {};
  const keep = (more: object): void => void Object.assign(kept, more);
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'Notebook', redirect_uris: [redirectUri] },
    clientInformation: () => kept.client as never,
    saveClientInformation: (client) => keep({ client }),
    tokens: () => kept.tokens as never,
    saveTokens: (tokens) => keep({ tokens }),
    redirectToAuthorization: (url) => keep({ url }),
    saveCodeVerifier: (verifier) => keep({ verifier }),
    codeVerifier: () => `${kept.verifier}`,
  };
  const serverUrl = testServer.paths.resource;
  expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
  const { searchParams } = await signInThrough(kept.url as URL, 'nina');
  const answer = { authorizationCode: `${searchParams.get('code')}`, iss: `${searchParams.get('iss')}` };
  expect(await auth(provider, { serverUrl, ...answer })).toBe('AUTHORIZED');
  const called = await callMcp(serverUrl, (kept.tokens as { access_token: string }).access_token);
  expect([called.status, JSON.parse(called.body).email]).toEqual([200, 'nina@example.com']);
  const user = await testServer.store.identity.findUserByEmail('nina@example.com');
  expect(user).toMatchObject({
    firstName: 'Nina',
    lastName: 'Simon',
    team: 'Operations',
    role: 'Member',
    level: 'user',
  });
});

describe('the page', () => {
  test('offers the provider and no password; a password that is sent anyway is refused', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    expect(text(page)).toContain('Sign in with Example ID');
    expect(page.html).not.toContain('name="password"');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
    const answered = await browser.open(page.url, {
      method: 'POST',
      body: new URLSearchParams({ csrf, action: 'sign-in', ...world.place.account }),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect([answered.status, isConsent(answered)]).toEqual([400, false]);
    expect(
      await world.place.store.identity.verifyPassword(world.place.account.email, world.place.account.password),
    ).toBeDefined();
  });

  test('accepts passwords too if the setting allows them', async () => {
    const world = await openWorld({ SERVICE_SSO_PASSWORDS: 'true' });
    const { browser, page } = await begin(world);
    expect(text(page)).toContain('Sign in with Example ID');
    expect(isConsent(await browser.press(page, 'sign-in', { ...world.place.account }))).toBe(true);
  });

  test('asks the provider again for another account', async () => {
    const world = await openWorld();
    world.upstream.people.set('otto', { email: 'otto@example.com', email_verified: true });
    const { browser, page } = await begin(world);
    await goThrough(browser, page, 'nina');
    const leaving = await browser.press(await browser.open(page.url), 'sso-again');
    const consent = await browser.open(await atUpstream(browser, leaving.leftTo!, 'otto'));
    expect(text(consent)).toContain('otto@example.com');
  });

  test('says that the provider is down, and the log says why; a later try works', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    world.upstream.isDown = true;
    const down = await browser.press(page, 'sso');
    expect([down.status, text(down)]).toEqual([503, expect.stringContaining('Example ID cannot verify who you are')]);
    expect(world.place.observed).toContainEqual(
      expect.objectContaining({
        type: 'warning',
        message: expect.stringContaining(world.upstream.issuer),
        cause: expect.anything(),
      }),
    );
    world.upstream.isDown = false;
    const callback = await goThrough(browser, down, 'nina');
    world.upstream.isDown = true;
    const failed = await browser.open(callback);
    expect([failed.status, text(failed)]).toEqual([503, expect.stringContaining('Back to the sign-in')]);
    world.upstream.isDown = false;
    const back = await browser.open(
      new URL(/class="button primary" href="([^"]+)"/.exec(failed.html)![1]!, failed.url),
    );
    expect(isConsent(await browser.open(await goThrough(browser, back, 'nina')))).toBe(true);
  });

  test('reports that the provider did not sign the user in', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    const refused = await browser.open(await goThrough(browser, page, ''));
    expect([refused.status, text(refused)]).toEqual([403, expect.stringContaining('Example ID did not sign you in')]);
  });
});

describe('consent', () => {
  test('is asked for after the provider, for every client, even if the provider no longer asks', async () => {
    const world = await openWorld();
    const browser = createBrowser();
    const first = await begin(world, browser);
    const consent = await browser.open(await goThrough(browser, first.page, 'nina'));
    expect(text(consent)).toMatch(/Allow an app on this device to connect\?.* Calls itself “Notebook”/s);
    await browser.press(consent, 'allow');
    const second = await begin(world, browser, 'Somebody else');
    expect(text(second.page)).toMatch(/Allow an app on this device to connect\?.* Calls itself “Somebody else”/s);
  });
});

// MCP Security Best Practices, confused deputy; CVE-2026-27124; RFC 9700 sections 4.4, 4.5, 4.7.
describe('a response of the provider is valid once, in the browser and for the request that began it', () => {
  test('in another browser it is refused, and the first can still use it', async () => {
    const world = await openWorld();
    const attacker = await begin(world);
    const callback = await goThrough(attacker.browser, attacker.page, 'nina');
    const victim = createBrowser();
    const refused = await victim.open(callback);
    expect([refused.status, isConsent(refused)]).toEqual([400, false]);
    // A cookie of the victim's own sign-in does not help either.
    const own = await begin(world, victim);
    await victim.press(own.page, 'sso');
    expect((await victim.open(callback)).status).toBe(400);
    expect(events(world.place).filter((event) => event === 'sso.forged')).toHaveLength(2);
    expect(isConsent(await attacker.browser.open(callback))).toBe(true);
  });

  test('an attack as in CVE-2026-27124: a victim who opens the URL of an attacker does not sign the attacker in', async () => {
    const world = await openWorld();
    const attacker = await begin(world);
    const leaving = await attacker.browser.press(attacker.page, 'sso');
    // The victim is signed in at the provider, which redirects without a prompt.
    const victim = createBrowser();
    const callback = await atUpstream(victim, leaving.leftTo!, 'nina');
    const refused = await victim.open(callback);
    expect([refused.status, refused.leftTo, isConsent(refused)]).toEqual([400, undefined, false]);
    // The attacker's interaction is not signed in either.
    expect(text(await attacker.browser.open(attacker.page.url))).toContain('Sign in with Example ID');
  });

  test('once', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    const callback = await goThrough(browser, page, 'nina');
    expect(isConsent(await browser.open(callback))).toBe(true);
    const tokenRequests = world.upstream.asked.filter((path) => path === '/token').length;
    expect((await browser.open(callback)).status).toBe(400);
    expect(world.upstream.asked.filter((path) => path === '/token')).toHaveLength(tokenRequests);
  });

  test('of two concurrent responses, one counts', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    const callback = await goThrough(browser, page, 'nina');
    const statuses = (await Promise.all([browser.open(callback), browser.open(callback)])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 400]);
  });

  test('an invented, a missing, a duplicate and an expired state are refused', async () => {
    let now = Date.now();
    const clock = {
      now: () => now,
      monotonic: () => performance.now(),
      after: () => () => undefined,
      sleep: async () => undefined,
    };
    const world = await openWorld({ SERVICE_INTERACTION_SECONDS: '60' }, { clock });
    const { browser, page } = await begin(world);
    const callback = await goThrough(browser, page, 'nina');
    const at = (change: (url: URL) => void) => {
      const url = new URL(callback);
      change(url);
      return browser.open(url);
    };
    expect((await at((url) => url.searchParams.set('state', 'x'.repeat(43)))).status).toBe(400);
    expect((await at((url) => url.searchParams.delete('state'))).status).toBe(400);
    now += 61_000;
    expect((await browser.open(callback)).status).toBe(400);
  });

  test('a state sent twice is refused by the response parser', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    const callback = await goThrough(browser, page, 'nina');
    callback.searchParams.append('state', 'another');
    expect(isConsent(await browser.open(callback))).toBe(false);
  });

  test('a code of another sign-in (RFC 9700 section 4.5), of this browser or another, is refused', async () => {
    const world = await openWorld();
    const victim = await begin(world);
    const other = await begin(world, victim.browser, 'Another app');
    const stranger = await begin(world);
    const [mine, tab, theirs] = [
      await goThrough(victim.browser, victim.page, 'nina'),
      await goThrough(victim.browser, other.page, 'nina'),
      await goThrough(stranger.browser, stranger.page, 'nina'),
    ];
    for (const [callback, { searchParams }] of [
      [mine, theirs],
      [tab, mine],
    ] as const) {
      callback.searchParams.set('code', `${searchParams.get('code')}`);
      const refused = await victim.browser.open(callback);
      expect([refused.status, isConsent(refused)]).toEqual([403, false]);
    }
    expect(whys(world.place, 'sso.refused')).toEqual([
      expect.stringContaining('invalid_grant'),
      expect.stringContaining('invalid_grant'),
    ]);
  });

  test('a finished interaction is not answered again by another tab', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    const [one, two] = [await goThrough(browser, page, 'nina'), await goThrough(browser, page, 'nina')];
    const consent = await browser.open(one);
    expect(isConsent(consent)).toBe(true);
    expect((await browser.open(two)).status).toBe(400);
  });

  test('a wrong iss (mix-up, RFC 9207), and a missing one that the provider announces, are refused', async () => {
    const world = await openWorld();
    for (const change of [
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
      (url: URL) => url.searchParams.delete('iss'),
    ]) {
      const { browser, page } = await begin(world);
      const callback = await goThrough(browser, page, 'nina');
      change(callback);
      expect((await browser.open(callback)).status).toBe(403);
    }
    expect(world.upstream.asked).not.toContain('/token');
  });

  test.each<[string, (claims: Record<string, unknown>) => Record<string, unknown>]>([
    ['of another client', (claims) => ({ ...claims, aud: 'another' })],
    [
      'for two clients, authorized to the other',
      (claims) => ({ ...claims, aud: ['portico', 'another'], azp: 'another' }),
    ],
    ['for this client, authorized to another', (claims) => ({ ...claims, azp: 'another' })],
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['that has expired', (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - 600 })],
    ['with another nonce', (claims) => ({ ...claims, nonce: 'x'.repeat(43) })],
    ['without a nonce', ({ nonce: _, ...claims }) => claims],
    ['without a subject', ({ sub: _, ...claims }) => claims],
    ['of another subject than the user info', (claims) => ({ ...claims, sub: 'ada' })],
  ])('an ID token %s', async (_what, spoil) => {
    const world = await openWorld();
    world.upstream.spoil = spoil;
    const { browser, page } = await begin(world);
    const refused = await browser.open(await goThrough(browser, page, 'nina'));
    expect([refused.status, isConsent(refused)]).toEqual([403, false]);
    expect(text(refused)).toContain('does not belong to this sign-in');
    expect(await world.place.store.identity.findUserByEmail('nina@example.com')).toBeUndefined();
    world.upstream.spoil = (claims) => claims;
    const fine = await browser.open(await goThrough(browser, await browser.open(page.url), 'nina'));
    expect(isConsent(fine)).toBe(true);
  });

  test('the redirect after the callback leads to no other site, whatever parameters are sent', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    const callback = await goThrough(browser, page, 'nina');
    for (const name of ['next', 'to', 'returnTo', 'redirect_uri'])
      callback.searchParams.set(name, 'https://evil.example/');
    const consent = await browser.open(callback);
    expect([isConsent(consent), new URL(consent.url).origin, consent.html.includes('evil.example')]).toEqual([
      true,
      world.place.paths.origin,
      false,
    ]);
  });

  test('a stored attempt contains only hashes', async () => {
    const world = await openWorld();
    const { browser, page } = await begin(world);
    const leaving = await browser.press(page, 'sso');
    const state = `${leaving.leftTo?.searchParams.get('state')}`;
    const cookie = [...browser.cookies].find(([name]) => name.includes('portico_sso'))?.[1].value;
    const { createHash } = await import('node:crypto');
    const hash = (one: string) => createHash('sha256').update(one).digest('base64url');
    const row = await world.place.store.oauth.find('SsoAttempt', hash(state));
    expect(JSON.stringify(row)).not.toContain(state);
    expect(row?.payload).toEqual({ door: 'oauth', about: page.url.split('/').at(-1), binding: hash(`${cookie}`) });
  });

  test('cookies of a public URL are bound to the host', async () => {
    const world = await openWorld({}, { publicUrl: 'https://data.example.com' });
    const response = await fetch(`${world.place.local}/oauth/sso/callback?state=x`, {
      headers: { host: 'data.example.com' },
    });
    expect(response.status).toBe(400);
  });

  test('the callback URL does not exist without single sign-on', async () => {
    const testServer = await startServer();
    closing.push(() => testServer.stop());
    expect((await fetch(`${testServer.paths.ssoCallback('')}?state=x`)).status).toBe(404);
  });
});

describe('users who may sign in', () => {
  const arrive = async (world: World, who: string, browser = createBrowser()) => {
    const { page } = await begin(world, browser);
    return browser.open(await goThrough(browser, page, who, 'sso'));
  };
  const claimsOf = (world: World, who: string, claims: Record<string, unknown>) =>
    world.upstream.people.set(who, claims);

  test.each<[string, Record<string, unknown>, Record<string, string>, string]>([
    [
      'whose e-mail is not verified',
      { email: 'o@example.com', email_verified: false },
      {},
      'has not verified your e-mail address',
    ],
    [
      'whose e-mail is not verified, in a text',
      { email: 'o@example.com', email_verified: 'false' },
      {},
      'has not verified your e-mail address',
    ],
    ['without a claim about verification', { email: 'o@example.com' }, {}, 'has not verified your e-mail address'],
    ['without an e-mail', { email_verified: true }, {}, 'did not send your e-mail address'],
    [
      'of another domain',
      { email: 'o@sub.example.com.evil.example', email_verified: true },
      { SERVICE_SSO_DOMAINS: 'example.com' },
      'cannot sign in here',
    ],
    ['with the e-mail of a local user', { email: 'ada@example.com', email_verified: true }, {}, 'Ask an administrator'],
    [
      'without a claim that the mapping requires',
      { email: 'o@example.com', email_verified: true },
      { SERVICE_SSO_MAPPING: '{"role":{"claim":"groups","values":{"clerks":"Clerk"},"default":null}}' },
      'Ask an administrator',
    ],
    [
      'with an unknown role',
      { email: 'o@example.com', email_verified: true, groups: ['x'] },
      { SERVICE_SSO_MAPPING: '{"role":{"claim":"groups","values":{"x":"Nowhere"},"default":null}}' },
      'Ask an administrator',
    ],
  ])('not a user %s', async (_what, claims, env, said) => {
    const world = await openWorld(env);
    claimsOf(world, 'otto', claims);
    const refused = await arrive(world, 'otto');
    expect([refused.status, text(refused)]).toEqual([403, expect.stringContaining(said)]);
    expect(whys(world.place, 'sso.refused')).toEqual([expect.stringContaining('(subject otto)')]);
  });

  test('a local user with the same verified e-mail, if the setting links them; no second account', async () => {
    const world = await openWorld({ SERVICE_LINK_USERS: 'true' });
    claimsOf(world, 'a-1', { email: 'Ada@Example.com', email_verified: true });
    claimsOf(world, 'a-2', { email: 'ada@example.com', email_verified: true });
    expect(text(await arrive(world, 'a-1'))).toContain('ada@example.com');
    const [user] = await world.place.store.identity.listUsers();
    expect(await world.place.store.identities.findUserId(world.upstream.issuer, 'a-1')).toBe(user?.id);
    expect((await arrive(world, 'a-2')).status).toBe(403);
  });

  test('a user whose e-mail the provider says is verified in a text, as some do', async () => {
    const world = await openWorld();
    claimsOf(world, 'otto', { email: 'otto@example.com', email_verified: 'true' });
    expect(isConsent(await arrive(world, 'otto'))).toBe(true);
  });

  test('not a disabled user', async () => {
    const world = await openWorld();
    const browser = createBrowser();
    expect(isConsent(await arrive(world, 'nina', browser))).toBe(true);
    const user = await world.place.store.identity.findUserByEmail('nina@example.com');
    await world.place.store.identity.setDisabled(user!.id, true);
    const refused = await arrive(world, 'nina');
    expect([refused.status, text(refused)]).toEqual([403, expect.stringContaining('Ask an administrator')]);
    expect(text(refused)).not.toContain('disabled');
  });

  test('with the rights in the claims of each sign-in; rights without a claim are removed', async () => {
    const mapping = {
      role: { claim: 'groups', values: { admins: 'Administrator', clerks: 'Clerk' } },
      level: { claim: 'groups', values: { admins: 'admin' } },
      team: { claim: 'team' },
      tags: { region: 'region' },
    };
    const world = await openWorld({ SERVICE_SSO_MAPPING: JSON.stringify(mapping) });
    const seen = async () => {
      await arrive(world, 'nina');
      const { role, level, tags, team } = (await world.place.store.identity.findUserByEmail('nina@example.com'))!;
      return { role, level, tags, team };
    };
    expect(await seen()).toEqual({ role: 'Clerk', level: 'user', tags: { region: 'north' }, team: 'Operations' });
    const nina = world.upstream.people.get('nina')!;
    const before = await world.place.store.versions();
    claimsOf(world, 'nina', { ...nina, groups: ['admins', 'clerks'] });
    expect(await seen()).toMatchObject({ role: 'Administrator', level: 'admin' });
    expect((await world.place.store.versions()).permissions).toBeGreaterThan(before.permissions);
    claimsOf(world, 'nina', { ...nina, groups: [], region: undefined });
    expect(await seen()).toEqual({ role: 'Member', level: 'user', tags: {}, team: 'Operations' });
  });
});

test('sessions from before single sign-on, or of another provider, are no longer valid', async () => {
  const [server] = servers;
  const database = await server!.create();
  closing.push(() => database.drop());
  const browser = createBrowser();
  const before = await startServer({ storageUrl: database.url });
  const asked = async (testServer: OAuthTestServer) => {
    const registered = await register(testServer.paths.issuer, {
      client_name: 'Notebook',
      redirect_uris: [redirectUri],
    });
    return browser.open((await authorizationUrl(registered, { redirectUri })).url);
  };
  const first = await asked(before);
  expect(isConsent(await browser.press(first, 'sign-in', { ...before.account }))).toBe(true);
  expect(isConsent(await asked(before))).toBe(true);

  const upstream = await openUpstream();
  closing.push(() => upstream.stop());
  const beside = await startServer({ storageUrl: database.url, beside: before, env: upstream.env });
  closing.push(
    () => before.stop(),
    () => beside.stop(),
  );
  const registered = await register(before.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const { url } = await authorizationUrl(registered, { redirectUri });
  const signIn = await browser.open(url.href.replace(before.paths.origin, beside.local));
  expect([signIn.html.includes('Sign in with Example ID'), isConsent(signIn)]).toEqual([true, false]);
});

test('an application token made without single sign-on is refused where that is on, with the reason', async () => {
  const world = await openWorld();
  const { store, paths, account } = world.place;
  const user = (await store.identity.findUserByEmail(account.email))!;
  const make = async (sso: boolean) =>
    (await store.tokens.create({ userId: user.id, name: `${sso}`, scopes: ['mcp:read'], sso })).secret;
  const refused = await callMcp(paths.resource, await make(false));
  expect([refused.status, refused.body]).toEqual([401, expect.stringContaining('Single sign-on is required')]);
  expect((await callMcp(paths.resource, await make(true))).status).toBe(200);
});

describe.each(servers)('two processes on one $dialect', (server) => {
  test('a sign-in that began on one process is finished on the other', async () => {
    const database = await createStorage(server);
    closing.push(() => database.drop());
    const world = await openWorld({}, { storageUrl: database.url });
    const beside = await startServer({ storageUrl: database.url, beside: world.place, env: world.upstream.env });
    closing.push(() => beside.stop());
    const { browser, page, registered, verifier } = await begin(world);
    const callback = await goThrough(browser, page, 'nina');
    const there = (url: URL) => new URL(url.href.replace(world.place.paths.origin, beside.local));
    const consent = await browser.open(there(callback));
    // Redirects use the public URL, which is that of the first server.
    const at = consent.leftTo ? await browser.open(there(consent.leftTo)) : consent;
    expect(isConsent(at.leftTo ? await browser.open(there(at.leftTo)) : at)).toBe(true);
    expect((await browser.open(callback)).status).toBe(400);
    const shown = await browser.open(world.place.paths.origin + new URL((at.leftTo ?? new URL(at.url)).href).pathname);
    const allowed = await browser.press(shown, 'allow');
    const tokens = await redeem(registered, {
      parameters: (await import('oauth4webapi')).validateAuthResponse(
        registered.server,
        registered.client,
        allowed.leftTo!,
        'the-state',
      ),
      verifier,
      redirectUri,
    });
    expect((await callMcp(world.place.paths.resource, tokens.access_token)).status).toBe(200);
  });
});
