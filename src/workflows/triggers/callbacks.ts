// Reports the end of webhook-started runs to their callback URLs: a POST, signed with the secret of the workflow
// (Standard Webhooks). Pending callbacks are stored with the run and survive a crash. One process at a time leases a
// callback. Failed attempts are retried with increasing delays and the same `webhook-id`, which identifies repeats.
// Editors enter the URL, so requests pass the guard for outgoing calls (SSRF). The run stores why its last attempt
// failed, and the console shows that to editors.
import { createPolling } from '../../core/clock/polling.ts';
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';
import type { Store } from '../../store/store.ts';
import type { Callback } from '../../store/workflows/types.ts';
import { signWebhook } from './webhook-signature.ts';

export interface Callbacks {
  start(): void;
  /** Resolves when all callbacks in progress have finished. */
  stop(): Promise<void>;
  /** Signals the end of a run. Due callbacks are sent shortly after. */
  nudge(): void;
  /** Sends due callbacks. Also runs by itself every few seconds. */
  poll(): Promise<void>;
}

/**
 * Returns the status of the response; undefined when there was no response. Never throws, and takes at most ten
 * seconds.
 */
type PostCallback = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
) => Promise<number | undefined>;

interface CallbackParts {
  readonly store: Pick<Store, 'runs' | 'workflows'>;
  readonly post: PostCallback;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Finds callbacks after a crash, retries, and runs that ended in a process without callbacks. */
const POLL_MS = 5000;
/** Minimum interval between checks, regardless of how many runs end. */
const NOTIFY_DELAY_MS = 50;
const BATCH_SIZE = 10;
/** Lease of a callback. Longer than a request may take. */
const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;
/** Delays after failed attempts, in milliseconds. After the last one, the callback is given up. */
const retryDelays = [5000, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 300 * MINUTE_MS] as const;

export function createCallbacks({ store, post, clock, observe }: CallbackParts): Callbacks {
  let cancelNotified: (() => void) | undefined;
  let isStopped = true;
  let running: Promise<void> = Promise.resolve();

  const sendCallback = async ({ run, url, attempts }: Callback): Promise<void> => {
    const secret = await store.workflows.signingSecret(run.workflowId, true);
    if (secret === undefined) return store.runs.settleCallback(run.id, null, null);
    const body = bodyOf(run);
    const headers = { 'content-type': 'application/json', ...signWebhook(secret, run.id, clock.now(), body) };
    const status = await post(url, headers, body);
    if (status !== undefined && status >= 200 && status < 300) return store.runs.settleCallback(run.id, null, null);
    const retryDelay = retryDelays[attempts - 1] ?? null;
    if (retryDelay === null) {
      const message = `The callback of run ${run.id} to ${new URL(url).host} failed after ${attempts} attempts and is not retried again.`;
      observe({ type: 'warning', message });
    }
    const problem = status === undefined ? 'no response, or the address is not public' : `HTTP ${status}`;
    return store.runs.settleCallback(run.id, retryDelay, problem);
  };

  const pollOnce = async (): Promise<void> => {
    for (;;) {
      const due = await store.runs.takeCallbacks(BATCH_SIZE, LEASE_MS);
      await Promise.all(due.map(sendCallback));
      if (due.length < BATCH_SIZE || isStopped) return;
    }
  };

  const poll = (): Promise<void> => {
    running = running.then(pollOnce).catch((cause: unknown) => {
      observe({ type: 'warning', message: 'Failed to send callbacks of runs. Retrying.', cause });
    });
    return running;
  };

  const polling = createPolling(clock, POLL_MS, poll);
  return {
    poll,
    start() {
      isStopped = false;
      polling.start();
    },
    nudge() {
      if (isStopped) return;
      cancelNotified ??= clock.after(NOTIFY_DELAY_MS, () => {
        cancelNotified = undefined;
        void poll();
      });
    },
    async stop() {
      isStopped = true;
      polling.stop();
      cancelNotified?.();
      await running;
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
