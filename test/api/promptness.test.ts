// A run that ends starts its callback and the next run of a workflow with a concurrency of one, without waiting for the
// next sweep. Sweeps do not run here. With the storage only, and with Redis.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { hasRedisServer, makeRedis, type OwnRedis } from '../workflow/own-redis.ts';
import { until } from '../workflow/remote/server.ts';
import { openWebhookClient, runsPath, type WebhookClient, type WebhookTarget } from './webhook-client.ts';

const quick = { collection: 'orders', steps: [{ id: 'look', type: 'read-record', fields: ['id'] }] };

/** Sweeps are every 5 seconds. */
const withoutSweeps: Clock = {
  ...systemClock,
  after: (ms, run) => (ms >= 5000 ? () => {} : systemClock.after(ms, run)),
};

describe.each(['storage', 'redis'])('with %s as the notification channel', (carrier) => {
  const told: string[] = [];
  const receiver = createServer((req, res) => {
    told.push(`${req.headers['webhook-id']}`);
    req.resume();
    res.writeHead(204).end();
  });
  let redis: OwnRedis | undefined;
  let client: WebhookClient;
  let callbackUrl: string;
  const skip = carrier === 'redis' && !hasRedisServer;
  beforeAll(async () => {
    if (skip) return;
    if (carrier === 'redis') {
      redis = await makeRedis();
      await redis.start();
    }
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/told`;
    client = await openWebhookClient({
      app: { clock: withoutSweeps },
      env: { SERVICE_WEBHOOK_HOSTS: '127.0.0.1', ...(redis && { SERVICE_REDIS_URL: redis.url }) },
    });
  });
  afterAll(async () => {
    await client?.stop();
    await redis?.kill();
    receiver.closeAllConnections();
    receiver.close();
  });

  async function hook(more: object = {}): Promise<WebhookTarget> {
    const hooked = await client.hook({ ...quick, ...more });
    await client.change(hooked.id, { callbackUrl });
    return hooked;
  }
  /** Starts runs and waits for the callbacks of these and of the queued ones. */
  async function ended(path: string, records: readonly string[], all = records.length): Promise<void> {
    const before = told.length;
    const answers = await Promise.all(records.map((id) => client.call(path, { record_id: id })));
    const ids = answers.map(({ json }) => `${json?.runId}`);
    await until(() => told.length - before >= all);
    expect(told.slice(before)).toEqual(expect.arrayContaining(ids));
  }

  test.skipIf(skip)('a callback is sent as soon as the run ends, fails or is cancelled', async () => {
    await ended((await hook()).path, ['1']);
    const steps = [{ id: 'call', type: 'mcp', server: 'none', tool: 'none', mode: 'automatic' }];
    await ended((await hook({ steps })).path, ['1']);
    const { id, path } = await client.hook();
    await client.change(id, { callbackUrl });
    const runId = `${(await client.call(path)).json?.runId}`;
    await expect
      .poll(async () => (await client.store.runs.find(runId))?.state, { interval: 20 })
      .toBe('awaiting-input');
    await client.ask(`${runsPath}/${runId}/cancel`, { secret: client.secret, method: 'POST' });
    await until(() => told.at(-1) === runId);
  });

  test.skipIf(skip)('ten queued runs with a concurrency of one follow each other without a sweep', async () => {
    const { id, path } = await hook({ concurrency: 1 });
    const workflow = (await client.store.workflows.find(id))!;
    const { id: userId } = (await client.store.identity.findUserByEmail(client.account.email))!;
    // The server is not notified of these runs. It finds them together and holds back all but one.
    for (let n = 1; n < 10; n++) {
      await client.store.runs.create({ workflow, recordId: `${n}`, userId, origin: 'webhook', originName: 'ci' });
    }
    await ended(path, ['10'], 10);
    const runs = await client.store.runs.list({ workflowId: id, state: 'succeeded', limit: 20 });
    expect(runs).toHaveLength(10);
  });
});
