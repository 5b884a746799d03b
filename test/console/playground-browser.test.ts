// The playground in a real browser: without scripts, by keyboard only, and on a phone.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

describe.skipIf(!hasChromium)('in a browser without scripts', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await openConsoleServer({ app: { customize: customizeDemo } });
    browser = await openChromium();
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

  test('a tool is found, tried, and called for real with the keyboard alone', async () => {
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

  test('what was typed comes back to the letter, in the form and as JSON, and the page fits a phone', async () => {
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
});
