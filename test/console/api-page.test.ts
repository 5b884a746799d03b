// The page about the public API: every signed-in user sees it, it is built from the OpenAPI document, and its sample
// calls work.
import { execFileSync } from 'node:child_process';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiDocument } from '../../src/api/openapi/document.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
beforeAll(async () => {
  server = await openConsoleServer();
  await server.addUser({ email: 'edda@example.com', level: 'user' });
});
afterAll(() => server?.stop());

test('a user sees every operation, its parameters, its responses, and the URL of the document', async () => {
  const { page } = await server.browse({ email: 'edda@example.com', password: 'correct horse battery' }, '/api');
  const document = (await (await fetch(`${server.address}/v1/openapi.json`)).json()) as ApiDocument;
  const text = read(page);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const missing = operations.filter(
    ({ method, path, operation: { summary, operationId, parameters = [] } }) =>
      !text.includes(`${method} ${path}`) ||
      !text.includes(summary.replaceAll("'", '&#39;')) ||
      !page.html.includes(`id="${operationId}"`) ||
      parameters.some(({ name }) => !page.html.includes(`<code>${name}</code>`)),
  );
  expect(missing).toEqual([]);
  expect(page.html).toContain(`href="${server.address}/v1/openapi.json"`);
  expect(page.html).not.toContain('undefined');
});

test('other visitors are redirected to the sign-in page', async () => {
  const answer = await fetch(server.at('/api'), { redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining('/sign-in')]);
});

test('an example call runs unchanged in a shell', async () => {
  const { page } = await server.browse(server.account, '/api');
  const shown = [...page.html.matchAll(/<code>(curl [^<]*)<\/code>/g)].map(([, text = '']) =>
    text
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>'),
  );
  const { secret } = await server.store.tokens.create({ userId: server.ada.id, name: 'curl', scopes: ['all'] });
  const call = shown.find((text) => text.includes('/v1/token'))!;
  // The shell parses the command with a stub that prints the arguments, since not every machine has curl.
  const words = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${call}`], {
    encoding: 'utf8',
    env: { PORTICO_TOKEN: secret },
  });
  const [address, , authorization] = words.split('\n');
  const response = await fetch(address!, { headers: { Authorization: authorization!.replace('Authorization: ', '') } });
  expect([response.status, ((await response.json()) as { readonly name: string }).name]).toEqual([200, 'curl']);
});

describe.skipIf(!hasChromium)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(() => browser?.close());

  test.each([
    ['light', 1280],
    ['dark', 375],
  ] as const)(
    '%s, %i wide: axe-core finds no fault, and nothing is wider than the screen',
    async (colorScheme, width) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 812 }, bypassCSP: true });
      const tab = await context.newPage();
      await tab.goto(server.at('/api'));
      await tab.getByLabel('E-mail').fill(server.account.email);
      await tab.getByLabel('Password').fill(server.account.password);
      await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
      await tab.getByRole('heading', { name: 'The public API' }).waitFor();
      await tab.evaluate('for (const one of document.querySelectorAll("details.more")) one.open = true');
      if (process.env.SCREENSHOTS)
        await tab.screenshot({ path: `${process.env.SCREENSHOTS}/api-${width}.png`, fullPage: false });
      expect(await findFaults(tab, 'the page')).toEqual([]);
      expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await context.close();
    },
  );
});
