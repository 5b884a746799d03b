// An approval keeps the context of its call: the collections that the URL excludes, and the uploaded files.
import { expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { createBrowser } from '../oauth/flow.ts';
import { type Assistant, all, connect, type Desk, kinds, openDesk } from './approvals.ts';

const kim = { email: 'kim@example.test', password: 'correct horse battery' };
const asks = { '*': { ...all, approval: { add: 'ask-person', edit: 'ask-person', delete: 'ask-person' } } } as const;

const actions = (agent: HeadlessAgent): void => {
  agent.customizeCollection('orders', (orders) =>
    orders
      .allowNestedWrites('customer')
      .addAction('Rename', {
        scope: 'Single',
        approval: 'ask-person',
        async execute({ collection, filter }, result) {
          await collection.update(filter, { 'customer:name': 'Mallory' });
          return result.success('Renamed.');
        },
      })
      .addAction('Attach', {
        scope: 'Global',
        approval: 'ask-person',
        form: [{ label: 'bill', type: 'File', isRequired: true }],
        execute: ({ formValues }, result) =>
          result.success((formValues.bill as { readonly content: Buffer }).content.toString()),
      }),
  );
};

async function approve(pending: string): Promise<void> {
  const browser = createBrowser();
  const page = await browser.open((JSON.parse(pending) as { approve: string }).approve);
  await browser.press(await browser.press(page, 'sign-in', { ...kim }), 'approve');
}

const at = (desk: Desk, query: string) => connect({ mcpUrl: desk.mcpUrl + query }, desk.token, '2026-07-28');

test.each(['server', 'assistant'])('an approved call keeps the limits of its URL (executed by the %s)', async (by) => {
  const desk = await openDesk({
    permissions: asks,
    customize: actions,
    env: { SERVICE_APPROVAL_EXECUTION: by },
  });
  const [narrowed, whole] = [await at(desk, '?collections=orders'), await at(desk, '')];
  const call = { collectionName: 'orders', actionName: 'Rename', recordIds: [1] };
  await approve(await narrowed.call('executeAction', call));
  // A URL that excludes other collections makes this a different call.
  expect(await whole.call('executeAction', call)).toContain('"status":"pending"');
  const answer = await narrowed.call('executeAction', call);
  expect(answer).toContain('Renamed.');
  expect(answer).not.toContain('customers');
  expect((await desk.state()).customers).toEqual(['1 Mallory', '2 Bo']);
});

test('only the URL that requested an approved update gets its result', async () => {
  const desk = await openDesk({ permissions: asks });
  const narrowed = await at(desk, '?collections=orders');
  const call = { collectionName: 'orders', recordId: 1, attributes: { total: 99 } };
  await approve(await narrowed.call('update', call));
  expect((await desk.state()).orders[0]).toBe('1 boots 99 1');
  expect(JSON.parse(await narrowed.call('update', call))).toMatchObject({ count: 1 });
  expect(await (await at(desk, '')).call('update', call)).toContain('"status":"pending"');
});

/** Returns the file handle. */
async function upload(assistant: Assistant): Promise<string> {
  const asked = await assistant.call('requestActionFileUpload', { filename: 'a.txt', mimeType: 'text/plain' });
  const { uploadUrl, fileHandle } = JSON.parse(asked) as { readonly uploadUrl: string; readonly fileHandle: string };
  await fetch(uploadUrl, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'the bill' });
  return fileHandle;
}

const call = (bill: string) => ({ collectionName: 'orders', actionName: 'Attach', values: { bill } });

test('uploads of a pending call do not expire', async () => {
  let now = systemClock.now();
  const clock: Clock = { ...systemClock, now: () => now };
  const desk = await openDesk({ permissions: asks, customize: actions, clock });
  const assistant = await at(desk, '');
  const [waiting, other] = [await upload(assistant), await upload(assistant)];
  const pending = await assistant.call('executeAction', call(waiting));
  // An upload expires after 15 minutes, an approval request after an hour.
  now += 55 * 60_000;
  const late = await connect(desk, await desk.tokenOf(desk.userId, 'late'), '2026-07-28');
  expect(await late.call('executeAction', call(other))).toMatch(/^INVALID_ARGUMENT/);
  await approve(pending);
  expect(await assistant.call('executeAction', call(waiting))).toContain('the bill');
});

test.each(kinds)('a declined or cancelled call deletes its uploads (%s)', async (kind) => {
  const form = [{ label: 'bill', type: 'File', isRequired: true }] as const;
  const add = (agent: HeadlessAgent) =>
    agent.customizeCollection('orders', (orders) =>
      orders.addAction('Attach', { scope: 'Global', approval: 'ask', form: [...form], execute: () => undefined }),
    );
  const desk = await openDesk({ permissions: { '*': all }, customize: add });
  const answers = ['decline', 'cancel'] as const;
  const left: number[] = [];
  for (const answer of answers) {
    const assistant = await connect(desk, desk.token, kind, () => answer);
    const bill = await upload(assistant);
    left.push(await desk.store.files.countOf(desk.userId));
    expect(await assistant.call('executeAction', call(bill))).toMatch(/^NOT_APPROVED/);
    left.push(await desk.store.files.countOf(desk.userId));
  }
  expect(left).toEqual([1, 0, 1, 0]);
});
