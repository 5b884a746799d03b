import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookClient, uuid, type WebhookClient } from '../api/webhook-client.ts';

let client: WebhookClient;
beforeAll(async () => {
  client = await openWebhookClient();
});
afterAll(() => client?.stop());

test('runId | string | identifier of the created run (UUID format)', async () => {
  const { path } = await client.hook();
  const { status, json } = await client.call(path);
  expect([status, Object.keys(json ?? {}), uuid.test(String(json?.runId))]).toEqual([202, ['runId'], true]);
  const run = await client.store.runs.find(String(json?.runId));
  expect([run?.recordId, run?.origin]).toEqual(['1', 'webhook']);
});
