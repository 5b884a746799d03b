// Tells whoever asked how the runs end that a webhook started: a POST, signed as Standard Webhooks say with the secret of the
// workflow. What is to be told lies in the storage with the run, so that a crash loses nothing; each is taken by one process
// for a while. One that is not taken is tried again, later each time, with the same `webhook-id`, so that the other side can
// tell a repeat. The address was given by an editor: it is reached through the guard of all such calls (SSRF).
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { Store } from '../store/store.ts';
import type { Callback } from '../store/workflow-types.ts';
import { signWebhook } from './webhook-signature.ts';

export interface Callbacks {
  start(): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
  /** A run is over: what is to be told of it is told in a moment. */
  nudge(): void;
  /** Tells what is due, as it does by itself every few seconds. */
  look(): Promise<void>;
}

/** The status of the answer; undefined when there was none. Never throws, and takes no longer than ten seconds. */
export type PostCallback = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
) => Promise<number | undefined>;

export interface CallbackParts {
  readonly store: Pick<Store, 'runs' | 'workflows'>;
  readonly post: PostCallback;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Finds what a crash left, what is to be told again, and what ended in a process that tells nothing. */
const LOOK_MS = 5000;
/** However many runs end, it is looked no oftener. */
const SOON_MS = 50;
const AT_ONCE = 10;
/** Longer than a call takes: until then no other process takes it. */
const HELD_MS = 60_000;
const minute = 60_000;
/** After each attempt that failed; then it is given up. */
const waits = [5000, 5 * minute, 30 * minute, 120 * minute, 300 * minute] as const;

export function createCallbacks({ store, post, clock, observe }: CallbackParts): Callbacks {
  let cancel: (() => void) | undefined;
  let cancelSoon: (() => void) | undefined;
  let isStopped = true;
  let underWay: Promise<void> = Promise.resolve();

  const tell = async ({ run, url, attempts }: Callback): Promise<void> => {
    const secret = await store.workflows.signingSecret(run.workflowId, true);
    if (secret === undefined) return store.runs.settleCallback(run.id, null);
    const body = bodyOf(run);
    const headers = { 'content-type': 'application/json', ...signWebhook(secret, run.id, clock.now(), body) };
    const status = await post(url, headers, body);
    if (status !== undefined && status >= 200 && status < 300) return store.runs.settleCallback(run.id, null);
    const again = waits[attempts - 1] ?? null;
    if (again === null) {
      const message = `The callback of run ${run.id} to ${new URL(url).host} was given up after ${attempts} attempts.`;
      observe({ type: 'warning', message });
    }
    return store.runs.settleCallback(run.id, again);
  };

  const lookOnce = async (): Promise<void> => {
    for (;;) {
      const due = await store.runs.takeCallbacks(AT_ONCE, HELD_MS);
      await Promise.all(due.map(tell));
      if (due.length < AT_ONCE || isStopped) return;
    }
  };

  const look = (): Promise<void> => {
    underWay = underWay.then(lookOnce).catch((cause: unknown) => {
      observe({ type: 'warning', message: 'Callbacks of runs could not be told; they are tried again.', cause });
    });
    return underWay;
  };

  const schedule = (): void => {
    cancel = clock.after(LOOK_MS, () => {
      void look().then(() => {
        if (!isStopped) schedule();
      });
    });
  };

  return {
    look,
    start() {
      isStopped = false;
      schedule();
    },
    nudge() {
      if (isStopped) return;
      cancelSoon ??= clock.after(SOON_MS, () => {
        cancelSoon = undefined;
        void look();
      });
    },
    async stop() {
      isStopped = true;
      cancel?.();
      cancelSoon?.();
      await underWay;
    },
  };
}

function bodyOf({ id, workflowId, recordId, state, failure, finishedAt, updatedAt }: Callback['run']): string {
  return JSON.stringify({
    type: `workflow.run.${state}`,
    timestamp: new Date(finishedAt ?? updatedAt).toISOString(),
    data: { runId: id, workflowId, recordId, state, ...(failure && { code: failure.code }) },
  });
}
