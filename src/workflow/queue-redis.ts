// One connection of the queue: BullMQ over clients of our own. A client is not left to connect again by itself, since BullMQ would
// wait for it with calls that nobody answers: when it ends, all of this ends, and the queue opens another.
import type { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../core/clock.ts';
import type { DueRun } from '../store/workflow-types.ts';

export interface CarryParts {
  readonly url: string;
  readonly name: string;
  readonly clock: Clock;
  readonly atOnce: number;
  /** Never rejects for a reason of Redis. Null: jobs are only added. */
  readonly handle: ((runId: string) => Promise<void>) | null;
  /** A connection ended that was not told to; maybe more than once. */
  readonly onEnd: (cause: unknown) => void;
}

export interface CarriedRuns {
  /** Of one claim of a run there is one job, however often it is added. */
  add(runs: readonly DueRun[]): Promise<void>;
  /** Fetches no more jobs. */
  pause(): void;
  /** Waits at most so long for the jobs under way. */
  end(limitMs: number): Promise<void>;
}

/** Past this, looking in the storage is better. */
const PATIENCE_MS = 5000;
/** A job of a process that died is handed out again after so long; the sweep is there before, with one of the next claim. */
const LOCK_MS = 30_000;

const settings = {
  lazyConnect: true,
  // Asked by BullMQ: a call that waits for jobs has no end.
  maxRetriesPerRequest: null,
  connectTimeout: PATIENCE_MS,
  retryStrategy: () => null,
};

/** Rejects when Redis cannot be reached. */
export async function carryRuns({ url, name, clock, atOnce, handle, onEnd }: CarryParts): Promise<CarriedRuns> {
  const [{ Redis }, bullmq] = await Promise.all([import('ioredis'), import('bullmq')]);
  let ended = false;
  let last: unknown;
  const end = (cause: unknown): void => {
    if (!ended) onEnd(last ?? cause);
  };
  const clients: Redis[] = [];
  const open = async (more: { readonly commandTimeout?: number }): Promise<Redis> => {
    const client = new Redis(url, { ...settings, ...more });
    clients.push(client);
    client.on('error', (error) => {
      last = error;
    });
    try {
      await client.connect();
    } catch (cause) {
      throw last ?? cause;
    }
    client.on('end', end);
    return client;
  };
  const letGo = (): void => {
    ended = true;
    for (const client of clients) client.disconnect();
  };

  let queue: Queue;
  let worker: Worker | undefined;
  try {
    const prefix = `portico-${name}`;
    const adding = await open({ commandTimeout: PATIENCE_MS });
    queue = new bullmq.Queue('runs', {
      connection: adding,
      prefix,
      skipMetasUpdate: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', () => undefined);
    if (handle) {
      worker = new bullmq.Worker<{ id: string }>('runs', ({ data }) => handle(data.id), {
        connection: await open({}),
        prefix,
        concurrency: atOnce,
        lockDuration: LOCK_MS,
        runRetryDelay: 1000,
      });
      // What went wrong with a run is told by whoever works at it; with Redis, by the end of the connection.
      worker.on('error', () => undefined);
      await worker.waitUntilReady();
    }
  } catch (cause) {
    letGo();
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
      ended = true;
      if (worker) await within(clock, limitMs, worker.close(limitMs === 0));
      letGo();
      await queue.close().catch(() => undefined);
    },
  };
}

/** At most so long; how it ends is nothing to us, since the connections are let go of. */
function within(clock: Clock, limitMs: number, done: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.after(limitMs, resolve);
    const end = (): void => {
      stop();
      resolve();
    };
    done.then(end, end);
  });
}
