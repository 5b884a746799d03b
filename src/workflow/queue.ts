// Runs carried by Redis. BullMQ hands each due run at once to one of any number of processes, where looking in the storage
// takes up to a second. A job is a hint and no more: who is handed one claims the run in the storage before anything is
// done, so that a job that comes twice, late or never changes nothing. What Redis lost, or never heard of, is found by a
// sweep. While Redis is away, `carries` is false and the executor looks in the storage itself; that is told once.
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { DueWish, Runs } from '../store/workflow-types.ts';
import { type CarriedRuns, carryRuns } from './queue-redis.ts';

export interface RunQueueParts {
  /** Of Redis. */
  readonly url: string;
  /** Of the installation and its environment: others on the same Redis have queues of their own. Letters, digits, hyphens. */
  readonly name: () => Promise<string>;
  readonly runs: Pick<Runs, 'due'>;
  readonly clock: Clock;
  readonly observe: Observe;
  /** The most runs that this process is handed at once. */
  readonly atOnce: number;
  /** Claims a run and works at it until it ends, waits or is given back. Null: this process executes none. */
  readonly work: ((runId: string) => Promise<void>) | null;
}

export interface RunQueue {
  /** Whether Redis carries the runs; while it does not, who executes looks in the storage. */
  carries(): boolean;
  /** Begins to connect. */
  start(): void;
  /** A run is due: some process is to have it at once. */
  nudge(runId: string): void;
  /** Takes no more; what is under way goes on, and what is nudged goes to other processes. */
  pause(): void;
  /** Waits at most so long for what is under way, and lets go of Redis. */
  close(limitMs: number): Promise<void>;
}

const SWEEP_MS = 5000;
/** After a run: where a limit held others back, there is room now. As long as the storage holds one back. */
const SOON_MS = 1000;
const SWEPT_AT_ONCE = 500;
/** How long Redis is left alone after it failed. */
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
    // The connections end one after the other, and commands fail: it is one outage.
    if (state === 'closed' || gone !== carried) return;
    carried = undefined;
    void gone?.end(0);
    if (!isTold) {
      const message = `SERVICE_REDIS_URL: Redis does not carry the runs of workflows (${reasonOf(cause)}). They are looked for in the storage until it does.`;
      observe({ type: 'warning', message });
    }
    isTold = true;
    after(REST_MS, connect);
  };

  const handle = async (id: string): Promise<void> => {
    // What is refused while this process ends is found by the sweep of another.
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

  /** True when as many were due as were asked for. */
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

  /** What is nudged while it asks goes together the next time. */
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

/** The code of an error, or the first word of what Redis answered: the rest of either may hold the password. */
function reasonOf(cause: unknown): string {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code;
  return /^[A-Z]{2,20}(?= )/.exec(`${message}`)?.[0] ?? 'no connection';
}
