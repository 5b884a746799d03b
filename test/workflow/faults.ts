// Invariants of runs after any crash: no run is lost, no change happens twice, uncertain steps wait for
// a person, and no ended run blocks a record. The normal tests run a sample, the long tests everything.
import { expect } from 'vitest';
import type { Run } from '../../src/store/workflows/types.ts';
import type { TestServer } from '../databases.ts';
import { type Changing, type Field, fourSteps, openField, type Worker } from './field.ts';
import type { OwnRedis } from './own-redis.ts';

export interface Faults {
  readonly kills: number;
  readonly seed: number;
  /** If set, a second worker survives while the others die, and Redis is flushed from time to time. */
  readonly redis?: OwnRedis;
}

export interface FaultsSeen {
  readonly runs: number;
  readonly kills: number;
  /** The number of steps with an unknown outcome after a kill. `done` and `again` count the answers. */
  readonly uncertain: number;
  readonly done: number;
  readonly again: number;
  readonly flushes: number;
}

const EACH = 4;
/** The approximate number of points that the runs of a round pass. */
const POINTS = 13 * EACH;

/** Numbers from 0 to 1, deterministic for a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function proveFaults(server: TestServer, { kills, seed, redis }: Faults): Promise<FaultsSeen> {
  const random = randomOf(seed);
  const seen = { runs: 0, kills: 0, uncertain: 0, done: 0, again: 0, flushes: 0 };
  const field = await openField(server);
  const env: Readonly<Record<string, string>> = redis ? { SERVICE_REDIS_URL: redis.url } : {};
  try {
    const workflow = await field.publish(fourSteps);
    const survivor = redis && (await field.worker(env));
    survivor?.order({ go: true });
    const pids = new Set<number>();
    const all: string[] = [];
    let next: Promise<Worker> = field.worker(env);
    while (seen.kills < kills) {
      const ids: string[] = [];
      for (const order of await field.orders(EACH)) ids.push(await field.start(workflow, order));
      all.push(...ids);
      const worker = await next;
      next = field.worker(env);
      next.catch(() => undefined);
      worker.order({ go: true, dieAt: 1 + Math.floor(random() * POINTS) });
      if (redis && random() < 0.3) {
        await redis.flush();
        seen.flushes++;
      }
      await dead(field, worker, ids);
      pids.add(worker.process.pid!);
      seen.kills++;
      await endLeases(field, survivor);
      await answer(field, seen);
    }
    const last = await next;
    last.order({ go: true });
    await expect
      .poll(
        async () => {
          await answer(field, seen);
          return (await unfinished(field)).map(({ state, reason, failure }) => ({ state, reason, failure }));
        },
        { timeout: 120_000, interval: 100 },
      )
      .toEqual([]);
    seen.runs = all.length;
    await judge(field, all);
    for (const one of [last, survivor]) one?.order({ stop: true });
    for (const one of [last, survivor]) if (one) expect(await one.gone).toEqual([0, null]);
    return seen;
  } finally {
    await field.close();
  }
}

/** Waits until the worker has killed itself. Kills an idle worker that has no more work. */
async function dead(field: Field, worker: Worker, ids: readonly string[]): Promise<void> {
  let isGone = false;
  void worker.gone.then(() => {
    isGone = true;
  });
  while (!isGone) {
    const left = (await unfinished(field)).filter(({ id, state }) => ids.includes(id) && state !== 'awaiting-input');
    if (left.length === 0) worker.process.kill('SIGKILL');
    await Promise.race([worker.gone, pause(50)]);
  }
}

export async function unfinished(field: Field): Promise<readonly Run[]> {
  const states = ['queued', 'running', 'awaiting-input'] as const;
  return (await Promise.all(states.map((state) => field.store.runs.list({ state, limit: 100 })))).flat();
}

/** Expires the leases of dead workers, as after half a minute. The survivor keeps its own. */
async function endLeases(field: Field, survivor: Worker | undefined): Promise<void> {
  const owners = (await field
    .tables('workflow_runs')
    .where({ state: 'running' })
    .distinct('owner')
    .pluck('owner')) as string[];
  // Waits for statements that were running when their client died.
  await pause(100);
  const living = survivor?.owner();
  await field
    .tables('workflow_runs')
    .where({ state: 'running' })
    .whereIn(
      'owner',
      owners.filter((owner) => owner !== living),
    )
    .update({ due_at: 1 });
}

/** Answers uncertain steps with what really happened. */
export async function answer(field: Field, seen: { uncertain: number; done: number; again: number }): Promise<void> {
  const waiting = await field.store.runs.list({ state: 'awaiting-input', limit: 100 });
  if (waiting.length === 0) return;
  const effects = await field.effects();
  for (const { id, recordId, reason, stepId, position } of waiting) {
    expect(reason).toBe('uncertain');
    const isDone = (effects.get(recordId)?.[stepId as Changing] ?? 0) > 0;
    const value = { decision: isDone ? 'done' : 'again', values: {} };
    if (!(await field.store.runs.answer(id, { position, by: field.userId, value }))) continue;
    seen.uncertain++;
    seen[isDone ? 'done' : 'again']++;
  }
}

/** Checks that no run is lost, no change happened twice, and no record is blocked. */
export async function judge(field: Field, ids: readonly string[]): Promise<void> {
  const rows = (await field.tables('workflow_runs').select('id', 'state', 'record_id', 'active_key', 'owner')) as {
    id: string;
    state: string;
    record_id: string;
    active_key: string | null;
    owner: string | null;
  }[];
  expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(
    rows.filter(({ state, active_key, owner }) => state !== 'succeeded' || active_key !== null || owner !== null),
  ).toEqual([]);
  const effects = await field.effects();
  const wrong = rows.filter(({ record_id }) => {
    const { change, charge } = effects.get(record_id) ?? { change: 0, charge: 0 };
    return change !== 1 || charge !== 1;
  });
  expect(wrong).toEqual([]);
}
