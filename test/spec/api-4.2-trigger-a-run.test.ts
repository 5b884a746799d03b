import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { altered } from '../altered.ts';
import { openWebhookClient, runsPath, uuid, type WebhookClient, waiting } from '../api/webhook-client.ts';
import { askSql } from '../sql/schemas.ts';

let client: WebhookClient;
beforeAll(async () => {
  client = await openWebhookClient();
});
afterAll(() => client?.stop());

const reading = { collection: 'orders', steps: [{ id: 'read', type: 'read-record', fields: ['id'] }] };

async function ended(runId: unknown) {
  return vi.waitFor(
    async () => {
      const { json } = await client.ask(`${runsPath}/${runId}`, { secret: client.secret });
      expect(['succeeded', 'failed']).toContain(json?.state);
      return json!;
    },
    { timeout: 20_000 },
  );
}

test('{webhook_url} | copied in full from the trigger settings; a forged or modified one is rejected', async () => {
  const { id, path } = await client.hook();
  expect(path).toMatch(/^\/v1\/webhooks\/workflows\/[^/]+$/);
  expect(path).not.toContain(id);
  const statuses = [];
  for (let at = path.length - 60; at < path.length; at += 9) {
    statuses.push((await client.call(altered(path, at))).status);
  }
  for (const other of [`${path}x`, `${path}.`, `${path}/`, `${path}%20`, path.slice(0, -1), path.toUpperCase(), path.split('.').slice(0, -1).join('.')])
    statuses.push((await client.call(other)).status);
  expect(new Set(statuses)).toEqual(new Set([400, 404]));
  expect(statuses.filter((status) => status === 404)).toHaveLength(1);
  expect((await client.call(`${path}?x=1`)).status).toBe(202);
  // Only POST triggers a run. Parts of two URLs cannot be combined into a valid one.
  const { path: other } = await client.hook();
  const [own, theirs] = [path.split('.'), other.split('.')];
  expect((await client.call([theirs[0], own[1], theirs[2]].join('.'))).status).toBe(400);
  for (const method of ['GET', 'PUT', 'DELETE']) expect((await client.call(path, '', { method })).status).toBe(405);
}); // biome-ignore format: short

test('authority | the URL alone grants none; a token is always required', async () => {
  const { path } = await client.hook();
  const { status, headers } = await client.call(path, { record_id: '1' }, { headers: { Authorization: '' } });
  expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
  const none = { headers: { Authorization: '' } };
  const bare = { method: 'POST', body: '{"record_id":"1"}', headers: { 'Content-Type': 'application/json' } };
  const elsewhere = [
    await client.ask(`${path}?token=${client.secret}`, bare),
    await client.ask(`${path}?access_token=${client.secret}`, bare),
    await client.call(path, { record_id: '1', token: client.secret, access_token: client.secret }, none),
    await client.call(path, undefined, { headers: { Authorization: '', cookie: `token=${client.secret}` } }),
    await client.call(path, undefined, { headers: { Authorization: `Basic ${btoa(`x:${client.secret}`)}` } }),
  ];
  expect(elsewhere.map((one) => one.status)).toEqual(Array(5).fill(401));
  expect((await client.call(path)).status).toBe(202);
});

test('latest | a run executes the definition published last, also if it waited in the queue', async () => {
  const { id, path } = await client.hook({
    collection: 'orders',
    steps: [{ id: 'read', type: 'read-record', fields: ['nothing'] }],
  });
  const known = (await client.store.workflows.find(id))!;
  const wish = { ...known, concurrency: null, definition: JSON.stringify({ name: known.name, ...reading }) };
  await client.store.workflows.publish({ ...wish, by: 1, of: { id, since: 1 } });
  const { json } = await client.call(path, { record_id: '3' });
  expect((await ended(json?.runId)).state).toBe('succeeded');
});

test('latest | the run uses the latest active workflow of the target rendering; there is no published/draft distinction', async () => {
  const { id, path } = await client.hook();
  const known = (await client.store.workflows.find(id))!;
  const wish = { ...known, concurrency: null, definition: JSON.stringify({ name: known.name, ...waiting }) };
  await client.store.workflows.publish({ ...wish, by: 1, of: { id, since: 1 } });
  const { json } = await client.call(path);
  const run = await client.ask(`${runsPath}/${json?.runId}`, { secret: client.secret });
  expect([run.json?.version, await client.pathOf(id)]).toEqual([2, path]);
});

test('record_id | string | yes | record to run on; composite primary keys are given in packed form', async () => {
  const { path } = await client.hook();
  const refused = [];
  for (const body of [{}, { record_id: 7 }, { record_id: null }, { record_id: '' }]) {
    refused.push((await client.call(path, body)).status);
  }
  expect(refused).toEqual([400, 400, 400, 400]);
  for (const body of [{}, { record_id: 7 }, { record_id: ['1'] }, { recordId: '1' }])
    expect((await client.call(path, body)).json?.message).toContain('record_id');
  expect((await client.call(path, { record_id: 'x'.repeat(401) })).status).toBe(400);
  const { json } = await client.call(path, { record_id: '12|a\\|b' });
  expect((await client.store.runs.find(String(json?.runId)))?.recordId).toBe('12|a\\|b');
  // A record with a composite key is found only by its whole key.
  const items = await client.hook({
    ...reading,
    collection: 'order_items',
    steps: [{ ...reading.steps[0], fields: ['order_id'] }],
  });
  const database = { dialect: 'sqlite', url: client.database, drop: async () => {} } as const;
  const [line] = await askSql(database, 'SELECT order_id, product_id FROM order_items LIMIT 1');
  const states = [];
  for (const record_id of [Object.values(line!).join('|'), '1|99999999', '1']) {
    const { json: made } = await client.call(items.path, { record_id });
    states.push((await ended(made?.runId)).state);
  }
  expect(states).toEqual(['succeeded', 'failed', 'failed']);
});

test('record_id | a composite id leads to its record; 202 | returned before the run is over, with the id of the run', async () => {
  const sql = "SELECT order_id || '|' || product_id AS id FROM order_items ORDER BY order_id DESC, product_id LIMIT 2";
  const [line, other] = (await askSql({ dialect: 'sqlite', url: client.database, drop: async () => {} }, sql)).map(
    ({ id }) => id,
  );
  const { path } = await client.hook({
    ...reading,
    collection: 'order_items',
    steps: [{ id: 'read', type: 'read-record', fields: ['quantity'] }],
  });
  const runs = [];
  for (const record_id of [line, other, `${line}|1`]) runs.push((await client.call(path, { record_id })).json?.runId);
  const states = [];
  for (const id of runs) states.push([(await ended(id)).state, (await ended(id)).recordId]);
  expect(states).toEqual([
    ['succeeded', line],
    ['succeeded', other],
    ['failed', `${line}|1`],
  ]);
});

test('unknown fields | are ignored', async () => {
  const { path } = await client.hook();
  expect((await client.call(path, { record_id: '1', recordId: 3, more: { deep: [1] } })).status).toBe(202);
});

test('not verified | the record_id at creation: a missing record still yields a created run, which fails at its first data step', async () => {
  const { path } = await client.hook(reading);
  const { status, json } = await client.call(path, { record_id: '999999' });
  expect(status).toBe(202);
  const run = await ended(json?.runId);
  expect([run.state, (run.failure as { code: string } | undefined)?.code]).toEqual(['failed', 'RECORD_NOT_FOUND']);
  const { json: good } = await client.call(path, { record_id: '1' });
  expect((await ended(good?.runId)).state).toBe('succeeded');
});

test('202 | Accepted with body `{ runId: <run_id> }` (string); the run is created and queued, and the response returns at once', async () => {
  const { path } = await client.hook();
  const { status, json } = await client.call(path);
  expect([status, json]).toEqual([202, { runId: expect.stringMatching(uuid) }]);
});

test('409 | not for another record, another workflow, or after the run is over', async () => {
  const [one, other] = [await client.hook(reading), await client.hook()];
  const first = await client.call(one.path, { record_id: '5' });
  await ended(first.json?.runId);
  const statuses = [(await client.call(one.path, { record_id: '5' })).status];
  for (const [path, record_id] of [
    [other.path, '5'],
    [other.path, '6'],
    [other.path, '5'],
  ] as const)
    statuses.push((await client.call(path, { record_id })).status);
  expect([first.status, ...statuses]).toEqual([202, 202, 202, 202, 409]);
});

test('409 | a run of the same workflow is already ongoing on the record: body `{ error: <message> }`; no run is started or resumed', async () => {
  const { id, path } = await client.hook();
  const { json: first } = await client.call(path);
  const { status, json } = await client.call(path);
  expect([status, json?.error]).toEqual([409, json?.message]);
  expect(json?.error).toMatch(/^A run of this workflow on this record is not over/);
  const { json: listed } = await client.ask(`${runsPath}?workflowId=${id}`, { secret: client.secret });
  expect(((listed?.data ?? []) as { id: string }[]).map((run) => run.id)).toEqual([first?.runId]);
});

test("the token's user | the run reads and writes data as that user, and the activity log names them", async () => {
  await client.addUser({ email: 'tom@example.com', level: 'user', role: 'Administrator' });
  const tom = (await client.store.identity.findUserByEmail('tom@example.com'))!;
  const { secret } = await client.make(['workflows:trigger'], { email: tom.email });
  const { id, path } = await client.hook(reading);
  const { json } = await client.call(path, { record_id: '2' }, { secret });
  const run = await ended(json?.runId);
  expect([run.state, run.userId]).toEqual(['succeeded', tom.id]);
  expect((await client.store.runs.find(String(json?.runId)))?.origin).toBe('webhook');
  await client.store.activity.flush();
  const entries = await client.store.activity.search({ limit: 20, userId: tom.id });
  const own = entries.filter(({ workflow }) => workflow?.runId === json?.runId);
  expect(own.map(({ action }) => action)).toContain('triggerWorkflow');
  expect(own.find(({ action }) => action === 'triggerWorkflow')?.clientName).toMatch(/^token way \d+$/);
  expect(own.every(({ userId, recordIds = ['2'] }) => userId === tom.id && recordIds[0] === '2')).toBe(true);
  expect((await client.store.workflows.find(id))?.id).toBe(id);
});

test('authority | no other credential starts a run, instead of or beside the token; a refused call starts nothing', async () => {
  const { id, path } = await client.hook();
  const { secret: mcp } = await client.make(['mcp:read', 'mcp:write', 'mcp:action']);
  const { secret: expired } = await client.make(['all'], { expiresAt: Date.now() + 500 });
  await new Promise((resolve) => setTimeout(resolve, 510));
  const seen = [];
  for (const secret of [mcp, expired, `${client.secret}x`, client.secret.slice(4), 'x'.repeat(5000)])
    seen.push((await client.call(path, undefined, { secret })).status);
  for (const headers of [
    { Authorization: `Bearer ${client.secret}, Bearer ${mcp}` },
    { Authorization: `Token ${client.secret}` },
    { Authorization: '', 'X-Api-Key': client.secret },
  ])
    seen.push((await client.call(path, undefined, { headers })).status);
  expect(seen).toEqual(Array(8).fill(401));
  expect(await client.store.runs.list({ workflowId: id, limit: 5 })).toEqual([]);
});

test('record_id, unknown fields, 202 | 1 to 400 characters of any kind, stored exactly; other members of any type; any Content-Type', async () => {
  const { path } = await client.hook();
  const ids = ['0', 'x'.repeat(400), ' a ', 'é\u{1F600}', '1|2|3', '{"a":1}', "' OR 1=1", '-1', 'null'];
  for (const record_id of ids) {
    const { status, json, headers } = await client.call(path, {
      record_id,
      workflow: 'x',
      runId: 1,
      user: null,
      more: [{}],
    });
    expect([status, Object.keys(json ?? {}), headers.get('content-type')]).toEqual([
      202,
      ['runId'],
      'application/json',
    ]);
    expect((await client.store.runs.find(String(json?.runId)))?.recordId).toBe(record_id);
  }
  const types = [];
  for (const [at, type] of [
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-www-form-urlencoded',
  ].entries())
    types.push((await client.call(path, { record_id: `t${at}` }, { headers: { 'Content-Type': type } })).status);
  expect(types).toEqual([202, 202, 202]);
  for (const body of [
    { record_id: true },
    { record_id: { id: '1' } },
    { Record_id: '1' },
    { 'record_id ': '1' },
    [{ record_id: '1' }],
  ])
    expect((await client.call(path, body)).status, JSON.stringify(body)).toBe(400);
});

test("the token's user, not verified | without access to the record or collection the run is created and fails; the log names user, token and run", async () => {
  await client.addUser({ email: 'rob@example.com', level: 'user', role: 'Reader of orders' });
  const rob = (await client.store.identity.findUserByEmail('rob@example.com'))!;
  const rights = { browse: true, read: true, edit: false, add: false, delete: false, export: false };
  await client.store.permissions.setRole('Reader of orders', { orders: rights });
  const { secret, token } = await client.make(['workflows:trigger'], { email: rob.email });
  const { path } = await client.hook(reading);
  const runs = [];
  for (const record_id of ['2', '888888', 'no id']) runs.push((await client.call(path, { record_id }, { secret })).json?.runId);
  const ends = [];
  for (const run of runs) ends.push([(await ended(run)).state, (await ended(run)).userId]);
  expect(ends).toEqual([['succeeded', rob.id], ['failed', rob.id], ['failed', rob.id]]);
  await client.store.activity.flush();
  const entries = await client.store.activity.search({ limit: 50, action: 'triggerWorkflow', userId: rob.id });
  expect(entries.map(({ workflow, clientName, outcome, collection, team, type }) => [workflow?.runId, clientName, outcome, collection, team, type])).toEqual(
    runs.toReversed().map((run) => [run, `token ${token.name}`, 'completed', 'orders', 'Operations', 'write']),
  );
}); // biome-ignore format: short

test('409, latest | logged as failed, and names the run; a running run keeps its version after another is published', async () => {
  const { id, path } = await client.hook();
  const { json: first } = await client.call(path, { record_id: '77' });
  const known = (await client.store.workflows.find(id))!;
  const wanted = { ...known, concurrency: null, definition: JSON.stringify({ name: known.name, ...waiting }) };
  await client.store.workflows.publish({ ...wanted, by: 1, of: { id, since: 1 } });
  const again = await client.call(path, { record_id: '77' });
  const { json: next } = await client.call(path, { record_id: '78' });
  const versions = [];
  for (const run of [first, next])
    versions.push((await client.ask(`${runsPath}/${run?.runId}`, { secret: client.secret })).json?.version);
  expect([again.status, Object.keys(again.json ?? {}).sort(), versions]).toEqual([
    409,
    ['code', 'error', 'message'],
    [1, 2],
  ]);
  await client.store.activity.flush();
  const [entry] = await client.store.activity.search({ limit: 1, action: 'triggerWorkflow', recordId: '77' });
  expect([entry?.outcome, entry?.code]).toEqual(['failed', 'RUN_ONGOING']);
});
