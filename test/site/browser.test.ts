// The site in a browser: axe-core finds no fault, in light on a desktop and in dark on a phone. The site
// can be used with the keyboard and without JavaScript, and the policy of its pages allows its own script.
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, openChromium } from '../chromium.ts';
import { desk, judgeSite, phone, type Served, serveSite } from './judged.ts';

let site: Served;
let origin: string;
beforeAll(async () => {
  site = await serveSite();
  ({ origin } = site);
});
afterAll(() => site?.close());

test('a server of static files can serve it', async () => {
  const answer = await fetch(`${origin}/library.html`);
  expect([answer.status, (await answer.text()).includes('<h1 id="portico-in-your-application">')]).toEqual([200, true]);
});

describe.skipIf(!hasChromium)('in a browser', { timeout: 120_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(() => browser?.close());

  /** A tab, and the messages and errors of its pages. */
  const openTab = async (options: BrowserContextOptions = {}) => {
    const tab = await (await browser.newContext(options)).newPage();
    const said: string[] = [];
    tab.on('console', (message) => said.push(message.text()));
    tab.on('pageerror', (error) => said.push(error.message));
    return { tab, said };
  };

  judgeSite(
    [
      ['light', desk],
      ['dark', phone],
    ],
    () => ({ browser, origin }),
  );

  test('the keyboard finds and opens a heading, under the policy of the page', async () => {
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

  test('the first Tab reaches a link that skips the navigation', async () => {
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
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe('npm install portico\nnpx portico\n');
    await tab.context().close();
  });

  test('without scripts, on a phone, the menu opens, navigates and closes, and the search is hidden', async () => {
    const { tab } = await openTab({ viewport: { width: 375, height: 812 }, javaScriptEnabled: false });
    await tab.goto(`${origin}/index.html`);
    expect(await tab.getByRole('searchbox').isHidden()).toBe(true);
    const storage = tab.locator('nav').getByText('Storage', { exact: true });
    await tab.getByRole('link', { name: 'Menu', exact: true }).click();
    await tab.getByRole('link', { name: 'Close', exact: true }).click();
    expect(await storage.isHidden()).toBe(true);
    await tab.getByRole('link', { name: 'Menu', exact: true }).click();
    await storage.click();
    await tab.waitForURL(`${origin}/storage.html`);
    expect(await tab.getByRole('heading', { level: 1 }).textContent()).toBe('Storage');
    await tab.context().close();
  });
});
