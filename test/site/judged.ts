// Serves the site, and checks its pages with axe-core. browser.test.ts uses light on a desktop and
// dark on a phone, where a menu shows the navigation; the long test uses the other two combinations.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildSite } from '../../site/site.ts';
import { findFaults } from '../axe.ts';

const html = 'text/html; charset=utf-8';
const types: Readonly<Record<string, string>> = {
  html,
  css: 'text/css',
  js: 'text/javascript',
  png: 'image/png',
  svg: 'image/svg+xml',
};

export interface Served {
  readonly origin: string;
  close(): void;
}

export async function serveSite(): Promise<Served> {
  const site = buildSite({ root: process.cwd(), base: '/' });
  const server = createServer((req, res) => {
    const name = (req.url ?? '/').slice(1).replace(/\?.*/, '') || 'index.html';
    const found = site.files.get(name);
    const type = types[name.split('.').at(-1)!] ?? 'text/plain';
    res.writeHead(found === undefined ? 404 : 200, { 'Content-Type': found === undefined ? html : type });
    res.end(found ?? site.files.get('404.html'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const desk = { width: 1360, height: 900 };
export const phone = { width: 375, height: 812 };
export type Appearance = readonly [colorScheme: 'light' | 'dark', viewport: typeof desk];

export function judgeSite(
  appearances: readonly Appearance[],
  at: () => { readonly browser: Browser; readonly origin: string },
): void {
  test.each(appearances)(
    'in %s, %o, no page has an accessibility fault or is wider than the window',
    async (colorScheme, viewport) => {
      const { browser, origin } = at();
      const tab = await (await browser.newContext({ colorScheme, viewport, bypassCSP: true })).newPage();
      const faults: string[] = [];
      const pages = [
        '',
        'readme.html',
        'customizing.html',
        'actions.html',
        'reference-portico-plugins.html',
        'nowhere',
      ];
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
      // The menu and the results of a search lie above the page.
      expect(faults.filter((fault) => !/^(search|[^:]*#menu): overlap/.test(fault))).toEqual([]);
    },
  );
}
