// The site in a browser: axe-core finds no fault, in light and dark, on a desk and on a phone; it is read and walked by
// keyboard and without scripts; and the policy of its pages lets its own script work.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSite, type Site } from '../../site/site.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';

const html = 'text/html; charset=utf-8';
const types: Readonly<Record<string, string>> = {
  html,
  css: 'text/css',
  js: 'text/javascript',
  png: 'image/png',
  svg: 'image/svg+xml',
};

let site: Site;
let server: Server;
let origin: string;
beforeAll(async () => {
  site = buildSite({ root: process.cwd(), base: '/' });
  server = createServer((req, res) => {
    const name = (req.url ?? '/').slice(1).replace(/\?.*/, '') || 'index.html';
    const found = site.files.get(name);
    const type = types[name.split('.').at(-1)!] ?? 'text/plain';
    res.writeHead(found === undefined ? 404 : 200, { 'Content-Type': found === undefined ? html : type });
    res.end(found ?? site.files.get('404.html'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a server of static files is all that it needs', async () => {
  const answer = await fetch(`${origin}/library.html`);
  expect([answer.status, (await answer.text()).includes('<h1 id="portico-in-your-application">')]).toEqual([200, true]);
});

describe.skipIf(!hasChromium)('in a browser', { timeout: 120_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(() => browser?.close());

  /** A tab, and what its pages complained of. */
  const openTab = async (options: BrowserContextOptions = {}) => {
    const tab = await (await browser.newContext(options)).newPage();
    const said: string[] = [];
    tab.on('console', (message) => said.push(message.text()));
    tab.on('pageerror', (error) => said.push(error.message));
    return { tab, said };
  };

  test.each([
    ['light', { width: 1360, height: 900 }],
    ['dark', { width: 1360, height: 900 }],
    ['light', { width: 375, height: 812 }],
    ['dark', { width: 375, height: 812 }],
  ] as const)('in %s, %o, no page has a fault or is wider than the window', async (colorScheme, viewport) => {
    const { tab } = await openTab({ colorScheme, viewport, bypassCSP: true });
    const faults: string[] = [];
    const pages = ['', 'readme.html', 'customizing.html', 'actions.html', 'reference-portico-plugins.html', 'nowhere'];
    for (const name of [...pages, 'errors.html', 'reference-tools.html', 'library.html#menu']) {
      await tab.goto(`${origin}/${name}`);
      faults.push(...(await findFaults(tab, name)));
      const width = (await tab.evaluate('document.documentElement.scrollWidth')) as number;
      if (width > viewport.width) faults.push(`${name} is ${width} wide`);
    }
    await tab.goto(`${origin}/index.html`);
    await tab.getByRole('searchbox').fill('permissions');
    await tab.locator('.found a').first().waitFor();
    faults.push(...(await findFaults(tab, 'search')));
    await tab.context().close();
    expect(faults).toEqual([]);
  });

  test('a heading is found and opened by keyboard, under the policy of the page', async () => {
    const { tab, said } = await openTab();
    await tab.goto(`${origin}/index.html`);
    await tab.keyboard.press('/');
    await tab.keyboard.type('schema fi');
    await tab.locator('.found a').first().waitFor();
    await tab.keyboard.press('ArrowDown');
    await tab.keyboard.press('Enter');
    await tab.waitForURL(`${origin}/library.html#schema-file`);
    await tab.keyboard.press('/');
    await tab.keyboard.type('no such words');
    await tab.getByText('No heading has these words.').waitFor();
    await tab.keyboard.press('Escape');
    expect(await tab.locator('.found').isHidden()).toBe(true);
    await tab.context().close();
    expect(said).toEqual([]);
  });

  test('the first key leads past the navigation to the text', async () => {
    const { tab } = await openTab();
    await tab.goto(`${origin}/library.html`);
    await tab.keyboard.press('Tab');
    expect(await tab.evaluate('document.activeElement.textContent')).toBe('Skip to the text');
    await tab.keyboard.press('Enter');
    expect(new URL(tab.url()).hash).toBe('#content');
    await tab.context().close();
  });

  test('a block of code is copied as it is written', async () => {
    const { tab } = await openTab({ permissions: ['clipboard-read', 'clipboard-write'] });
    await tab.goto(`${origin}/index.html`);
    await tab.locator('.code').first().hover();
    await tab.getByRole('button', { name: 'Copy' }).first().click();
    await tab.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe('npm ci\nnpm start\n');
    await tab.context().close();
  });

  test('without scripts, on a phone, the menu opens, leads on and closes, and no search is there to do nothing', async () => {
    const { tab } = await openTab({ viewport: { width: 375, height: 812 }, javaScriptEnabled: false });
    await tab.goto(`${origin}/index.html`);
    expect(await tab.getByRole('searchbox').isHidden()).toBe(true);
    await tab.getByRole('link', { name: 'Menu', exact: true }).click();
    await tab.getByRole('link', { name: 'Close', exact: true }).click();
    expect(await tab.getByRole('link', { name: 'Storage', exact: true }).isHidden()).toBe(true);
    await tab.getByRole('link', { name: 'Menu', exact: true }).click();
    await tab.getByRole('link', { name: 'Storage', exact: true }).click();
    await tab.waitForURL(`${origin}/storage.html`);
    expect(await tab.getByRole('heading', { level: 1 }).textContent()).toBe('Storage');
    await tab.context().close();
  });
});
