// The executor of this process. It claims due runs from the storage, executes several concurrently and renews their
// leases. It stops work on runs that another process has taken over. It polls when nudged, when capacity becomes free,
// and every second otherwise. A poll is a small read; a claiming transaction runs only if a run is due.

import { Stop } from '../../core/clock/stop.ts';
import { randomId } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import type { Claim, CodeWorkflow } from '../../store/workflows/types.ts';
import { createExecution, type ExecutionParts } from './execution.ts';
import type { Lease } from './retry.ts';

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const POLL_MS = 1000;
const SWEEP_MS = 30_000;
/** In units of SWEEP_MS: one hour. Idempotency keys expire after a day. */
const SWEEPS_PER_CLEANUP = 120;
/** Additional time for aborted runs to stop. */
const ABORT_GRACE_MS = 200;

export interface ExecutorParts extends ExecutionParts {
  readonly store: Pick<Store, 'workflows' | 'runs' | 'permissions' | 'activity' | 'files' | 'versions'>;
  /** Maximum number of concurrent runs in this process. */
  readonly maxConcurrent: number;
  /** Workflows defined in code. They are published at the start, and again for teams created later. */
  readonly readCodeWorkflows: () => readonly CodeWorkflow[];
  /** While it returns false, the executor does not poll; runs arrive through `take` or `execute`. Default: it polls. */
  readonly shouldPoll?: () => boolean;
  /** Called with a run that a concurrency limit delayed and that is now due, for distribution to other processes. */
  readonly onDue?: (runId: string) => void;
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

class RunLease implements Lease {
  state: Lease['state'] = 'held';
  readonly signal = new Stop();
}

export function createExecutor(parts: ExecutorParts): Executor {
  const { store, clock, observe, maxConcurrent, readCodeWorkflows } = parts;
  const { runs, workflows } = store;
  const owner = randomId();
  const executeRun = createExecution(parts);
  const running = new Map<RunLease, Promise<void>>();
  /** Claims that failed because of the storage. They are released once it responds, before their lease expires. */
  const abandoned = new Set<Claim>();
  // Jitter: processes that start together should not poll together.
  const pollMs = POLL_MS + (Number.parseInt(owner.slice(0, 2), 16) || 0);
  let isStopping = false;
  let polling: Promise<void> | undefined;
  let pollAgain = false;
  let stopTimers: readonly (() => void)[] = [];
  let sweeps = 0;
  let isReported = false;

  const warn = (message: string, cause: unknown): void => observe({ type: 'warning', message, cause });

  const repeat = (ms: number, run: () => Promise<void>): (() => void) => {
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
  const renewLease = (claim: Claim, lease: RunLease): (() => void) => {
    let until = clock.monotonic() + LEASE_MS;
    const markLost = (): void => {
      lease.state = 'lost';
      lease.signal.abort();
    };
    return repeat(RENEW_MS, async () => {
      const from = clock.monotonic();
      try {
        const leaseState = await runs.renew(claim, LEASE_MS);
        until = from + LEASE_MS;
        if (leaseState === 'lost') markLost();
        else if (leaseState === 'cancel' && lease.state === 'held') lease.state = 'cancel';
      } catch (cause) {
        if (clock.monotonic() > until - RENEW_MS) markLost();
        warn('Failed to renew the lease of a run', cause);
      }
    });
  };

  /** A run of the workflow has ended. Wakes the run that has waited longest for the concurrency limit. */
  const wakeWaiting = async (workflowId: string): Promise<void> => {
    // If this fails, regular polling finds the run within a second.
    const id = await runs.wake(workflowId).catch(() => undefined);
    if (id !== undefined) parts.onDue?.(id);
  };

  const execute = (claim: Claim): Promise<void> => {
    const lease = new RunLease();
    if (isStopping) lease.state = 'leaving';
    const stopRenewal = renewLease(claim, lease);
    const work = executeRun(claim, lease).then(async (end) => {
      stopRenewal();
      if (end === 'left' && lease.state !== 'lost') abandoned.add(claim);
      if (claim.isLimited) await wakeWaiting(claim.run.workflowId);
      running.delete(lease);
      nudge();
    });
    running.set(lease, work);
    return work;
  };

  const claim = (limit: number, ids?: readonly string[]) =>
    runs.claim({ owner, leaseMs: LEASE_MS, limit, ...(ids && { ids }) });

  interface ClaimBatch {
    readonly ids: Set<string>;
    readonly claims: Promise<readonly Claim[]>;
  }
  let batch: ClaimBatch | undefined;
  let claiming: Promise<unknown> = Promise.resolve();

  /** Batches requests that arrive during a claim into the next one. Each caller receives its own claims. */
  const claimBatched = async (ids: readonly string[]): Promise<readonly Claim[]> => {
    if (!batch) {
      const all = new Set<string>();
      const claimBatch = (): Promise<readonly Claim[]> => {
        batch = undefined;
        return isStopping ? Promise.resolve([]) : claim(all.size, [...all]);
      };
      batch = { ids: all, claims: claiming.then(claimBatch, claimBatch) };
      claiming = batch.claims;
    }
    const joined = batch;
    const added = ids.filter((id) => !joined.ids.has(id));
    for (const id of added) joined.ids.add(id);
    return (await joined.claims).filter(({ run }) => added.includes(run.id));
  };

  /** Claims runs up to the free capacity, until no run is due. */
  const poll = async (): Promise<void> => {
    do {
      pollAgain = false;
      for (
        let capacity = maxConcurrent - running.size;
        capacity > 0 && !isStopping;
        capacity = maxConcurrent - running.size
      ) {
        const claims = await claim(capacity);
        for (const one of claims) void execute(one);
        // Other processes were faster, or a workflow's concurrency limit holds back due runs.
        if (claims.length < capacity) break;
      }
    } while (pollAgain && !isStopping);
  };

  /** Releases these claims, to let any process take them. */
  const releaseAbandoned = async (): Promise<void> => {
    try {
      for (const claim of abandoned) {
        await runs.renew(claim, 0);
        abandoned.delete(claim);
      }
    } catch {
      // The storage still fails. This was already reported.
    }
  };

  function nudge(): void {
    if (isStopping || parts.shouldPoll?.() === false || stopTimers.length === 0) return;
    if (polling) {
      pollAgain = true;
      return;
    }
    polling = poll()
      .then(() => {
        isReported = false;
      })
      .catch((cause: unknown) => {
        if (!isReported) warn('Failed to look for workflow runs. Retrying every second.', cause);
        isReported = true;
      })
      .finally(() => {
        polling = undefined;
        if (pollAgain) nudge();
      });
  }

  const sweep = async (): Promise<void> => {
    try {
      const defined = readCodeWorkflows();
      if (defined.length > 0) await workflows.publishCode(defined);
      if (sweeps++ % SWEEPS_PER_CLEANUP === 0) await runs.sweep();
    } catch (cause) {
      warn('Failed to clean up workflows', cause);
    }
  };

  /** Waits for the work, up to `ms`. */
  const waitUpTo = async (ms: number, work: Promise<void>): Promise<void> => {
    let cancel = (): void => undefined;
    const timeout = new Promise<void>((resolve) => {
      cancel = clock.after(ms, resolve);
    });
    await Promise.race([work, timeout]);
    cancel();
  };

  return {
    owner,
    async start() {
      await workflows.publishCode(readCodeWorkflows());
      const tick = async (): Promise<void> => {
        await releaseAbandoned();
        nudge();
      };
      stopTimers = [repeat(SWEEP_MS, sweep), repeat(pollMs, tick)];
      nudge();
    },
    nudge,
    async take(ids) {
      if (isStopping) return 0;
      const claims = await claimBatched(ids);
      await Promise.all(claims.map(execute));
      return claims.length;
    },
    execute,
    async stop(limitMs) {
      isStopping = true;
      for (const one of stopTimers) one();
      const whenEnded = async (): Promise<void> => {
        await polling;
        await Promise.all(running.values());
      };
      for (const lease of running.keys()) if (lease.state === 'held') lease.state = 'leaving';
      await waitUpTo(limitMs, whenEnded());
      // Aborts steps that are still running. The process that takes over finds them begun.
      for (const lease of running.keys()) lease.signal.abort();
      await waitUpTo(ABORT_GRACE_MS, whenEnded());
    },
  };
}
