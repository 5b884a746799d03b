// Consent with restrictions: what users exclude, the effect on every token of the connection, and when consent is
// requested again.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Verb } from '../../src/core/caller.ts';
import { coversScopes } from '../../src/oauth/consent/limits.ts';
import type { ResourceScope } from '../../src/oauth/server/scopes.ts';
import type { Decision } from '../../src/store/oauth/types.ts';
import { type Asking, authorizationUrl, bearer, byDocument, type Registered, redeem, refresh } from './client.ts';
import { type Browser, createBrowser, type Page } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';
const scope = 'mcp:read mcp:write mcp:action';
const hour = 3_600_000;

let collections = ['customers', 'orders', 'reviews'];
let testServer: OAuthTestServer;
beforeAll(async () => {
  testServer = await startServer({ listCollections: () => collections });
  await testServer.store.permissions.setRole('Clerk', {
    '*': { browse: true, read: true, edit: true, add: true, delete: true, export: true },
  });
});
afterAll(() => testServer.stop());
afterEach(() => {
  vi.useRealTimers();
  collections = ['customers', 'orders', 'reviews'];
});

/** The authorization server uses the system clock. */
const wait = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });

type Typed = Readonly<Record<string, string | readonly string[]>>;
interface Begun {
  readonly registered: Registered;
  readonly browser: Browser;
  readonly verifier: string;
  readonly page: Page;
}

let published = 0;

/** A client with a metadata document; the server remembers its consent. */
async function publish(uri: string): Promise<Registered> {
  const id = `https://notebook.example/clients/${++published}.json`;
  testServer.documents.set(id, { client_id: id, client_name: 'Notebook', redirect_uris: [uri] });
  // All cases together would exceed the limit of fetches a minute for one IP address.
  await Promise.all(['127.0.0.1', '::1'].map((one) => testServer.store.windows.clear(`oauth-document ${one}`)));
  return byDocument(testServer.paths.issuer, id);
}

async function ask(asking: Partial<Asking> = {}, before?: Pick<Begun, 'registered' | 'browser'>): Promise<Begun> {
  const registered = before?.registered ?? (await publish(asking.redirectUri ?? redirectUri));
  const browser = before?.browser ?? createBrowser();
  const { url, verifier } = await authorizationUrl(registered, { redirectUri, scope, ...asking });
  let page = await browser.open(url, { headers: { 'sec-fetch-site': 'none' } });
  if (page.html.includes('name="password"')) page = await browser.press(page, 'sign-in', { ...testServer.account });
  return { registered, browser, verifier, page };
}

const finish = async ({ registered, verifier }: Begun, leftTo: URL | undefined, uri = redirectUri) => {
  const { validateAuthResponse } = await import('oauth4webapi');
  const parameters = validateAuthResponse(registered.server, registered.client, leftTo!, 'the-state');
  return redeem(registered, { parameters, verifier, redirectUri: uri });
};
const allow = async (begun: Begun, typed: Typed) =>
  finish(begun, (await begun.browser.press(begun.page, 'allow', typed)).leftTo);

const accessOf = async (token: string) => (await testServer.gate.check(bearer(token))).access;
const mayDo = async (token: string) => {
  const access = await accessOf(token);
  const verbs: readonly Verb[] = ['read', 'edit'];
  return ['customers', 'orders'].flatMap((name) =>
    verbs.filter((verb) => access.can(verb, name)).map((verb) => `${verb} ${name}`),
  );
};
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { error?: string; code?: string }) => error.error ?? `${error.code}`,
  );
/** The checked boxes, the selected duration and the badges of the scopes. */
const filledIn = ({ html }: Page) => ({
  set: [...html.matchAll(/<input[^>]* value="([^"]*)"[^>]* checked/g)].map(([, value]) => value),
  lasts: /<option value="(\w+)" selected/.exec(html)?.[1],
  marks: [...html.matchAll(/<span class="badge(?: new)?">(new|allowed before)</g)].map(([, mark]) => mark),
});

describe('the choices of the user', () => {
  test('no limits: the requested scopes, with every right of the user', async () => {
    const tokens = await allow(await ask(), {});
    expect([tokens.scope, tokens.expires_in, await mayDo(tokens.access_token)]).toEqual([
      scope,
      900,
      ['read customers', 'edit customers', 'read orders', 'edit orders'],
    ]);
  });

  test('read only: only reading, whatever is checked, also after a refresh', async () => {
    const begun = await ask();
    const tokens = await allow(begun, { limit: 'read-only' });
    const next = await refresh(begun.registered, `${tokens.refresh_token}`);
    const acts = (await accessOf(next.access_token)).canTrigger('orders', 'Cancel');
    expect([tokens.scope, await mayDo(tokens.access_token), next.scope, await mayDo(next.access_token), acts]).toEqual([
      'mcp:read',
      ['read customers', 'read orders'],
      'mcp:read',
      ['read customers', 'read orders'],
      false,
    ]);
  });

  test('some collections: no others, also after a refresh', async () => {
    const begun = await ask();
    const tokens = await allow(begun, { which: 'some', collection: ['orders'] });
    const next = await refresh(begun.registered, `${tokens.refresh_token}`);
    expect([await mayDo(tokens.access_token), await mayDo(next.access_token)]).toEqual([
      ['read orders', 'edit orders'],
      ['read orders', 'edit orders'],
    ]);
  });

  test('the boxes of collections are ignored if all collections are chosen', async () => {
    const tokens = await allow(await ask(), { which: 'all', collection: ['orders'] });
    expect((await mayDo(tokens.access_token)).length).toBe(4);
  });

  test.each<[string, string, number]>([
    ['an hour', 'hour', hour],
    ['a day', 'day', 24 * hour],
    ['30 days', 'month', 30 * 24 * hour],
  ])('for %s: afterwards neither the token nor a refresh is accepted', async (_what, lasts, ms) => {
    const begun = await ask();
    const tokens = await allow(begun, { lasts });
    wait(ms - 60_000);
    const last = await refresh(begun.registered, `${tokens.refresh_token}`);
    const before = await outcome(testServer.gate.check(bearer(last.access_token)) as Promise<unknown>);
    wait(61_000);
    const after = await outcome((async () => testServer.gate.check(bearer(last.access_token)))());
    expect([
      before,
      last.expires_in! <= 60,
      after,
      await outcome(refresh(begun.registered, `${last.refresh_token}`)),
    ]).toEqual(['ok', true, 'UNAUTHENTICATED', 'invalid_grant']);
  });

  test('an unknown duration becomes the shortest one', async () => {
    const begun = await ask();
    await allow(begun, { lasts: 'constructor' });
    const { id } = (await testServer.store.identity.findUserByEmail(testServer.account.email))!;
    const decision = await testServer.store.connections.decisionOf(id, begun.registered.client.client_id);
    expect(decision!.endsAt! - decision!.decidedAt).toBeCloseTo(hour, -3);
  });

  test('raises a security event for the admin log, without names of collections', async () => {
    testServer.observed.length = 0;
    await allow(await ask(), { limit: 'read-only', which: 'some', collection: ['orders', 'reviews'], lasts: 'day' });
    const told = testServer.observed.flatMap((one) =>
      one.type === 'security' && one.event === 'consent.allowed' ? [one.detail] : [],
    );
    expect(told).toEqual(['mcp:read; read-only, 2 collections, for a day']);
  });
});

describe('forged choices', () => {
  test('collections that the user may not see are ignored, and an empty choice does not mean all', async () => {
    const { id } = (await testServer.store.identity.findUserByEmail(testServer.account.email))!;
    const grants = async () => (await testServer.store.oauth.listByAccount('Grant', `${id}`)).length;
    const before = await grants();
    const begun = await ask();
    const forged = await begun.browser.press(begun.page, 'allow', { which: 'some', collection: ['salaries'] });
    const none = await begun.browser.press(begun.page, 'allow', { which: 'some', collection: [] });
    const both = await allow(begun, { which: 'some', collection: ['salaries', 'orders'] });
    const access = await accessOf(both.access_token);
    expect([forged.status, none.status, forged.html.includes('role="alert">Choose at least one collection')]).toEqual([
      400,
      400,
      true,
    ]);
    expect([(await grants()) - before, access.can('read', 'orders'), access.can('read', 'salaries')]).toEqual([
      1,
      true,
      false,
    ]);
  });

  test('a collection that is added later is not included', async () => {
    const tokens = await allow(await ask(), { which: 'some', collection: ['orders'] });
    collections = [...collections, 'salaries'];
    expect((await accessOf(tokens.access_token)).can('read', 'salaries')).toBe(false);
  });
});

test('a decision covers what its scopes imply, until it ends, and for a year at most', () => {
  const year = 365 * 24 * hour;
  const of = (scopes: readonly string[], endsAt: number | null = null): Decision => ({
    ...{ asked: scopes, scopes, choice: {}, decidedAt: 0, endsAt },
  });
  const covers = (decision: Decision, requested: readonly ResourceScope[], now = 1) =>
    coversScopes(decision, requested, now);
  expect([covers(of(['mcp:read']), ['mcp:read'], year - 1), covers(of(['mcp:read']), ['mcp:read'], year)]).toEqual([
    true,
    false,
  ]);
  expect([covers(of(['mcp:read'], 10), ['mcp:read'], 9), covers(of(['mcp:read'], 10), ['mcp:read'], 10)]).toEqual([
    true,
    false,
  ]);
  for (const scope of ['mcp:write', 'mcp:action'] as const) {
    const other = scope === 'mcp:write' ? 'mcp:action' : 'mcp:write';
    expect([covers(of([scope]), ['mcp:read', scope]), covers(of([scope]), [scope, other])]).toEqual([true, false]);
  }
  expect([covers(of(['mcp:read']), ['mcp:read', 'mcp:write']), covers(of(['mcp:read']), [])]).toEqual([false, false]);
});

describe('a decision', () => {
  const narrow = { limit: 'read-only', which: 'some', collection: ['orders'], lasts: 'day' };

  test('allows the same or less without asking, within the same limits and until the same time', async () => {
    const first = await ask();
    await allow(first, { which: 'some', collection: ['orders'], lasts: 'hour' });
    wait(hour / 2);
    const again = await ask({}, first);
    const less = await ask({ scope: 'mcp:read' }, first);
    const tokens = [await finish(again, again.page.leftTo), await finish(less, less.page.leftTo)];
    const rights = await Promise.all(tokens.map(({ access_token }) => mayDo(access_token)));
    wait(hour / 2 + 1000);
    const later = await outcome(refresh(first.registered, `${tokens[0]!.refresh_token}`));
    const asked = await ask({}, first);
    expect([rights, tokens.map((one) => one.scope), later, asked.page.leftTo, filledIn(asked.page).lasts]).toEqual([
      [
        ['read orders', 'edit orders'],
        ['read orders', 'edit orders'],
      ],
      [scope, 'mcp:read'],
      'invalid_grant',
      undefined,
      'hour',
    ]);
  });

  test('for reading asks again if writing is requested, with the earlier choices filled in', async () => {
    const first = await ask({ scope: 'mcp:read mcp:write' });
    await allow(first, narrow);
    const silent = await ask({ scope: 'mcp:read' }, first);
    const again = await ask({ scope: 'mcp:read mcp:write' }, first);
    expect([typeof silent.page.leftTo, again.page.leftTo, filledIn(again.page)]).toEqual([
      'object',
      undefined,
      { set: ['mcp:write', 'read-only', 'some', 'orders'], lasts: 'day', marks: ['allowed before', 'new'] },
    ]);
    expect(await mayDo((await finish(silent, silent.page.leftTo)).access_token)).toEqual(['read orders']);
  });

  test('keeps an empty box empty, and checks boxes that are new', async () => {
    const first = await ask({ scope: 'mcp:read mcp:write' });
    await allow(first, { scope: '' });
    const again = await ask({}, first);
    expect([filledIn(again.page).set, again.page.html.includes('Allow notebook.example more?')]).toEqual([
      ['mcp:action', 'all'],
      true,
    ]);
  });

  test('that is newer and narrower replaces a wider one', async () => {
    const first = await ask();
    await allow(first, {});
    await allow(await ask({ prompt: 'consent' }, first), { which: 'some', collection: ['orders'] });
    const silent = await ask({}, first);
    expect(await mayDo((await finish(silent, silent.page.leftTo)).access_token)).toEqual([
      'read orders',
      'edit orders',
    ]);
  });

  test('does not change earlier connections', async () => {
    const first = await ask();
    const tokens = await allow(first, narrow);
    await allow(await ask({ prompt: 'consent' }, first), {});
    const next = await refresh(first.registered, `${tokens.refresh_token}`);
    expect([await mayDo(tokens.access_token), await mayDo(next.access_token)]).toEqual([
      ['read orders'],
      ['read orders'],
    ]);
  });

  test('is forgotten when a connection is revoked', async () => {
    const first = await ask();
    const tokens = await allow(first, {});
    const second = await ask({}, first);
    await finish(second, second.page.leftTo);
    await testServer.store.oauth.revokeGrant(`${(await testServer.gate.check(bearer(tokens.access_token))).grantId}`);
    expect((await ask({}, first)).page.html).toContain('Allow notebook.example to connect?');
  });

  test('for an app on a device fills in the page, but asks again', async () => {
    const device = { redirectUri: 'http://localhost:4444/callback' };
    const first = await ask(device);
    await finish(first, (await first.browser.press(first.page, 'allow', narrow)).leftTo, device.redirectUri);
    const again = await ask({ ...device, scope: 'mcp:read' }, first);
    expect([again.page.leftTo, filledIn(again.page)]).toEqual([
      undefined,
      { set: ['some', 'orders'], lasts: 'day', marks: ['allowed before'] },
    ]);
  });

  test('of one user is not shown to another', async () => {
    const first = await ask();
    await allow(first, narrow);
    await testServer.addUser({ email: 'eve@example.com', password: 'another password' });
    const switched = await first.browser.press((await ask({ prompt: 'consent' }, first)).page, 'switch');
    const page = await first.browser.press(switched, 'sign-in', {
      email: 'eve@example.com',
      password: 'another password',
    });
    expect(filledIn(page)).toEqual({ set: ['mcp:write', 'mcp:action', 'all'], lasts: 'ever', marks: [] });
  });
});

describe('grants', () => {
  const grantOf = async (token: string) => {
    const { grantId } = await testServer.gate.check(bearer(token));
    return (await testServer.store.oauth.find('Grant', `${grantId}`))!;
  };

  test('from before limits existed have no limits', async () => {
    const begun = await ask();
    const tokens = await allow(begun, { limit: 'read-only' });
    const { connection: _connection, ...payload } = (await grantOf(tokens.access_token)).payload as {
      connection: unknown;
    };
    await testServer.store.oauth.upsert({ ...(await grantOf(tokens.access_token)), payload });
    const next = await refresh(begun.registered, `${tokens.refresh_token}`);
    expect([await mayDo(next.access_token), next.expires_in]).toEqual([
      ['read customers', 'edit customers', 'read orders', 'edit orders'],
      900,
    ]);
  });

  test.each<[string, unknown, string[]]>([
    ['nothing', {}, []],
    ['a name instead of a list', { readOnly: false, collections: 'orders', endsAt: null }, []],
    ['a text instead of a time', { readOnly: false, collections: null, endsAt: 'never' }, []],
    ['no member for reading', { collections: null, endsAt: null }, ['read customers', 'read orders']],
  ])('with the limits %s allow no more than they say', async (_what, limits, left) => {
    const begun = await ask();
    const tokens = await allow(begun, {});
    const grant = await grantOf(tokens.access_token);
    await testServer.store.oauth.upsert({ ...grant, payload: { ...grant.payload, connection: { limits } } });
    const next = await refresh(begun.registered, `${tokens.refresh_token}`);
    const rights = await mayDo(next.access_token).catch(() => []);
    expect(rights).toEqual(left);
  });
});

describe('300 collections', () => {
  test('can be searched without a script, and keep what is chosen', async () => {
    collections = Array.from({ length: 300 }, (_, n) => `table_${String(n).padStart(3, '0')}`);
    const { browser, page, ...begun } = await ask();
    const names = ({ html }: Page) => [...html.matchAll(/name="collection" value="([^"]*)"/g)].map(([, name]) => name);
    const found = await browser.press(page, 'find', { which: 'some', find: '_29', collection: ['table_007'] });
    const more = await browser.press(found, 'find', { find: 'TABLE_1', collection: ['table_007', 'table_290'] });
    const tokens = await finish({ browser, page, ...begun }, (await browser.press(more, 'allow')).leftTo);
    const access = await accessOf(tokens.access_token);
    expect([names(page).length, names(found), names(more).length]).toEqual([
      300,
      ['table_007', ...Array.from({ length: 10 }, (_, n) => `table_29${n}`)],
      102,
    ]);
    expect(collections.filter((name) => access.can('read', name))).toEqual(['table_007', 'table_290']);
  });

  test('a search allows nothing', async () => {
    collections = Array.from({ length: 20 }, (_, n) => `table_${n}`);
    const { browser, page, registered } = await ask();
    const found = await browser.press(page, 'find', { which: 'some', find: '<b>' });
    const { id } = (await testServer.store.identity.findUserByEmail(testServer.account.email))!;
    expect([
      found.leftTo,
      found.html.includes('No collection with “&lt;b&gt;” in its name.'),
      await testServer.store.connections.decisionOf(id, registered.client.client_id),
    ]).toEqual([undefined, true, undefined]);
  });
});
