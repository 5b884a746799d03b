// The console in a real browser: by keyboard only, without scripts, and at the width of a phone.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { connectAll } from './connected.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

const cancel = {
  collection: 'orders',
  recordIds: ['17'],
  given: { collectionName: 'orders', recordId: '17', attributes: { status: 'cancelled', note: 'Asked by phone' } },
};

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

  const open = async (page: string, options: Parameters<Browser['newContext']>[0] = {}) => {
    const context = await browser.newContext({ javaScriptEnabled: false, ...options });
    const tab = await context.newPage();
    const complaints: string[] = [];
    tab.on('console', (message) => /policy|script|refused/i.test(message.text()) && complaints.push(message.text()));
    await tab.goto(server.at(page));
    return { tab, complaints, close: () => context.close() };
  };
  const signIn = async (tab: Page) => {
    await tab.locator('input[name="email"]:focus').waitFor();
    await tab.keyboard.type(server.account.email);
    await tab.keyboard.press('Tab');
    await tab.keyboard.type(server.account.password);
    await tab.keyboard.press('Enter');
  };
  /** Enter follows the skip link; the next Tab starts from its target. */
  const press = async (tab: Page, key: string) => {
    await tab.keyboard.press(key);
    if (key === 'Enter') await tab.waitForURL(/#/);
  };
  const stateOf = async (id: string) => (await server.store.approvals.find(id))?.state;

  test('a user follows a link from a chat, signs in, and approves, with only the keyboard', async () => {
    const { id } = await server.file(cancel);
    const { tab, complaints, close } = await open(`/approvals/${id}`);
    await signIn(tab);
    await tab.getByRole('heading', { name: 'Change ORD-10017 of orders?' }).waitFor();
    const order: string[] = [];
    for (const key of ['Tab', 'Enter', 'Tab', 'Tab', 'Tab']) {
      await press(tab, key);
      if (key === 'Tab') order.push((await tab.locator(':focus').textContent())?.trim() ?? '');
    }
    await tab.keyboard.press('Enter');
    await tab.getByText('Approved by you').waitFor();
    // Going back and pressing again changes nothing.
    await tab.goBack();
    await tab.getByRole('heading').first().waitFor();
    expect([order, await stateOf(id), tab.url().split('#')[0], complaints]).toEqual([
      ['Skip to the page', 'ORD-10017', 'Deny', 'Approve'],
      'approved',
      server.at(`/approvals/${id}`),
      [],
    ]);
    await close();
  });

  test('a user denies from the list, and signs out', async () => {
    const { id } = await server.file({ ...cancel, recordIds: ['18'], given: { ...cancel.given, recordId: '18' } });
    const { tab, complaints, close } = await open('');
    await signIn(tab);
    await tab.getByRole('link', { name: 'Change ORD-10018 of orders' }).click();
    await tab.getByRole('button', { name: 'Deny' }).click();
    await tab.getByText('Denied by you').waitFor();
    await tab.getByRole('link', { name: 'Start' }).click();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
    await tab.goto(server.at('/approvals'));
    expect([await stateOf(id), tab.url(), complaints]).toEqual(['denied', server.at('/sign-in?to=%2Fapprovals'), []]);
    await close();
  });

  test('a user views the connected apps and disconnects one, with only the keyboard', async () => {
    await connectAll(server);
    const { tab, complaints, close } = await open('/apps');
    await signIn(tab);
    await tab.getByRole('heading', { name: 'Connected apps' }).waitFor();
    const before = await tab.getByRole('button', { name: /^Disconnect/ }).count();
    for (const key of ['Tab', 'Enter', 'Tab']) await press(tab, key);
    const focused = await tab.locator(':focus').getAttribute('aria-label');
    await tab.keyboard.press('Enter');
    await tab.getByRole('status').getByText('Disconnected.').waitFor();
    expect([focused, before - (await tab.getByRole('button', { name: /^Disconnect/ }).count()), complaints]).toEqual([
      // The newest is first; the order within one second is arbitrary.
      expect.stringMatching(/^Disconnect (an app on this device \((Cursor|Claude)\)|claude\.ai \(Claude\))$/),
      1,
      [],
    ]);
    await close();
  });

  test('a link from another site keeps the session, and a form from another site decides nothing', async () => {
    const { createServer } = await import('node:http');
    const { id } = await server.file({ ...cancel, recordIds: ['19'], given: { ...cancel.given, recordId: '19' } });
    const target = server.at(`/approvals/${id}`);
    const chat = createServer((_req, res) =>
      res
        .setHeader('Content-Type', 'text/html')
        .end(
          `<a href="${target}">decide</a><form method="post" action="${target}"><button name="action" value="approve">win</button></form><iframe src="${target}"></iframe>`,
        ),
    );
    await new Promise<void>((resolve) => chat.listen(0, '127.0.0.1', resolve));
    // A cross-site origin that browsers resolve to the local machine.
    const origin = `http://chat.localhost:${(chat.address() as { port: number }).port}`;
    try {
      const { tab, close } = await open('/approvals');
      await signIn(tab);
      await tab.getByRole('heading', { name: 'Approvals' }).waitFor();
      await tab.goto(origin);
      const framed = await Promise.all(tab.frames().map((frame) => frame.getByText('Change ORD-10019').count()));
      await tab.getByRole('link', { name: 'decide' }).click();
      await tab.getByRole('heading', { name: 'Change ORD-10019 of orders?' }).waitFor();
      await tab.goto(origin);
      // A cross-site POST has no cookie (SameSite=Lax), so it leads to the sign-in and then to the page, like a plain
      // link.
      await tab.getByRole('button', { name: 'win' }).click();
      await tab.waitForURL(/\/console\//);
      expect([
        framed.some((count) => count > 0),
        await stateOf(id),
        await tab.getByRole('heading').first().textContent(),
      ]).toEqual([false, 'pending', 'Change ORD-10019 of orders?']);
      await close();
    } finally {
      chat.closeAllConnections();
      chat.close();
    }
  });

  test.each([320, 375, 1280])('nothing is wider than the window at %i pixels', async (width) => {
    const { id } = await server.file({
      ...cancel,
      given: { ...cancel.given, attributes: { note: 'unbreakable'.repeat(60) } },
    });
    const { tab, close } = await open(`/approvals/${id}`, {
      viewport: { width, height: 700 },
      javaScriptEnabled: true,
    });
    await signIn(tab);
    await tab.getByRole('button', { name: 'Approve' }).waitFor();
    const wide: string[] = [];
    for (const page of [`/approvals/${id}`, '', '/approvals', '/approvals/unknown', '/apps', '/apps/everyone']) {
      await tab.goto(server.at(page));
      if (((await tab.evaluate('document.documentElement.scrollWidth')) as number) > width) wide.push(page);
    }
    expect(wide).toEqual([]);
    await close();
  });
});
