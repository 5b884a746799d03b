// The playground in a real browser: without scripts, by keyboard only, and on a phone.
import { mkdirSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

/** Pictures for people, if a folder is named. */
const pictures = process.env.CONSOLE_PICTURES;

describe.skipIf(!hasChromium)('in a browser without scripts', () => {
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

  const open = async (viewport: { width: number; height: number }): Promise<Page> => {
    const tab = await (await browser.newContext({ javaScriptEnabled: false, viewport })).newPage();
    await tab.goto(server.at('/playground'));
    await tab.locator('input[name="email"]:focus').waitFor();
    await tab.keyboard.type(server.account.email);
    await tab.keyboard.press('Tab');
    await tab.keyboard.type(server.account.password);
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Playground' }).waitFor();
    return tab;
  };
  /** Presses Tab until the element has the focus. */
  const reach = async (tab: Page, selector: string) => {
    for (let presses = 0; presses < 60; presses++) {
      await tab.keyboard.press('Tab');
      if ((await tab.locator(`${selector}:focus`).count()) > 0) return;
    }
    throw new Error(`${selector} is not reached by the keyboard`);
  };
  const noteOf = async () => (await server.ask('SELECT note FROM orders WHERE id = 40'))[0]?.note;

  test('a tool is found, tried, and called for real, with only the keyboard', async () => {
    const tab = await open({ width: 1280, height: 900 });
    await reach(tab, 'a[href$="/playground/update"]');
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Update records' }).waitFor();
    for (const [name, text] of [
      ['collectionName', 'orders'],
      ['recordId', '40'],
      ['attributes', '{"note": "By keyboard"}'],
    ]) {
      await reach(tab, `[name="arg.${name}"]`);
      await tab.keyboard.type(text!);
    }
    await reach(tab, '[name="arg.dryRun"]');
    await tab.keyboard.press('Enter');
    await tab.getByText('No data was changed').waitFor();
    expect(await noteOf()).not.toBe('By keyboard');
    await reach(tab, '[name="arg.dryRun"]');
    await tab.keyboard.press('Space');
    await reach(tab, 'button[value="run"]');
    await tab.keyboard.press('Enter');
    await tab.getByText('Run this call?').waitFor();
    expect(await noteOf()).not.toBe('By keyboard');
    await reach(tab, 'button[value="confirm"]');
    await tab.keyboard.press('Enter');
    await tab.getByText('The changes are saved.').waitFor();
    expect(await noteOf()).toBe('By keyboard');
    await tab.context().close();
  });

  test('the form and the JSON keep what was typed exactly, and the page fits a phone', async () => {
    const tab = await open({ width: 360, height: 740 });
    await tab.goto(server.at('/playground/list'));
    await tab.getByLabel('collectionName').fill('orders');
    await tab.locator('summary', { hasText: 'More arguments' }).click();
    const odd = '\n  id\nnote  \n👩‍💻 "<b>&amp;\u202e';
    await tab.getByLabel('fields').fill(odd);
    await tab.getByLabel('filters').fill('{"field": ');
    await tab.getByRole('button', { name: 'Run' }).click();
    await tab.getByText('No call was made').waitFor();
    expect(await tab.getByLabel('fields').inputValue()).toBe(odd);
    expect(await tab.getByLabel('filters').inputValue()).toBe('{"field": ');
    await tab.getByLabel('filters').fill('{"field": "note", "operator": "Equal", "value": "a\u200db"}');
    await tab.getByRole('button', { name: 'Edit as JSON' }).click();
    const json = await tab.getByLabel('Arguments, as JSON').inputValue();
    expect(JSON.parse(json)).toMatchObject({
      fields: ['  id', 'note  ', '👩‍💻 "<b>&amp;\u202e'],
      filters: { value: 'a\u200db' },
    });
    await tab.getByLabel('Arguments, as JSON').fill('{"collectionName": "orders"}');
    await tab.getByRole('button', { name: 'Run' }).click();
    await tab.getByText('Answered', { exact: true }).waitFor();
    for (const summary of await tab.locator('main summary').all()) await summary.click();
    const { width } = await tab
      .locator('main')
      .boundingBox()
      .then((box) => box!);
    expect(width).toBeLessThanOrEqual(360);
    // Without scripts a page cannot report its width, but an overflow would widen the full-page screenshot.
    const wholePage = await tab.screenshot({ fullPage: true });
    expect(wholePage.readUInt32BE(16)).toBe(360);
    await tab.context().close();
  });

  const press = (tab: Page, name: string) => tab.getByRole('button', { name, exact: true }).click();
  const add = async (tab: Page, what: string, value: string) => {
    await tab.getByLabel(`New ${what}`, { exact: true }).selectOption(value);
    await press(tab, `Add ${what}`);
  };
  const take = async (tab: Page, name: string) => {
    const path = pictures && `${pictures}/analysis-${name}-${tab.viewportSize()!.width}.png`;
    const picture = await tab.screenshot({ fullPage: true, ...(path && { path }) });
    expect(picture.readUInt32BE(16)).toBe(tab.viewportSize()!.width);
  };

  // The desk is for pictures.
  test.each(pictures ? [1280, 375] : [375])(
    'an analysis becomes a call, a table and charts at %i px',
    async (width) => {
      const tab = await open({ width, height: 900 });
      tab.setDefaultTimeout(10_000);
      await tab.getByRole('link', { name: 'Count and sum records' }).click();
      await tab.getByRole('link', { name: 'Build a call' }).click();
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
      // Enter runs the call, whatever button is first.
      await tab.getByLabel('units: value').press('Enter');
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
      await take(tab, 'bars');
      await press(tab, 'Remove the group order › status');
      await add(tab, 'group', 'order:placed_at');
      await press(tab, 'Run');
      await tab.locator('.chart-line').first().waitFor();
      await take(tab, 'lines');
      await tab.context().close();
    },
  );
});
