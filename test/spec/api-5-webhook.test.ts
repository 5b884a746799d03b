// Sections 5 and 7 of the public API: the rights that a run started by a webhook has.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openWebhookClient, type WebhookClient } from '../api/webhook-client.ts';

let client: WebhookClient;
beforeAll(async () => {
  client = await openWebhookClient();
});
afterAll(() => client?.stop());

test('webhook | the token is both authentication and execution identity; a user not authorized for the organization, rendering or workflow gets 403', async () => {
  const { path } = await client.hook();
  const tokenOf = async (email: string, scopes = ['workflows:trigger']) =>
    (await client.make(scopes, { email })).secret;
  await client.addUser({ email: 'sue@example.com', level: 'admin', team: 'South' });
  await client.addUser({ email: 'uma@example.com', level: 'user', role: 'Administrator' });
  const statuses = [];
  for (const secret of [
    await tokenOf('sue@example.com'),
    await tokenOf('uma@example.com', ['notes:write']),
    await tokenOf('uma@example.com'),
    await tokenOf('uma@example.com', ['all', 'notes:read']),
  ]) {
    statuses.push(
      (await client.call(path, { record_id: `${7 + Math.max(statuses.length - 2, 0)}` }, { secret })).status,
    );
  }
  expect(statuses).toEqual([403, 403, 202, 202]);
  const uma = (await client.store.identity.findUserByEmail('uma@example.com'))!;
  const [run] = await client.store.runs.list({ recordId: '7', limit: 5 });
  expect(run?.userId).toBe(uma.id);
});

test("webhook | a run sees only what the token's user may see: collections, rows, and current rights of the role", async () => {
  const reading = { collection: 'orders', steps: [{ id: 'read', type: 'read-record', fields: ['id'] }] };
  const { path } = await client.hook(reading);
  await client.addUser({ email: 'vic@example.com', level: 'user', role: 'Narrow' });
  const { secret } = await client.make(['workflows:trigger'], { email: 'vic@example.com' });
  const may = (browse: boolean) => ({ browse, read: true, edit: false, add: false, delete: false, export: false });
  const run = async (record_id: string) => {
    const { status, json } = await client.call(path, { record_id }, { secret });
    if (status !== 202) return status;
    return vi.waitFor(
      async () => {
        const found = await client.store.runs.find(String(json?.runId));
        expect(['succeeded', 'failed']).toContain(found?.state);
        return found?.state;
      },
      { timeout: 20_000 },
    );
  };
  await client.store.permissions.setRole('Narrow', { orders: may(true) });
  const seen = [await run('1')];
  await client.store.permissions.setRole('Narrow', { orders: may(false) });
  seen.push(await run('2'));
  await client.store.permissions.setRole('Narrow', { orders: may(true) });
  await client.store.permissions.setScope('Operations', 'orders', { field: 'id', operator: 'Equal', value: 3 });
  seen.push(await run('3'), await run('4'));
  await client.store.permissions.setScope('Operations', 'orders', null);
  expect(seen).toEqual(['succeeded', 403, 'succeeded', 'failed']);
});

test('webhook, all | the scope among others, no scope of /mcp, each level; the current team', async () => {
  const { path } = await client.hook();
  await client.addUser({ email: 'wes@example.com', team: 'West' });
  let record = 100;
  const statusOf = async (secret: string) => (await client.call(path, { record_id: `${record++}` }, { secret })).status;
  const seen: Record<string, number> = {};
  for (const scopes of [['notes:read', 'workflows:trigger'], ['workflows:trigger', 'notes:read'], ['notes:read', 'all'], ['all', 'notes:read'], ['notes:read', 'notes:write', 'activity_logs:read', 'admin_logs:read'], ['mcp:read', 'mcp:write', 'mcp:action']])
    seen[scopes.join(' ')] = await statusOf((await client.make(scopes)).secret);
  expect(Object.values(seen)).toEqual([202, 202, 202, 202, 403, 401]);
  for (const level of ['user', 'editor', 'developer', 'admin'] as const) {
    const { email } = await client.addUser({ email: `w-${level}@example.com`, level, role: 'Administrator' });
    const { id } = (await client.store.identity.findUserByEmail(email))!;
    const { secret } = await client.make(['workflows:trigger'], { email });
    const statuses = [await statusOf(secret)];
    await client.store.members.change(id, { team: 'West' });
    statuses.push(await statusOf(secret));
    await client.store.members.change(id, { team: 'Operations' });
    statuses.push(await statusOf(secret));
    expect([level, statuses]).toEqual([level, [202, 403, 202]]);
  }
}); // biome-ignore format: short
