import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { errorShape, shapeOf, type Told } from '../api/ways.ts';
import { openWebhookClient, type WebhookClient } from '../api/webhook-client.ts';

let client: WebhookClient;
beforeAll(async () => {
  client = await openWebhookClient({ env: { SERVICE_WEBHOOK_PER_MINUTE: '3' } });
});
afterAll(() => client?.stop());

function expectRefused(told: Told, status: number, code: string): void {
  expect([told.status, told.json?.code, shapeOf(told)]).toEqual([status, code, errorShape]);
}

test('400 | invalid JSON body, missing record_id, or a malformed, tampered or superseded URL', async () => {
  const { id, path } = await client.hook();
  expectRefused(await client.call(path, '{'), 400, 'MALFORMED_JSON');
  expectRefused(await client.call(path, '{}'), 400, 'INVALID_ARGUMENT');
  expectRefused(await client.call(path, '[]'), 400, 'INVALID_ARGUMENT');
  expectRefused(await client.call('/v1/webhooks/workflows/x'), 400, 'INVALID_WEBHOOK_ADDRESS');
  expectRefused(await client.call(`${path}x`), 400, 'INVALID_WEBHOOK_ADDRESS');
  await client.change(id, { regenerate: true });
  expectRefused(await client.call(path), 400, 'INVALID_WEBHOOK_ADDRESS');
});

test('401 | missing, expired or invalid Bearer token (also after the token is revoked)', async () => {
  const { path } = await client.hook();
  expectRefused(await client.call(path, {}, { headers: { Authorization: '' } }), 401, 'UNAUTHENTICATED');
  expectRefused(await client.call(path, {}, { secret: 'no token' }), 401, 'UNAUTHENTICATED');
  expectRefused(await client.call(path, {}, { secret: `svc_${'a'.repeat(43)}` }), 401, 'UNAUTHENTICATED');
  const { secret: late } = await client.make(['all'], { expiresAt: Date.now() + 1000 });
  await new Promise((resolve) => setTimeout(resolve, 1010));
  const expired = await client.call(path, {}, { secret: late });
  expectRefused(expired, 401, 'UNAUTHENTICATED');
  expect(expired.json?.message).toContain('expired');
  const { secret, token } = await client.make(['all']);
  expect((await client.call(path, { record_id: '1' }, { secret })).status).toBe(202);
  await client.store.tokens.revoke(token.id);
  expectRefused(await client.call(path, { record_id: '2' }, { secret }), 401, 'UNAUTHENTICATED');
});

test('403 | valid token whose user is not authorized for the organization, rendering or workflow', async () => {
  const { path } = await client.hook();
  await client.addUser({ email: 'nora@example.com', team: 'North', level: 'editor', role: 'Administrator' });
  const { secret } = await client.make(['all'], { email: 'nora@example.com' });
  expectRefused(await client.call(path, { record_id: '1' }, { secret }), 403, 'DENIED');
  for (const scopes of [['notes:read'], ['notes:write'], ['activity_logs:read', 'admin_logs:read']]) {
    const { secret: other } = await client.make(scopes);
    const refused = await client.call(path, { record_id: '1' }, { secret: other });
    expectRefused(refused, 403, 'DENIED');
    expect(refused.json?.message).toContain('workflows:trigger or all');
  }
  await client.addUser({ email: 'nils@example.com', team: 'North', level: 'admin', role: 'Administrator' });
  const { secret: admin } = await client.make(['all'], { email: 'nils@example.com' });
  const theirs = await client.call(path, { record_id: '1' }, { secret: admin });
  expectRefused(theirs, 403, 'DENIED');
  expect(theirs.json?.message).toContain('another team');
  // The call is refused before the body is parsed, and creates no run.
  expectRefused(await client.call(path, '{', { secret: admin }), 403, 'DENIED');
  expect((await client.call(path)).status).toBe(202);
});

test('404 | unknown webhook, no active workflow for the rendering, or trigger disabled', async () => {
  const { id, path } = await client.hook();
  await client.store.workflows.setActive(id, false, 1);
  expectRefused(await client.call(path), 404, 'UNKNOWN_WEBHOOK');
  await client.store.workflows.setActive(id, true, 1);
  await client.change(id, { enabled: false });
  expectRefused(await client.call(path), 404, 'UNKNOWN_WEBHOOK');
  const { id: gone, path: left } = await client.hook();
  const tables = openDatabase({ url: client.storage, dataDir: '/', sqlite: 'auto' });
  await tables.knex('workflows').where({ id: gone }).update({ rendering_id: 0 });
  await tables.close();
  expectRefused(await client.call(left), 404, 'UNKNOWN_WEBHOOK');
});

test('409 | a run of this workflow is already ongoing on this record', async () => {
  const { path } = await client.hook();
  expect((await client.call(path)).status).toBe(202);
  expectRefused(await client.call(path), 409, 'RUN_ONGOING');
});

test('429 | rate limit exceeded; header Retry-After in seconds', async () => {
  const { path } = await client.hook();
  for (const record_id of ['1', '2', '3']) expect((await client.call(path, { record_id })).status).toBe(202);
  const { status, json, headers } = await client.call(path, { record_id: '4' });
  expect([status, json?.code]).toEqual([429, 'RATE_LIMITED']);
  const seconds = Number(headers.get('retry-after'));
  expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60).toBe(true);
});

test('400 | a body that is not an object, and a record_id that is not a string; 401 | an expired token, another scheme', async () => {
  for (const body of ['[]', 'null', '"1"', '{"record_id":1}', '{"record_id":""}'])
    expectRefused(await client.call((await client.hook()).path, body), 400, 'INVALID_ARGUMENT');
  const messages = [];
  for (const body of ['[]', '{}', '{"record_id":1}'])
    messages.push((await client.call((await client.hook()).path, body)).json?.message);
  expect(messages).toEqual([
    expect.stringMatching(/^body\b/),
    expect.stringMatching(/^record_id\b/),
    expect.stringMatching(/^record_id\b/),
  ]);
  const { path } = await client.hook();
  expectRefused(await client.call(path, ' '), 400, 'MALFORMED_JSON');
  const { secret } = await client.make(['all'], { expiresAt: Date.now() + 1000 });
  await new Promise((resolve) => setTimeout(resolve, 1010));
  expectRefused(await client.call(path, { record_id: '1' }, { secret }), 401, 'UNAUTHENTICATED');
  const basic = { headers: { Authorization: `Basic ${btoa(`x:${client.secret}`)}` } };
  expectRefused(await client.call(path, { record_id: '1' }, basic), 401, 'UNAUTHENTICATED');
});

test('404 | before 403 and 409: an inactive workflow; 409 | does not reveal a run that another token may not see', async () => {
  const { id, path } = await client.hook();
  const { secret: reader } = await client.make(['notes:read']);
  await client.store.workflows.setActive(id, false, 1);
  expectRefused(await client.call(path, { record_id: '1' }, { secret: reader }), 404, 'UNKNOWN_WEBHOOK');
  await client.store.workflows.setActive(id, true, 1);
  expectRefused(await client.call(path, { record_id: '1' }, { secret: reader }), 403, 'DENIED');
  expect((await client.call(path)).status).toBe(202);
  const again = await client.call(path, { record_id: '1' });
  expectRefused(again, 409, 'RUN_ONGOING');
  expect((await client.call(path, { record_id: '2' })).status).toBe(202);
});

test('429 | for each webhook separately', async () => {
  const [one, other] = [await client.hook(), await client.hook()];
  const statuses = [];
  for (const record_id of ['1', '2', '3', '4']) statuses.push((await client.call(one.path, { record_id })).status);
  statuses.push((await client.call(other.path)).status);
  // The limit also applies with another token and after the URL changed.
  const { secret } = await client.make(['all']);
  statuses.push((await client.call(one.path, { record_id: '5' }, { secret })).status);
  await client.change(one.id, { regenerate: true });
  statuses.push((await client.call(await client.pathOf(one.id), { record_id: '6' })).status);
  expect(statuses).toEqual([202, 202, 202, 429, 202, 429, 429]);
});

test('400 | a URL whose key was retired; a URL whose key was only rotated still works', async () => {
  const { id, path } = await client.hook();
  await client.store.keys.rotate('workflow-addresses');
  expect([(await client.call(path)).status, await client.pathOf(id)]).toEqual([202, path]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await client.store.keys.retire(Date.now(), 'workflow-addresses');
  expectRefused(await client.call(path, { record_id: '2' }), 400, 'INVALID_WEBHOOK_ADDRESS');
  await client.change(id, { regenerate: true });
  expect((await client.call(await client.pathOf(id), { record_id: '2' })).status).toBe(202);
});

test('404 | a deleted workflow; 429 | Retry-After has the remaining seconds of the minute', async () => {
  const { id, path } = await client.hook();
  for (const record_id of ['1', '2', '3']) await client.call(path, { record_id });
  const waits = [];
  for (const wait of [0, 1100]) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    waits.push(Number((await client.call(path, { record_id: '4' })).headers.get('retry-after')));
  }
  expect(waits[0]! - waits[1]!).toBeGreaterThanOrEqual(1);
  await client.store.workflows.delete(id, 1);
  expectRefused(await client.call(path), 404, 'UNKNOWN_WEBHOOK');
});

test('400, 401, 403, 404, 409, 429 | each has its code, a message and its headers, and starts no run', async () => {
  const { id, path } = await client.hook();
  await client.addUser({ email: 'olga@example.com', team: 'North', level: 'admin' });
  const { secret } = await client.make(['all'], { email: 'olga@example.com' });
  const first = await client.call(path, { record_id: 'x' });
  const none = { method: 'POST', body: '{"record_id":"1"}' };
  const answers = [await client.call(`${path.slice(0, -1)}!`), await client.ask(path, none), await client.call(path, undefined, { secret }), await client.call(path, { record_id: 'x' }), await client.call(path, '{}')];
  answers.push(await client.call(path, { record_id: 'y' }));
  await client.change(id, { enabled: false });
  answers.push(await client.call(path, { record_id: 'y' }));
  expect(answers.map(({ status, json, headers }) => [status, json?.code, json?.error, headers.get('www-authenticate'), headers.has('retry-after'), headers.get('cache-control')])).toEqual([
    [400, 'INVALID_WEBHOOK_ADDRESS', 'Bad request', null, false, 'no-store'],
    [401, 'UNAUTHENTICATED', 'Unauthorized', 'Bearer realm="public api"', false, 'no-store'],
    [403, 'DENIED', 'Forbidden', 'Bearer realm="public api", error="insufficient_scope"', false, 'no-store'],
    [409, 'RUN_ONGOING', answers[3]?.json?.message, null, false, 'no-store'],
    [400, 'INVALID_ARGUMENT', 'Bad request', null, false, 'no-store'],
    [429, 'RATE_LIMITED', 'Too many requests', null, true, 'no-store'],
    [404, 'UNKNOWN_WEBHOOK', 'Not found', null, false, 'no-store'],
  ]);
  expect(answers[5]?.json?.retry_after).toBe(Number(answers[5]?.headers.get('retry-after')));
  expect((await client.store.runs.list({ workflowId: id, limit: 9 })).map((run) => run.id)).toEqual([first.json?.runId]);
}); // biome-ignore format: short

test('401, 403 | of each account and token: a token of a disabled user gives the same error as an unknown token', async () => {
  const { path } = await client.hook();
  const told = async (secret: string) => {
    const { status, json, headers } = await client.call(path, { record_id: '9' }, { secret });
    return [status, json?.code, headers.get('www-authenticate')?.split('error=')[1]];
  };
  const unknown = [401, 'UNAUTHENTICATED', '"invalid_token"'];
  const { email } = await client.addUser({ email: 'dora@example.com', level: 'admin' });
  const { id } = (await client.store.identity.findUserByEmail(email))!;
  const { secret, token } = await client.make(['all'], { email });
  const seen = [await told(`svc_${'b'.repeat(43)}`), await told((await client.make(['mcp:read'], { email })).secret)];
  await client.store.identity.setDisabled(id, true);
  seen.push(await told(secret));
  await client.store.identity.setDisabled(id, false);
  await client.store.members.change(id, { level: 'user', role: 'Member' });
  expect(await told(secret)).toEqual([403, 'DENIED', '"insufficient_scope"']);
  await client.store.members.change(id, { level: 'user', role: 'Administrator' });
  expect((await told(secret))[0]).toBe(202);
  await client.store.tokens.revoke(token.id);
  seen.push(await told(secret));
  expect(seen).toEqual(Array(4).fill(unknown));
});
