// Several OpenID providers: a button for each, users bound to issuer and subject (OpenID Connect Core section 5.7), and
// responses that count only at the redirect URI of the provider that was asked (RFC 9700 section 4.4.2.2).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parseSettings } from '../../src/core/config/given.ts';
import { describeSettings } from '../../src/core/config/shown.ts';
import { ssoProvidersOf } from '../../src/core/config/sso.ts';
import { loadConfig, settings } from '../../src/core/config.ts';
import { buildOnce, makePlace, portico } from '../cli/command.ts';
import { openConsoleServer } from '../console/console-server.ts';
import { servers } from '../databases.ts';
import { authorizationUrl, register } from './client.ts';
import { type Browser, createBrowser, type Page } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';
import { atUpstream, clientId, goThrough, openUpstream, type Upstream } from './upstream.ts';

const redirectUri = 'http://localhost:6276/oauth/callback';
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface World {
  readonly server: OAuthTestServer;
  /** That of SERVICE_SSO_ISSUER. */
  readonly first: Upstream;
  /** `partner` of SERVICE_SSO_PROVIDERS. */
  readonly second: Upstream;
}

/** `env` of a server with both, before it is started. */
async function openUpstreams(entry: object = {}) {
  const [first, second] = [await openUpstream(), await openUpstream()];
  const folder = mkdtempSync(join(tmpdir(), 'portico-providers-'));
  closing.push(
    () => first.stop(),
    () => second.stop(),
    async () => rmSync(folder, { recursive: true, force: true }),
  );
  const clientSecretFile = join(folder, 'secret');
  writeFileSync(clientSecretFile, `${first.env.SERVICE_SSO_CLIENT_SECRET}\n`);
  const partner = { id: 'partner', name: 'Partner', issuer: second.issuer, clientId, clientSecretFile, ...entry };
  return { first, second, env: { ...first.env, SERVICE_SSO_PROVIDERS: JSON.stringify([partner]) } };
}

async function openWorld(env: Record<string, string> = {}, entry: object = {}): Promise<World> {
  const upstreams = await openUpstreams(entry);
  const server = await startServer({ env: { ...upstreams.env, ...env } });
  closing.push(() => server.stop());
  upstreams.first.start([server.paths.ssoCallback('')]);
  upstreams.second.start([server.paths.ssoCallback('partner')]);
  return { server, ...upstreams };
}

async function begin({ server }: World, browser: Browser): Promise<Page> {
  const registered = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  return browser.open((await authorizationUrl(registered, { redirectUri })).url);
}

async function arrive(world: World, who: string, button: string): Promise<Page> {
  const browser = createBrowser();
  return browser.open(await goThrough(browser, await begin(world, browser), who, button));
}

const isConsent = (page: Page): boolean => page.html.includes('value="allow"');
const details = ({ server }: World, event: string): readonly (string | undefined)[] =>
  server.observed.flatMap((one) => (one.type === 'security' && one.event === event ? [one.detail] : []));
const person = (email: string, more: object = {}) => ({ email, email_verified: true, ...more });

test('the page has a button for each provider, and each signs in its own users', async () => {
  const world = await openWorld();
  const page = await begin(world, createBrowser());
  expect(page.html).toContain('Sign in with Example ID');
  expect(page.html).toContain('Sign in with Partner');
  world.second.people.set('otto', person('otto@example.com'));
  expect(isConsent(await arrive(world, 'nina', 'sso'))).toBe(true);
  expect(isConsent(await arrive(world, 'otto', 'sso:partner'))).toBe(true);
  const { identities, identity } = world.server.store;
  const [nina, otto] = [
    await identity.findUserByEmail('nina@example.com'),
    await identity.findUserByEmail('otto@example.com'),
  ];
  expect(await identities.findUserId(world.first.issuer, 'nina')).toBe(nina?.id);
  expect(await identities.findUserId(world.second.issuer, 'otto')).toBe(otto?.id);
  expect(otto?.id).not.toBe(nina?.id);
});

test('a button of a provider that is not configured begins nothing', async () => {
  const world = await openWorld();
  const browser = createBrowser();
  const page = await begin(world, browser);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const answered = await browser.open(page.url, {
    method: 'POST',
    body: new URLSearchParams({ csrf, action: 'sso:other' }),
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  expect([answered.status, answered.leftTo]).toEqual([400, undefined]);
  expect((await fetch(`${world.server.paths.ssoCallback('other')}?state=x`)).status).toBe(404);
});

// OpenID Connect Core section 5.7: only issuer and subject identify a user.
describe('the same person at two providers', () => {
  test.each([false, true])(
    'the same address does not sign in as the user of the other; linking: %s',
    async (linkUsers) => {
      const world = await openWorld({ SERVICE_LINK_USERS: `${linkUsers}` }, { linkUsers });
      world.second.people.set('someone', person('nina@example.com'));
      expect(isConsent(await arrive(world, 'nina', 'sso'))).toBe(true);
      const refused = await arrive(world, 'someone', 'sso:partner');
      expect([refused.status, refused.html.includes('has no access here')]).toEqual([403, true]);
      const reason = linkUsers ? `signs in through ${world.first.issuer}` : 'linking users by address is off';
      expect(details(world, 'sso.refused')).toEqual([expect.stringContaining(reason)]);
      expect(await world.server.store.identities.findUserId(world.second.issuer, 'someone')).toBeUndefined();
      expect(isConsent(await arrive(world, 'nina', 'sso'))).toBe(true);
    },
  );

  test('a user of one who takes the address of a user of the other is refused', async () => {
    const world = await openWorld({}, { linkUsers: true });
    world.second.people.set('otto', person('otto@example.com'));
    expect(isConsent(await arrive(world, 'nina', 'sso'))).toBe(true);
    expect(isConsent(await arrive(world, 'otto', 'sso:partner'))).toBe(true);
    world.second.people.set('otto', person('nina@example.com'));
    expect((await arrive(world, 'otto', 'sso:partner')).status).toBe(403);
    expect(details(world, 'sso.refused')).toEqual([expect.stringContaining('another user now has the address')]);
  });

  test('the same subject is another user', async () => {
    const world = await openWorld();
    world.second.people.set('nina', person('nina@partner.example'));
    expect(isConsent(await arrive(world, 'nina', 'sso'))).toBe(true);
    expect(isConsent(await arrive(world, 'nina', 'sso:partner'))).toBe(true);
    const { identities } = world.server.store;
    const ids = [
      await identities.findUserId(world.first.issuer, 'nina'),
      await identities.findUserId(world.second.issuer, 'nina'),
    ];
    expect(new Set(ids).size).toBe(2);
  });

  test('linking is decided for each provider: SERVICE_LINK_USERS does not link through the others', async () => {
    const world = await openWorld({ SERVICE_LINK_USERS: 'true' });
    world.second.people.set('a', person('ada@example.com'));
    world.first.people.set('a', person('ada@example.com'));
    expect((await arrive(world, 'a', 'sso:partner')).status).toBe(403);
    expect(isConsent(await arrive(world, 'a', 'sso'))).toBe(true);
  });
});

// RFC 9700 section 4.4, RFC 9207: mix-up.
describe('a response of one provider at the redirect URI of another', () => {
  test.each([
    ['sso', '', 'partner'],
    ['sso:partner', 'partner', ''],
  ])('begun with %s: refused, and still good at its own', async (button, own, other) => {
    const world = await openWorld();
    const { paths } = world.server;
    world.second.people.set('otto', person('otto@example.com'));
    const browser = createBrowser();
    const callback = await goThrough(browser, await begin(world, browser), own === '' ? 'nina' : 'otto', button);
    const mixedUp = new URL(paths.ssoCallback(other));
    mixedUp.search = callback.search;
    const refused = await browser.open(mixedUp);
    expect([refused.status, isConsent(refused)]).toEqual([400, false]);
    expect(details(world, 'sso.mixed-up')).toEqual([`begun with '${own}', returned by '${other}'`]);
    expect(isConsent(await browser.open(callback))).toBe(true);
  });

  test('also with the iss of the provider that was not asked, at the URI of the one that was', async () => {
    const world = await openWorld();
    const browser = createBrowser();
    const callback = await goThrough(browser, await begin(world, browser), 'nina', 'sso');
    callback.searchParams.set('iss', world.second.issuer);
    expect((await browser.open(callback)).status).toBe(403);
    expect(world.second.asked.filter((path) => path === '/token')).toEqual([]);
  });

  test('a code of one provider is never sent to the other', async () => {
    const world = await openWorld();
    world.second.people.set('otto', person('otto@example.com'));
    const [victim, attacker] = [createBrowser(), createBrowser()];
    const ofFirst = await goThrough(victim, await begin(world, victim), 'nina', 'sso');
    const leaving = await attacker.press(await begin(world, attacker), 'sso:partner');
    const ofSecond = await atUpstream(attacker, leaving.leftTo!, 'otto');
    ofSecond.searchParams.set('code', ofFirst.searchParams.get('code')!);
    ofSecond.searchParams.set('iss', world.first.issuer);
    expect(isConsent(await attacker.open(ofSecond))).toBe(false);
    expect(world.first.asked.filter((path) => path === '/token')).toEqual([]);
    expect(world.second.asked.filter((path) => path === '/token')).toEqual([]);
  });
});

test('each provider has its own domains and mapping of claims', async () => {
  const mapping = { role: { claim: 'groups', values: { partners: 'Partner' }, default: null } };
  const world = await openWorld({ SERVICE_SSO_DOMAINS: 'example.com' }, { domains: ['Partner.example'], mapping });
  await world.server.store.permissions.setRole('Partner', {});
  world.first.people.set('p', person('p@partner.example'));
  world.second.people.set('n', person('n@example.com', { groups: ['partners'] }));
  world.second.people.set('o', person('o@partner.example', { groups: ['others'] }));
  world.second.people.set('p', person('p@partner.example', { groups: ['partners'] }));
  expect((await arrive(world, 'p', 'sso')).status).toBe(403);
  expect((await arrive(world, 'n', 'sso:partner')).status).toBe(403);
  expect((await arrive(world, 'o', 'sso:partner')).status).toBe(403);
  expect(isConsent(await arrive(world, 'p', 'sso:partner'))).toBe(true);
  expect(await world.server.store.identity.findUserByEmail('p@partner.example')).toMatchObject({ role: 'Partner' });
  expect(details(world, 'sso.refused')[1]).toContain("not in the domains of SERVICE_SSO_PROVIDERS, 'partner'");
});

test('one provider is down: its button says so, and the other signs in', async () => {
  const world = await openWorld();
  world.first.isDown = true;
  world.second.people.set('otto', person('otto@example.com'));
  const browser = createBrowser();
  const down = await browser.press(await begin(world, browser), 'sso');
  expect([down.status, down.html.includes('Example ID cannot verify')]).toEqual([503, true]);
  expect(isConsent(await browser.open(await goThrough(browser, down, 'otto', 'sso:partner')))).toBe(true);
});

test('without SERVICE_SSO_ISSUER the list alone turns passwords off; a session of a removed provider ends', async () => {
  const database = await servers[0]!.create();
  closing.push(() => database.drop());
  const { first, second, env } = await openUpstreams();
  const onlySecond = { SERVICE_SSO_PROVIDERS: env.SERVICE_SSO_PROVIDERS };
  const before = await startServer({ storageUrl: database.url, env: onlySecond });
  closing.push(() => before.stop());
  second.start([before.paths.ssoCallback('partner')]);
  second.people.set('otto', person('otto@example.com'));
  const browser = createBrowser();
  const world = { server: before, first, second };
  const page = await begin(world, browser);
  expect([page.html.includes('name="password"'), page.html.includes('Sign in with Partner')]).toEqual([false, true]);
  expect(isConsent(await browser.open(await goThrough(browser, page, 'otto', 'sso:partner')))).toBe(true);
  expect(isConsent(await begin(world, browser))).toBe(true);
  const after = await startServer({ storageUrl: database.url, beside: before, env: first.env });
  closing.push(() => after.stop());
  const registered = await register(before.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const { url } = await authorizationUrl(registered, { redirectUri });
  const again = await browser.open(url.href.replace(before.paths.origin, after.local));
  expect([isConsent(again), again.html.includes('Sign in with Example ID')]).toEqual([false, true]);
});

test('the console has both buttons, and its own redirect URI for each', async () => {
  const { second, env } = await openUpstreams();
  const server = await openConsoleServer({ env });
  closing.push(() => server.stop());
  second.start([server.at('/sso/callback/partner')]);
  second.people.set('otto', person('otto@example.com'));
  const browser = createBrowser();
  const page = await browser.open(server.at('/sign-in'));
  expect(page.html).toContain('Sign in with Example ID');
  const callback = await goThrough(browser, page, 'otto', 'sso:partner');
  expect(callback.href).toMatch(/\/sso\/callback\/partner\?/);
  const mixedUp = await browser.open(callback.href.replace('/callback/partner', '/callback'));
  expect(mixedUp.status).toBe(400);
  const inside = await browser.open(callback);
  expect([inside.status, inside.html.includes('Sign out')]).toEqual([200, true]);
  expect((await browser.open(server.at('/sso/callback/other?state=x'))).status).toBe(404);
});

describe('the setting', () => {
  const entry = { id: 'a', issuer: 'https://a.example', clientId: 'x' };
  const read = (providers: unknown, env: Record<string, string> = {}) =>
    loadConfig({ env: { SERVICE_SSO_PROVIDERS: JSON.stringify(providers), ...env } });
  const first = { SERVICE_SSO_ISSUER: 'https://first.example', SERVICE_SSO_CLIENT_ID: 'y' };

  test.each<[string, unknown, RegExp]>([
    ['no list', {}, /SERVICE_SSO_PROVIDERS: it: .*expected array/],
    ['an empty list', [], /SERVICE_SSO_PROVIDERS: it: /],
    ['an unknown key', [{ ...entry, domain: 'x' }], /0: .*domain/],
    ['a secret in the text', [{ ...entry, clientSecret: 'hunter2' }], /write clientSecretFile/],
    ['a file that is not there', [{ ...entry, clientSecretFile: '/no/such/file' }], /'a': the file .* cannot be read/],
    ['an id that is no part of a URL', [{ ...entry, id: 'A/b' }], /0\.id: expected lower case/],
    ['http on another machine', [{ ...entry, issuer: 'http://a.example' }], /0\.issuer: expected an https address/],
    ['the same id', [entry, { ...entry, issuer: 'https://b.example' }], /two providers have the same id 'a'/],
    ['the same issuer', [entry, { ...entry, id: 'b', issuer: 'https://a.example/' }], /have the same issuer/],
    ['the issuer of the first', [{ ...entry, issuer: 'https://first.example' }], /have the same issuer/],
    ['the name of the first', [{ ...entry, name: 'FIRST.example' }], /have the same name/],
    ['linking by unverified addresses', [{ ...entry, linkUsers: true, verifiedEmail: false }], /only by verified/],
  ])('%s: refused', (_, providers, message) => {
    expect(() => read(providers, first)).toThrow(message);
    expect(() => read(providers, first)).not.toThrow(/hunter2/);
  });

  test('has defaults, and a config file has the list itself', () => {
    const refuse = (problem: string) => {
      throw new Error(problem);
    };
    const config = loadConfig({ file: parseSettings(settings, { ssoProviders: [entry] }, refuse) });
    const shown = describeSettings(config).find(({ name }) => name === 'ssoProviders');
    expect(shown?.value).toBe('a (https://a.example)');
    expect(ssoProvidersOf(config)).toMatchObject([
      { id: 'a', name: 'a.example', scopes: ['openid', 'email', 'profile'], verifiedEmail: true, linkUsers: false },
    ]);
  });

  test('doctor asks each provider', async () => {
    await buildOnce();
    const { first, second, env } = await openUpstreams();
    first.start(['http://localhost/']);
    second.start(['http://localhost/']);
    const place = makePlace();
    closing.push(async () => place.remove());
    const check = async () => (await portico(['doctor', '--port', '0'], { ...place, env })).stdout;
    const both = await check();
    expect(both).toContain(`Identity provider ${first.issuer} answers`);
    expect(both).toContain(`Identity provider ${second.issuer} answers`);
    second.isDown = true;
    expect(await check()).toMatch(/wrong +Identity provider .* \(status 503\); check SERVICE_SSO_PROVIDERS, 'partner'/);
  });
});
