import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openWebhookDoor, runsPath, type WebhookDoor } from '../api/webhook-door.ts';

let door: WebhookDoor;
beforeAll(async () => {
  door = await openWebhookDoor();
});
afterAll(() => door?.stop());

const stateOf = async (runId: unknown) =>
  (await door.ask(`${runsPath}/${runId}`, { secret: door.secret })).json?.state as string | undefined;

test('queued | a run is created and queued by the webhook call; processed afterwards by an executor', async () => {
  const { path } = await door.hook();
  const { status, json } = await door.call(path);
  expect(status).toBe(202);
  // The step waits for a person: the run got there after the answer.
  await vi.waitFor(async () => expect(await stateOf(json?.runId)).toBe('awaiting-input'), { timeout: 20_000 });
});

test('active run: only one of a given workflow can be on a given record', async () => {
  const [one, other] = [await door.hook(), await door.hook()];
  const statuses = [];
  for (const [path, record_id] of [
    [one.path, '1'],
    [one.path, '1'],
    [one.path, '2'],
    [other.path, '1'],
  ] as const) {
    statuses.push((await door.call(path, { record_id })).status);
  }
  expect(statuses).toEqual([202, 409, 202, 202]);
});

test('fresh run: when that run finishes, a new call on the same record starts one', async () => {
  const { path } = await door.hook();
  const { json } = await door.call(path);
  expect((await door.call(path)).status).toBe(409);
  const cancelled = await door.ask(`${runsPath}/${json?.runId}/cancel`, { secret: door.secret, method: 'POST' });
  expect(cancelled.status).toBe(200);
  await vi.waitFor(async () => expect(await stateOf(json?.runId)).toBe('cancelled'), { timeout: 20_000 });
  const next = await door.call(path);
  expect([next.status, next.json?.runId === json?.runId]).toEqual([202, false]);
});
