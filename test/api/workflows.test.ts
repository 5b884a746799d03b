// Workflows, triggers and runs over the public API: visibility, paging, and who may change them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookClient, runsPath, type WebhookClient, workflowsPath } from './webhook-client.ts';

let client: WebhookClient;
const secrets = new Map<string, string>();
beforeAll(async () => {
  client = await openWebhookClient({ env: { SERVICE_WORKFLOWS: 'false', SERVICE_WEBHOOK_PER_MINUTE: '1000' } });
  for (const [name, more] of [
    ['edna', { level: 'editor', role: 'Administrator' }],
    ['una', { level: 'user', role: 'Administrator' }],
    ['blind', { level: 'editor' }],
    ['sue', { level: 'admin', team: 'South' }],
  ] as const) {
    const email = `${name}@example.com`;
    await client.addUser({ email, ...more });
    secrets.set(name, (await client.make(['all'], { email })).secret);
  }
});
afterAll(() => client?.stop());

const as = (name: string) => ({ secret: secrets.get(name) ?? client.secret });
const idsOf = (json: Readonly<Record<string, unknown>> | undefined) =>
  ((json?.data ?? []) as { id: string }[]).map(({ id }) => id);

test('a workflow is visible to its team if they may see its collection, and its trigger to editors and above', async () => {
  const { id, path } = await client.hook();
  const shown = [];
  for (const name of ['ada', 'edna', 'una', 'blind', 'sue']) {
    const { status, json } = await client.ask(`${workflowsPath}/${id}`, as(name));
    const listed = idsOf((await client.ask(`${workflowsPath}?collectionName=orders`, as(name))).json).includes(id);
    const { url = 'none:none' } = (json?.trigger ?? {}) as { url?: string };
    shown.push([name, status, new URL(url).pathname === path, listed]);
  }
  expect(shown).toEqual([
    ['ada', 200, true, true],
    ['edna', 200, true, true],
    ['una', 200, false, true],
    ['blind', 404, false, false],
    ['sue', 404, false, false],
  ]);
  expect(idsOf((await client.ask(`${workflowsPath}?collectionName=customers`, as('ada'))).json)).not.toContain(id);
  const { secret: starter } = await client.make(['workflows:trigger']);
  const body = JSON.stringify({ enabled: false });
  const change = (secret: string) => client.ask(`${workflowsPath}/${id}/trigger`, { secret, method: 'PATCH', body });
  const statuses = [];
  for (const secret of [starter, ...['una', 'blind', 'sue'].map((name) => as(name).secret)]) {
    statuses.push((await change(secret)).status);
  }
  expect([statuses, await client.pathOf(id)]).toEqual([[403, 403, 404, 404], path]);
  expect((await client.change(id, {})).status).toBe(400);
});

test('the admin log records changes of a trigger without the path of the callback URL', async () => {
  const { id } = await client.hook();
  await client.change(id, { callbackUrl: 'https://example.com/hidden-part' });
  const entries = await client.store.adminLog.search({ limit: 5 });
  const text = JSON.stringify(entries.filter(({ action }) => action === 'trigger.update'));
  expect([text.includes(id), text.includes('hidden-part')]).toEqual([true, false]);
});

test('runs are paged without repetition; users see their own runs, editors those of their team', async () => {
  const { id, path } = await client.hook();
  const made: string[] = [];
  for (let n = 0; n < 5; n++) {
    const { json } = await client.call(path, { record_id: `${n}` }, as(n === 2 ? 'una' : 'ada'));
    made.push(String(json?.runId));
  }
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await client.ask(
      `${runsPath}?workflowId=${id}&limit=2${cursor && `&cursor=${cursor}`}`,
      as('edna'),
    );
    seen.push(...idsOf(json));
    expect(json?.hasMore).toBe(json?.nextCursor !== undefined);
    if (typeof json?.nextCursor !== 'string') break;
    cursor = json.nextCursor;
    // A cursor is valid only for its own query.
    const other = await client.ask(`${runsPath}?workflowId=${id}&state=queued&cursor=${cursor}`, as('edna'));
    expect([other.status, other.json?.code]).toEqual([400, 'INVALID_CURSOR']);
  }
  expect([seen.length, [...seen].sort()]).toEqual([5, [...made].sort()]);
  const listed = async (name: string, more = '') =>
    idsOf((await client.ask(`${runsPath}?workflowId=${id}${more}`, as(name))).json);
  expect(await listed('una')).toEqual([made[2]]);
  expect(await listed('una', '&userId=1')).toEqual([made[2]]);
  expect([await listed('blind'), await listed('sue')]).toEqual([[], []]);
  expect(await listed('ada', '&recordId=3')).toEqual([made[3]]);
  expect(await listed('ada', '&state=succeeded')).toEqual([]);
  const statuses = [];
  for (const name of ['edna', 'una', 'blind', 'sue']) {
    statuses.push((await client.ask(`${runsPath}/${made[0]}`, as(name))).status);
    statuses.push((await client.ask(`${runsPath}/${made[0]}/cancel`, { ...as(name), method: 'POST' })).status);
  }
  expect(statuses).toEqual([200, 200, 404, 404, 404, 404, 404, 404]);
  const again = await client.ask(`${runsPath}/${made[0]}/cancel`, { ...as('ada'), method: 'POST' });
  expect([again.status, again.json?.state]).toEqual([200, 'cancelled']);
});
