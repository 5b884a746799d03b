// From the first sign-in to the first call of an assistant, and the lifetime of a token, in a browser with the real
// CSP, scripts and clipboard, and with a real MCP client.
import { validateAuthResponse } from 'oauth4webapi';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { issuerOf } from '../app/shop.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { connectClient } from '../mcp/client.ts';
import { authorizationUrl, redeem, register } from '../oauth/client.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

const redirectUri = 'http://127.0.0.1:49152/callback';

describe.skipIf(!hasChromium)('in a browser', () => {
  let testServer: ConsoleTestServer;
  let browser: Browser;
  let context: BrowserContext;
  const violations: string[] = [];
  beforeAll(async () => {
    testServer = await openConsoleServer();
    browser = await openChromium();
  });
  beforeEach(async () => {
    violations.length = 0;
    context = await browser.newContext({ viewport: { width: 375, height: 812 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    context.on('console', (message) => /Content Security/.test(message.text()) && violations.push(message.text()));
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await browser.close();
    await testServer.stop();
  });

  const signIn = async (tab: Page) => {
    await tab.getByLabel('E-mail').fill(testServer.account.email);
    await tab.keyboard.press('Tab');
    await tab.keyboard.type(testServer.account.password);
    await tab.keyboard.press('Enter');
  };
  const copied = (tab: Page) => tab.evaluate('navigator.clipboard.readText()');
  /** Presses Tab up to the field or button with that name. */
  const tabTo = async (tab: Page, name: RegExp) => {
    for (let i = 0; i < 60; i++) {
      await tab.keyboard.press('Tab');
      const said = (await tab.evaluate(
        '(({ activeElement: on }) => on.ariaLabel ?? on.labels?.[0]?.textContent ?? on.textContent)(document)',
      )) as string;
      if (name.test(said.trim())) return;
    }
    throw new Error(`the keyboard does not reach ${name}`);
  };

  test('an owner signs in, sees how to connect, and sees the first call arrive', { timeout: 90_000 }, async () => {
    const tab = await context.newPage();
    await tab.goto(testServer.at(''));
    await signIn(tab);
    await tab.getByRole('heading', { name: 'Connect an assistant' }).waitFor();
    await tabTo(tab, /^Claude Code$/);
    await tabTo(tab, /^Copy the command for Claude Code$/);
    await tab.keyboard.press('Enter');
    await tab.getByRole('status').getByText('Copied').waitFor();
    const command = await copied(tab);
    const waiting = await tab.getByText('Waiting for the first call').count();
    // The client registers and opens the authorization page, where the user is already signed in.
    const registered = await register(issuerOf(testServer), { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const { url, verifier } = await authorizationUrl(registered, {
      redirectUri,
      scope: 'mcp:read',
      resource: testServer.mcpUrl,
    });
    const other = await context.newPage();
    await other.route(`${redirectUri}*`, (route) => route.fulfill({ body: 'You can close this page.' }));
    await other.goto(url.href);
    if ((await other.getByLabel('E-mail').count()) > 0) await signIn(other);
    await other.getByRole('button', { name: 'Allow' }).click();
    await other.waitForURL(`${redirectUri}*`);
    const parameters = validateAuthResponse(registered.server, registered.client, new URL(other.url()), 'the-state');
    const tokens = await redeem(registered, { parameters, verifier, redirectUri });
    const client = await connectClient('sdk 1.x', testServer.mcpUrl, tokens.access_token);
    await client.callTool({ name: 'list', arguments: { collectionName: 'orders' } });
    await client.close();
    // The first page refreshes when it becomes visible again, whatever other pages are open.
    await other.close();
    await tab.bringToFront();
    const arrived = await tab.getByText('The first call has arrived').locator('..').textContent();
    await tab.getByRole('link', { name: 'Continue' }).click();
    await tab.getByRole('heading', { name: 'Latest calls' }).waitFor();
    const rows = await tab.getByRole('row').allTextContents();
    const apps = await tab
      .getByRole('main')
      .getByRole('link', { name: /Notebook/ })
      .count();
    await tab.close();
    expect([command, waiting]).toEqual([`claude mcp add --transport http portico ${testServer.mcpUrl}`, 1]);
    expect(arrived).toMatch(/Notebook: Listed records in orders, less than a minute ago\. Continue/);
    expect(rows.at(-1)?.replace(/\s+/g, ' ')).toMatch(/Listed records in orders ?Notebook ?completed/);
    expect([apps, violations]).toEqual([1, []]);
  });

  test('a token is created, copied, used and revoked, with only the keyboard', { timeout: 60_000 }, async () => {
    const tab = await context.newPage();
    await tab.goto(testServer.at('/tokens'));
    await signIn(tab);
    await tab.getByText('You have no token').waitFor();
    await tab.waitForLoadState();
    await tabTo(tab, /^New token$/);
    await tab.keyboard.press('Enter');
    await tab.getByText('What is it for?').waitFor();
    await tabTo(tab, /^A program that reads notes and logs/);
    await tab.keyboard.press('Enter');
    await tab.getByLabel('Name').waitFor();
    await tabTo(tab, /^Name$/);
    await tab.keyboard.type('Nightly report');
    await tabTo(tab, /^Read notes$/);
    await tab.keyboard.press('Space');
    await tabTo(tab, /^Your password$/);
    await tab.keyboard.type(testServer.account.password);
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Your token' }).waitFor();
    await tabTo(tab, /^Copy the token$/);
    await tab.keyboard.press('Enter');
    await tab.getByRole('status').getByText('Copied').waitFor();
    const secret = `${await copied(tab)}`;
    const use = async () =>
      (await fetch(`${testServer.address}/v1/token`, { headers: { authorization: `Bearer ${secret}` } })).status;
    const before = await use();
    const address = tab.url();
    await tab.reload();
    await tab.getByText('was already sent').waitFor();
    const again = await tab.content();
    await tab.goto(testServer.at('/tokens'));
    await tabTo(tab, /^Revoke Nightly report$/);
    await tab.keyboard.press('Enter');
    await tab.getByRole('status').getByText('It no longer works').waitFor();
    const wide = await tab.evaluate('document.documentElement.scrollWidth');
    await tab.close();
    expect([secret, before, await use()]).toEqual([expect.stringMatching(/^svc_[\w-]{43}$/), 200, 401]);
    expect([address.includes('svc_'), again.includes(secret), wide, violations]).toEqual([false, false, 375, []]);
  });
});
