// Distributes runs with Redis. BullMQ assigns each due run to one process immediately; polling the storage takes up to
// a second. A job is only a hint: the worker claims the run in the storage first. Duplicate, late or lost jobs are
// therefore harmless. A periodic sweep adds jobs that are missing in Redis. While Redis is unavailable, `isConnected`
// returns false and the executor polls the storage. One warning is logged per outage.
import type { Clock } from '../../core/clock.ts';
import { explainRedis } from '../../core/errors/connection.ts';
import type { Observe } from '../../core/observe.ts';
import type { DueRequest, Runs } from '../../store/workflows/types.ts';
import { openRedisQueue, type RedisQueue } from './queue-redis.ts';

interface RunQueueParts {
  /** URL of Redis. */
  readonly url: string;
  /** Name of the installation and its environment, for separate queues on a shared Redis. Letters, digits, hyphens. */
  readonly name: () => Promise<string>;
  readonly runs: Pick<Runs, 'due'>;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Maximum number of concurrent jobs in this process. */
  readonly maxConcurrent: number;
  /** Claims a run and executes it until it ends, waits or is released. Null: this process executes no runs. */
  readonly execute: ((runId: string) => Promise<void>) | null;
}

export interface RunQueue {
  /** Whether Redis distributes the runs. If not, executors poll the storage. */
  isConnected(): boolean;
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
const SWEEP_DELAY_MS = 1000;
const SWEEP_LIMIT = 500;
/** Delay before reconnecting to Redis. */
const RECONNECT_MS = 2000;

export function createRunQueue(parts: RunQueueParts): RunQueue {
  const { clock, observe, execute } = parts;
  let connection: RedisQueue | undefined;
  let connecting: Promise<void> | undefined;
  let state: 'open' | 'paused' | 'closed' = 'open';
  let isReported = false;
  let isSweepScheduled = false;
  let pendingIds = new Set<string>();
  let flushing: Promise<void> | undefined;
  let stopTimer = (): void => undefined;

  const after = (ms: number, run: () => Promise<void>): void => {
    stopTimer();
    if (state !== 'closed') stopTimer = clock.after(ms, () => void run());
  };

  const disconnect = (failed: RedisQueue | undefined, cause: unknown): void => {
    // Several connections and commands may fail in one outage, which is handled once.
    if (state === 'closed' || failed !== connection) return;
    connection = undefined;
    void failed?.end(0);
    if (!isReported) {
      const message = `SERVICE_REDIS_URL: Redis cannot queue workflow runs. ${explainRedis(cause, parts.url)} Until it can, the storage is polled for runs.`;
      observe({ type: 'warning', message });
    }
    isReported = true;
    after(RECONNECT_MS, connect);
  };

  const handle = async (id: string): Promise<void> => {
    // A job skipped during shutdown is found by another process's sweep.
    if (state !== 'open') return;
    await execute?.(id);
    scheduleSweep();
  };

  const connect = async (): Promise<void> => {
    connecting ??= (async () => {
      try {
        const name = await parts.name();
        const opened = await openRedisQueue({
          ...parts,
          name,
          handle: execute && handle,
          onEnd: (cause) => disconnect(opened, cause),
        });
        if (state !== 'open') return await opened.end(0);
        connection = opened;
        isReported = false;
      } catch (cause) {
        disconnect(connection, cause);
      }
    })().finally(() => {
      connecting = undefined;
    });
    await connecting;
    if (connection) await sweep();
  };

  /** Returns true when the limit was reached. */
  const addDue = async (target: RedisQueue, request: DueRequest): Promise<boolean> => {
    const due = await findDue(parts, request);
    if (!due) return false;
    try {
      if (due.length > 0) await target.add(due);
    } catch (cause) {
      disconnect(target, cause);
    }
    return due.length === request.limit;
  };

  const sweep = async (): Promise<void> => {
    const target = connection;
    if (!target) return;
    isSweepScheduled = false;
    const isLimitReached = await addDue(target, { limit: SWEEP_LIMIT });
    if (target !== connection || isSweepScheduled) return;
    if (isLimitReached) scheduleSweep();
    else after(SWEEP_MS, sweep);
  };

  const scheduleSweep = (): void => {
    if (isSweepScheduled || !connection) return;
    isSweepScheduled = true;
    after(SWEEP_DELAY_MS, sweep);
  };

  /** Runs nudged during the query are batched into the next one. */
  const flush = async (target: RedisQueue): Promise<void> => {
    while (pendingIds.size > 0 && target === connection) {
      const ids = [...pendingIds];
      pendingIds = new Set();
      await addDue(target, { limit: ids.length, ids });
    }
  };

  return {
    isConnected: () => connection !== undefined && state === 'open',
    start: () => void connect(),
    nudge(runId) {
      if (!connection || state === 'closed') return;
      pendingIds.add(runId);
      flushing ??= flush(connection).finally(() => {
        flushing = undefined;
      });
    },
    pause() {
      if (state === 'open') state = 'paused';
      connection?.pause();
    },
    async close(limitMs) {
      await flushing;
      state = 'closed';
      stopTimer();
      await connecting;
      await connection?.end(limitMs);
      connection = undefined;
    },
  };
}

/** Undefined, with a warning, if the storage fails. */
async function findDue({ runs, observe }: RunQueueParts, request: DueRequest) {
  try {
    return await runs.due(request);
  } catch (cause) {
    observe({ type: 'warning', message: 'Failed to read the due workflow runs from the storage', cause });
    return undefined;
  }
}
