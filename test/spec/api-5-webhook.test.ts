// Section 5, 7 of the public API: whose rights a webhook's run has.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookDoor, type WebhookDoor } from '../api/webhook-door.ts';

let door: WebhookDoor;
beforeAll(async () => {
  door = await openWebhookDoor();
});
afterAll(() => door?.stop());

test('webhook | the token is both authentication and execution identity; a user not authorized for the organization, rendering or workflow gets 403', async () => {
  const { path } = await door.hook();
  const tokenOf = async (email: string, scopes = ['workflows:trigger']) => (await door.make(scopes, { email })).secret;
  await door.addUser({ email: 'sue@example.com', level: 'admin', team: 'South' });
  await door.addUser({ email: 'uma@example.com', level: 'user', role: 'Administrator' });
  const statuses = [];
  for (const secret of [
    await tokenOf('sue@example.com'),
    await tokenOf('uma@example.com', ['notes:write']),
    await tokenOf('uma@example.com'),
  ]) {
    statuses.push((await door.call(path, { record_id: '7' }, { secret })).status);
  }
  expect(statuses).toEqual([403, 403, 202]);
  const uma = (await door.store.identity.findUserByEmail('uma@example.com'))!;
  const [run] = await door.store.runs.list({ recordId: '7', limit: 5 });
  expect(run?.userId).toBe(uma.id);
});
