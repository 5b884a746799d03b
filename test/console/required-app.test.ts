// The sign-in of the console with SERVICE_SECOND_FACTOR=required.
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBrowser, type Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

let server: ConsoleTestServer;
beforeAll(async () => {
  server = await openConsoleServer({ env: { SERVICE_SECOND_FACTOR: 'required' } });
});
afterAll(() => server.stop());

const heading = (page: Page): string => /<h1[^>]*>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';

test('the password leads to the setup of an app and no session, and a code to the requested page', async () => {
  const ada = await server.addUser({ email: 'required@example.com', firstName: 'Ada', level: 'editor' });
  const browser = createBrowser();
  const asked = await browser.open(server.at('/account'));
  const page = await browser.press(asked, 'sign-in', { ...ada });
  const without = await browser.open(server.at('/account'));
  const secret = /name="secret" value="([^"]+)"/.exec(page.html)![1]!;
  const codes = await browser.press(page, 'set-up', { code: new TOTP({ secret }).generate() });
  const account = await browser.open(server.at('/account'));
  expect([heading(page), heading(without)]).toEqual(['Set up an authenticator app', 'Sign in']);
  expect([heading(codes), /class="button primary slim" href="([^"]+)"/.exec(codes.html)?.[1]]).toEqual([
    'Your recovery codes',
    new URL(server.at('/account')).pathname,
  ]);
  expect([account.html.includes('value="codes"'), account.html.includes('value="totp-off"')]).toEqual([true, false]);

  // The form of the time before the setting.
  const form = account.html.replace('value="codes"', 'value="totp-off"');
  await browser.press({ ...account, html: form }, 'totp-off', { password: ada.password });
  const { id } = await server.userOf(ada);
  expect(await server.store.secondFactors.of(id)).toBeDefined();
});
