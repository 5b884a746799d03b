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

test('an editor disables the trigger, an editor regenerates the URL | so can a developer and an administrator; nobody below, nor of another team; the other settings stay', async () => {
  const { id, path } = await door.hook();
  await door.change(id, { needsSignature: true, callbackUrl: 'https://callback.example/done' });
  await door.store.keys.rotate('workflow-addresses');
  const settings = async () => (await door.ask(`${workflowsPath}/${id}`, { secret: door.secret })).json?.trigger;
  const before = await settings();
  let made = 0;
  const changeAs = async (user: object, body: object) => {
    const { email } = await door.addUser({ email: `m${++made}@example.com`, role: 'Administrator', ...user });
    const { secret } = await door.make(['all'], { email });
    return (await door.ask(`${workflowsPath}/${id}/trigger`, { secret, method: 'PATCH', body: JSON.stringify(body) }))
      .status;
  };
  for (const level of ['editor', 'developer', 'admin']) {
    expect(await changeAs({ level }, { enabled: false })).toBe(200);
    expect([await settings(), (await door.call(path)).status]).toEqual([
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
  expect([await settings(), await door.pathOf(id)]).toEqual([before, path]);
  const urls = [path];
  for (const level of ['editor', 'developer', 'admin']) {
    expect(await changeAs({ level }, { regenerate: true })).toBe(200);
    urls.push(await door.pathOf(id));
  }
  expect(new Set(urls).size).toBe(4);
  await door.change(id, { needsSignature: false });
  const statuses = [];
  for (const url of urls) statuses.push((await door.call(url)).status);
  expect(statuses).toEqual([400, 400, 400, 202]);
  expect(((await settings()) as { callbackUrl?: string }).callbackUrl).toBe('https://callback.example/done');
});

test('an editor disables the trigger, an editor regenerates the URL | runs that were started go on, and other workflows keep their URL', async () => {
  const [one, other] = [await door.hook(), await door.hook()];
  const { json } = await door.call(one.path);
  await door.change(one.id, { enabled: false });
  expect((await door.store.runs.find(String(json?.runId)))?.state).not.toBe('cancelled');
  await door.change(one.id, { regenerate: true });
  const off = await door.call(await door.pathOf(one.id), { record_id: '2' });
  await door.change(one.id, { enabled: true });
  const on = await door.call(await door.pathOf(one.id), { record_id: '2' });
  expect([off.status, on.status, (await door.call(other.path)).status, await door.pathOf(other.id)]).toEqual([
    404,
    202,
    202,
    other.path,
  ]);
});
