// One connection of the queue: BullMQ with its own Redis clients. The clients do not reconnect by themselves, since
// BullMQ would wait for pending calls. When a client disconnects, the whole connection ends, and the queue opens
// another.

import type { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../../core/clock.ts';
import { importOptional } from '../../core/config/optional-package.ts';
import type { DueRun } from '../../store/workflows/types.ts';

interface RedisQueueParts {
  readonly url: string;
  readonly name: string;
  readonly clock: Clock;
  readonly maxConcurrent: number;
  /** Never rejects because of Redis. Null: this process only adds jobs. */
  readonly handle: ((runId: string) => Promise<void>) | null;
  /** A connection ended unexpectedly. May be called more than once. */
  readonly onEnd: (cause: unknown) => void;
}

export interface RedisQueue {
  /** Adds one job per claim of a run; adding it again has no effect. */
  add(runs: readonly DueRun[]): Promise<void>;
  /** Stops fetching jobs. */
  pause(): void;
  /** Waits for active jobs, up to `limitMs`. */
  end(limitMs: number): Promise<void>;
}

/** After this time, polling the storage is faster. */
const TIMEOUT_MS = 5000;
/**
 * Redis hands out the job of a dead process again after this time. The sweep is faster: it adds a job for the next
 * claim.
 */
const LOCK_MS = 30_000;

const redisOptions = {
  lazyConnect: true,
  // BullMQ requires null, since its blocking call for jobs has no timeout.
  maxRetriesPerRequest: null,
  connectTimeout: TIMEOUT_MS,
  retryStrategy: () => null,
};

/** Rejects when Redis is unreachable. */
export async function openRedisQueue({
  url,
  name,
  clock,
  maxConcurrent,
  handle,
  onEnd,
}: RedisQueueParts): Promise<RedisQueue> {
  const [{ Redis }, bullmq] = await Promise.all([
    importOptional('ioredis', () => import('ioredis')),
    importOptional('bullmq', () => import('bullmq')),
  ]);
  let isEnded = false;
  let lastError: unknown;
  const reportEnd = (cause: unknown): void => {
    if (!isEnded) onEnd(lastError ?? cause);
  };
  const clients: Redis[] = [];
  const connect = async (extra: { readonly commandTimeout?: number }): Promise<Redis> => {
    const client = new Redis(url, { ...redisOptions, ...extra });
    clients.push(client);
    client.on('error', (error) => {
      lastError = error;
    });
    try {
      await client.connect();
    } catch (cause) {
      throw lastError ?? cause;
    }
    client.on('end', reportEnd);
    return client;
  };
  const disconnectAll = (): void => {
    isEnded = true;
    for (const client of clients) client.disconnect();
  };

  let queue: Queue;
  let worker: Worker | undefined;
  try {
    const prefix = `portico-${name}`;
    const connection = await connect({ commandTimeout: TIMEOUT_MS });
    queue = new bullmq.Queue('runs', {
      connection,
      prefix,
      skipMetasUpdate: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', () => undefined);
    if (handle) {
      worker = new bullmq.Worker<{ id: string }>('runs', ({ data }) => handle(data.id), {
        connection: await connect({}),
        prefix,
        concurrency: maxConcurrent,
        lockDuration: LOCK_MS,
        runRetryDelay: 1000,
      });
      // The executor reports errors of runs. Redis errors end the connection and are reported there.
      worker.on('error', () => undefined);
      await worker.waitUntilReady();
    }
  } catch (cause) {
    disconnectAll();
    throw cause;
  }
  return {
    async add(runs) {
      await queue.addBulk(
        runs.map(({ id, fence }) => ({ name: 'run', data: { id }, opts: { jobId: `${id}-${fence}` } })),
      );
    },
    pause() {
      worker?.pause(true).catch(() => undefined);
    },
    async end(limitMs) {
      isEnded = true;
      if (worker) await waitUpTo(clock, limitMs, worker.close(limitMs === 0));
      disconnectAll();
      await queue.close().catch(() => undefined);
    },
  };
}

/** Waits up to `limitMs`. Errors are ignored, since the connections are closed anyway. */
function waitUpTo(clock: Clock, limitMs: number, done: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.after(limitMs, resolve);
    const end = (): void => {
      stop();
      resolve();
    };
    done.then(end, end);
  });
}
