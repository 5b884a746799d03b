// Rights in a real browser: a changed role applies to an assistant's next call without a new sign-in. The pages work by
// keyboard only.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { connect } from '../app/approvals.ts';
import { signedIn } from '../app/shop.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import type { Account } from '../oauth/flow.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

describe.skipIf(!hasChromium)('in a browser', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  let clerk: Account;
  let clerkId: number;
  beforeAll(async () => {
    server = await openConsoleServer({ app: { customize: customizeDemo } });
    await server.store.permissions.setRole('Clerk', {
      '*': all,
      reviews: { ...all, fields: { rating: 'read' }, approval: { delete: 'ask' } },
    });
    clerk = await server.addUser({ email: 'kim@example.com', firstName: 'Kim', role: 'Clerk', team: 'South' });
    clerkId = (await server.userOf(clerk)).id;
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function signIn(options: NonNullable<Parameters<Browser['newContext']>[0]>, page: string): Promise<Page> {
    const tab = await (await browser.newContext(options)).newPage();
    await tab.goto(server.at(page));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.locator('#main').waitFor();
    return tab;
  }

  test('a role is changed without scripts, and the change and its reversal apply to the next call of an assistant', async () => {
    const { token } = await signedIn(server, clerk);
    const assistant = await connect(server, token, '2026-07-28');
    const list = () => assistant.call('list', { collectionName: 'orders', pagination: { size: 1 } });
    const tab = await signIn({ javaScriptEnabled: false }, '/roles');
    const set = async (is: boolean) => {
      await tab.goto(server.at('/roles'));
      await tab.getByRole('link', { name: 'Clerk' }).click();
      await tab.getByLabel('Browse orders').setChecked(is);
      await tab.getByRole('button', { name: 'Review changes' }).click();
      const opens = await tab.getByRole('heading', { name: 'Allows more than before' }).count();
      await tab.getByRole('button', { name: 'Save' }).click();
      await tab.getByText('Saved. It takes effect immediately.').waitFor();
      return opens;
    };
    const before = await list();
    const taken = await set(false);
    const refused = await list();
    const given = await set(true);
    const after = await list();
    await tab.context().close();
    expect([before.startsWith('{'), taken, /orders/.test(refused) && !refused.startsWith('{'), given, after]).toEqual([
      true,
      0,
      true,
      1,
      before,
    ]);
  });

  test('a row scope of a team is tried and saved, with only the keyboard', async () => {
    const tab = await signIn({}, '/teams/South/orders');
    await tab.getByRole('button', { name: 'Advanced: JSON' }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByLabel('Show only records that match').focus();
    await tab.keyboard.type('{"field":"status","operator":"Equal","value":"{{currentUser.tags.status}}"}');
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Tab');
    await tab.keyboard.type('Kim');
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Enter');
    await tab.getByText('Kim would see 0 of').waitFor();
    const isAt = async (text: string) => (await tab.evaluate('document.activeElement.textContent')) === text;
    for (let presses = 0; presses < 80 && !(await isAt('Review changes')); presses++) {
      await tab.keyboard.press('Tab');
    }
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Save these changes?' }).waitFor();
    await tab.getByRole('button', { name: 'Save' }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByText('Saved.').waitFor();
    expect((await server.store.permissions.accessOf(clerkId))!.scope('orders')).toEqual({
      aggregator: 'Or',
      conditions: [],
    });
    await server.store.permissions.setScope('South', 'orders', { field: 'status', operator: 'Equal', value: 'paid' });
    await tab.context().close();
  });
});
