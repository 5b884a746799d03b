import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { notesPath } from '../api/ways.ts';
import { openWebhookClient, type WebhookClient } from '../api/webhook-client.ts';

let ways: WebhookClient;
beforeAll(async () => {
  ways = await openWebhookClient({ env: { SERVICE_API_PER_MINUTE: '20' } });
});
afterAll(() => ways?.stop());

async function makeNotes(secret: string) {
  const headers = { 'Content-Type': 'application/json' };
  for (let note = 0; note < 11; note++) {
    const body = JSON.stringify({ title: `Note ${note}`, collectionName: 'orders', recordId: '1' });
    expect((await ways.ask(notesPath, { secret, method: 'POST', body, headers })).status).toBe(201);
  }
}

test('limit query parameter | notes listing | integer 1 to 100, default 10', async () => {
  const { secret } = await ways.make(['all']);
  await makeNotes(secret);
  const counted = async (query: string) => {
    const { status, json } = await ways.ask(`${notesPath}${query}`, { secret: reader });
    const parameters = json?.parameters as { readonly limit: number } | undefined;
    return [status, (json?.data as unknown[] | undefined)?.length, parameters?.limit];
  };
  const { secret: reader } = await ways.make(['notes:read']);
  const sent = ['', '?limit=1', '?limit=100', '?limit=0', '?limit=101', '?limit=1.5', '?limit=x', '?limit='];
  const answers = [];
  for (const query of sent) answers.push(await counted(query));
  const refused = [400, undefined, undefined];
  expect(answers).toEqual([[200, 10, 10], [200, 1, 1], [200, 11, 100], ...Array.from({ length: 5 }, () => refused)]);
});

test('webhook rate | each webhook separately | about 60 requests per minute; excess gives 429 with Retry-After', async () => {
  const [one, other] = [await ways.hook(), await ways.hook()];
  const statuses: number[] = [];
  for (let call = 0; call < 60; call++) statuses.push((await ways.call(one.path, { record_id: `${call}` })).status);
  const over = await ways.call(one.path, { record_id: '60' });
  expect([new Set(statuses), over.status, Number(over.headers.get('retry-after')) > 0]).toEqual([
    new Set([202]),
    429,
    true,
  ]);
  // This limit is separate from the limit of the public API.
  expect((await ways.call(other.path)).status).toBe(202);
});

test('webhook rate | configurable', async () => {
  const few = await openWebhookClient({ env: { SERVICE_WEBHOOK_PER_MINUTE: '2' } });
  onTestFinished(() => few.stop());
  const { id, path } = await few.hook();
  const statuses = [];
  for (const record_id of ['1', '2', '3']) statuses.push((await few.call(path, { record_id })).status);
  // The limit belongs to the webhook, not to the token or the current URL.
  const { secret } = await few.make(['all']);
  statuses.push((await few.call(path, { record_id: '4' }, { secret })).status);
  await few.change(id, { regenerate: true });
  statuses.push((await few.call(await few.pathOf(id), { record_id: '5' })).status);
  expect(statuses).toEqual([202, 202, 429, 429, 429]);
});

test('active runs | per workflow and record | one; further calls get 409', async () => {
  const [{ path }, other] = [await ways.hook(), await ways.hook()];
  const calls = await Promise.all(Array.from({ length: 12 }, () => ways.call(path)));
  expect(calls.map(({ status }) => status).sort()).toEqual([202, ...Array<number>(11).fill(409)]);
  // Another record, and the same record in another workflow.
  const beside = [await ways.call(path, { record_id: 'other' }), await ways.call(other.path)];
  expect([...beside, await ways.call(path, { record_id: 'other' })].map(({ status }) => status)).toEqual([
    202, 202, 409,
  ]);
});

test('public API rate | per token | enforced; 429 with Retry-After; responses carry the header X-RateLimit-Remaining', async () => {
  const [one, other] = [await ways.make(['notes:read']), await ways.make(['notes:read'])];
  const left = [];
  for (let call = 0; call < 21; call++) {
    const { status, headers } = await ways.ask(call % 2 ? notesPath : '/v1/token', { secret: one.secret });
    left.push([status, headers.get('x-ratelimit-remaining'), headers.has('retry-after')]);
  }
  const expected = Array.from({ length: 20 }, (_, call) => [200, `${19 - call}`, false]);
  expect(left).toEqual([...expected, [429, '0', true]]);
  const { headers } = await ways.ask(notesPath, { secret: one.secret });
  const wait = Number(headers.get('retry-after'));
  const reset = Number(headers.get('x-ratelimit-reset')) - Date.now() / 1000;
  expect([headers.get('x-ratelimit-limit'), wait > 0 && wait <= 60, reset > 0 && reset <= 61]).toEqual([
    '20',
    true,
    true,
  ]);
  // Another token of the same user.
  expect((await ways.ask(notesPath, { secret: other.secret })).headers.get('x-ratelimit-remaining')).toBe('19');
});

test('active runs, limit query parameter | by the exact record id; separate for each team; as many notes as requested', async () => {
  const { path } = await ways.hook();
  const statuses = [];
  for (const record_id of ['1', '10', '01', '1', '1 ', '10']) statuses.push((await ways.call(path, { record_id })).status);
  expect(statuses).toEqual([202, 202, 202, 409, 202, 409]);
  const { secret } = await ways.make(['all']);
  const counted = [];
  for (const limit of [2, 7, 10]) {
    const { json } = await ways.ask(`${notesPath}?limit=${limit}`, { secret });
    counted.push([((json?.data ?? []) as unknown[]).length, json?.hasMore]);
  }
  expect(counted).toEqual([[2, true], [7, true], [10, true]]);
}); // biome-ignore format: short
