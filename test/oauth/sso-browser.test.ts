// Signing in through an OpenID provider in a real browser, without our scripts and by keyboard: for an app and for the
// console.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issuerOf, openShop, type Shop } from '../app/shop.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { authorizationUrl, register } from './client.ts';
import { openUpstream, type Upstream } from './upstream.ts';

const redirectUri = 'http://127.0.0.1:49152/callback';

describe.skipIf(!hasChromium)('in a browser', () => {
  let upstream: Upstream;
  let shop: Shop;
  let browser: Browser;
  beforeAll(async () => {
    upstream = await openUpstream();
    shop = await openShop({ env: upstream.env });
    upstream.start([`${issuerOf(shop)}/oauth/sso/callback`, `${shop.consoleUrl}/sso/callback`]);
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
    await upstream?.stop();
  });

  const open = async () => {
    const tab = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    const complaints: string[] = [];
    tab.on('console', (message) => /policy|refused/i.test(message.text()) && complaints.push(message.text()));
    return { tab, complaints };
  };
  const tabTo = async (tab: Awaited<ReturnType<typeof open>>['tab'], name: string) => {
    for (let i = 0; i < 10; i++) {
      await tab.keyboard.press('Tab');
      if ((await tab.locator(':focus').textContent())?.trim() === name) return;
    }
    throw new Error(`the keyboard does not lead to '${name}'`);
  };
  const enter = async (tab: Awaited<ReturnType<typeof open>>['tab']) => {
    await tabTo(tab, 'Sign in with Example ID');
    await tab.keyboard.press('Enter');
    await tab.getByLabel('Name').fill('nina');
    await tab.getByLabel('Name').press('Enter');
  };

  test('an app is allowed after the provider, and gets its code', async () => {
    const registered = await register(issuerOf(shop), { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const { tab, complaints } = await open();
    await tab.route(`${redirectUri}**`, (route) => route.fulfill({ body: 'arrived' }));
    await tab.goto((await authorizationUrl(registered, { redirectUri })).url.href);
    await enter(tab);
    await tab.getByRole('heading', { name: 'Allow an app on this device to connect?' }).waitFor();
    await tab.getByRole('button', { name: 'Allow', exact: true }).click();
    await tab.getByText('arrived').waitFor();
    expect([new URL(tab.url()).searchParams.has('code'), complaints]).toEqual([true, []]);
    await tab.context().close();
  });

  test('the console opens the requested page after the provider', async () => {
    const { tab, complaints } = await open();
    await tab.goto(`${shop.consoleUrl}/approvals`);
    await enter(tab);
    await tab.getByRole('heading', { name: 'Approvals' }).waitFor();
    expect([tab.url(), complaints]).toEqual([`${shop.consoleUrl}/approvals`, []]);
    // A callback URL does not work in another browser.
    await tab.goto(shop.consoleUrl);
    const stranger = await open();
    await stranger.tab.goto(`${shop.consoleUrl}/sso/callback?code=x&state=${'x'.repeat(43)}`);
    await stranger.tab.getByRole('heading', { name: 'This sign-in cannot be completed' }).waitFor();
    await Promise.all([tab.context().close(), stranger.tab.context().close()]);
  });
});
