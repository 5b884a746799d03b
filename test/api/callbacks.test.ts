// Callbacks of runs that a webhook started: signed requests to a local receiver, and retries after a failure.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stop } from '../../src/core/clock/stop.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import type { Observation } from '../../src/core/observe.ts';
import { createWebhookSender } from '../../src/mcp/webhook.ts';
import { createCallbacks } from '../../src/workflows/triggers/callbacks.ts';
import { read } from '../console/console-server.ts';
import { createBrowser } from '../oauth/flow.ts';
import { openWebhookClient, runsPath, type WebhookClient } from './webhook-client.ts';

interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

const received: Received[] = [];
let answer = 204;
let client: WebhookClient;
/** The clock stops here; only `late` advances it. */
const from = Date.now();
let late = 0;
const observed: Observation[] = [];
const receiver = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    received.push({ headers: req.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
    res.writeHead(answer).end();
  });
});
let target: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/told?secret=1`;
  // The test delivers due callbacks itself and does not depend on real time. The storage uses the same clock.
  client = await openWebhookClient({
    env: { SERVICE_WORKFLOWS: 'false', SERVICE_WEBHOOK_HOSTS: '127.0.0.1' },
    app: { clock: { ...systemClock, now: () => from + late } },
  });
});
afterAll(async () => {
  await client?.stop();
  receiver.closeAllConnections();
  receiver.close();
});

/** The same wiring as in server/workflows/triggers.ts; `hosts` lists the allowed hosts of the private network. */
function callbacks(hosts = '127.0.0.1') {
  const clock = { ...systemClock, now: () => from + late };
  const observe = (one: Observation) => void observed.push(one);
  const config = loadConfig({ env: { SERVICE_WEBHOOK_HOSTS: hosts } });
  const send = createWebhookSender({ config, clock, observe });
  return createCallbacks({
    ...{ store: client.store, clock, observe },
    post: (url, headers, body) =>
      send({ type: 'webhook', url, method: 'POST', headers, body, responseHeaders: {} }, new Stop()),
  });
}

async function ended(callbackUrl = target): Promise<{ readonly id: string; readonly runId: string }> {
  const { id, path } = await client.hook();
  expect((await client.change(id, { callbackUrl })).status).toBe(200);
  const runId = String((await client.call(path)).json?.runId);
  const cancelled = await client.ask(`${runsPath}/${runId}/cancel`, { secret: client.secret, method: 'POST' });
  expect(cancelled.json?.state).toBe('cancelled');
  received.length = 0;
  return { id, runId };
}

test('the end of a run sends one callback, signed with the secret of the workflow', async () => {
  answer = 204;
  const { id, runId } = await ended();
  await Promise.all([callbacks().poll(), callbacks().poll()]);
  await callbacks().poll();
  expect(received).toHaveLength(1);
  const [{ headers, body }] = received as [Received];
  const secret = (await client.store.workflows.signingSecret(id))!;
  expect(new Webhook(secret).verify(body, headers)).toEqual({
    type: 'workflow.run.cancelled',
    timestamp: expect.stringMatching(/^\d{4}-/),
    data: { runId, workflowId: id, recordId: '1', state: 'cancelled' },
  });
  expect([headers['webhook-id'], headers['content-type']]).toEqual([runId, 'application/json']);
});

test('a rejected callback is retried with growing delays and the same id, and given up after six attempts', async () => {
  answer = 503;
  const { runId } = await ended();
  const told = [];
  for (const wait of [0, 5, 300, 1800, 7200, 18_000, 400_000]) {
    late += Math.max(0, wait * 1000 - 1);
    await callbacks().poll();
    const early = received.length;
    late += wait > 0 ? 1 : 0;
    await callbacks().poll();
    told.push([early, received.length]);
  }
  expect(told).toEqual([
    [1, 1],
    [1, 2],
    [2, 3],
    [3, 4],
    [4, 5],
    [5, 6],
    [6, 6],
  ]);
  expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([runId]));
  const warnings = observed.flatMap((one) => (one.type === 'warning' ? [one.message] : []));
  expect(warnings.filter((one) => one.includes(runId))).toHaveLength(1);
  expect(warnings.join()).not.toContain('secret=1');
  answer = 204;
});

test('the workflow and run pages show editors a failed callback and the time of the next attempt', async () => {
  answer = 503;
  const { id, runId } = await ended();
  const pages = async (account = client.account) => {
    const browser = createBrowser();
    await browser.press(await browser.open(`${client.consoleUrl}/workflows`), 'sign-in', { ...account });
    const open = async (path: string) => read(await browser.open(`${client.consoleUrl}${path}`));
    return [await open(`/workflows/${id}`), await open(`/runs/${runId}`)];
  };
  const failed = 'not delivered (HTTP 503). Next attempt:';
  for (const page of await pages()) expect(page).not.toContain('not delivered');
  await callbacks().poll();
  for (const page of await pages()) expect(page).toContain(failed);
  const user = await client.addUser({ email: 'callback@example.com', firstName: 'Uma', level: 'user' });
  for (const page of await pages(user)) expect(page).not.toContain('not delivered');
  for (const wait of [5, 300, 1800, 7200, 18_000]) {
    late += wait * 1000;
    await callbacks().poll();
  }
  for (const page of await pages()) expect(page).toContain('not delivered (HTTP 503). It is not sent again.');

  // A private network address is not connected to. The next delivered attempt removes the message.
  const blocked = await ended();
  await callbacks('elsewhere.example').poll();
  const found = async () => (await client.store.runs.find(blocked.runId))?.callbackFailure;
  expect(await found()).toMatchObject({ problem: 'no response, or the address is not public' });
  answer = 204;
  late += 5000;
  await callbacks().poll();
  expect(await found()).toBeNull();
});

test('private network addresses are not called, and an invalid callback URL is refused when it is set', async () => {
  await ended();
  await callbacks('elsewhere.example').poll();
  expect(received).toEqual([]);
  const { id } = await client.hook();
  const statuses = [];
  for (const callbackUrl of [
    'http://example.com/x',
    'ftp://127.0.0.1/',
    ...['https://a:b@example.com/', 'https://a@example.com/', 'https://:b@example.com/'],
    'x',
    'https://e.com/#f',
    `https://e.com/${'x'.repeat(1000)}`,
  ]) {
    statuses.push((await client.change(id, { callbackUrl })).status);
  }
  expect(statuses).toEqual(statuses.map(() => 400));
  const longest = `https://e.com/${'x'.repeat(1000 - 'https://e.com/'.length)}`;
  expect((await client.change(id, { callbackUrl: longest })).status).toBe(200);
  expect((await client.change(id, { callbackUrl: 'https://example.com/told' })).json?.callbackUrl).toBe(
    'https://example.com/told',
  );
  expect((await client.change(id, { callbackUrl: null })).json).not.toHaveProperty('callbackUrl');
});

// CWE-918: the editor gets the error at once; the log would show it only seven hours later.
test.each([
  'https://10.0.0.5/cb',
  'https://192.168.1.1/cb',
  'https://169.254.169.254/latest/meta-data',
  'https://100.64.0.1/cb',
  'https://0x7f.2/cb',
  'https://[::1]/cb',
  'https://[::ffff:10.0.0.5]/cb',
  'https://[fd00::1]/cb',
  'https://localhost/cb',
  'https://localhost./cb',
  'https://db.localhost/cb',
  'https://tickets.internal/cb',
  'https://printer.local/cb',
  'https://intranet/cb',
])('a callback URL that is not public is refused when it is set: %s', async (callbackUrl) => {
  const { id } = await client.hook();
  const { status, json } = await client.change(id, { callbackUrl });
  expect(status).toBe(400);
  expect(json?.message).toBe(
    `callbackUrl: ${new URL(callbackUrl).hostname} is not a public host. Send an https URL of a public host, or have the operator add this host to SERVICE_WEBHOOK_HOSTS.`,
  );
});

test('an allowed host of the private network is accepted, also with a trailing dot', async () => {
  const { id } = await client.hook();
  for (const callbackUrl of ['https://127.0.0.1/cb', 'https://127.0.0.1:8443/cb', 'http://127.0.0.1./cb'])
    expect((await client.change(id, { callbackUrl })).status).toBe(200);
});

test('every 2xx is an answer; a redirect is not followed, and is none', async () => {
  for (const [status, attempts] of [
    [200, 1],
    [202, 1],
    [299, 1],
    [302, 2],
    [400, 2],
  ] as const) {
    answer = status;
    const { runId } = await ended();
    await callbacks().poll();
    late += 5000;
    answer = 204;
    await callbacks().poll();
    const own = received.filter(({ headers }) => headers['webhook-id'] === runId);
    expect([status, own.length]).toEqual([status, attempts]);
  }
});

/** Ends runs as an executor does. */
async function settle(runIds: readonly string[], how: 'succeeded' | 'failed'): Promise<void> {
  const { runs } = client.store;
  const claims = await runs.claim({ owner: 'test', leaseMs: 60_000, limit: runIds.length, ids: runIds });
  expect(claims).toHaveLength(runIds.length);
  for (const claim of claims) {
    if (how === 'failed') await runs.fail(claim, { code: 'RECORD_NOT_FOUND', message: 'secret text' });
    else await runs.finish(claim, { stepId: 'look', state: 'done', outcome: {}, next: null });
  }
}

test('a callback names the state, and of a failure its code but not its message', async () => {
  for (const state of ['succeeded', 'failed'] as const) {
    const { id, path } = await client.hook();
    await client.change(id, { callbackUrl: target });
    const runId = String((await client.call(path)).json?.runId);
    received.length = 0;
    await settle([runId], state);
    await callbacks().poll();
    const code = state === 'failed' ? { code: 'RECORD_NOT_FOUND' } : {};
    const own = received.filter(({ headers }) => headers['webhook-id'] === runId);
    expect(own.map(({ body }) => JSON.parse(body))).toEqual([
      {
        type: `workflow.run.${state}`,
        timestamp: new Date(from + late).toISOString(),
        data: { runId, workflowId: id, recordId: '1', state, ...code },
      },
    ]);
  }
});

test('all runs that ended are reported at once, and only those that a webhook started', async () => {
  const { id, path } = await client.hook();
  await client.change(id, { callbackUrl: target });
  const runIds: string[] = [];
  for (let n = 0; n < 12; n++) runIds.push(String((await client.call(path, { record_id: `${n}` })).json?.runId));
  const workflow = (await client.store.workflows.find(id))!;
  const { id: userId } = (await client.store.identity.findUserByEmail(client.account.email))!;
  const own = { workflow, recordId: 'own', userId, origin: 'mcp', originName: 'an app' } as const;
  const { runId } = (await client.store.runs.create(own)) as { runId: string };
  received.length = 0;
  await settle([...runIds, runId], 'succeeded');
  const sending = callbacks();
  sending.start();
  await sending.poll();
  await sending.stop();
  const told = received
    .map(({ headers }) => `${headers['webhook-id']}`)
    .filter((id) => [...runIds, runId].includes(id));
  expect(told.sort()).toEqual(runIds.toSorted());
});
