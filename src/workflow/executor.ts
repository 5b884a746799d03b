// The executor of this process: takes runs that are due from the storage and works at several at once. What it holds it renews
// while it works; what another has taken over it lets go of. It looks when it is nudged, when a place is free again, and
// every second otherwise: a small read, and only where something is due a transaction that takes it.

import { Stop } from '../core/clock/stop.ts';
import { randomId } from '../core/secret.ts';
import type { Store } from '../store/store.ts';
import type { Claim, CodeWorkflow } from '../store/workflow-types.ts';
import { createExecution, type ExecutionParts, type Holding } from './execution.ts';

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const LOOK_MS = 1000;
const SWEEP_MS = 30_000;
/** Idempotency keys are forgotten after a day: once an hour will do. */
const SWEEPS_BETWEEN = 120;
/** After the time that runs have to end, they have this much longer to notice. */
const LETTING_GO_MS = 200;

export interface ExecutorParts extends ExecutionParts {
  readonly store: Pick<Store, 'workflows' | 'runs' | 'permissions' | 'activity' | 'files'>;
  /** The most runs that are worked at here at once. */
  readonly atOnce: number;
  /** What is defined in code; published at the start, and again for teams that were made since. */
  readonly code: () => readonly CodeWorkflow[];
  /** While it says no, runs are executed when they are given by `take` or `execute`, and not looked for. Absent: they are. */
  readonly looks?: () => boolean;
  /** Told of a run that a limit held back and that is due now, for who hands runs out elsewhere. */
  readonly due?: (runId: string) => void;
}

export interface Executor {
  /** Publishes what is defined in code, and begins to look for runs. */
  start(): Promise<void>;
  /** Something may be due now. */
  nudge(): void;
  /** Claims those of these runs that are due, and works at them; resolves, with how many those were, when it no longer does. */
  take(ids: readonly string[]): Promise<number>;
  /** Works at a run that is held by `owner`, until it ends, waits, or is lost. Never rejects. */
  execute(claim: Claim): Promise<void>;
  /** What claims of this process are made with. */
  readonly owner: string;
  /** Takes nothing new, lets steps under way end within the time, and puts back what is not over. */
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
  /** What the storage failed at: it goes on as soon as that answers, not when the lease is over. */
  const left = new Set<Claim>();
  // Processes that start at once do not look at once ever after.
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

  /** Renews until it is told to stop; `lost` also when it could not be renewed for as long as the lease lasts. */
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

  /** A run of it works no longer: the one that waited longest need not wait for its next turn. */
  const makeRoom = async (workflowId: string): Promise<void> => {
    // Where it cannot be asked, that turn comes in a second.
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

  /** What is asked for while a claim is under way is claimed together by the next one; each is given its own. */
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

  /** Takes as many as there are places, until nothing is due. */
  const look = async (): Promise<void> => {
    do {
      again = false;
      for (let free = atOnce - working.size; free > 0 && !isStopping; free = atOnce - working.size) {
        const claims = await claim(free);
        for (const one of claims) void execute(one);
        // Others were quicker, or the limit of a workflow holds back what is due.
        if (claims.length < free) break;
      }
    } while (again && !isStopping);
  };

  /** Nobody works at them: whoever looks next may take them. */
  const giveBack = async (): Promise<void> => {
    try {
      for (const claim of left) {
        await runs.renew(claim, 0);
        left.delete(claim);
      }
    } catch {
      // What was away still is, and told.
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

  /** Waits for the work, but no longer. */
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
      // What is still under way is stopped where it stands; whoever takes it over finds its mark.
      for (const held of working.keys()) held.signal.abort();
      await within(LETTING_GO_MS, ended());
    },
  };
}
