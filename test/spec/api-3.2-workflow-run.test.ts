import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { openWebhookClient, runsPath, type WebhookClient, waiting } from '../api/webhook-client.ts';

let client: WebhookClient;
beforeAll(async () => {
  client = await openWebhookClient();
});
afterAll(() => client?.stop());

const stateOf = async (runId: unknown) =>
  (await client.ask(`${runsPath}/${runId}`, { secret: client.secret })).json?.state as string | undefined;

test('queued | a run is created and queued by the webhook call; processed afterwards by an executor', async () => {
  const { path } = await client.hook();
  const { status, json } = await client.call(path);
  expect(status).toBe(202);
  // The run reaches the input step after the response was sent.
  await vi.waitFor(async () => expect(await stateOf(json?.runId)).toBe('awaiting-input'), { timeout: 20_000 });
});

test('queued | while no process executes runs, the run stays queued, and blocks another on the record', async () => {
  const idle = await openWebhookClient({ env: { SERVICE_WORKFLOWS: 'false' } });
  onTestFinished(() => idle.stop());
  const { path } = await idle.hook();
  const { status, json } = await idle.call(path);
  const read = async (query: string) => (await idle.ask(`${runsPath}${query}`, { secret: idle.secret })).json;
  const listed = async (state: string) =>
    ((await read(`?state=${state}`))?.data as { id: string }[] | undefined)?.map(({ id }) => id);
  const answers = [(await read(`/${json?.runId}`))?.state, await listed('queued'), await listed('running')];
  expect([status, ...answers, (await idle.call(path)).status]).toEqual([202, 'queued', [json?.runId], [], 409]);
});

test('active run: only one of a given workflow can be on a given record', async () => {
  const [one, other] = [await client.hook(), await client.hook()];
  const statuses = [];
  for (const [path, record_id] of [
    [one.path, '1'],
    [one.path, '1'],
    [one.path, '2'],
    [other.path, '1'],
  ] as const) {
    statuses.push((await client.call(path, { record_id })).status);
  }
  expect(statuses).toEqual([202, 409, 202, 202]);
});

test('active run: for every caller, token and version of the workflow, and the exact record id', async () => {
  const { id, path } = await client.hook();
  await client.addUser({ email: 'uma@example.com', level: 'user', role: 'Administrator' });
  const { secret } = await client.make(['workflows:trigger'], { email: 'uma@example.com' });
  const { secret: other } = await client.make(['all']);
  const statuses = [(await client.call(path)).status, (await client.call(path, undefined, { secret })).status];
  statuses.push((await client.call(path, undefined, { secret: other })).status);
  const known = (await client.store.workflows.find(id))!;
  const again = { ...known, concurrency: null, definition: JSON.stringify({ name: known.name, ...waiting }) };
  await client.store.workflows.publish({ ...again, by: 1, of: { id, since: 1 } });
  statuses.push((await client.call(path)).status, (await client.call(path, { record_id: '01' })).status);
  expect(statuses).toEqual([202, 409, 409, 409, 202]);
});

test('fresh run: when that run finishes, a new call on the same record starts one', async () => {
  const { path } = await client.hook();
  const { json } = await client.call(path);
  expect((await client.call(path)).status).toBe(409);
  const cancelled = await client.ask(`${runsPath}/${json?.runId}/cancel`, { secret: client.secret, method: 'POST' });
  expect(cancelled.status).toBe(200);
  await vi.waitFor(async () => expect(await stateOf(json?.runId)).toBe('cancelled'), { timeout: 20_000 });
  const next = await client.call(path);
  expect([next.status, next.json?.runId === json?.runId]).toEqual([202, false]);
});

test('active run, fresh run | however it was started, in each state but the last; another spelling of the id is another record', async () => {
  const { id, path } = await client.hook();
  const { secret } = await client.make(['mcp:read', 'mcp:action']);
  const triggered = async (recordId: string) => {
    const call = { name: 'triggerWorkflow', arguments: { workflowId: id, recordId } };
    const { text } = await client.ask('/mcp', {
      ...{
        secret,
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
      },
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    });
    return /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0];
  };
  const first = await triggered('A1');
  const blocked = [(await client.call(path, { record_id: 'A1' })).status];
  for (const record_id of ['a1', 'A1 ', 'A', 'A11', ' A1'])
    blocked.push((await client.call(path, { record_id })).status);
  expect([blocked, (await client.store.runs.find(first!))?.origin]).toEqual([[409, 202, 202, 202, 202, 202], 'mcp']);
  const { json } = await client.call(path, { record_id: 'B1' });
  expect(await triggered('B1')).toBe(json?.runId);
  await vi.waitFor(async () => expect(await stateOf(first)).toBe('awaiting-input'), { timeout: 20_000 });
  expect((await client.call(path, { record_id: 'A1' })).status).toBe(409);
  await client.ask(`${runsPath}/${first}/cancel`, { secret: client.secret, method: 'POST' });
  await vi.waitFor(async () => expect(await stateOf(first)).toBe('cancelled'), { timeout: 20_000 });
  const again = await triggered('A1');
  expect([
    again === first,
    (await stateOf(again)) !== undefined,
    (await client.call(path, { record_id: 'A1' })).status,
  ]).toEqual([false, true, 409]);
});

test('fresh run: after a failed and a succeeded run, any number of times', async () => {
  const reading = { collection: 'orders', steps: [{ id: 'read', type: 'read-record', fields: ['id'] }] };
  const { path } = await client.hook(reading);
  const ids = new Set();
  for (const record_id of ['1', '999999'])
    for (let time = 0; time < 2; time++) {
      const { status, json } = await client.call(path, { record_id });
      ids.add(json?.runId);
      expect(status).toBe(202);
      const end = record_id === '1' ? 'succeeded' : 'failed';
      await vi.waitFor(async () => expect(await stateOf(json?.runId)).toBe(end), { timeout: 20_000 });
    }
  expect(ids.size).toBe(4);
});

test('fresh run: after a run that is cancelled while a step of it is executed', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const customize = (agent: HeadlessAgent) => {
    const execute = () => released;
    agent.customizeCollection('orders', (orders) =>
      orders.addAction('slow', { scope: 'Single', execute: execute as never }),
    );
  };
  const slow = await openWebhookClient({ app: { customize } });
  onTestFinished(() => slow.stop());
  const { path } = await slow.hook({
    collection: 'orders',
    steps: [
      { id: 'slow', type: 'trigger-action', action: 'slow', mode: 'automatic', next: 'look' },
      { id: 'look', type: 'guidance', text: 'Look at it.' },
    ],
  });
  const state = async (id: unknown) => (await slow.ask(`${runsPath}/${id}`, { secret: slow.secret })).json?.state;
  const { json } = await slow.call(path);
  await vi.waitFor(async () => expect(await state(json?.runId)).toBe('running'), { timeout: 20_000 });
  await slow.ask(`${runsPath}/${json?.runId}/cancel`, { secret: slow.secret, method: 'POST' });
  const during = (await slow.call(path)).status;
  release();
  await vi.waitFor(async () => expect(await state(json?.runId)).toBe('cancelled'), { timeout: 20_000 });
  expect([during, (await slow.call(path)).status]).toEqual([409, 202]);
});
