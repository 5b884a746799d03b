// The bounds of a webhook call (behaviour api 4.2): its method, path, body and keys, at the limit and one beyond.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookClient, uuid, type WebhookClient } from '../api/webhook-client.ts';

let client: WebhookClient;
beforeAll(async () => {
  client = await openWebhookClient({ env: { SERVICE_WEBHOOK_PER_MINUTE: '100000' } });
});
afterAll(() => client?.stop());

let record = 0;
/** A body with a record of its own, and more members. */
const body = (more: object = {}) => ({ record_id: `r${++record}`, ...more });
const sized = (bytes: number) => {
  const { record_id } = body();
  const empty = JSON.stringify({ record_id, more: '' });
  return JSON.stringify({ record_id, more: 'x'.repeat(bytes - empty.length) });
};
const nested = (depth: number) =>
  JSON.stringify(body({ more: 0 })).replace(':0', `:${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`);

test('record_id, unknown fields | a body of 65,536 bytes and 20 levels is taken, one more of each is refused', async () => {
  const { path } = await client.hook();
  const seen = [];
  for (const sent of [sized(65_536), sized(65_537), nested(20), nested(21)]) {
    const { status, json, headers } = await client.call(path, sent);
    seen.push([status, json?.code ?? 'started', headers.get('cache-control'), headers.get('content-type')]);
  }
  expect(seen).toEqual([
    [202, 'started', 'no-store', 'application/json'],
    [413, 'BODY_TOO_LARGE', 'no-store', 'application/json'],
    [202, 'started', 'no-store', 'application/json'],
    [400, 'MALFORMED_JSON', 'no-store', 'application/json'],
  ]);
});

test('record_id | a string of 1 to 400 characters, as sent; null, numbers and lists are refused by name', async () => {
  const { path } = await client.hook();
  for (const record_id of ['x', 'y'.repeat(400), ' ', '0', 'null']) {
    const { status, json } = await client.call(path, { record_id });
    expect([record_id, status, json?.runId]).toEqual([record_id, 202, expect.stringMatching(uuid)]);
  }
  for (const record_id of ['', 'y'.repeat(401), null, 1, true, ['1'], { id: '1' }, undefined]) {
    const { status, json } = await client.call(path, { record_id, recordId: '1' });
    expect([record_id, status, json?.error, json?.code]).toEqual([record_id, 400, 'Bad request', 'INVALID_ARGUMENT']);
    expect(json?.message).toMatch(/^record_id: /);
  }
});

test('202, unknown fields | the answer has only runId; other members, parameters and content types change nothing', async () => {
  const { path } = await client.hook();
  for (const [sent, query, type] of [
    [body({ runId: 'x', recordId: 'y', user: 1, workflow: null }), '', 'application/json'],
    [body({ '': 1, __proto__x: 2 }), '?x=1&record_id=2', 'text/plain'],
    [body(), '?', 'application/json; charset=utf-8'],
  ] as const) {
    const { status, json, headers } = await client.call(path + query, sent, { headers: { 'Content-Type': type } });
    expect([status, Object.keys(json ?? {}), json?.runId]).toEqual([202, ['runId'], expect.stringMatching(uuid)]);
    expect([headers.get('cache-control'), headers.get('x-content-type-options'), headers.get('idempotency-replayed'), headers.get('access-control-allow-origin')]).toEqual(['no-store', 'nosniff', null, null]); // biome-ignore format: short
  }
});

test('202, 409 | an Idempotency-Key of 1 to 255 characters returns the same run; another key meets the active run', async () => {
  const { path } = await client.hook();
  for (const key of ['k', 'k'.repeat(255), ' spaced ', 'K']) {
    const sent = body();
    const call = (own: string) => client.call(path, sent, { headers: { 'Idempotency-Key': own } });
    const [first, again, other, without] = [await call(key), await call(key), await call(`x${key.slice(1)}x`.slice(0, 255)), await client.call(path, sent)]; // biome-ignore format: short
    expect([first.status, again.status, first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([202, 202, null, 'true']); // biome-ignore format: short
    expect(again.json?.runId).toBe(first.json?.runId);
    for (const refused of [other, without]) {
      expect([refused.status, refused.json?.code, Object.keys(refused.json ?? {}).sort()]).toEqual([409, 'RUN_ONGOING', ['code', 'error', 'message']]); // biome-ignore format: short
      // Behaviour api 4.2, 4: `error` is the message itself.
      expect([refused.json?.error, `${refused.json?.error}`.length > 20]).toEqual([refused.json?.message, true]);
    }
    const elsewhere = await client.call(path, body(), { headers: { 'Idempotency-Key': key } });
    expect([elsewhere.status, elsewhere.json?.code]).toEqual([409, 'TRIGGER_KEY_REUSED']);
  }
  const long = await client.call(path, body(), { headers: { 'Idempotency-Key': 'k'.repeat(256) } });
  expect([long.status, long.json?.message]).toEqual([
    400,
    expect.stringMatching(/^Idempotency-Key: expected 1 to 255/),
  ]);
  // Two workflows do not share keys, and one record has one run of each.
  const { path: second } = await client.hook();
  expect((await client.call(second, body(), { headers: { 'Idempotency-Key': 'k' } })).status).toBe(202);
});

test('{webhook_url}, authority | only POST and the whole URL; a token is required for every method that is served', async () => {
  const { path } = await client.hook();
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const { status, headers } = await client.call(path, body(), { method });
    expect([method, status, headers.get('allow'), headers.get('cache-control')]).toEqual([method, 405, 'POST', 'no-store']); // biome-ignore format: short
  }
  const signed = path.split('/').at(-1)!;
  const flip = (at: number) => signed.slice(0, at) + (signed[at] === 'A' ? 'B' : 'A') + signed.slice(at + 1);
  for (const wrong of [
    signed.slice(1),
    signed.slice(0, -1),
    `${signed}A`,
    `A${signed}`,
    `${signed}/`,
    `${signed}/x`,
    `x/${signed}`,
    flip(0),
    flip(signed.length >> 1),
    signed.toUpperCase(),
    `%20${signed}`,
    '',
  ]) {
    // biome-ignore format: short
    const { status, json } = await client.call(path.replace(signed, wrong), body());
    expect([wrong, status, json?.code]).toEqual([wrong, 400, 'INVALID_WEBHOOK_ADDRESS']);
  }
  for (const authorization of [
    '',
    'Bearer',
    'Basic eDp5',
    client.secret,
    `Bearer ${client.secret}x`,
    `Token ${client.secret}`,
  ]) {
    // biome-ignore format: short
    const { status, headers } = await client.call(path, body(), { headers: { Authorization: authorization } });
    expect([authorization, status]).toEqual([authorization, 401]);
    expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="public api"/);
  }
  for (const scheme of ['bearer', 'BEARER', 'Bearer  '])
    expect([scheme, (await client.call(path, body(), { headers: { Authorization: `${scheme} ${client.secret}` } })).status]).toEqual([scheme, 202]); // biome-ignore format: short
  expect((await client.call(path.replace('/v1/', '/V1/'), body())).status).toBe(404);
});

test("latest, the token's user | a disabled trigger is 404, and starts runs again when it is enabled, at the same URL", async () => {
  const { id, path } = await client.hook();
  const told = async () => {
    const { status, json } = await client.call(path, body());
    return [status, json?.code ?? 'started'];
  };
  const seen = [await told()];
  await client.change(id, { enabled: false });
  seen.push(await told());
  await client.change(id, { enabled: true });
  seen.push(await told());
  expect([seen, await client.pathOf(id)]).toEqual([[[202, 'started'], [404, 'UNKNOWN_WEBHOOK'], [202, 'started']], path]); // biome-ignore format: short
});
