// An administrator explains the data to assistants, in a browser on a laptop and on a phone.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedIn } from '../app/shop.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { connectClient } from '../mcp/client.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

describe.skipIf(!hasChromium).each([
  { width: 1366, height: 768 },
  { width: 390, height: 844 },
])('in a browser, $width wide', (viewport) => {
  let server: ConsoleTestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await openConsoleServer();
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  const heading = (tab: Page, name: string) => tab.getByRole('heading', { name, exact: true, level: 1 }).waitFor();

  test('a collection, a field, a metric, a segment and the introduction', { timeout: 120_000 }, async () => {
    const { token } = await signedIn(server);
    const client = await connectClient('sdk 1.x', server.mcpUrl, token);
    const call = async (name: string, args: Record<string, unknown>) =>
      JSON.parse((await client.callTool({ name, arguments: args })).content[0]!.text);
    const tab = await (await browser.newContext({ viewport, bypassCSP: true })).newPage();
    const faults: string[] = [];
    const judge = async (name: string) => faults.push(...(await findFaults(tab, name)));
    const save = () => tab.getByRole('button', { name: 'Save', exact: true }).click();

    await tab.goto(server.at('/data/orders'));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByText('What the fields mean').click();
    await tab.getByRole('link', { name: 'Edit the meanings' }).click();
    await heading(tab, 'orders');
    await tab.getByLabel('Description').fill('Sold to customers in the shop');
    await tab.getByLabel('Other words for it').fill('sales');
    await save();
    await tab.getByText('Saved. Assistants use it from their next call.').waitFor();
    await judge('collection');

    await tab.getByRole('link', { name: 'status', exact: true }).click();
    await heading(tab, 'status');
    await tab.getByLabel('Description').fill('d'.repeat(600));
    await tab.getByLabel('Meaning of the values').fill('paid = The money has arrived');
    await save();
    await tab.getByText('At most 500 characters. This text has 600.').waitFor();
    await judge('field with a mistake');
    await tab.getByLabel('Description').fill('How far the order is');
    await save();
    await tab.getByText('Saved. Assistants use it from their next call.').waitFor();
    expect((await call('describeCollection', { collectionName: 'orders' })).descriptions.status).toBe(
      'How far the order is; paid: The money has arrived',
    );

    await tab.getByRole('link', { name: 'New metric' }).click();
    await heading(tab, 'New metric');
    await tab.getByLabel('Name').fill('revenue');
    await tab.getByLabel('Description').fill('Of orders that are paid, with tax');
    await tab.getByLabel('Figure', { exact: true }).selectOption({ label: 'Sum of a field' });
    await tab.getByLabel('Figure: field').selectOption('total');
    await tab.getByLabel('Add condition: field').first().selectOption('status');
    await tab.getByRole('button', { name: 'Add condition', exact: true }).click();
    await tab.getByLabel('status: how to compare').selectOption('Equal');
    await tab.getByLabel('status: value').fill('paid');
    await judge('metric');
    expect(await tab.getByLabel('Description').inputValue()).toBe('Of orders that are paid, with tax');
    await save();
    await tab.getByRole('link', { name: 'revenue' }).waitFor();
    const [paid] = await server.ask("SELECT sum(total) AS total FROM orders WHERE status = 'paid'");
    const measures = { revenue: { metric: 'revenue' } };
    const { rows } = await call('aggregate', { collectionName: 'orders', measures });
    expect(rows[0][0]).toBeCloseTo(Number(paid!.total), 2);

    await tab.getByRole('link', { name: 'New segment' }).click();
    await heading(tab, 'New segment');
    await tab.getByLabel('Name').fill('paid orders');
    await tab.getByLabel('Add condition: field').first().selectOption('status');
    await tab.getByRole('button', { name: 'Add condition', exact: true }).click();
    await tab.getByLabel('status: how to compare').selectOption('Equal');
    await tab.getByLabel('status: value').fill('paid');
    await tab.getByRole('button', { name: 'Count records' }).click();
    await tab.getByText(/^\d+ of the [\d,]+ orders that you see match$/).waitFor();
    await judge('segment');
    await save();
    await tab.getByRole('link', { name: 'paid orders' }).click();
    await tab.getByRole('link', { name: 'View its records' }).click();
    await heading(tab, 'orders');
    expect(await tab.getByLabel('Segment').inputValue()).toBe('paid orders');
    await judge('records of a segment');

    await tab.goto(server.at('/meanings'));
    await heading(tab, 'Meanings');
    await tab.getByLabel('Introduction').fill('A shop for outdoor equipment.');
    await save();
    await tab.getByText('Saved. Clients read it when they connect.').waitFor();
    await judge('introduction');
    await client.close();
    expect(faults).toEqual([]);
    expect(await tab.getByText('Sold to customers in the shop').count()).toBe(1);
  });
});
