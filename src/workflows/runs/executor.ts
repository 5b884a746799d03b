// The executor of this process. It claims due runs from the storage, executes several concurrently and renews their
// leases. It stops work on runs that another process has taken over. It polls when nudged, when capacity becomes free,
// and every second otherwise. A poll is a small read; a claiming transaction runs only if a run is due.

import { Stop } from '../../core/clock/stop.ts';
import { randomId } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import type { Claim, CodeWorkflow } from '../../store/workflows/types.ts';
import { createExecution, type ExecutionParts } from './execution.ts';
import type { Holding } from './retry.ts';

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const LOOK_MS = 1000;
const SWEEP_MS = 30_000;
/** In units of SWEEP_MS: one hour. Idempotency keys expire after a day. */
const SWEEPS_BETWEEN = 120;
/** Additional time for aborted runs to stop. */
const LETTING_GO_MS = 200;

export interface ExecutorParts extends ExecutionParts {
  readonly store: Pick<Store, 'workflows' | 'runs' | 'permissions' | 'activity' | 'files'>;
  /** Maximum number of concurrent runs in this process. */
  readonly atOnce: number;
  /** Workflows defined in code. They are published at the start, and again for teams created later. */
  readonly code: () => readonly CodeWorkflow[];
  /** While it returns false, the executor does not poll; runs arrive through `take` or `execute`. Default: it polls. */
  readonly looks?: () => boolean;
  /** Called with a run that a concurrency limit delayed and that is now due, for distribution to other processes. */
  readonly due?: (runId: string) => void;
}

export interface Executor {
  /** Publishes workflows defined in code, and starts polling. */
  start(): Promise<void>;
  /** A run may be due now. */
  nudge(): void;
  /**
   * Claims the due runs among `ids` and executes them. Resolves with their number when this process has finished its
   * work on them.
   */
  take(ids: readonly string[]): Promise<number>;
  /** Executes a run held by `owner` until it ends, waits, or is lost. Never rejects. */
  execute(claim: Claim): Promise<void>;
  /** Owner of the claims of this process. */
  readonly owner: string;
  /** Stops claiming, waits up to `limitMs` for current steps, and releases unfinished runs. */
  stop(limitMs: number): Promise<void>;
}

class Held implements Holding {
  state: Holding['state'] = 'held';
  readonly signal = new Stop();
}

export function createExecutor(parts: ExecutorParts): Executor {
  const { store, clock, observe, atOnce, code } = parts;
  const { runs, workflows } = store;
  const owner = randomId();
  const executeRun = createExecution(parts);
  const working = new Map<Held, Promise<void>>();
  /** Claims that failed because of the storage. They are released once it responds, before their lease expires. */
  const left = new Set<Claim>();
  // Jitter: processes that start together should not poll together.
  const lookMs = LOOK_MS + (Number.parseInt(owner.slice(0, 2), 16) || 0);
  let isStopping = false;
  let looking: Promise<void> | undefined;
  let again = false;
  let forget: readonly (() => void)[] = [];
  let sweeps = 0;
  let isTold = false;

  const warn = (message: string, cause: unknown): void => observe({ type: 'warning', message, cause });

  const every = (ms: number, run: () => Promise<void>): (() => void) => {
    let cancel = (): void => undefined;
    let isOver = false;
    const next = (): void => {
      if (isOver) return;
      cancel = clock.after(ms, () => void run().finally(next));
    };
    next();
    return () => {
      isOver = true;
      cancel();
    };
  };

  /**
   * Renews the lease until the returned function is called. The run is also lost if renewal fails for the whole lease.
   */
  const beat = (claim: Claim, held: Held): (() => void) => {
    let until = clock.monotonic() + LEASE_MS;
    const lose = (): void => {
      held.state = 'lost';
      held.signal.abort();
    };
    return every(RENEW_MS, async () => {
      const from = clock.monotonic();
      try {
        const hold = await runs.renew(claim, LEASE_MS);
        until = from + LEASE_MS;
        if (hold === 'lost') lose();
        else if (hold === 'cancel' && held.state === 'held') held.state = 'cancel';
      } catch (cause) {
        if (clock.monotonic() > until - RENEW_MS) lose();
        warn('The lease of a run could not be renewed', cause);
      }
    });
  };

  /** A run of the workflow has ended. Wakes the run that has waited longest for the concurrency limit. */
  const makeRoom = async (workflowId: string): Promise<void> => {
    // If this fails, regular polling finds the run within a second.
    const id = await runs.wake(workflowId).catch(() => undefined);
    if (id !== undefined) parts.due?.(id);
  };

  const execute = (claim: Claim): Promise<void> => {
    const held = new Held();
    if (isStopping) held.state = 'leaving';
    const still = beat(claim, held);
    const work = executeRun(claim, held).then(async (end) => {
      still();
      if (end === 'left' && held.state !== 'lost') left.add(claim);
      if (claim.isLimited) await makeRoom(claim.run.workflowId);
      working.delete(held);
      nudge();
    });
    working.set(held, work);
    return work;
  };

  const claim = (limit: number, ids?: readonly string[]) =>
    runs.claim({ owner, leaseMs: LEASE_MS, limit, ...(ids && { ids }) });

  interface Asked {
    readonly ids: Set<string>;
    readonly claims: Promise<readonly Claim[]>;
  }
  let asked: Asked | undefined;
  let claiming: Promise<unknown> = Promise.resolve();

  /** Batches requests that arrive during a claim into the next one. Each caller receives its own claims. */
  const claimTogether = async (ids: readonly string[]): Promise<readonly Claim[]> => {
    if (!asked) {
      const all = new Set<string>();
      const send = (): Promise<readonly Claim[]> => {
        asked = undefined;
        return isStopping ? Promise.resolve([]) : claim(all.size, [...all]);
      };
      asked = { ids: all, claims: claiming.then(send, send) };
      claiming = asked.claims;
    }
    const mine = asked;
    const own = ids.filter((id) => !mine.ids.has(id));
    for (const id of own) mine.ids.add(id);
    return (await mine.claims).filter(({ run }) => own.includes(run.id));
  };

  /** Claims runs up to the free capacity, until no run is due. */
  const look = async (): Promise<void> => {
    do {
      again = false;
      for (let free = atOnce - working.size; free > 0 && !isStopping; free = atOnce - working.size) {
        const claims = await claim(free);
        for (const one of claims) void execute(one);
        // Other processes were faster, or a workflow's concurrency limit holds back due runs.
        if (claims.length < free) break;
      }
    } while (again && !isStopping);
  };

  /** Releases these claims, to let any process take them. */
  const giveBack = async (): Promise<void> => {
    try {
      for (const claim of left) {
        await runs.renew(claim, 0);
        left.delete(claim);
      }
    } catch {
      // The storage still fails. This was already reported.
    }
  };

  function nudge(): void {
    if (isStopping || parts.looks?.() === false || forget.length === 0) return;
    if (looking) {
      again = true;
      return;
    }
    looking = look()
      .then(() => {
        isTold = false;
      })
      .catch((cause: unknown) => {
        if (!isTold) warn('Runs of workflows could not be looked for. It is tried again every second.', cause);
        isTold = true;
      })
      .finally(() => {
        looking = undefined;
        if (again) nudge();
      });
  }

  const sweep = async (): Promise<void> => {
    try {
      const defined = code();
      if (defined.length > 0) await workflows.publishCode(defined);
      if (sweeps++ % SWEEPS_BETWEEN === 0) await runs.sweep();
    } catch (cause) {
      warn('Workflows could not be swept', cause);
    }
  };

  /** Waits for the work, up to `ms`. */
  const within = async (ms: number, work: Promise<void>): Promise<void> => {
    let cancel = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = clock.after(ms, resolve);
    });
    await Promise.race([work, late]);
    cancel();
  };

  return {
    owner,
    async start() {
      await workflows.publishCode(code());
      const looks = async (): Promise<void> => {
        await giveBack();
        nudge();
      };
      forget = [every(SWEEP_MS, sweep), every(lookMs, looks)];
      nudge();
    },
    nudge,
    async take(ids) {
      if (isStopping) return 0;
      const claims = await claimTogether(ids);
      await Promise.all(claims.map(execute));
      return claims.length;
    },
    execute,
    async stop(limitMs) {
      isStopping = true;
      for (const one of forget) one();
      const ended = async (): Promise<void> => {
        await looking;
        await Promise.all(working.values());
      };
      for (const held of working.keys()) if (held.state === 'held') held.state = 'leaving';
      await within(limitMs, ended());
      // Aborts steps that are still running. The process that takes over finds them begun.
      for (const held of working.keys()) held.signal.abort();
      await within(LETTING_GO_MS, ended());
    },
  };
}
