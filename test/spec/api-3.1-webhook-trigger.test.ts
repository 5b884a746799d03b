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
  // So is a URL that is regenerated while its trigger is disabled.
  const again = await client.ask(`${workflowsPath}/${id}/trigger`, { secret: eric, method: 'PATCH', body });
  const last = await client.pathOf(id);
  expect([again.status, again.json?.enabled, last === next]).toEqual([200, false, false]);
  expect([(await client.call(next)).status, (await client.call(last)).status]).toEqual([400, 404]);
  await client.change(id, { enabled: true });
  const statusesAgain = [(await client.call(next)).status, (await client.call(last, { record_id: '2' })).status];
  expect(statusesAgain).toEqual([400, 202]);
  // A user who may not edit workflows cannot change the trigger.
  await client.addUser({ email: 'una@example.com', level: 'user', role: 'Administrator' });
  const una = (await client.make(['all'], { email: 'una@example.com' })).secret;
  const refused = await client.ask(`${workflowsPath}/${id}/trigger`, { secret: una, method: 'PATCH', body });
  expect([refused.status, await client.pathOf(id)]).toEqual([403, last]);
});

test('an editor disables the trigger, an editor regenerates the URL | and developers and administrators, but no lower level or other team; other settings are kept', async () => {
  const { id, path } = await client.hook();
  await client.change(id, { needsSignature: true, callbackUrl: 'https://callback.example/done' });
  await client.store.keys.rotate('workflow-addresses');
  const settings = async () => (await client.ask(`${workflowsPath}/${id}`, { secret: client.secret })).json?.trigger;
  const before = await settings();
  let made = 0;
  const changeAs = async (user: object, body: object) => {
    const { email } = await client.addUser({ email: `m${++made}@example.com`, role: 'Administrator', ...user });
    const { secret } = await client.make(['all'], { email });
    return (await client.ask(`${workflowsPath}/${id}/trigger`, { secret, method: 'PATCH', body: JSON.stringify(body) }))
      .status;
  };
  for (const level of ['editor', 'developer', 'admin']) {
    expect(await changeAs({ level }, { enabled: false })).toBe(200);
    expect([await settings(), (await client.call(path)).status]).toEqual([
      { ...(before as object), enabled: false },
      404,
    ]);
    expect(await changeAs({ level }, { enabled: true })).toBe(200);
    expect(await settings()).toEqual(before);
  }
  for (const user of [{ level: 'user' }, { level: 'admin', team: 'Elsewhere' }, { level: 'editor', role: 'Member' }])
    for (const body of [{ enabled: false }, { regenerate: true }])
      expect([403, 404]).toContain(await changeAs(user, body));
  for (const body of [{}, { enabled: 'false' }, { enabled: null }, { regenerate: false }, { disabled: true }])
    expect(await changeAs({ level: 'editor' }, body), JSON.stringify(body)).toBe(400);
  expect([await settings(), await client.pathOf(id)]).toEqual([before, path]);
  const urls = [path];
  for (const level of ['editor', 'developer', 'admin']) {
    expect(await changeAs({ level }, { regenerate: true })).toBe(200);
    urls.push(await client.pathOf(id));
  }
  expect(new Set(urls).size).toBe(4);
  await client.change(id, { needsSignature: false });
  const statuses = [];
  for (const url of urls) statuses.push((await client.call(url)).status);
  expect(statuses).toEqual([400, 400, 400, 202]);
  expect(((await settings()) as { callbackUrl?: string }).callbackUrl).toBe('https://callback.example/done');
});

test('an editor disables the trigger, an editor regenerates the URL | started runs continue, and other workflows keep their URL', async () => {
  const [one, other] = [await client.hook(), await client.hook()];
  const { json } = await client.call(one.path);
  await client.change(one.id, { enabled: false });
  expect((await client.store.runs.find(String(json?.runId)))?.state).not.toBe('cancelled');
  await client.change(one.id, { regenerate: true });
  const off = await client.call(await client.pathOf(one.id), { record_id: '2' });
  await client.change(one.id, { enabled: true });
  const on = await client.call(await client.pathOf(one.id), { record_id: '2' });
  expect([off.status, on.status, (await client.call(other.path)).status, await client.pathOf(other.id)]).toEqual([
    404,
    202,
    202,
    other.path,
  ]);
});
