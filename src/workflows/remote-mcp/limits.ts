// Timeouts for remote servers.
import { Stop, type StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';

/** To connect, to sign in, or to list the tools. */
export const CONNECT_MS = 10_000;
/** To check the arguments of a call against the server's schema. */
export const CHECK_MS = 5_000;
/** For one call of a tool. */
export const CALL_MS = 60_000;

/** The timeout has passed. */
export class RemoteTimeout extends Error {
  readonly ms: number;

  constructor(ms: number) {
    super(`no answer within ${ms / 1000} seconds`);
    this.ms = ms;
  }
}

/**
 * Runs with a signal that aborts after `ms`, or when `outer` aborts. Rejects as soon as the signal aborts, even if
 * `run` continues.
 */
export async function withTimeout<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  outer: StopSignal | undefined,
  run: (stop: Stop) => Promise<T>,
): Promise<T> {
  const stop = new Stop();
  const forwardAbort = () => stop.abort(outer?.reason);
  if (outer?.aborted) forwardAbort();
  outer?.addEventListener('abort', forwardAbort);
  const cancel = clock.after(ms, () => stop.abort(new RemoteTimeout(ms)));
  const aborted = new Promise<never>((_, reject) => {
    if (stop.aborted) reject(stop.reason);
    stop.addEventListener('abort', () => reject(stop.reason));
  });
  aborted.catch(() => undefined);
  try {
    const running = run(stop);
    running.catch(() => undefined);
    return await Promise.race([running, aborted]);
  } finally {
    cancel();
    outer?.removeEventListener('abort', forwardAbort);
  }
}
