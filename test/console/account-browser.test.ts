// The account pages in a real browser: without scripts, by keyboard only, and on narrow screens.
import { TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issuerOf, redirectUri } from '../app/shop.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { authorizationUrl, register } from '../oauth/client.ts';
import { wrongCode } from '../wrong-code.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

describe.skipIf(!hasChromium)('in a browser without scripts', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await openConsoleServer();
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  const open = async (options: Parameters<Browser['newContext']>[0] = {}) => {
    const context = await browser.newContext({ javaScriptEnabled: false, ...options });
    const tab = await context.newPage();
    const complaints: string[] = [];
    tab.on('console', (message) => /policy|script|refused/i.test(message.text()) && complaints.push(message.text()));
    return { tab, complaints, close: () => context.close() };
  };
  const typeKeys = async (tab: Page, ...typed: string[]) => {
    for (const [turn, text] of typed.entries()) {
      if (turn > 0) await tab.keyboard.press('Tab');
      await tab.keyboard.type(text);
    }
    await tab.keyboard.press('Enter');
  };
  /** Waits until the page with that heading has loaded and accepts keys. */
  const heading = async (tab: Page, name: string) => {
    await tab.getByRole('heading', { name, exact: true }).waitFor();
    await tab.waitForLoadState();
  };

  test('an invited user chooses a password, sets up an app, and connects an assistant, with only the keyboard', async () => {
    const eve = await server.store.identity.addUser({ email: 'eve@example.com', firstName: 'Eve' });
    const { token } = await server.store.links.make(eve.id, 'invite');
    const { tab, complaints, close } = await open();
    const referrers: (string | undefined)[] = [];
    tab.on('request', (request) => referrers.push(request.headers().referer));
    await tab.goto(server.at(`/welcome/${token}`));
    await tab.locator('#new:focus').waitFor();
    await typeKeys(tab, 'a few words of hers', 'a few words of hers');
    await heading(tab, 'Password set');
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Enter');
    await tab.locator('#email:focus').waitFor();
    await typeKeys(tab, eve.email, 'a few words of hers');
    await heading(tab, 'Hello, Eve');
    await tab.goto(server.at('/account/app'));
    const secret = await tab.locator('input[name=secret]').getAttribute('value');
    const code = (steps: number) => new TOTP({ secret: secret! }).generate({ timestamp: Date.now() + steps * 30_000 });
    await tab.getByRole('textbox', { name: 'Code' }).focus();
    await typeKeys(tab, code(0), 'a few words of hers');
    await heading(tab, 'Your recovery codes');
    const recovery = (await tab.locator('.codes code').first().textContent())!;
    await tab.context().clearCookies();
    const registered = await register(issuerOf(server), { client_name: 'Notebook', redirect_uris: [redirectUri] });
    await tab.goto((await authorizationUrl(registered, { redirectUri, scope: 'mcp:read' })).url.href);
    await tab.locator('#email:focus').waitFor();
    await typeKeys(tab, eve.email, 'a few words of hers');
    await tab.locator('#code:focus').waitFor();
    await typeKeys(tab, wrongCode(secret!));
    await tab.getByText('This code is wrong').waitFor();
    await tab.locator('#code:focus').waitFor();
    await typeKeys(tab, code(1));
    await tab.getByRole('heading', { name: 'Allow an app on this device to connect?' }).waitFor();
    await tab.goto(server.at('/account'));
    await tab.locator('#email:focus').waitFor();
    await typeKeys(tab, eve.email, 'a few words of hers');
    await tab.locator('#code:focus').waitFor();
    await typeKeys(tab, recovery);
    await heading(tab, 'Account');
    await tab.getByText('9 recovery codes are left').waitFor();
    expect([complaints, referrers.filter((referrer) => referrer?.includes(token))]).toEqual([[], []]);
    await close();
  });

  test.each([320, 375, 1280])('nothing is wider than the window at %i pixels', async (width) => {
    const { tab, close } = await open({ viewport: { width, height: 700 }, javaScriptEnabled: true });
    const eve = await server.addUser({ email: `a-rather-long-address-of-somebody-${width}@department.example.com` });
    const { id } = await server.userOf(eve);
    const wide: string[] = [];
    const measure = async (name: string) => {
      if (((await tab.evaluate('document.documentElement.scrollWidth')) as number) > width) wide.push(name);
    };
    const { token } = await server.store.links.make(id, 'reset');
    await tab.goto(server.at(`/welcome/${token}`));
    await measure('link');
    await tab.goto(server.at('/account'));
    await tab.getByLabel('E-mail').fill(eve.email);
    await tab.getByLabel('Password').fill(eve.password);
    await tab.keyboard.press('Enter');
    await heading(tab, 'Account');
    await server.store.sessions.begin({ userId: id, browser: 'x', address: '2001:db8:1234:5678:9abc:def0:1234:5678' });
    await tab.reload();
    for (const summary of await tab.locator('main summary').all()) await summary.click();
    await measure('account');
    await tab.goto(server.at('/account/app'));
    await measure('app');
    expect(wide).toEqual([]);
    await close();
  });
});
