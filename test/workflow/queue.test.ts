// Runs queued in Redis: each is executed at once, even if Redis fails. Each test has its
// own Redis and a real storage. The test's worker claims the runs there and ends them.
import { afterEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import type { Workflow } from '../../src/store/workflows/types.ts';
import { createRunQueue, type RunQueue } from '../../src/workflows/runs/queue.ts';
import { cleanUpAfterEach, createPlace, openPair, type Variant, variants } from '../store/stores.ts';
import { hasRedisServer, makeRedis, type OwnRedis } from './own-redis.ts';

/** Shortens intervals to a tenth. */
const quick: Clock = { ...systemClock, after: (ms, run) => systemClock.after(ms / 10, run) };
const waitFor = (check: () => unknown) => expect.poll(check, { timeout: 20_000, interval: 20 });

let redis: OwnRedis;
const queues: RunQueue[] = [];
afterEach(async () => {
  for (const queue of queues.splice(0)) await queue.close(0);
  await redis?.kill();
});
cleanUpAfterEach();

/** Prefers a database that several processes can open at once. */
const variant: Variant = variants.find(({ server }) => server.dialect === 'mariadb') ?? variants[0]!;

async function open() {
  redis = await makeRedis();
  const [store, other] = await openPair(await createPlace(variant), variant);
  const { id: userId } = await store.identity.addUser({ email: 'ada@b.example' });
  const { renderingId } = (await store.permissions.caller(userId))!;
  let made = 0;
  const publish = (concurrency: number | null = null): Promise<Workflow> =>
    store.workflows.publish({
      renderingId,
      name: `flow ${++made}`,
      collection: 'orders',
      definition: '{}',
      concurrency,
      by: userId,
    });
  const start = async (workflow: Workflow, recordId: string): Promise<string> => {
    const created = await store.runs.create({ workflow, recordId, userId, origin: 'webhook', originName: 'ci' });
    return created.state === 'created' ? created.runId : expect.fail(created.state);
  };
  return { store, other, publish, start };
}

interface Works {
  readonly queue: RunQueue;
  /** The runs executed by this queue, in order. */
  readonly worked: string[];
  readonly warnings: string[];
  /** The highest number of concurrent runs. */
  most: number;
}

function makeQueue(store: OpenedStore, more: { readonly hold?: Promise<void> } = {}): Works {
  const worked: string[] = [];
  const warnings: string[] = [];
  let now = 0;
  const queue = createRunQueue({
    url: redis.url,
    name: async () => 'test',
    runs: store.runs,
    clock: quick,
    observe: (one) => one.type === 'warning' && warnings.push(one.message),
    maxConcurrent: 4,
    async execute(id) {
      const [claim] = await store.runs.claim({ owner: 'test', leaseMs: 60_000, limit: 1, ids: [id] });
      if (!claim) return;
      works.most = Math.max(works.most, ++now);
      await more.hold;
      await new Promise((resolve) => setTimeout(resolve, 5));
      now--;
      worked.push(id);
      await store.runs.finish(claim, { stepId: 's', state: 'done', outcome: {}, next: null });
    },
  });
  const works: Works = { queue, worked, warnings, most: 0 };
  queues.push(queue);
  queue.start();
  return works;
}

describe.skipIf(!hasRedisServer)('runs queued in Redis', { timeout: 60_000 }, () => {
  test('runs started in one process are executed in both, each once, and leave nothing in Redis', async () => {
    const { store, other, publish, start } = await open();
    await redis.start();
    let go = (): void => undefined;
    const hold = new Promise<void>((resolve) => {
      go = resolve;
    });
    const [a, b] = [makeQueue(store, { hold }), makeQueue(other, { hold })];
    await waitFor(() => a.queue.isConnected() && b.queue.isConnected()).toBe(true);
    const workflow = await publish();
    const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => start(workflow, `${n}`)));
    for (const id of ids) a.queue.nudge(id);
    // Both queues are full, so the faster one cannot execute all runs.
    await waitFor(async () => (await store.runs.list({ state: 'running', limit: 50 })).length).toBe(8);
    go();
    await waitFor(() => a.worked.length + b.worked.length).toBe(60);
    expect([...a.worked, ...b.worked].sort()).toEqual([...ids].sort());
    expect([a.worked.length > 0, b.worked.length > 0, a.most <= 4, b.most <= 4]).toEqual([true, true, true, true]);
    await waitFor(async () => (await redis.keys('*')).filter((key) => ids.some((id) => key.includes(id)))).toEqual([]);
    expect((await redis.keys('*')).filter((key) => !key.startsWith('portico-test:'))).toEqual([]);
    expect([a.warnings, b.warnings]).toEqual([[], []]);
  });

  test('runs that Redis never received or lost are found', async () => {
    const { store, other, publish, start } = await open();
    await redis.start();
    let go = (): void => undefined;
    const hold = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { queue, worked } = makeQueue(store, { hold });
    await waitFor(() => queue.isConnected()).toBe(true);
    const workflow = await publish();
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => start(workflow, `${n}`)));
    for (const id of ids.slice(0, 10)) queue.nudge(id);
    // Four runs are being executed, and six wait in Redis.
    await waitFor(async () => (await store.runs.list({ state: 'running', limit: 50 })).length).toBe(4);
    await redis.flush();
    go();
    await waitFor(() => worked.length).toBe(20);
    expect(new Set(worked).size).toBe(20);
    await waitFor(async () => (await other.runs.list({ state: 'succeeded', limit: 50 })).length).toBe(20);
  });

  test('Redis that starts, stops and starts again is used while it runs, and each outage is logged once', async () => {
    const { store, publish, start } = await open();
    const { queue, worked, warnings } = makeQueue(store);
    const workflow = await publish();
    await waitFor(() => warnings.length).toBe(1);
    expect(queue.isConnected()).toBe(false);
    queue.nudge(await start(workflow, '1'));
    await redis.start();
    await waitFor(() => worked.length).toBe(1);
    expect(queue.isConnected()).toBe(true);
    await redis.kill();
    await waitFor(() => queue.isConnected()).toBe(false);
    const away = await start(workflow, '2');
    queue.nudge(away);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(worked).toHaveLength(1);
    await redis.start();
    await waitFor(() => worked.at(-1)).toBe(away);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^SERVICE_REDIS_URL: Redis cannot queue workflow runs\. Redis at host 127\.0\.0\.1, port \d+: nothing listens there/,
      ),
      expect.stringContaining('Redis cannot queue workflow runs'),
    ]);
  });

  test('the concurrency limit of a workflow applies, and the held back runs follow', async () => {
    const { store, other, publish, start } = await open();
    await redis.start();
    const [a, b] = [makeQueue(store), makeQueue(other)];
    await waitFor(() => a.queue.isConnected() && b.queue.isConnected()).toBe(true);
    const workflow = await publish(2);
    const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => start(workflow, `${n}`)));
    for (const id of ids) a.queue.nudge(id);
    const most: number[] = [];
    await waitFor(async () => {
      most.push((await store.runs.list({ workflowId: workflow.id, state: 'running', limit: 50 })).length);
      return a.worked.length + b.worked.length;
    }).toBe(8);
    expect(Math.max(...most)).toBeLessThanOrEqual(2);
    expect([...a.worked, ...b.worked].sort()).toEqual([...ids].sort());
  });

  test('a process that stops finishes its active runs, and claims no more', async () => {
    const { store, other, publish, start } = await open();
    await redis.start();
    let go = (): void => undefined;
    const hold = new Promise<void>((resolve) => {
      go = resolve;
    });
    const ends = makeQueue(store, { hold });
    await waitFor(() => ends.queue.isConnected()).toBe(true);
    const workflow = await publish();
    const ids = await Promise.all(Array.from({ length: 6 }, (_, n) => start(workflow, `${n}`)));
    for (const id of ids) ends.queue.nudge(id);
    await waitFor(async () => (await store.runs.list({ state: 'running', limit: 50 })).length).toBe(4);
    ends.queue.pause();
    const closed = ends.queue.close(600_000);
    go();
    await closed;
    expect([ends.worked.length, ends.queue.isConnected()]).toEqual([4, false]);
    const next = makeQueue(other);
    await waitFor(() => next.worked.length).toBe(2);
    expect([...ends.worked, ...next.worked].sort()).toEqual([...ids].sort());
  });
});
