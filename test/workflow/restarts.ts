// Invariants of runs after restarts of their databases: the storage, the served
// database, or both are killed or stopped in the middle of the work, and started again.
// The checks are those of faults.ts. In addition, the same workers recover without help.
import { expect } from 'vitest';
import type { TestServer } from '../databases.ts';
import { answer, judge, pause, randomOf, unfinished } from './faults.ts';
import { type Field, fourSteps, openField, type Worker } from './field.ts';
import type { OwnServer } from './own-databases.ts';
import type { OwnRedis } from './own-redis.ts';

export interface Restarts {
  /** The databases on the restarted server; the others are on a server that keeps running. */
  readonly holds: 'both' | 'storage' | 'served';
  readonly restarts: number;
  readonly workers: number;
  readonly seed: number;
  readonly redis?: OwnRedis;
}

export interface RestartsSeen {
  readonly runs: number;
  readonly killed: number;
  readonly stopped: number;
  /** Steps with an unknown outcome. `done` and `again` count the answers. */
  readonly uncertain: number;
  readonly done: number;
  readonly again: number;
  /** Seconds from the last start of the database to the end of the last run. */
  readonly seconds: number;
  /** The distinct warnings of the workers. */
  readonly warnings: readonly string[];
}

const EACH = 8;
/** The longest wait for the end of a round. Runs with a lease may continue after it. */
const ROUND_MS = 10_000;
/** Workers poll every second. Every five seconds they queue runs that Redis does not know. */
const LOOKED_MS = 6000;
/** The longest downtime, in addition to the start of the server. */
const AWAY_MS = 1500;
/** The longest period of dropped responses before the kill. */
const UNHEARD_MS = 100;
/** Includes leases of half a minute after a failure. */
const MOST_MS = 90_000;

export async function proveRestarts(
  own: OwnServer,
  stays: TestServer,
  { holds, restarts, workers: count, seed, redis }: Restarts,
): Promise<RestartsSeen> {
  const random = randomOf(seed);
  const seen = { runs: 0, killed: 0, stopped: 0, uncertain: 0, done: 0, again: 0 };
  await own.start();
  const field = await openField(holds === 'served' ? stays : own, holds === 'storage' ? stays : own);
  try {
    const workflow = await field.publish(fourSteps);
    const env: Readonly<Record<string, string>> = redis ? { SERVICE_REDIS_URL: redis.url } : {};
    const workers: Worker[] = [];
    for (let at = 0; at < count; at++) workers.push(await field.worker(env));
    for (const worker of workers) worker.order({ go: true });
    const all: string[] = [];
    const begin = async () => {
      for (const order of await field.orders(EACH)) all.push(await field.start(workflow, order));
      await begun(field);
    };
    // A first round without a failure measures how long a round takes.
    await begin();
    const from = performance.now();
    await settle(field, seen);
    const took = performance.now() - from;
    while (seen.killed + seen.stopped < restarts) {
      await begin();
      await pause(random() * took);
      const kills = random() < 0.7;
      await (kills ? own.kill({ ms: random() * UNHEARD_MS, from: random() < 0.5 ? 'commit' : 'now' }) : own.stop());
      seen[kills ? 'killed' : 'stopped']++;
      await pause(random() ** 2 * AWAY_MS);
      await own.start();
      await settle(field, seen);
    }
    const back = performance.now();
    await expect
      .poll(
        async () => {
          await answer(field, seen);
          return (await unfinished(field)).map(({ state, reason, failure }) => ({ state, reason, failure }));
        },
        { timeout: MOST_MS, interval: 100 },
      )
      .toEqual([]);
    const seconds = (performance.now() - back) / 1000;
    seen.runs = all.length;
    await judge(field, all);
    for (const one of workers) one.order({ stop: true });
    for (const one of workers) expect(await one.gone).toEqual([0, null]);
    return { ...seen, seconds, warnings: [...new Set(workers.flatMap(({ warnings }) => warnings))] };
  } finally {
    await field.close();
  }
}

/** Waits until a run is being executed. */
async function begun(field: Field): Promise<void> {
  for (const until = performance.now() + LOOKED_MS; performance.now() < until; ) {
    if (await field.tables('workflow_runs').where({ state: 'running' }).first('id')) return;
    await pause(5);
  }
}

/** Waits until all runs have ended, at most `ROUND_MS`, as some may wait for a lease. */
async function settle(field: Field, seen: { uncertain: number; done: number; again: number }): Promise<void> {
  for (const until = performance.now() + ROUND_MS; performance.now() < until; ) {
    await answer(field, seen);
    if ((await unfinished(field)).length === 0) return;
    await pause(20);
  }
}
