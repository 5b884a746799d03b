import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openWebhookDoor, runsPath, uuid, type WebhookDoor, waiting } from '../api/webhook-door.ts';

let door: WebhookDoor;
beforeAll(async () => {
  door = await openWebhookDoor();
});
afterAll(() => door?.stop());

const reading = { collection: 'orders', steps: [{ id: 'read', type: 'read-record', fields: ['id'] }] };

async function ended(runId: unknown) {
  return vi.waitFor(
    async () => {
      const { json } = await door.ask(`${runsPath}/${runId}`, { secret: door.secret });
      expect(['succeeded', 'failed']).toContain(json?.state);
      return json!;
    },
    { timeout: 20_000 },
  );
}

test('{webhook_url} | copied in full from the trigger settings; a forged or modified one is rejected', async () => {
  const { id, path } = await door.hook();
  expect(path).toMatch(/^\/v1\/webhooks\/workflows\/[^/]+$/);
  expect(path).not.toContain(id);
  const statuses = [];
  for (let at = path.length - 60; at < path.length; at += 9) {
    const flipped = path[at] === 'x' ? 'y' : 'x';
    statuses.push((await door.call(path.slice(0, at) + flipped + path.slice(at + 1))).status);
  }
  expect(new Set(statuses)).toEqual(new Set([400]));
  expect((await door.call(path)).status).toBe(202);
});

test('authority | the URL alone grants none; a token is always required', async () => {
  const { path } = await door.hook();
  const { status, headers } = await door.call(path, { record_id: '1' }, { headers: { Authorization: '' } });
  expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
});

test('latest | the run uses the latest active workflow of the target rendering; there is no published/draft distinction', async () => {
  const { id, path } = await door.hook();
  const known = (await door.store.workflows.find(id))!;
  const wish = { ...known, concurrency: null, definition: JSON.stringify({ name: known.name, ...waiting }) };
  await door.store.workflows.publish({ ...wish, by: 1, of: { id, since: 1 } });
  const { json } = await door.call(path);
  const run = await door.ask(`${runsPath}/${json?.runId}`, { secret: door.secret });
  expect([run.json?.version, await door.pathOf(id)]).toEqual([2, path]);
});

test('record_id | string | yes | record to run on; composite primary keys are given in packed form', async () => {
  const { path } = await door.hook();
  const refused = [];
  for (const body of [{}, { record_id: 7 }, { record_id: null }, { record_id: '' }]) {
    refused.push((await door.call(path, body)).status);
  }
  expect(refused).toEqual([400, 400, 400, 400]);
  const { json } = await door.call(path, { record_id: '12|a\\|b' });
  expect((await door.store.runs.find(String(json?.runId)))?.recordId).toBe('12|a\\|b');
});

test('unknown fields | are ignored', async () => {
  const { path } = await door.hook();
  expect((await door.call(path, { record_id: '1', recordId: 3, more: { deep: [1] } })).status).toBe(202);
});

test('not verified | the record_id at creation: a missing record still yields a created run, which fails at its first data step', async () => {
  const { path } = await door.hook(reading);
  const { status, json } = await door.call(path, { record_id: '999999' });
  expect(status).toBe(202);
  const run = await ended(json?.runId);
  expect([run.state, (run.failure as { code: string } | undefined)?.code]).toEqual(['failed', 'RECORD_NOT_FOUND']);
  const { json: good } = await door.call(path, { record_id: '1' });
  expect((await ended(good?.runId)).state).toBe('succeeded');
});

test('202 | Accepted with body `{ runId: <run_id> }` (string); the run is created and queued, and the response returns at once', async () => {
  const { path } = await door.hook();
  const { status, json } = await door.call(path);
  expect([status, json]).toEqual([202, { runId: expect.stringMatching(uuid) }]);
});

test('409 | a run of the same workflow is already ongoing on the record: body `{ error: <message> }`; no run is started or resumed', async () => {
  const { id, path } = await door.hook();
  const { json: first } = await door.call(path);
  const { status, json } = await door.call(path);
  expect([status, json?.error]).toEqual([409, json?.message]);
  expect(json?.error).toMatch(/^A run of this workflow on this record is not over/);
  const { json: listed } = await door.ask(`${runsPath}?workflowId=${id}`, { secret: door.secret });
  expect(((listed?.data ?? []) as { id: string }[]).map((run) => run.id)).toEqual([first?.runId]);
});

test("the token's user | the run reads and writes data as him; attributed to that user in the activity log", async () => {
  await door.addUser({ email: 'tom@example.com', level: 'user', role: 'Administrator' });
  const tom = (await door.store.identity.findUserByEmail('tom@example.com'))!;
  const { secret } = await door.make(['workflows:trigger'], { email: tom.email });
  const { id, path } = await door.hook(reading);
  const { json } = await door.call(path, { record_id: '2' }, { secret });
  const run = await ended(json?.runId);
  expect([run.state, run.userId]).toEqual(['succeeded', tom.id]);
  await door.store.activity.flush();
  const entries = await door.store.activity.search({ limit: 20, userId: tom.id });
  const own = entries.filter(({ workflow }) => workflow?.runId === json?.runId);
  expect(own.map(({ action }) => action)).toContain('triggerWorkflow');
  expect(own.every(({ userId, recordIds = ['2'] }) => userId === tom.id && recordIds[0] === '2')).toBe(true);
  expect((await door.store.workflows.find(id))?.id).toBe(id);
});
