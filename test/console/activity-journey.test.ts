// From an assistant's call to its entry in the log, in a browser, on a phone, and with a real MCP client.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedIn } from '../app/shop.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { connectClient } from '../mcp/client.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

describe.skipIf(!hasChromium)('in a browser without scripts', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  let tab: Page;
  beforeAll(async () => {
    server = await openConsoleServer();
    const { token } = await signedIn(server);
    const client = await connectClient('client 2.x, pinned to 2026-07-28', server.mcpUrl, token);
    await client.callTool({ name: 'list', arguments: { collectionName: 'customers' } });
    await client.callTool({
      name: 'update',
      arguments: { collectionName: 'orders', recordIds: ['17', '18'], attributes: { note: 'By phone' } },
    });
    await client.callTool({ name: 'list', arguments: { collectionName: 'nowhere' } });
    await client.close();
    browser = await openChromium();
    const viewport = { width: 375, height: 812 };
    tab = await (await browser.newContext({ javaScriptEnabled: false, viewport })).newPage();
    await tab.goto(server.at(''));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByRole('heading', { name: 'Latest calls' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
  });

  const main = () => tab.getByRole('main');
  const factsOf = async () => {
    const [names, texts] = await Promise.all([
      main().locator('dt').allTextContents(),
      main().locator('dd').allTextContents(),
    ]);
    return Object.fromEntries(names.map((name, at) => [name, texts[at]]));
  };

  test('the entry of a call is found by a filter, and opens', async () => {
    await main().getByRole('link', { name: 'All activity' }).click();
    await tab.getByRole('heading', { name: 'Activity' }).waitFor();
    const all = await main().getByRole('row').count();
    const filters = tab.locator('.filter-box > summary');
    if (await filters.isVisible()) await filters.click();
    await tab.getByLabel('Record').fill('18');
    await tab.getByLabel('Type').selectOption('write');
    await tab.getByRole('button', { name: 'Find' }).click();
    const address = new URL(tab.url()).searchParams;
    const found = await main().locator('tbody tr').allTextContents();
    await main().locator('tbody a').click();
    await tab.getByRole('heading', { name: 'Changed records' }).waitFor();
    const told = await factsOf();
    const text = `${await main().textContent()}`;

    expect([all > 3, address.get('record'), address.get('type')]).toEqual([true, '18', 'write']);
    expect(found.map((row) => row.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/ada@example\.com.*Notebook.*Changed records.*orders \(2 records\).*completed/),
    ]);
    expect(told).toMatchObject({
      Collection: 'orders',
      Records: 'ORD-10017 (17), ORD-10018 (18)',
      Outcome: 'completed',
      Team: 'Operations',
    });
    expect(told.Person).toContain('ada@example.com');
    // The log does not store the values of a write.
    expect(text).not.toContain('By phone');
  });

  test('the start page links to the entry of each recent call', async () => {
    await tab.goto(server.at(''));
    await main().getByRole('link', { name: 'Listed records in customers' }).click();
    await tab.getByRole('heading', { name: 'Listed records' }).waitFor();
    expect(await factsOf()).toMatchObject({ Collection: 'customers', Type: 'read', Outcome: 'completed' });
  });

  test('an answer of the playground links to its entry', async () => {
    await tab.goto(server.at(''));
    await main().getByRole('link', { name: 'Try a tool yourself' }).click();
    await tab.getByRole('heading', { name: 'Playground' }).waitFor();
    await tab.goto(server.at('/playground/list?arg.collectionName=orders'));
    await tab.getByRole('button', { name: 'Run' }).click();
    await tab.getByText('In the activity log').click();
    const link = tab.locator('#answer').getByRole('link', { name: /^\d+$/ });
    const id = await link.textContent();
    await link.click();
    await tab.getByRole('heading', { name: 'Listed records' }).waitFor();
    expect([new URL(tab.url()).pathname, (await factsOf()).App]).toEqual([
      `/console/activity/${id}`,
      expect.stringContaining('Playground'),
    ]);
  });
});
