import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookDoor, type WebhookDoor, workflowsPath } from '../api/webhook-door.ts';

let door: WebhookDoor;
beforeAll(async () => {
  door = await openWebhookDoor();
});
afterAll(() => door?.stop());

test('an editor disables the trigger | from the workflow trigger settings | the URL and token are unchanged; calls return 404', async () => {
  const { id, path } = await door.hook();
  const statuses = [(await door.call(path)).status];
  await door.addUser({ email: 'edna@example.com', level: 'editor', role: 'Administrator' });
  const edna = (await door.make(['all'], { email: 'edna@example.com' })).secret;
  const body = JSON.stringify({ enabled: false });
  const changed = await door.ask(`${workflowsPath}/${id}/trigger`, { secret: edna, method: 'PATCH', body });
  expect([changed.status, changed.json?.enabled]).toEqual([200, false]);
  await door.addUser({ email: 'ulf@example.com', level: 'user', role: 'Administrator' });
  const ulf = (await door.make(['all'], { email: 'ulf@example.com' })).secret;
  const refused = await door.ask(`${workflowsPath}/${id}/trigger`, {
    secret: ulf,
    method: 'PATCH',
    body: JSON.stringify({ enabled: true }),
  });
  expect(refused.status).toBe(403);
  statuses.push((await door.call(path, { record_id: '2' })).status);
  expect(await door.pathOf(id)).toBe(path);
  await door.change(id, { enabled: true });
  statuses.push((await door.call(path, { record_id: '2' })).status);
  expect([statuses, await door.pathOf(id)]).toEqual([[202, 404, 202], path]);
});

test('an editor regenerates the URL | from the workflow trigger settings | the old URL is superseded and returns 400', async () => {
  const { id, path } = await door.hook();
  await door.addUser({ email: 'eric@example.com', level: 'editor', role: 'Administrator' });
  const eric = (await door.make(['all'], { email: 'eric@example.com' })).secret;
  const body = JSON.stringify({ regenerate: true });
  const changed = await door.ask(`${workflowsPath}/${id}/trigger`, { secret: eric, method: 'PATCH', body });
  const next = await door.pathOf(id);
  expect([changed.status, changed.json?.enabled, next === path]).toEqual([200, true, false]);
  const statuses = [(await door.call(path)).status, (await door.call(next)).status];
  await door.change(id, { enabled: false });
  statuses.push((await door.call(path)).status);
  expect(statuses).toEqual([400, 202, 400]);
  // A user who may not edit workflows cannot change the trigger.
  await door.addUser({ email: 'una@example.com', level: 'user', role: 'Administrator' });
  const una = (await door.make(['all'], { email: 'una@example.com' })).secret;
  const refused = await door.ask(`${workflowsPath}/${id}/trigger`, { secret: una, method: 'PATCH', body });
  expect([refused.status, await door.pathOf(id)]).toEqual([403, next]);
});
