// The inbox: what waits for a user, its count in the navigation, several decisions at once, and notifications.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import type { Approval } from '../../src/store/approvals/types.ts';
import { signedIn } from '../app/shop.ts';
import { connectClient } from '../mcp/client.ts';
import type { Account, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const received: { readonly headers: Record<string, string>; readonly body: string }[] = [];
const receiver = createServer((req, res) => {
  let body = '';
  req.on('data', (chunk) => (body += chunk));
  req.on('end', () => {
    received.push({ headers: req.headers as Record<string, string>, body });
    res.writeHead(204).end();
  });
});

let server: ConsoleTestServer;
let reader: Account;
let otherTeam: Account;
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  server = await openConsoleServer({
    app: { customize: customizeDemo },
    env: {
      SERVICE_NOTIFY_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/waiting`,
      SERVICE_NOTIFY_SECRET: secret,
      SERVICE_WEBHOOK_HOSTS: '127.0.0.1',
    },
  });
  const looks = { browse: true, read: true, edit: false, add: false, delete: false, export: false };
  await server.store.permissions.setRole('Reader', { '*': looks });
  reader = await server.addUser({ email: 'reader@example.com', role: 'Reader', team: 'Operations' });
  otherTeam = await server.addUser({ email: 'else@example.com', team: 'Elsewhere', role: 'Reader' });
});
afterAll(async () => {
  await server?.stop();
  receiver.closeAllConnections();
  receiver.close();
});
beforeEach(async () => {
  for (const { id } of await server.store.approvals.list('pending', 100))
    await server.store.approvals.decide(id, { by: server.ada.id, verdict: 'denied' });
  for (const run of await server.store.runs.list({ state: 'awaiting-input', limit: 100 }))
    await server.store.runs.cancel(run.id, server.ada.id);
  received.length = 0;
});

const change = (recordId: string, note: string, more = {}) =>
  server.file({
    collection: 'orders',
    recordIds: [recordId],
    given: { collectionName: 'orders', recordId, attributes: { note } },
    ...more,
  });
const tallyOf = (page: Page): string => /data-tally="(\d+)"/.exec(page.html)?.[1] ?? '';
const stateOf = async ({ id }: Approval) => (await server.store.approvals.find(id))?.state;
const startRun = async (): Promise<string> => {
  const workflow = (await server.store.workflows.list({})).find(({ name }) => name === 'Take back an order')!;
  for (let order = 1; order < 100; order += 1) {
    const wish = {
      workflow,
      recordId: `${order}`,
      userId: server.ada.id,
      origin: 'console',
      originName: 'Console',
    } as const;
    const made = await server.store.runs.create(wish);
    if (made.state !== 'created') continue;
    await expect.poll(async () => (await server.store.runs.find(made.runId))?.state).not.toMatch(/queued|running/);
    if ((await server.store.runs.find(made.runId))?.state === 'awaiting-input') return made.runId;
  }
  throw new Error('no run waits');
};

test('several approvals are decided together, and the others stay pending', async () => {
  const [first, second, third] = [await change('31', 'one'), await change('32', 'two'), await change('33', 'three')];
  const { browser, page } = await server.browse(server.account, '/inbox');
  const result = await browser.press(page, 'approve', { approval: [first.id, third.id] });
  const denied = await browser.press(result, 'deny', { approval: [second.id] });
  expect([tallyOf(page), tallyOf(result), tallyOf(denied)]).toEqual(['3', '1', '0']);
  expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual([
    'approved',
    'denied',
    'approved',
  ]);
  expect(read(result)).toMatch(/Approved Change ORD-10031 of orders Approved Change ORD-10033 of orders/);
  expect(read(denied)).toContain('Denied Change ORD-10032 of orders');
});

test('an approval that the page did not show, or showed with other values, is not decided', async () => {
  const shown = await change('34', 'shown');
  const { browser, page } = await server.browse(server.account, '/inbox');
  const later = await change('35', 'later');
  await server.ask("UPDATE orders SET note = 'meanwhile' WHERE id = 34 RETURNING id");
  const result = await browser.press(page, 'approve', { approval: [shown.id, later.id] });
  expect([await stateOf(shown), await stateOf(later)]).toEqual(['pending', 'pending']);
  expect(read(result).match(/This request changed after you opened the page/g)).toHaveLength(2);
});

test('users can decide here only what they can decide on the page of the approval', async () => {
  const approval = await change('36', 'not for readers');
  const own = await change('37', 'second person', { policy: { policy: 'ask-person', secondPerson: true } });
  const { browser, page } = await server.browse(reader, '/inbox');
  expect([tallyOf(page), read(page)]).toEqual(['0', expect.stringContaining('Nothing is waiting for you')]);
  const forged = await server.browse(server.account, '/inbox');
  const seen = /name="seen\.[^"]+" value="([^"]+)"/.exec(forged.page.html)![1]!;
  const post = (by: typeof browser, from: Page, id: string) =>
    by.open(server.at('/inbox'), {
      method: 'POST',
      body: new URLSearchParams({ csrf: csrfOf(from), action: 'approve', approval: id, [`seen.${id}`]: seen }),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
  await post(browser, page, approval.id);
  await post(forged.browser, forged.page, own.id);
  expect([await stateOf(approval), await stateOf(own)]).toEqual(['pending', 'pending']);
  // From another site, or without a token of the session, the form is rejected.
  const body = new URLSearchParams({ action: 'approve', approval: approval.id, [`seen.${approval.id}`]: seen });
  const without = await forged.browser.open(server.at('/inbox'), {
    method: 'POST',
    body,
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  body.set('csrf', csrfOf(forged.page));
  const crossSite = await forged.browser.open(server.at('/inbox'), {
    method: 'POST',
    body,
    headers: { 'sec-fetch-site': 'cross-site' },
  });
  expect([without.status, crossSite.status, await stateOf(approval)]).toEqual([403, 403, 'pending']);
});

test('a form without a selection says what to do', async () => {
  await change('38', 'none');
  const { browser, page } = await server.browse(server.account, '/inbox');
  expect(read(await browser.press(page, 'approve'))).toContain('Select at least one request.');
});

test('inputs that runs wait for are counted only for users who can see them', async () => {
  const runId = await startRun();
  const ada = await server.browse(server.account, '/inbox');
  const somebody = await server.browse(reader, '/inbox');
  const outsider = await server.browse(otherTeam, '/inbox');
  expect([ada, somebody, outsider].map(({ page }) => tallyOf(page))).toEqual(['1', '0', '0']);
  expect(ada.page.html).toContain(`/runs/${runId}`);
  expect(read((await server.browse(server.account)).page)).toMatch(/Take back an order: ORD-\d+ of orders/);
  const count = await ada.browser.open(server.at('/inbox/count'));
  expect([count.status, tallyOf(count), read(count)]).toEqual([200, '1', '1 waiting']);
});

test('administrators see the pending invitations', async () => {
  await server.store.identity.addUser({
    email: 'new@example.com',
    firstName: 'Nell',
    lastName: 'New',
    team: 'Operations',
    role: 'Reader',
    level: 'user',
  });
  expect(read((await server.browse(server.account, '/inbox')).page)).toContain('Invitations not accepted Nell New');
  expect(read((await server.browse(reader, '/inbox')).page)).not.toContain('Nell');
});

test('a settled request stays in the history of the users who made or decided it', async () => {
  const approval = await change('39', 'kept');
  const { browser, page } = await server.browse(server.account, `/approvals/${approval.id}`);
  await browser.press(page, 'deny');
  expect(read(await browser.open(server.at('/approvals')))).toContain('Change ORD-10039 of orders Denied Notebook');
  expect(read((await server.browse(reader, '/approvals')).page)).toContain('No request was settled');
});

test('an input request and a new approval are posted once each, signed and without values', async () => {
  const runId = await startRun();
  const { token } = await signedIn(server, server.account, 'mcp:read mcp:write');
  await server.store.permissions.setRole('Administrator', {
    '*': {
      browse: true,
      read: true,
      edit: true,
      add: true,
      delete: true,
      export: true,
      approval: { edit: 'ask-person' },
    },
  });
  const client = await connectClient('sdk 1.x', server.mcpUrl, token);
  const call = {
    name: 'update',
    arguments: { collectionName: 'orders', recordId: '40', attributes: { note: 'private words' } },
  };
  await client.callTool(call);
  await client.callTool(call);
  await client.close();
  await expect.poll(() => received.length).toBe(2);
  const bodies = received.map(({ headers, body }) => new Webhook(secret).verify(body, headers)) as {
    readonly type: string;
    readonly data: { readonly url: string; readonly userId: number };
  }[];
  const [approval] = await server.store.approvals.list('pending', 10);
  expect(bodies.map(({ type, data }) => [type, data.url, data.userId])).toEqual([
    ['question.waiting', server.at(`/runs/${runId}`), server.ada.id],
    ['approval.waiting', server.at(`/approvals/${approval!.id}`), server.ada.id],
  ]);
  expect(JSON.stringify(received)).not.toContain('private words');
});
