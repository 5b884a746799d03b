// An Express application with its own sign-in: its users sign in to Portico with their identity in the host. Only the
// sign-in pages of Portico use that identity.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { type Agent, type AgentOptions, createMemoryDataSource, type HostCaller } from '../../src/index.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { shopTables } from '../agent/shop.ts';
import { authorizationUrl, register } from '../oauth/client.ts';
import { type Browser, createBrowser, type Page } from '../oauth/flow.ts';
import { prepareStorage } from '../storage.ts';
import { addUser } from '../users.ts';
import { emptyAgent, type Logged, makeFolder, messageOf } from './agent.ts';

const redirectUri = 'http://127.0.0.1:49152/callback';
const account = { email: 'local@example.com', password: 'correct horse battery' };

const callers: Readonly<Record<string, HostCaller>> = {
  nina: { subject: 'u-1', email: 'nina@example.com', firstName: 'Nina', role: 'Administrator' },
  otto: { subject: 'u-2', email: 'otto@example.com' },
  thief: { subject: 'u-3', email: account.email, emailVerified: true },
  broken: { subject: '', email: 'x@example.com' },
};

interface Host {
  readonly agent: Agent;
  readonly origin: string;
  readonly logged: readonly Logged[];
  /** Paths of the requests that the host was asked about. */
  readonly asked: string[];
  readonly store: Store;
}

/** The session cookie holds the user's name, which is secret enough for a test. */
const whoIs = (cookies: string | undefined): string => /(?:^|; )shop_session=(\w+)/.exec(cookies ?? '')?.[1] ?? '';

async function openHost(options: Partial<AgentOptions> = {}, basePath = ''): Promise<Host> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app.get('/login', (req, res) => {
    res.setHeader('Set-Cookie', `shop_session=${req.query.as}; Path=/`);
    const next = `${req.query.next ?? ''}`;
    if (next.startsWith(`${origin}/`)) res.redirect(303, next);
    else res.send('welcome');
  });
  const asked: string[] = [];
  const dataDir = join(makeFolder(), 'data');
  const { agent, logged } = emptyAgent({
    settings: { dataDir, publicUrl: origin },
    authenticate: (req) => {
      asked.push(`${req.url}`.split('?')[0]!);
      const who = whoIs(req.headers.cookie);
      if (who === 'crash') throw new Error('the session store of the shop is gone');
      return callers[who] ?? null;
    },
    ...options,
  });
  const config = loadConfig({ file: { dataDir } });
  await prepareStorage(config);
  const store = await openStore({ config, observe: () => {}, clock: systemClock });
  onTestFinished(() => store.close());
  await addUser(store, config, { ...account, level: 'admin' });
  agent.addDataSource(createMemoryDataSource('shop', shopTables)).mountAiMcpServer({ basePath }).mountOnExpress(app);
  await agent.start();
  return { agent, origin, logged, asked, store };
}

async function ask({ origin }: Host, browser: Browser, name = 'Notebook', prefix = ''): Promise<Page> {
  const registered = await register(origin + prefix, { client_name: name, redirect_uris: [redirectUri] });
  return browser.open((await authorizationUrl(registered, { redirectUri })).url);
}

const login = ({ origin }: Host, browser: Browser, who: string) => browser.open(`${origin}/login?as=${who}`);
const isConsent = (page: Page): boolean => page.html.includes('value="allow"');

test.each(['', '/data'])('a user of the host consents with their identity in the host, under %j', async (prefix) => {
  const host = await openHost({}, prefix);
  const browser = createBrowser();
  await login(host, browser, 'nina');
  const consent = await ask(host, browser, 'Notebook', prefix);
  expect([isConsent(consent), consent.html.includes('nina@example.com')]).toEqual([true, true]);
  expect((await browser.press(consent, 'allow')).leftTo?.searchParams.get('code')).toBeTruthy();
  const user = (await host.store.identity.findUserByEmail('nina@example.com'))!;
  expect([user.role, user.level, await host.store.identities.findUserId('host', 'u-1')]).toEqual([
    'Administrator',
    'user',
    user.id,
  ]);
  // Every app asks for consent, and the host is asked only on the sign-in pages.
  expect(isConsent(await ask(host, browser, 'Another app', prefix))).toBe(true);
  expect(new Set(host.asked.map((path) => path.replace(/[\w-]{20,}/, '<id>')))).toEqual(
    new Set([`${prefix}/oauth/interaction/<id>`]),
  );
});

test('rights that the host sets apply at every sign-in, null is the default, and what it leaves out stays', async () => {
  const identity = { subject: 'u-9', email: 'max@example.com' };
  let caller: HostCaller = identity;
  const host = await openHost({ authenticate: () => caller });
  const rightsAfter = async (rights: Partial<HostCaller>) => {
    caller = { ...identity, ...rights };
    expect(isConsent(await ask(host, createBrowser()))).toBe(true);
    const { role, level, tags } = (await host.store.identity.findUserByEmail(identity.email))!;
    return [role, level, tags];
  };
  expect([
    await rightsAfter({ role: 'Administrator', level: 'admin', tags: { shop: '1' } }),
    await rightsAfter({}),
    await rightsAfter({ level: 'developer' }),
    await rightsAfter({ role: null, level: null, tags: null }),
  ]).toEqual([
    ['Administrator', 'admin', { shop: '1' }],
    ['Administrator', 'admin', { shop: '1' }],
    ['Administrator', 'developer', { shop: '1' }],
    ['Member', 'user', {}],
  ]);
});

test('cookies of the host do not authenticate at /mcp and the APIs, and the host is not asked there', async () => {
  const host = await openHost();
  const headers = { cookie: 'shop_session=nina', 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const mcp = await fetch(`${host.origin}/mcp`, { method: 'POST', headers, body });
  const api = await fetch(`${host.origin}/service/_api/v1/token`, { headers });
  expect([mcp.status, api.status, host.asked]).toEqual([401, 401, []]);
});

test('if the user of the host changes before they allow, the new user is asked and nothing is granted', async () => {
  const host = await openHost();
  const browser = createBrowser();
  await login(host, browser, 'nina');
  const consent = await ask(host, browser);
  await login(host, browser, 'otto');
  const answered = await browser.press(consent, 'allow');
  expect([answered.leftTo, isConsent(answered), answered.html.includes('otto@example.com')]).toEqual([
    undefined,
    true,
    true,
  ]);
  expect(answered.html).not.toContain('nina@example.com');
  // Reload the earlier page.
  await login(host, browser, 'nina');
  const shown = await browser.open(answered.url);
  expect([shown.html.includes('nina@example.com'), shown.html.includes('otto@example.com')]).toEqual([true, false]);
  await login(host, browser, 'nobody');
  expect(isConsent(await browser.press(shown, 'allow'))).toBe(false);
});

test('a user without a host session is sent to the sign-in page of the host and back, and passwords are refused', async () => {
  const host = await openHost({ signInUrl: '/login?as=nina&next={returnTo}' });
  const browser = createBrowser();
  const page = await ask(host, browser);
  expect(page.html).not.toContain('name="password"');
  const href = /class="button primary" href="([^"]+)"/.exec(page.html)![1]!.replaceAll('&amp;', '&');
  expect(href).toBe(`/login?as=nina&next=${encodeURIComponent(page.url)}`);
  const consent = await browser.open(new URL(href, page.url));
  expect([isConsent(consent), consent.html.includes('nina@example.com')]).toEqual([true, true]);
  const other = createBrowser();
  const again = await ask(host, other);
  const csrf = /name="csrf" value="([^"]+)"/.exec(again.html)![1]!;
  const body = new URLSearchParams({ csrf, action: 'sign-in', ...account });
  const typed = await other.open(again.url, { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' } });
  expect([typed.status, isConsent(typed)]).toEqual([400, false]);
});

test('without signInUrl, a user signs in with a password, or reads that they must sign in to the application', async () => {
  const open = await openHost();
  const browser = createBrowser();
  const page = await ask(open, browser);
  expect(isConsent(await browser.press(page, 'sign-in', { ...account }))).toBe(true);
  const closed = await openHost({ passwordSignIn: false });
  const refused = await ask(closed, createBrowser());
  expect([refused.status, refused.html.includes('You are not signed in to the application')]).toEqual([401, true]);
  const console = await createBrowser().open(`${closed.origin}/service/_console/sign-in`);
  expect([console.status, console.html.includes('You are not signed in to the application')]).toEqual([401, true]);
});

test('a host user with the e-mail of a local user does not become that user', async () => {
  const host = await openHost();
  const browser = createBrowser();
  await login(host, browser, 'thief');
  const refused = await ask(host, browser);
  expect([refused.status, isConsent(refused), refused.html.includes('Ask an administrator')]).toEqual([
    403,
    false,
    true,
  ]);
});

test.each([
  ['crash', 'the session store of the shop is gone'],
  ['broken', "authenticate: 'subject' of the caller must be"],
])('an error of the host (%s) gives an error page and a log entry, and no sign-in', async (who, said) => {
  const host = await openHost();
  const browser = createBrowser();
  await login(host, browser, who);
  const page = await ask(host, browser);
  const console = await browser.open(`${host.origin}/service/_console/sign-in`);
  // The host gets the URL that it knows, with the prefixes of the agent and the console.
  expect(host.asked.at(-1)).toBe('/service/_console/sign-in');
  expect([page.status, page.html.includes(said), console.status, console.html.includes(said)]).toEqual([
    500,
    false,
    500,
    false,
  ]);
  expect(host.logged.filter(([level, , cause]) => level === 'Error' && `${cause}`.includes(said))).toHaveLength(2);
});

test('the console shows one button, and asks the host again when it is pressed', async () => {
  const host = await openHost();
  const browser = createBrowser();
  await login(host, browser, 'nina');
  const at = `${host.origin}/service/_console`;
  const page = await browser.open(`${at}/approvals`);
  expect(page.html).toContain('Continue as nina@example.com');
  expect(await host.store.identity.findUserByEmail('nina@example.com')).toBeUndefined();
  const arrived = await browser.press(page, 'host');
  expect([arrived.url, arrived.status]).toEqual([`${at}/approvals`, 200]);
  const left = await browser.press(await browser.open(at), 'sign-out');
  expect(left.html).toContain('Continue as nina@example.com');
  await login(host, browser, 'otto');
  const start = await browser.press(left, 'host');
  expect(start.html.includes('nina')).toBe(false);
  expect(await host.store.identity.findUserByEmail('otto@example.com')).toBeDefined();
});

test.each<[Partial<AgentOptions>, string]>([
  [{ authenticate: 'yes' as never }, "'authenticate'"],
  [{ signInUrl: '/login' }, "'signInUrl' requires 'authenticate'"],
  [{ passwordSignIn: false }, "'passwordSignIn' requires 'authenticate'"],
  [{ authenticate: () => null, signInUrl: '//evil.example/login' }, "'signInUrl'"],
  [{ authenticate: () => null, signInUrl: '/\\evil.example' }, "'signInUrl'"],
  [{ authenticate: () => null, signInUrl: 'javascript:alert(1)' }, "'signInUrl'"],
])('invalid options are refused: %j', async (options, said) => {
  expect(await messageOf(() => emptyAgent(options))).toContain(said);
});

test('an identity provider together with authenticate is refused at the start', async () => {
  const settings = { ssoIssuer: 'https://login.example.com', ssoClientId: 'portico' };
  const message = await messageOf(() =>
    openHost({ settings: { ...settings, dataDir: join(makeFolder(), 'd'), publicUrl: 'http://localhost:1' } }),
  );
  expect(message).toContain('authenticate and SERVICE_SSO_ISSUER (or SERVICE_SSO_PROVIDERS) are both set');
});
