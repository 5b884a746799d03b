// The console through an external OpenID provider, and the effect on sessions and tokens created before.
import { afterEach, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { createBrowser } from '../oauth/flow.ts';
import { goThrough, openUpstream, type Upstream } from '../oauth/upstream.ts';
import { startServer } from '../server.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function openWorld(env: Record<string, string> = {}): Promise<{ place: ConsoleTestServer; upstream: Upstream }> {
  const upstream = await openUpstream();
  closing.push(() => upstream.stop());
  const server = await openConsoleServer({ env: { ...upstream.env, ...env } });
  closing.push(() => server.stop());
  upstream.start([server.at('/sso/callback')]);
  return { place: server, upstream };
}

const sessionOf = (browser: ReturnType<typeof createBrowser>): string | undefined =>
  [...browser.cookies].find(([name]) => /^portico-console-\d+ /.test(name))?.[1].value;

test('a user signs in, returns to the requested page, and the session names the provider', async () => {
  const { place: server, upstream } = await openWorld();
  const browser = createBrowser();
  const page = await browser.open(server.at('/approvals'));
  expect([page.html.includes('name="password"'), read(page).includes('Sign in with Example ID')]).toEqual([
    false,
    true,
  ]);
  const arrived = await browser.open(await goThrough(browser, page, 'nina'));
  const session = await server.store.sessions.find(`${sessionOf(browser)}`);
  const user = await server.store.identity.findUserByEmail('nina@example.com');
  expect([arrived.url, arrived.status, session?.issuer, session?.userId]).toEqual([
    server.at('/approvals'),
    200,
    upstream.issuer,
    user?.id,
  ]);
  const left = await browser.press(await browser.open(server.at('')), 'sign-out');
  expect([left.url, read(left).includes('Sign in with Example ID')]).toEqual([server.at('/sign-in'), true]);
});

test('the sign-in page may redirect to the provider; every other form is limited to the console', async () => {
  const { place: server } = await openWorld();
  const page = await createBrowser().open(server.at('/sign-in'));
  expect(page.headers.get('content-security-policy')).not.toContain('form-action');
  const missing = await createBrowser().open(server.at('/nothing'));
  expect(missing.headers.get('content-security-policy')).toContain("form-action 'self'");
});

test('a password is refused, typed or sent', async () => {
  const { place: server } = await openWorld();
  const browser = createBrowser();
  const page = await browser.open(server.at('/sign-in'));
  const body = new URLSearchParams({ csrf: csrfOf(page), action: 'sign-in', ...server.account });
  const sent = await browser.open(page.url, { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' } });
  expect([sent.status, sessionOf(browser)]).toEqual([400, undefined]);
});

test('a response counts in the browser that began it, once, at the callback that it began with', async () => {
  const { place: server } = await openWorld();
  const browser = createBrowser();
  const callback = await goThrough(browser, await browser.open(server.at('/approvals')), 'nina');
  const victim = createBrowser();
  await victim.open(server.at('/sign-in'));
  const elsewhere = await victim.open(callback);
  const otherDoor = new URL(
    callback.href.replace(server.at('/sso/callback'), `${new URL(server.mcpUrl).origin}/oauth/sso/callback`),
  );
  const wrongDoor = await browser.open(otherDoor);
  const first = await browser.open(callback);
  const again = await createBrowser().open(callback);
  expect([elsewhere.status, wrongDoor.status, first.url, again.status, sessionOf(victim)]).toEqual([
    400,
    400,
    server.at('/approvals'),
    400,
    undefined,
  ]);
});

test.each(['https://evil.example/', '//evil.example', '/sign-out', '/sso/callback', '/../..//evil.example'])(
  'the sign-in redirects to no other site: %s',
  async (to) => {
    const { place: server } = await openWorld();
    const browser = createBrowser();
    const page = await browser.open(`${server.at('/sign-in')}?${new URLSearchParams({ to })}`);
    const callback = await goThrough(browser, page, 'nina');
    callback.searchParams.set('to', to);
    expect((await browser.open(callback)).url).toBe(server.at(''));
  },
);

test('a refused user sees why, with a link back, and gets no session', async () => {
  const { place: server, upstream } = await openWorld();
  upstream.people.set('otto', { email: 'otto@example.com', email_verified: false });
  const browser = createBrowser();
  const refused = await browser.open(await goThrough(browser, await browser.open(server.at('/approvals')), 'otto'));
  expect([refused.status, read(refused), sessionOf(browser)]).toEqual([
    403,
    expect.stringContaining('has not verified your e-mail address'),
    undefined,
  ]);
  expect(refused.html).toContain('/sign-in?to=%2Fapprovals');
});

test('the page says that the provider is down', async () => {
  const { place: server, upstream } = await openWorld();
  upstream.isDown = true;
  const browser = createBrowser();
  const down = await browser.press(await browser.open(server.at('/sign-in')), 'sso');
  expect([down.status, read(down)]).toEqual([503, expect.stringContaining('cannot verify who you are')]);
});

test('a session made with a password is invalid once single sign-on is on', async () => {
  const database = await servers[0]!.create();
  closing.push(() => database.drop());
  const env = { SERVICE_STORAGE_URL: database.url, SERVICE_SECRET: 'a secret of the tests, long enough' };
  const before = await openConsoleServer({ env });
  const { browser } = await before.browse(before.account, '/approvals');
  const id = `${sessionOf(browser)}`;
  const upstream = await openUpstream();
  closing.push(() => upstream.stop());
  const now = await startServer({
    database: before.database,
    account: before.account,
    env: { ...env, ...upstream.env },
  });
  closing.push(
    () => before.stop(),
    () => now.stop(),
  );
  const port = (url: string) => new URL(url).port;
  const ask = (url: string) =>
    fetch(`${url}/approvals`, { redirect: 'manual', headers: { cookie: `portico-console-${port(url)}=${id}` } });
  const [then, after] = [await ask(before.consoleUrl), await ask(now.consoleUrl)];
  expect([then.status, after.status, after.headers.get('location')]).toEqual([
    200,
    303,
    expect.stringContaining('/sign-in?to='),
  ]);
});

test('earlier application tokens are refused by /mcp and the public API, with the reason', async () => {
  const { place: server } = await openWorld();
  const make = async (scope: string, sso: boolean) =>
    (await server.store.tokens.create({ userId: server.ada.id, name: `${scope} ${sso}`, scopes: [scope], sso })).secret;
  const ask = async (url: string, secret: string, method: string) => {
    const response = await fetch(url, { method, headers: { authorization: `Bearer ${secret}` } });
    return [response.status, (await response.text()).includes('Single sign-on is required')];
  };
  const api = `${server.address}/v1/token`;
  expect([
    await ask(api, await make('all', false), 'GET'),
    await ask(api, await make('all', true), 'GET'),
    await ask(server.mcpUrl, await make('mcp:read', false), 'POST'),
    (await ask(server.mcpUrl, await make('mcp:read', true), 'POST'))[0] !== 401,
  ]).toEqual([[401, true], [200, false], [401, true], true]);
});
