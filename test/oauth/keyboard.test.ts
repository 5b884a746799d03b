// The pages in a real browser, by keyboard only and without our script. A client listens on a local port.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { hasChromium, openChromium } from '../chromium.ts';
import { authorizationUrl, register } from './client.ts';
import { startServer } from './oauth-server.ts';

test.skipIf(!hasChromium)('a user signs in, unchecks a scope and allows, with only the keyboard', async () => {
  const server = await startServer();
  const answers: URL[] = [];
  const client = createServer((req, res) => {
    answers.push(new URL(req.url ?? '/', 'http://localhost'));
    res.end('done');
  });
  await new Promise<void>((resolve) => client.listen(0, '127.0.0.1', resolve));
  const redirectUri = `http://localhost:${(client.address() as AddressInfo).port}/callback`;
  const browser = await openChromium();
  try {
    const registered = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => /policy|script/i.test(message.text()) && complaints.push(message.text()));
    await page.goto((await authorizationUrl(registered, { redirectUri, scope: 'mcp:read mcp:write' })).url.href);

    await page.locator('input[name="email"]:focus').waitFor();
    await page.keyboard.type(server.account.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type('not this one');
    await page.keyboard.press('Enter');
    await page.getByText('Wrong e-mail or password.').waitFor();
    // Once the page is ready, the e-mail is still there and the password has the focus.
    await page.locator('input[name="password"]:focus').waitFor();
    await page.keyboard.type(server.account.password);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Allow an app on this device to connect?' }).waitFor();
    await page.waitForLoadState('load');
    const order: (string | null)[] = [];
    for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Tab']) {
      await page.keyboard.press(key);
      order.push(await page.locator(':focus').getAttribute('value'));
    }
    for (const key of [...Array(4).fill('Shift+Tab'), 'Space', 'Tab', 'Tab', 'Tab', 'Enter'])
      await page.keyboard.press(key);
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    const events = server.observed.flatMap((one) => (one.type === 'security' ? [[one.event, one.detail]] : []));
    expect([order, answers[0]?.searchParams.has('code'), events.at(-1), complaints]).toEqual([
      ['mcp:write', null, 'deny', 'allow', 'switch'],
      true,
      ['consent.allowed', 'mcp:read'],
      [],
    ]);
  } finally {
    await browser.close();
    client.closeAllConnections();
    await new Promise((resolve) => client.close(resolve));
    await server.stop();
  }
});

test.skipIf(!hasChromium)('a user limits an app to some of many collections, with only the keyboard', async () => {
  const server = await startServer({ listCollections: () => Array.from({ length: 300 }, (_, n) => `table_${n}`) });
  const redirectUri = 'https://notebook.example/callback';
  const browser = await openChromium();
  try {
    const registered = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 320, height: 700 } });
    const page = await context.newPage();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.goto((await authorizationUrl(registered, { redirectUri, scope: 'mcp:read mcp:write' })).url.href);
    await page.locator('input[name="email"]:focus').waitFor();
    await page.keyboard.type(server.account.email);
    await press('Tab');
    await page.keyboard.type(server.account.password);
    await press('Enter');
    await page.getByRole('heading', { name: 'Allow notebook.example to connect?' }).waitFor();
    await page.waitForLoadState('load');
    const shown = () => page.locator('input[name="collection"]:visible').count();
    const before = await shown();
    // Tab order: the scope's checkbox, the restrictions, read-only, all or some collections, the search field.
    await press('Tab', 'Tab', 'Enter', 'Tab', 'Space', 'Tab', 'ArrowDown', 'Tab');
    const all = await shown();
    await page.keyboard.type('_29');
    await press('Enter');
    await page.getByText('11 with “_29” in the name.').waitFor();
    const found = await shown();
    await page.getByLabel('table_299', { exact: true }).focus();
    await press('Space', 'Tab');
    await page.keyboard.type('A d');
    // Tab order: the scope, Cancel, Allow.
    await press('Tab', 'Tab', 'Enter');
    const told = () =>
      server.observed.flatMap((one) => (one.type === 'security' ? [[one.event, one.detail]] : [])).at(-1);
    await expect.poll(told).toEqual(['consent.allowed', 'mcp:read; read-only, 1 collection, for a day']);
    expect([before, all, found]).toEqual([0, 300, 11]);
  } finally {
    await browser.close();
    await server.stop();
  }
});
