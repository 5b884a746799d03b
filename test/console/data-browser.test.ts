// Records in a real browser without scripts: a person finds a record, changes it, and sees who changed it. They type no
// id and see no JSON. An administrator sets a row scope in the same way.
import { mkdirSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

/** Pictures for people, if a folder is named. */
const pictures = process.env.CONSOLE_PICTURES;

describe.skipIf(!hasChromium)('records in a browser', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await openConsoleServer({ app: { customize: customizeDemo } });
    await server.addUser({
      email: 'kim@example.com',
      role: 'Administrator',
      firstName: 'Kim',
      team: 'South',
      tags: { country: 'NO' },
    });
    browser = await openChromium();
    if (pictures) mkdirSync(pictures, { recursive: true });
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  const open = async (page: string, options: NonNullable<Parameters<Browser['newContext']>[0]> = {}): Promise<Page> => {
    const tab = await (await browser.newContext(options)).newPage();
    await tab.goto(server.at(page));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.locator('#main').waitFor();
    return tab;
  };
  const take = async (tab: Page, name: string) => {
    if (pictures) await tab.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
  };

  test.each([
    ['desk', { width: 1366, height: 768 }],
    ['phone', { width: 390, height: 844 }],
  ] as const)('from the list to a saved change, on a %s', async (device, viewport) => {
    const note = `Ring twice, ${device}`;
    const tab = await open('/data', { javaScriptEnabled: false, viewport });
    await take(tab, `collections-${device}`);
    await tab
      .getByRole('main')
      .getByRole('link', { name: /^orders/ })
      .click();
    await tab.getByRole('heading', { name: 'orders' }).waitFor();
    await tab.getByText('Filter', { exact: true }).click();
    await tab.getByLabel('Add condition: field').selectOption('status');
    await tab.getByRole('button', { name: 'Add condition', exact: true }).click();
    await tab.getByLabel('status: how to compare').selectOption({ label: 'is' });
    await tab.getByLabel('status: value').fill('delivered');
    await tab.getByLabel('Add condition: field').selectOption('customer:country');
    await tab.getByRole('button', { name: 'Add condition', exact: true }).click();
    await tab.getByLabel('customer › country: how to compare').selectOption('Equal');
    await tab.getByLabel('customer › country: value').fill('NO');
    await tab.getByRole('button', { name: 'Apply filter' }).click();
    await tab.getByText('status is delivered and customer › country is NO').waitFor();
    await take(tab, `list-${device}`);
    const [known] = await server.ask(
      "SELECT o.number FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'delivered' AND c.country = 'NO' ORDER BY o.id LIMIT 1",
    );
    const first = tab.locator('.records tbody th a').first();
    expect(await first.textContent()).toBe(known!.number);
    await first.click();
    await tab.getByRole('heading', { name: String(known!.number) }).waitFor();
    await take(tab, `record-${device}`);
    await tab.getByRole('link', { name: 'Edit', exact: true }).click();
    await tab.getByLabel('note', { exact: true }).fill(note);
    await take(tab, `edit-${device}`);
    await tab.getByRole('button', { name: 'Preview' }).click();
    await tab.getByRole('heading', { name: `Save these changes to ${known!.number}?` }).waitFor();
    await take(tab, `preview-${device}`);
    const noteOf = async () => (await server.ask(`SELECT note FROM orders WHERE number = '${known!.number}'`))[0]?.note;
    expect(await noteOf()).not.toBe(note);
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.getByText('Saved.', { exact: true }).waitFor();
    expect(await noteOf()).toBe(note);
    const changes = tab.getByRole('region', { name: 'Changes of this record' });
    expect(await changes.textContent()).toMatch(/Ada Byron.*Console.*update.*completed/s);
    await tab.context().close();
  });

  test('a row scope is set, tried and saved without JSON', async () => {
    const tab = await open('/teams/South/orders', { javaScriptEnabled: false, viewport: { width: 1366, height: 768 } });
    await tab.getByLabel('Add condition: field').selectOption('customer:country');
    await tab.getByRole('button', { name: 'Add condition', exact: true }).click();
    await tab.getByLabel('customer › country: how to compare').selectOption('Equal');
    await tab.getByLabel('customer › country: compare with').selectOption({ label: 'their tag country' });
    const people = tab.getByLabel('Count visible records for');
    const kimValue = await people.locator('option', { hasText: /kim/i }).first().getAttribute('value');
    await people.selectOption(kimValue);
    await tab.getByRole('button', { name: 'Count', exact: true }).click();
    const [counted] = await server.ask(
      "SELECT count(*) AS all_orders, sum(c.country = 'NO') AS seen FROM orders o JOIN customers c ON c.id = o.customer_id",
    );
    const figures = new Intl.NumberFormat('en');
    const [seen, all] = [figures.format(Number(counted!.seen)), figures.format(Number(counted!.all_orders))];
    await tab.getByText(`would see ${seen} of ${all} orders`).waitFor();
    await take(tab, 'scope');
    await tab.getByRole('button', { name: 'Review changes' }).click();
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.getByText('Saved.').waitFor();
    const kim = (await server.store.identity.findUserByEmail('kim@example.com'))!;
    expect((await server.store.permissions.accessOf(kim.id))!.scope('orders')).toEqual({
      field: 'customer:country',
      operator: 'Equal',
      value: 'NO',
    });
    await server.store.permissions.setScope('South', 'orders', null);
    await tab.context().close();
  });

  test.each([
    ['desk', { width: 1366, height: 768 }],
    ['phone', { width: 390, height: 844 }],
  ] as const)('several records get a value, by the keyboard and without scripts, on a %s', async (device, viewport) => {
    const note = `Together, ${device}`;
    const tab = await open('/data/orders', { javaScriptEnabled: false, viewport });
    const boxes = tab.locator('.records tbody input[type=checkbox]');
    const ids = [];
    for (const at of [0, 2]) {
      await boxes.nth(at).focus();
      await tab.keyboard.press('Space');
      ids.push(await boxes.nth(at).inputValue());
    }
    await take(tab, `selected-${device}`);
    await tab.getByLabel('Field to change').selectOption('note');
    await tab.getByRole('button', { name: 'Change', exact: true }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Change note of 2 records' }).waitFor();
    await tab.getByLabel('note', { exact: true }).fill(note);
    await take(tab, `value-of-several-${device}`);
    await tab.getByRole('button', { name: 'Preview' }).click();
    await tab.getByText('2 records change.').waitFor();
    await take(tab, `preview-of-several-${device}`);
    await tab.getByRole('button', { name: 'Change 2 records' }).click();
    await tab.getByText('2 records changed.').waitFor();
    await take(tab, `changed-several-${device}`);
    const changed = await server.ask(`SELECT id FROM orders WHERE note = '${note}' ORDER BY id`);
    expect(changed.map(({ id }) => `${id}`)).toEqual(ids);
    await tab.context().close();
  });

  test('one box selects all records of the page, where scripts run', async () => {
    const tab = await open('/data/orders');
    await tab.getByLabel('Select all on this page').check();
    expect(await tab.locator('.records tbody input[type=checkbox]:checked').count()).toBe(25);
    await tab.locator('.records tbody input[type=checkbox]').first().uncheck();
    expect(await tab.getByLabel('Select all on this page').isChecked()).toBe(false);
    await tab.getByRole('button', { name: 'Delete', exact: true }).click();
    await tab.getByRole('heading', { name: 'Delete 24 records of orders?' }).waitFor();
    await take(tab, 'delete-several');
    await tab.getByRole('button', { name: 'Back', exact: true }).click();
    await tab.getByRole('heading', { name: 'orders', exact: true }).waitFor();
    await tab.context().close();
  });

  test.each([
    ['light', { width: 1366, height: 768 }],
    ['dark', { width: 390, height: 844 }],
  ] as const)(
    'the pages have no accessibility fault in %s',
    async (colorScheme, viewport) => {
      const tab = await open('/data', { colorScheme, viewport, bypassCSP: true });
      const filter =
        '{"aggregator":"Or","conditions":[{"field":"status","operator":"In","value":["paid","pending"]},{"some":"order_items","where":{"field":"quantity","operator":"GreaterThan","value":2}}]}';
      const found: string[] = [];
      for (const page of [
        '/data',
        '/data?chart=none',
        '/data/customers',
        `/data/orders?${new URLSearchParams({ filter })}`,
        `/data/orders?${new URLSearchParams({ filter, mode: 'json' })}`,
        '/data/orders/17',
        '/data/orders/17/edit',
        '/create/orders',
        '/data/products/3',
        '/teams/South/orders',
        '/act/orders/Refund?record=17',
      ]) {
        await tab.goto(server.at(page));
        await tab.evaluate('document.querySelectorAll("main details").forEach((each) => { each.open = true; })');
        const name = page.replace(/\?.*/, '').replaceAll('/', '-').slice(1);
        await take(tab, `${name}-${colorScheme}`);
        found.push(...(await findFaults(tab, page)));
        const width = (await tab.evaluate('document.documentElement.scrollWidth')) as number;
        if (width > viewport.width) found.push(`${page}: ${width} pixels wide`);
      }
      expect(found).toEqual([]);
      await tab.context().close();
    },
    240_000,
  );
});
