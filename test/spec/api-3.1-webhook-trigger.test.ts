import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookClient, type WebhookClient, workflowsPath } from '../api/webhook-client.ts';

let client: WebhookClient;
beforeAll(async () => {
  client = await openWebhookClient();
});
afterAll(() => client?.stop());

test('an editor disables the trigger | from the workflow trigger settings | the URL and token are unchanged; calls return 404', async () => {
  const { id, path } = await client.hook();
  const statuses = [(await client.call(path)).status];
  await client.addUser({ email: 'edna@example.com', level: 'editor', role: 'Administrator' });
  const edna = (await client.make(['all'], { email: 'edna@example.com' })).secret;
  const body = JSON.stringify({ enabled: false });
  const changed = await client.ask(`${workflowsPath}/${id}/trigger`, { secret: edna, method: 'PATCH', body });
  expect([changed.status, changed.json?.enabled]).toEqual([200, false]);
  await client.addUser({ email: 'ulf@example.com', level: 'user', role: 'Administrator' });
  const ulf = (await client.make(['all'], { email: 'ulf@example.com' })).secret;
  const refused = await client.ask(`${workflowsPath}/${id}/trigger`, {
    secret: ulf,
    method: 'PATCH',
    body: JSON.stringify({ enabled: true }),
  });
  expect(refused.status).toBe(403);
  statuses.push((await client.call(path, { record_id: '2' })).status);
  expect(await client.pathOf(id)).toBe(path);
  await client.change(id, { enabled: true });
  statuses.push((await client.call(path, { record_id: '2' })).status);
  expect([statuses, await client.pathOf(id)]).toEqual([[202, 404, 202], path]);
});

test('an editor regenerates the URL | from the workflow trigger settings | the old URL is superseded and returns 400', async () => {
  const { id, path } = await client.hook();
  await client.addUser({ email: 'eric@example.com', level: 'editor', role: 'Administrator' });
  const eric = (await client.make(['all'], { email: 'eric@example.com' })).secret;
  const body = JSON.stringify({ regenerate: true });
  const changed = await client.ask(`${workflowsPath}/${id}/trigger`, { secret: eric, method: 'PATCH', body });
  const next = await client.pathOf(id);
  expect([changed.status, changed.json?.enabled, next === path]).toEqual([200, true, false]);
  const statuses = [(await client.call(path)).status, (await client.call(next)).status];
  await client.change(id, { enabled: false });
  statuses.push((await client.call(path)).status);
  expect(statuses).toEqual([400, 202, 400]);
  // A user who may not edit workflows cannot change the trigger.
  await client.addUser({ email: 'una@example.com', level: 'user', role: 'Administrator' });
  const una = (await client.make(['all'], { email: 'una@example.com' })).secret;
  const refused = await client.ask(`${workflowsPath}/${id}/trigger`, { secret: una, method: 'PATCH', body });
  expect([refused.status, await client.pathOf(id)]).toEqual([403, next]);
});
