// The page that answers the sign-in of a front end, in a real browser: without scripts, by keyboard only, and with a
// redirect to the front end, which the CSP must allow. axe-core checks the page.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openShop, type Shop } from '../app/shop.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { beginSignIn, finishSignIn } from './front-end.ts';

describe.skipIf(!hasChromium)('in a browser', () => {
  let shop: Shop;
  let front: Server;
  let origin: string;
  let browser: Browser;
  beforeAll(async () => {
    front = createServer((_req, res) => res.end('<!doctype html><title>Front end</title><p>Back at the front end'));
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    shop = await openShop({ env: { SERVICE_AGENT_ORIGINS: origin } });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await shop.stop();
    front.closeAllConnections();
    front.close();
  });

  test('with only the keyboard and without scripts, the response reaches the front end', async () => {
    const api = `${shop.address}/service`;
    const { url } = await beginSignIn(api, { origin });
    const tab = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await tab.goto(url);
    await tab.locator('input[name="email"]:focus').waitFor();
    await tab.keyboard.type(shop.account.email);
    await tab.keyboard.press('Tab');
    await tab.keyboard.type(shop.account.password);
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: /^Continue to 127/ }).waitFor();
    await tab.waitForLoadState();
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Enter');
    await tab.getByText('Back at the front end').waitFor();
    const callback = new URL(tab.url());
    expect([callback.origin, (await finishSignIn(api, callback, {}, origin)).status]).toEqual([origin, 200]);
  });

  test.each([
    ['light', { width: 1280, height: 800 }],
    ['dark', { width: 1280, height: 800 }],
    ['light', { width: 375, height: 812 }],
    ['dark', { width: 375, height: 812 }],
  ] as const)('in %s, %o, axe-core finds no fault', async (colorScheme, viewport) => {
    const { url } = await beginSignIn(`${shop.address}/service`, { origin });
    const tab = await (await browser.newContext({ colorScheme, viewport, bypassCSP: true })).newPage();
    await tab.goto(url);
    await tab.getByLabel('E-mail').fill(shop.account.email);
    await tab.getByLabel('Password').fill(shop.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByRole('heading', { name: /^Continue to 127/ }).waitFor();
    const shots = process.env.SCREENSHOTS;
    if (shots)
      await tab.screenshot({ path: `${shots}/front-end-${viewport.width}-${colorScheme}.png`, fullPage: true });
    expect(await findFaults(tab, 'the sign-in of a front end')).toEqual([]);
  });
});
