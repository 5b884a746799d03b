import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookDoor, uuid, type WebhookDoor } from '../api/webhook-door.ts';

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
