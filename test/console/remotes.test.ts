// Remote servers in the console: administrators add and remove them, and users connect their own accounts. The remote
// server is another Portico with its real pages.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openShop, type Shop } from '../app/shop.ts';
import { type Account, type Browser, type Page, signIn } from '../oauth/flow.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let testServer: ConsoleTestServer;
let shop: Shop;
let bob: Account;
beforeAll(async () => {
  testServer = await openConsoleServer({ env: { SERVICE_REMOTE_HOSTS: '127.0.0.1', SERVICE_SIGN_IN_ATTEMPTS: '20' } });
  shop = await openShop();
  bob = await testServer.addUser({ email: 'bob@example.com', firstName: 'Bob' });
});
afterAll(async () => {
  await shop.stop();
  await testServer.stop();
});

const add = (browser: Browser, page: Page, typed: Readonly<Record<string, string>>) =>
  browser.press(page, 'add', { name: 'shop', url: shop.mcpUrl, signIn: 'oauth', ...typed });
/** Presses a button in the row of the only server. */
const press = async (browser: Browser, action: string): Promise<Page> =>
  browser.press(await browser.open(testServer.at('/remotes')), action);
const leadsTo = ({ html }: Page): URL =>
  new URL((/class="button primary slim" href="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&'));
const accountOf = async (account: Account) =>
  (await testServer.store.remotes.accountsOf((await testServer.userOf(account)).id))[0]?.state;

test('an administrator adds a server; errors are shown at their fields', async () => {
  const { browser, page } = await testServer.browse(testServer.account, '/remotes');
  expect(read(page)).toContain('No remote servers');
  const wrong = await add(browser, page, { url: 'http://tickets.example/mcp' });
  expect([wrong.status, read(wrong)]).toEqual([400, expect.stringContaining('begins with https://')]);
  const secret = await add(browser, page, { signIn: 'bearer', secret: 'two words' });
  expect([secret.status, secret.html.includes('two words')]).toEqual([400, false]);
  const added = await add(browser, page, {});
  expect([added.url, read(added)]).toEqual([
    testServer.at('/remotes?done=added'),
    expect.stringContaining('shop http://127.0.0.1'),
  ]);
  expect(read(await add(browser, page, {}))).toContain('already exists');
  expect((await testServer.store.adminLog.search({ limit: 1 }))[0]).toMatchObject({ action: 'remote-server.add' });
});

test('other users see no form, add nothing and remove nothing', async () => {
  const { browser, page } = await testServer.browse(bob, '/remotes');
  expect([read(page).includes('Add a server'), page.html.includes('value="remove"')]).toEqual([false, false]);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const [server] = await testServer.store.remotes.list();
  const post = (to: string, more: Readonly<Record<string, string>>) =>
    browser.open(testServer.at(to), {
      method: 'POST',
      body: new URLSearchParams({ csrf, ...more }),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
  await post('/remotes', { action: 'add', name: 'his', url: shop.mcpUrl, signIn: 'none' });
  await post(`/remotes/${server!.id}`, { action: 'remove' });
  expect((await testServer.store.remotes.list()).map(({ name }) => name)).toEqual(['shop']);
});

test('a user connects their account, returns by the callback, and disconnects it', async () => {
  const { browser } = await testServer.browse(bob, '/remotes');
  const leaving = await press(browser, 'connect');
  const address = leadsTo(leaving);
  expect([read(leaving).includes(`Continue to ${address.host}`), address.origin]).toEqual([
    true,
    new URL(shop.mcpUrl).origin,
  ]);
  const back = await signIn(address, shop.account);
  const [server] = await testServer.store.remotes.list();
  expect(back.href.startsWith(testServer.at(`/remotes/${server!.id}/callback`))).toBe(true);
  const connected = await browser.open(back);
  expect([connected.url, await accountOf(bob), await accountOf(testServer.account)]).toEqual([
    testServer.at('/remotes?done=connected'),
    'connected',
    undefined,
  ]);
  expect(testServer.observed).toContainEqual(expect.objectContaining({ event: 'remote.connected' }));
  const again = await browser.open(back);
  expect([again.url, (await press(browser, 'disconnect')).url, await accountOf(bob)]).toEqual([
    testServer.at('/remotes?done=unknown'),
    testServer.at('/remotes?done=disconnected'),
    undefined,
  ]);
});

test("a callback in another user's browser connects no account", async () => {
  const { browser } = await testServer.browse(bob, '/remotes');
  const back = await signIn(leadsTo(await press(browser, 'connect')), shop.account);
  const { browser: hers } = await testServer.browse(testServer.account);
  expect([(await hers.open(back)).url, await accountOf(testServer.account)]).toEqual([
    testServer.at('/remotes?done=unknown'),
    undefined,
  ]);
});

test('a server that refuses or does not answer is reported as such', async () => {
  const { browser } = await testServer.browse(bob, '/remotes');
  const state = leadsTo(await press(browser, 'connect')).searchParams.get('state');
  const [server] = await testServer.store.remotes.list();
  const refused = await browser.open(
    testServer.at(`/remotes/${server!.id}/callback?error=access_denied&state=${state}`),
  );
  expect([refused.status, await accountOf(bob)]).toEqual([422, undefined]);
  expect(read(refused)).toContain('Could not connect to shop: it did not connect the account.');
});

test('an administrator enters a registered client, which belongs to one authorization server', async () => {
  const [server] = await testServer.store.remotes.list();
  const at = `/remotes/${server!.id}`;
  const { browser, page } = await testServer.browse(testServer.account, at);
  expect(read(page)).toContain(testServer.at(`${at}/callback`));
  const wrong = await browser.press(page, 'enter', { clientId: 'portico', issuer: 'login' });
  expect([wrong.status, read(wrong)]).toEqual([
    400,
    expect.stringContaining('Expected the URL of the authorization server'),
  ]);
  const typed = { clientId: 'portico-prod', clientSecret: 'a secret of ours' };
  const entered = await browser.press(page, 'enter', typed);
  expect([entered.url, entered.html.includes('a secret of ours')]).toEqual([
    testServer.at(`${at}?done=entered`),
    false,
  ]);
  const issuer = shop.mcpUrl.replace(/\/mcp$/, '');
  expect((await testServer.store.remotes.find(server!.id))?.client).toEqual({ id: 'portico-prod', issuer });
  expect(read(entered)).toContain(`at ${issuer} with the client portico-prod`);
  const forgotten = await browser.press(entered, 'forget');
  expect([forgotten.url, await testServer.store.remotes.secretOf(server!.id)]).toEqual([
    testServer.at(`${at}?done=forgotten`),
    undefined,
  ]);
  const { browser: his } = await testServer.browse(bob, at);
  expect((await his.open(testServer.at(at))).url).toBe(testServer.at('/remotes'));
});

test('an administrator lists the tools that workflows may call', async () => {
  const [server] = await testServer.store.remotes.list();
  const at = `/remotes/${server!.id}`;
  const { browser, page } = await testServer.browse(testServer.account, at);
  const wrong = await browser.press(page, 'allow', { tools: 'open always' });
  expect([wrong.status, wrong.html.includes('open always</textarea>')]).toEqual([400, true]);
  const kept = await browser.press(wrong, 'allow', { tools: 'search\nopen ask' });
  expect([kept.url, kept.html.includes('search\nopen ask</textarea>')]).toEqual([
    testServer.at(`${at}?done=allowed`),
    true,
  ]);
  expect((await testServer.store.remotes.find(server!.id))?.tools).toEqual({ search: 'allow', open: 'ask' });
  await browser.press(kept, 'allow', { tools: '' });
  expect((await testServer.store.remotes.find(server!.id))?.tools).toBeNull();
});

test('the client metadata document is public at its URL; without https it does not exist', async () => {
  const id = '0b4f6c1e-8a55-4a53-9d0c-2f7f6f1f7a10';
  expect((await fetch(testServer.at(`/remotes/${id}/client`))).status).toBe(404);
  const hosted = await openShop({ env: { SERVICE_PUBLIC_URL: 'https://data.example.com' } });
  const address = `${hosted.consoleUrl}/remotes/${id}/client`;
  const { hostname, port } = new URL(hosted.address);
  const headers = { host: 'data.example.com' };
  const asked = request({ hostname, port, path: new URL(address).pathname, headers }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  expect([answer.statusCode, answer.headers['set-cookie'], JSON.parse(await text(answer))]).toEqual([
    200,
    undefined,
    expect.objectContaining({
      client_id: address,
      redirect_uris: [`${hosted.consoleUrl}/remotes/${id}/callback`],
      token_endpoint_auth_method: 'none',
    }),
  ]);
  await hosted.stop();
});

test('a server is removed with its connected accounts', async () => {
  const { browser } = await testServer.browse(testServer.account, '/remotes');
  expect((await press(browser, 'remove')).url).toBe(testServer.at('/remotes?done=removed'));
  expect(await testServer.store.remotes.list()).toEqual([]);
});
