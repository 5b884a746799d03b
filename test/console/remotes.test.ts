// Remote servers in the console: administrators add and remove them, and everybody connects his own account, at a server that is
// another Portico, through its real pages.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openShop, type Shop } from '../app/shop.ts';
import { type Account, type Browser, type Page, signIn } from '../oauth/flow.ts';
import { openPlace, type Place, read } from './place.ts';

let place: Place;
let shop: Shop;
let bob: Account;
beforeAll(async () => {
  place = await openPlace({ env: { SERVICE_REMOTE_HOSTS: '127.0.0.1', SERVICE_SIGN_IN_ATTEMPTS: '20' } });
  shop = await openShop();
  bob = await place.addUser({ email: 'bob@example.com', firstName: 'Bob' });
});
afterAll(async () => {
  await shop.stop();
  await place.stop();
});

const add = (browser: Browser, page: Page, typed: Readonly<Record<string, string>>) =>
  browser.press(page, 'add', { name: 'shop', url: shop.mcpUrl, signIn: 'oauth', ...typed });
/** Presses a button of the row of the one server. */
const press = async (browser: Browser, action: string): Promise<Page> =>
  browser.press(await browser.open(place.at('/remotes')), action);
const leadsTo = ({ html }: Page): URL =>
  new URL((/class="button primary slim" href="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&'));
const accountOf = async (account: Account) =>
  (await place.store.remotes.accountsOf((await place.userOf(account)).id))[0]?.state;

test('an administrator adds a server; what is wrong with it is told at its field', async () => {
  const { browser, page } = await place.browse(place.account, '/remotes');
  expect(read(page)).toContain('There is no remote server');
  const wrong = await add(browser, page, { url: 'http://tickets.example/mcp' });
  expect([wrong.status, read(wrong)]).toEqual([400, expect.stringContaining('begins with https://')]);
  const secret = await add(browser, page, { signIn: 'bearer', secret: 'two words' });
  expect([secret.status, secret.html.includes('two words')]).toEqual([400, false]);
  const added = await add(browser, page, {});
  expect([added.url, read(added)]).toEqual([
    place.at('/remotes?done=added'),
    expect.stringContaining('shop http://127.0.0.1'),
  ]);
  expect(read(await add(browser, page, {}))).toContain('There is a server');
  expect((await place.store.adminLog.search({ limit: 1 }))[0]).toMatchObject({ action: 'remote-server.add' });
});

test('others see no form, add nothing and remove nothing', async () => {
  const { browser, page } = await place.browse(bob, '/remotes');
  expect([read(page).includes('Add a server'), page.html.includes('value="remove"')]).toEqual([false, false]);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const [server] = await place.store.remotes.list();
  const post = (to: string, more: Readonly<Record<string, string>>) =>
    browser.open(place.at(to), {
      method: 'POST',
      body: new URLSearchParams({ csrf, ...more }),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
  await post('/remotes', { action: 'add', name: 'his', url: shop.mcpUrl, signIn: 'none' });
  await post(`/remotes/${server!.id}`, { action: 'remove' });
  expect((await place.store.remotes.list()).map(({ name }) => name)).toEqual(['shop']);
});

test('somebody connects his own account, comes back by the callback, and disconnects it', async () => {
  const { browser } = await place.browse(bob, '/remotes');
  const leaving = await press(browser, 'connect');
  const address = leadsTo(leaving);
  expect([read(leaving).includes(`Continue to ${address.host}`), address.origin]).toEqual([
    true,
    new URL(shop.mcpUrl).origin,
  ]);
  const back = await signIn(address, shop.account);
  expect(back.href.startsWith(place.at('/remotes/callback'))).toBe(true);
  const connected = await browser.open(back);
  expect([connected.url, await accountOf(bob), await accountOf(place.account)]).toEqual([
    place.at('/remotes?done=connected'),
    'connected',
    undefined,
  ]);
  expect(place.observed).toContainEqual(expect.objectContaining({ event: 'remote.connected' }));
  const again = await browser.open(back);
  expect([again.url, (await press(browser, 'disconnect')).url, await accountOf(bob)]).toEqual([
    place.at('/remotes?done=unknown'),
    place.at('/remotes?done=disconnected'),
    undefined,
  ]);
});

test('an answer that is brought to the browser of somebody else connects nothing', async () => {
  const { browser } = await place.browse(bob, '/remotes');
  const back = await signIn(leadsTo(await press(browser, 'connect')), shop.account);
  const { browser: hers } = await place.browse(place.account);
  expect([(await hers.open(back)).url, await accountOf(place.account)]).toEqual([
    place.at('/remotes?done=unknown'),
    undefined,
  ]);
});

test('a server that says no, or does not answer, is told as that', async () => {
  const { browser } = await place.browse(bob, '/remotes');
  const state = leadsTo(await press(browser, 'connect')).searchParams.get('state');
  const refused = await browser.open(place.at(`/remotes/callback?error=access_denied&state=${state}`));
  expect([refused.url, await accountOf(bob)]).toEqual([place.at('/remotes?done=failed'), undefined]);
});

test('a server is removed with the accounts that were connected there', async () => {
  const { browser } = await place.browse(place.account, '/remotes');
  expect((await press(browser, 'remove')).url).toBe(place.at('/remotes?done=removed'));
  expect(await place.store.remotes.list()).toEqual([]);
});
