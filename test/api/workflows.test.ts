// Workflows, triggers and runs over the public API: visibility, paging, and who may change them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookClient, runsPath, type WebhookClient, waiting, workflowsPath } from './webhook-client.ts';

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
  expect(await listed('ada', '&state=queued&limit=100')).toHaveLength(5);
  const una = (await client.store.identity.findUserByEmail('una@example.com'))!;
  expect(await listed('edna', `&userId=${una.id}`)).toEqual([made[2]]);
  const statuses = [];
  for (const name of ['edna', 'una', 'blind', 'sue']) {
    statuses.push((await client.ask(`${runsPath}/${made[0]}`, as(name))).status);
    statuses.push((await client.ask(`${runsPath}/${made[0]}/cancel`, { ...as(name), method: 'POST' })).status);
  }
  expect(statuses).toEqual([200, 200, 404, 404, 404, 404, 404, 404]);
  const again = await client.ask(`${runsPath}/${made[0]}/cancel`, { ...as('ada'), method: 'POST' });
  expect([again.status, again.json?.state]).toEqual([200, 'cancelled']);
});

test('a page of runs that is just full is the last; a cursor is valid unchanged, for its own list and another limit', async () => {
  const { id, path } = await client.hook();
  for (let n = 0; n < 3; n++) await client.call(path, { record_id: `${n}` });
  const ask = async (query: string) => (await client.ask(`${runsPath}?workflowId=${id}&${query}`, as('ada'))).json;
  const full = await ask('limit=3');
  expect([idsOf(full).length, full?.hasMore, full?.nextCursor]).toEqual([3, false, undefined]);
  const cursor = String((await ask('limit=1'))?.nextCursor);
  const rest = await ask(`limit=2&cursor=${cursor}`);
  expect([idsOf(rest), rest?.hasMore]).toEqual([idsOf(full).slice(1), false]);
  expect(rest?.parameters).toEqual({
    ...{ projectName: 'My project', environmentName: 'Production', limit: 2, workflowId: id },
  });
  const activityPath = runsPath.replace('workflow-runs', 'activity-logs');
  const { json } = await client.ask(`${activityPath}?limit=1`, as('ada'));
  for (const wrong of [`${cursor}!`, `${cursor}x`, cursor.slice(0, -1), String(json?.nextCursor)])
    expect([wrong, (await ask(`cursor=${encodeURIComponent(wrong)}`))?.code]).toEqual([wrong, 'INVALID_CURSOR']);
  for (const wrong of ['limit=0', 'limit=101', 'state=over', 'userId=0', 'recordID=1', 'toString=1'])
    expect([wrong, (await ask(wrong))?.code]).toEqual([wrong, 'INVALID_ARGUMENT']);
});

test('runs on collections that the user may not see do not shorten a page', async () => {
  const readers = { browse: true, read: true, edit: false, add: false, delete: false, export: false };
  await client.store.permissions.setRole('Reader of orders', { orders: readers });
  await client.addUser({ email: 'ron@example.com', level: 'editor', role: 'Reader of orders' });
  const { secret } = await client.make(['all'], { email: 'ron@example.com' });
  const [orders, customers] = [await client.hook(), await client.hook({ ...waiting, collection: 'customers' })];
  const made: string[] = [];
  for (const { path } of [orders, orders, orders, customers, customers])
    made.push(String((await client.call(path, { record_id: `${made.length}` })).json?.runId));
  const { json } = await client.ask(`${runsPath}?limit=2`, { secret });
  expect([idsOf(json), json?.hasMore]).toEqual([[made[2], made[1]], true]);
});

test('a page has 10 runs by default and 100 at most, and its cursor leads to the rest', async () => {
  const { id } = await client.hook();
  const workflow = (await client.store.workflows.find(id))!;
  for (let n = 0; n < 101; n++)
    await client.store.runs.create({ workflow, recordId: `${n}`, userId: 1, origin: 'webhook', originName: 'token a' });
  const ask = async (query: string) => {
    const { json } = await client.ask(`${runsPath}?workflowId=${id}${query}`, as('ada'));
    return [
      idsOf(json).length,
      json?.hasMore,
      (json?.parameters as { limit: number } | undefined)?.limit,
      json?.nextCursor,
    ] as const;
  };
  const [standard, most] = [await ask(''), await ask('&limit=100')];
  expect([standard.slice(0, 3), most.slice(0, 3), (await ask(`&limit=100&cursor=${most[3]}`)).slice(0, 3)]).toEqual([
    [10, true, 10],
    [100, true, 100],
    [1, false, 100],
  ]);
});

test('runs need the scope workflows:trigger or all: their list, a single one, and cancelling it', async () => {
  const { path } = await client.hook();
  const { json } = await client.call(path);
  const statuses = async (scopes: readonly string[]) => {
    const { secret } = await client.make(scopes);
    return [
      (await client.ask(runsPath, { secret })).status,
      (await client.ask(`${runsPath}/${json?.runId}`, { secret })).status,
      (await client.ask(`${runsPath}/${json?.runId}/cancel`, { secret, method: 'POST' })).status,
    ];
  };
  expect([
    await statuses(['notes:read', 'notes:write', 'activity_logs:read', 'admin_logs:read']),
    await statuses(['workflows:trigger']),
    await statuses(['all']),
  ]).toEqual([Array(3).fill(403), Array(3).fill(200), Array(3).fill(200)]);
});
