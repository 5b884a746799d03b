// The pages of the device flow in a real browser, by keyboard only and without scripts. axe-core checks them in light
// and dark mode, on a desktop and on a phone.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { startServer } from './oauth-server.ts';
import { ask, poll } from './terminal.ts';

async function inBrowser(run: (page: Page) => Promise<void>, options: object): Promise<void> {
  const browser = await openChromium();
  try {
    await run(await (await browser.newContext(options)).newPage());
  } finally {
    await browser.close();
  }
}

test.skipIf(!hasChromium)('a user types the code, signs in and allows, with only the keyboard', async () => {
  const server = await startServer({ cloud: true });
  try {
    const asked = await ask(server.paths.issuer);
    await inBrowser(
      async (page) => {
        const complaints: string[] = [];
        page.on('console', (message) => /policy|script/i.test(message.text()) && complaints.push(message.text()));
        await page.goto(asked.verification_uri);
        await page.locator('input[name="user_code"]:focus').waitFor();
        await page.keyboard.type(asked.user_code.toLowerCase().replace('-', ''));
        await page.keyboard.press('Enter');
        await page.locator('input[name="email"]:focus').waitFor();
        await page.keyboard.type(server.account.email);
        await page.keyboard.press('Tab');
        await page.keyboard.type(server.account.password);
        await page.keyboard.press('Enter');
        await page.getByText(asked.user_code).waitFor();
        await page.waitForLoadState('load');
        const order: (string | null)[] = [];
        for (const key of ['Tab', 'Tab', 'Tab']) {
          await page.keyboard.press(key);
          order.push(await page.locator(':focus').getAttribute('value'));
        }
        for (const key of ['Shift+Tab', 'Enter']) await page.keyboard.press(key);
        await page.getByRole('heading', { name: 'Your terminal is connected' }).waitFor();
        const { status } = await poll(server.paths.issuer, asked.device_code);
        expect([order, status, complaints]).toEqual([['deny', 'allow', 'switch'], 200, []]);
      },
      { javaScriptEnabled: false },
    );
  } finally {
    await server.stop();
  }
});

test.skipIf(!hasChromium).each([
  ['light', { width: 1280, height: 800 }],
  ['dark', { width: 375, height: 812 }],
] as const)('in %s, %o, no page has an accessibility fault', async (colorScheme, viewport) => {
  const server = await startServer({ cloud: true });
  try {
    await inBrowser(
      async (page) => {
        const faults = (name: string) => findFaults(page, name);
        const found: string[] = [];
        await page.goto(`${server.paths.issuer}/oauth/device`);
        await page.getByLabel('Code').fill('BBBB-BBBB');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByText('The code is not valid').waitFor();
        found.push(...(await faults('wrong code')));
        const asked = await ask(server.paths.issuer);
        await page.goto(asked.verification_uri_complete);
        found.push(...(await faults('code')));
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByLabel('E-mail').fill(server.account.email);
        await page.getByLabel('Password').fill(server.account.password);
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
        await page.getByText(asked.user_code).waitFor();
        found.push(...(await faults('consent')));
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByRole('heading', { name: 'Your terminal is connected' }).waitFor();
        found.push(...(await faults('connected')));
        expect(found).toEqual([]);
      },
      { colorScheme, viewport, bypassCSP: true },
    );
  } finally {
    await server.stop();
  }
});

test('the page loads nothing', async () => {
  const server = await startServer({ cloud: true });
  try {
    const response = await fetch(`${server.paths.issuer}/oauth/device`);
    const html = await response.text();
    expect([
      response.headers.get('content-security-policy')?.startsWith("default-src 'none'"),
      /<script|<link(?! rel="icon" href="data:,")|src=/.test(html),
    ]).toEqual([true, false]);
  } finally {
    await server.stop();
  }
});
