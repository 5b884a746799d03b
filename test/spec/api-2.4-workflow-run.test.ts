import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookDoor, runsPath, uuid, type WebhookDoor } from '../api/webhook-door.ts';

let door: WebhookDoor;
beforeAll(async () => {
  door = await openWebhookDoor();
});
afterAll(() => door?.stop());

test('runId | string | identifier of the created run (UUID format)', async () => {
  const { path } = await door.hook();
  const { status, json } = await door.call(path);
  expect([status, Object.keys(json ?? {}), uuid.test(String(json?.runId))]).toEqual([202, ['runId'], true]);
  const run = await door.store.runs.find(String(json?.runId));
  expect([run?.recordId, run?.origin]).toEqual(['1', 'webhook']);
});

test('runId | string | another one for each run; it is the id of the run everywhere', async () => {
  const { id, path } = await door.hook();
  const ids: string[] = [];
  for (const record_id of ['1', '2', '3']) ids.push(String((await door.call(path, { record_id })).json?.runId));
  const { json } = await door.ask(`${runsPath}?workflowId=${id}`, { secret: door.secret });
  const listed = ((json?.data ?? []) as { id: string; recordId: string }[]).map((run) => [run.id, run.recordId]);
  expect(listed.toReversed()).toEqual(ids.map((runId, at) => [runId, `${at + 1}`]));
  const one = await door.ask(`${runsPath}/${ids[1]}`, { secret: door.secret });
  expect([new Set(ids).size, one.json?.id, one.json?.recordId, one.json?.workflowId]).toEqual([3, ids[1], '2', id]);
});
