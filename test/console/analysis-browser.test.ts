// An analysis in a real browser without scripts: the form, its call, the answer and its chart, on a desk and on a phone.
import { mkdirSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

/** Pictures for people, if a folder is named. */
const pictures = process.env.CONSOLE_PICTURES;

describe.skipIf(!hasChromium)('an analysis in a browser', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await openConsoleServer({ app: { customize: customizeDemo } });
    browser = await openChromium();
    if (pictures) mkdirSync(pictures, { recursive: true });
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  const open = async (page: string, width: number): Promise<Page> => {
    // The phone has no scripts, the desk has: axe-core needs them.
    const options = { javaScriptEnabled: width > 400, bypassCSP: true, viewport: { width, height: 900 } };
    const tab = await (await browser.newContext(options)).newPage();
    tab.setDefaultTimeout(5000);
    await tab.goto(server.at(page));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByRole('heading', { name: 'Analysis' }).waitFor();
    return tab;
  };
  const take = async (tab: Page, name: string) => {
    const picture = await tab.screenshot({
      fullPage: true,
      ...(pictures && { path: `${pictures}/analysis-${name}.png` }),
    });
    // Without scripts a page cannot report its width, but an overflow would widen the picture.
    expect(picture.readUInt32BE(16)).toBe(tab.viewportSize()!.width);
  };
  const press = (tab: Page, name: string) => tab.getByRole('button', { name, exact: true }).click();
  const add = async (tab: Page, what: string, value: string) => {
    await tab.getByLabel(`New ${what}`, { exact: true }).selectOption(value);
    await press(tab, `Add ${what}`);
  };

  // The desk is for pictures; accessibility.test.ts judges the page on one.
  test.each(pictures ? [1280, 375] : [375])(
    'measures, groups and order become a call, a table and charts at %i px',
    async (width) => {
      const tab = await open('/playground/aggregate/form', width);
      await take(tab, `empty-${width}`);
      await tab.getByLabel('Records of').selectOption('order_items');
      await press(tab, 'Choose');
      await add(tab, 'measure', 'field:sum');
      await tab.getByLabel('Measure 2: field').selectOption('quantity');
      await tab.getByLabel('Measure 2: name').fill('units');
      await add(tab, 'measure', 'ratio');
      await tab.getByLabel('Measure 3: dividend').selectOption({ label: 'units' });
      await tab.getByLabel('Measure 3: divisor').selectOption({ label: 'count' });
      await add(tab, 'group', 'order:status');
      await tab.locator('#measures .more summary').first().click();
      await tab.getByLabel('Measure 1: Add condition: field').selectOption('quantity');
      await press(tab, 'Measure 1: Add condition');
      await tab.getByLabel('Measure 1: quantity: how to compare').selectOption('GreaterThan');
      await tab.getByLabel('Measure 1: quantity: value').fill('1');
      await tab.getByText('Which groups, in which order').click();
      await tab.getByLabel('New condition').selectOption({ label: 'units' });
      await press(tab, 'Add condition');
      await tab.getByLabel('units: value').fill('5');
      await add(tab, 'order', 'm2');
      await press(tab, 'Run');
      await tab.getByText('Answered', { exact: true }).waitFor();
      const call = JSON.parse((await tab.getByRole('region', { name: 'the call', exact: true }).textContent()) ?? '');
      expect(call).toEqual({
        collectionName: 'order_items',
        measures: {
          count: { count: true, where: { field: 'quantity', operator: 'GreaterThan', value: 1 } },
          units: { sum: 'quantity' },
          'units per count': { ratio: ['units', 'count'] },
        },
        groups: ['order:status'],
        having: { measure: 'units', operator: 'GreaterThanOrEqual', value: 5 },
        sort: [{ measure: 'units', ascending: false }],
      });
      const [known] = await server.ask(
        'SELECT o.status AS status, SUM(i.quantity) AS units FROM order_items i JOIN orders o ON o.id = i.order_id GROUP BY o.status ORDER BY 2 DESC LIMIT 1',
      );
      const first = tab.locator('.sheet tbody tr').first();
      expect(await first.locator('td').first().textContent()).toBe(known!.status);
      expect(await first.locator('td').nth(2).textContent()).toBe(String(known!.units));
      expect(await tab.locator('.chart figcaption').allTextContents()).toEqual(['count', 'units', 'units per count']);
      await take(tab, `bars-${width}`);
      if (width > 400) expect(await findFaults(tab, 'analysis')).toEqual([]);
      await press(tab, 'Remove the group order › status');
      await add(tab, 'group', 'order:placed_at');
      await press(tab, 'Run');
      await tab.locator('.chart-line').first().waitFor();
      await take(tab, `lines-${width}`);
      await tab.context().close();
    },
  );
});
