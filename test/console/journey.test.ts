// From an assistant's call to the row in the database, with a person in between: a real MCP client calls, a person
// decides in a real browser, and the client calls again. The tests check the database itself at each step.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { all, connect, type Desk, kinds, openDesk } from '../app/approvals.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import type { Account } from '../oauth/flow.ts';

const update = { collectionName: 'orders', recordId: 1, attributes: { total: 99 } };
const untouched = ['1 boots 10 1', '2 hats 20 1', '3 socks 30 '];
const updated = ['1 boots 99 1', '2 hats 20 1', '3 socks 30 '];
const kim: Account = { email: 'kim@example.test', password: 'correct horse battery' };

interface Pending {
  readonly status: string;
  readonly approve: string;
}

describe.skipIf(!hasChromium)('an assistant that needs approval', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(() => browser.close());

  const open = () =>
    openDesk({ permissions: { '*': { ...all, approval: { edit: { policy: 'ask-person', secondPerson: true } } } } });
  const ordersOf = async (desk: Desk) => (await desk.state()).orders;

  /** Opens the URL as a user who is not signed in yet. */
  async function follow(address: string, { email, password }: Account) {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(address);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'orders' }).waitFor();
    return { page, close: () => context.close() };
  }

  test.each(kinds)('%s: gets a link, where another user approves, and the write runs once', async (kind) => {
    const desk = await open();
    // The client would accept any elicitation, but gets none.
    const assistant = await connect(desk, desk.token, kind, () => 'accept');
    const pending = JSON.parse(await assistant.call('update', update)) as Pending;

    const withToken = { headers: { authorization: `Bearer ${desk.token}` }, redirect: 'manual' } as const;
    const fetched = await fetch(pending.approve, withToken);
    const posted = await fetch(pending.approve, {
      ...withToken,
      method: 'POST',
      body: new URLSearchParams({ action: 'approve' }),
    });
    const stillPending = JSON.parse(await assistant.call('update', update)) as Pending;

    const own = await follow(pending.approve, kim);
    const ownButtons = await own.page.getByRole('main').getByRole('button').count();
    const ownText = await own.page.getByRole('main').textContent();
    await own.close();
    const before = await ordersOf(desk);

    const other = await follow(pending.approve, desk.account);
    const cells = await other.page.getByRole('row', { name: 'total' }).getByRole('cell').allTextContents();
    await other.page.getByRole('button', { name: 'Approve' }).click();
    await other.page.getByText('Approved by you and completed by the server').waitFor();
    const approved = await ordersOf(desk);

    const answer = JSON.parse(await assistant.call('update', update)) as { readonly count: number };
    const done = await ordersOf(desk);
    await other.close();
    const again = JSON.parse(await assistant.call('update', { ...update, attributes: { total: 7 } })) as Pending;

    expect([
      [pending.status, stillPending.approve === pending.approve, assistant.questions],
      [fetched.status, fetched.headers.get('location')?.startsWith('/console/sign-in'), posted.status],
      [ownButtons, ownText?.includes('Another person must decide')],
      cells,
      [before, approved, answer.count, done],
      [again.status, again.approve === pending.approve, await ordersOf(desk)],
    ]).toEqual([
      ['pending', true, []],
      [303, true, 303],
      [0, true],
      ['10', '99'],
      [untouched, updated, 1, updated],
      ['pending', false, updated],
    ]);
  });

  test('gets NOT_APPROVED after a denial, and nothing is written', async () => {
    const desk = await open();
    const assistant = await connect(desk, desk.token, '2026-07-28');
    const pending = JSON.parse(await assistant.call('update', update)) as Pending;
    const { page, close } = await follow(pending.approve, desk.account);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Denied by you').waitFor();
    await close();
    expect([(await assistant.call('update', update)).slice(0, 12), await ordersOf(desk)]).toEqual([
      'NOT_APPROVED',
      untouched,
    ]);
  });

  test('gets a new request if the record has changed since it asked', async () => {
    const desk = await open();
    const assistant = await connect(desk, desk.token, '2026-07-28');
    const pending = JSON.parse(await assistant.call('update', update)) as Pending;
    await desk.run('UPDATE orders SET total = 11 WHERE id = 1');
    const { page, close } = await follow(pending.approve, desk.account);
    const text = await page.getByRole('main').textContent();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Outdated').waitFor();
    const answer = await assistant.call('update', update);
    await close();
    expect([
      text?.includes('Changed since the request'),
      (JSON.parse(answer) as Pending).status,
      (await ordersOf(desk))[0],
    ]).toEqual([true, 'pending', '1 boots 11 1']);
  });
});
