// Distributes runs with Redis. BullMQ assigns each due run to one process immediately; polling the storage takes up to
// a second. A job is only a hint: the worker claims the run in the storage first. Duplicate, late or lost jobs are
// therefore harmless. A periodic sweep adds jobs that are missing in Redis. While Redis is unavailable, `carries`
// returns false and the executor polls the storage. One warning is logged per outage.
import type { Clock } from '../../core/clock.ts';
import { explainRedis } from '../../core/errors/connection.ts';
import type { Observe } from '../../core/observe.ts';
import type { DueWish, Runs } from '../../store/workflows/types.ts';
import { type CarriedRuns, carryRuns } from './queue-redis.ts';

export interface RunQueueParts {
  /** URL of Redis. */
  readonly url: string;
  /** Name of the installation and its environment, for separate queues on a shared Redis. Letters, digits, hyphens. */
  readonly name: () => Promise<string>;
  readonly runs: Pick<Runs, 'due'>;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Maximum number of concurrent jobs in this process. */
  readonly atOnce: number;
  /** Claims a run and executes it until it ends, waits or is released. Null: this process executes no runs. */
  readonly work: ((runId: string) => Promise<void>) | null;
}

export interface RunQueue {
  /** Whether Redis distributes the runs. If not, executors poll the storage. */
  carries(): boolean;
  /** Starts connecting. */
  start(): void;
  /** Adds a job for a run that is due. */
  nudge(runId: string): void;
  /** Stops fetching jobs. Active jobs continue, and nudged runs go to other processes. */
  pause(): void;
  /** Waits for active jobs, up to `limitMs`, and disconnects from Redis. */
  close(limitMs: number): Promise<void>;
}

const SWEEP_MS = 5000;
/**
 * Delay before the sweep after a run. The end of a run may allow another one of a workflow with a concurrency limit.
 * Equal to the time that the storage delays such a run.
 */
const SOON_MS = 1000;
const SWEPT_AT_ONCE = 500;
/** Delay before reconnecting to Redis. */
const REST_MS = 2000;

export function createRunQueue(parts: RunQueueParts): RunQueue {
  const { runs, clock, observe, work } = parts;
  let carried: CarriedRuns | undefined;
  let connecting: Promise<void> | undefined;
  let state: 'open' | 'paused' | 'closed' = 'open';
  let isTold = false;
  let isSoon = false;
  let nudged = new Set<string>();
  let telling: Promise<void> | undefined;
  let stopTimer = (): void => undefined;

  const after = (ms: number, run: () => Promise<void>): void => {
    stopTimer();
    if (state !== 'closed') stopTimer = clock.after(ms, () => void run());
  };

  const leave = (gone: CarriedRuns | undefined, cause: unknown): void => {
    // Several connections and commands may fail in one outage, which is handled once.
    if (state === 'closed' || gone !== carried) return;
    carried = undefined;
    void gone?.end(0);
    if (!isTold) {
      const message = `SERVICE_REDIS_URL: Redis does not carry the runs of workflows. ${explainRedis(cause, parts.url)} They are looked for in the storage until it does.`;
      observe({ type: 'warning', message });
    }
    isTold = true;
    after(REST_MS, connect);
  };

  const handle = async (id: string): Promise<void> => {
    // A job skipped during shutdown is found by another process's sweep.
    if (state !== 'open') return;
    await work?.(id);
    soon();
  };

  const connect = async (): Promise<void> => {
    connecting ??= (async () => {
      try {
        const name = await parts.name();
        const opened = await carryRuns({
          ...parts,
          name,
          handle: work && handle,
          onEnd: (cause) => leave(opened, cause),
        });
        if (state !== 'open') return await opened.end(0);
        carried = opened;
        isTold = false;
      } catch (cause) {
        leave(carried, cause);
      }
    })().finally(() => {
      connecting = undefined;
    });
    await connecting;
    if (carried) await sweep();
  };

  /** Returns true when the limit was reached. */
  const put = async (to: CarriedRuns, wish: DueWish): Promise<boolean> => {
    let due: Awaited<ReturnType<Runs['due']>>;
    try {
      due = await runs.due(wish);
    } catch (cause) {
      observe({ type: 'warning', message: 'The storage could not be asked which runs of workflows are due', cause });
      return false;
    }
    try {
      if (due.length > 0) await to.add(due);
    } catch (cause) {
      leave(to, cause);
    }
    return due.length === wish.limit;
  };

  const sweep = async (): Promise<void> => {
    const to = carried;
    if (!to) return;
    isSoon = false;
    const isFull = await put(to, { limit: SWEPT_AT_ONCE });
    if (to !== carried || isSoon) return;
    if (isFull) soon();
    else after(SWEEP_MS, sweep);
  };

  const soon = (): void => {
    if (isSoon || !carried) return;
    isSoon = true;
    after(SOON_MS, sweep);
  };

  /** Runs nudged during the query are batched into the next one. */
  const tell = async (to: CarriedRuns): Promise<void> => {
    while (nudged.size > 0 && to === carried) {
      const ids = [...nudged];
      nudged = new Set();
      await put(to, { limit: ids.length, ids });
    }
  };

  return {
    carries: () => carried !== undefined && state === 'open',
    start: () => void connect(),
    nudge(runId) {
      if (!carried || state === 'closed') return;
      nudged.add(runId);
      telling ??= tell(carried).finally(() => {
        telling = undefined;
      });
    },
    pause() {
      if (state === 'open') state = 'paused';
      carried?.pause();
    },
    async close(limitMs) {
      await telling;
      state = 'closed';
      stopTimer();
      await connecting;
      await carried?.end(limitMs);
      carried = undefined;
    },
  };
}
