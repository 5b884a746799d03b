// The console's only script, in a browser that enforces the CSP: it copies text and refreshes a live region. No other
// script runs.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

interface Said {
  text(): string;
}
const isViolation = (message: Said): boolean => /Content Security Policy/.test(message.text());

describe.skipIf(!hasChromium)('the script of the console', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  let context: BrowserContext;
  let tab: Page;
  beforeAll(async () => {
    server = await openConsoleServer();
    browser = await openChromium();
    context = await browser.newContext();
    tab = await context.newPage();
    await tab.goto(server.at('/account'));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByRole('heading', { name: 'Account' }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  test('runs under the policy of its page, without violations', async () => {
    const tab = await context.newPage();
    const complaints: string[] = [];
    tab.on('console', (message) => isViolation(message) && complaints.push(message.text()));
    tab.on('pageerror', (error) => complaints.push(error.message));
    await tab.goto(server.at('/account'));
    const ran = await tab.locator('body > p.unseen[role=status]').count();
    await tab.close();
    expect([ran, complaints]).toEqual([1, []]);
  });

  // CSP level 3 section 8.1: injected markup runs no script and sends no request.
  test.each([
    ['script', '<script>window.ran = true</script>'],
    ['handler', '<img src="data:," onerror="window.ran = true">'],
    ['URL', '<a id="go" href="javascript:window.ran=true">go</a>'],
    ['image of another server', '<img src="http://chat.localhost:9/x">'],
    ['frame', '<iframe srcdoc="<script>parent.ran = true</script>"></iframe>'],
  ])('does not let an injected %s run', async (_, markup) => {
    const wanted = tab.url();
    const violations: string[] = [];
    const listen = (message: Said) => isViolation(message) && violations.push(message.text());
    tab.on('console', listen);
    await tab.route(wanted, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: (await answer.text()).replace('<main', `${markup}<main`) });
    });
    await tab.goto(wanted);
    if (markup.includes('id="go"')) await tab.locator('#go').click();
    await expect.poll(() => violations.length).toBeGreaterThan(0);
    const ran = await tab.evaluate('window.ran');
    tab.off('console', listen);
    await tab.unroute(wanted);
    expect(ran).toBe(undefined);
  });
});
