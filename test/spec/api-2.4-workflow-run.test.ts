import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookClient, runsPath, uuid, type WebhookClient } from '../api/webhook-client.ts';

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

test('runId | string | unique for each run; it is the id of the run everywhere', async () => {
  const { id, path } = await client.hook();
  const ids: string[] = [];
  for (const record_id of ['1', '2', '3']) ids.push(String((await client.call(path, { record_id })).json?.runId));
  const { json } = await client.ask(`${runsPath}?workflowId=${id}`, { secret: client.secret });
  const listed = ((json?.data ?? []) as { id: string; recordId: string }[]).map((run) => [run.id, run.recordId]);
  expect(listed.toReversed()).toEqual(ids.map((runId, at) => [runId, `${at + 1}`]));
  const one = await client.ask(`${runsPath}/${ids[1]}`, { secret: client.secret });
  expect([new Set(ids).size, one.json?.id, one.json?.recordId, one.json?.workflowId]).toEqual([3, ids[1], '2', id]);
});
