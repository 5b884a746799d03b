// What must be true of runs whatever dies: none is lost, no change is made twice, what nobody can know waits for a person, and
// no record is held by a run that nobody holds. The same at two sizes: a sample with every run of the tests, the whole in the long ones.
import { expect } from 'vitest';
import type { Run } from '../../src/store/workflows/types.ts';
import type { TestServer } from '../databases.ts';
import { type Changing, type Field, fourSteps, openField, type Worker } from './field.ts';
import type { OwnRedis } from './own-redis.ts';

export interface Faults {
  readonly kills: number;
  readonly seed: number;
  /** With it a second worker lives on while one after the other dies, and Redis is emptied now and then. */
  readonly redis?: OwnRedis;
}

export interface FaultsSeen {
  readonly runs: number;
  readonly kills: number;
  /** How many of the kills left a step of which nobody knew whether it was done; and what was answered. */
  readonly uncertain: number;
  readonly done: number;
  readonly again: number;
  readonly flushes: number;
}

const EACH = 4;
/** About as many points as the runs of a round pass. */
const POINTS = 13 * EACH;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
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

/** Until it has killed itself, or has no more to do: then it is killed where it idles. */
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

/** As if the half minute had passed in which the lease of the dead goes on; what lives renews its own. */
async function endLeases(field: Field, survivor: Worker | undefined): Promise<void> {
  const owners = (await field
    .tables('workflow_runs')
    .where({ state: 'running' })
    .distinct('owner')
    .pluck('owner')) as string[];
  // What was under way in the database when its client died is over.
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

/** Answers what is uncertain as it really happened. */
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

/** Nothing is lost, nothing was done twice, and no record is held. */
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
