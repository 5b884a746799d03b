// How long a remote server is waited for.
import { Stop, type StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';

/** To connect, to sign in, to list the tools. */
export const CONNECT_MS = 10_000;
/** For one call of a tool. */
export const CALL_MS = 60_000;

/** The time was over. */
export class TooSlow extends Error {
  readonly ms: number;

  constructor(ms: number) {
    super(`no answer within ${ms / 1000} seconds`);
    this.ms = ms;
  }
}

/** Runs with a signal that is given after `ms`, or with `outer`. Rejects at once when it is, whatever `run` does then. */
export async function within<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  outer: StopSignal | undefined,
  run: (stop: Stop) => Promise<T>,
): Promise<T> {
  const stop = new Stop();
  const pass = () => stop.abort(outer?.reason);
  if (outer?.aborted) pass();
  outer?.addEventListener('abort', pass);
  const cancel = clock.after(ms, () => stop.abort(new TooSlow(ms)));
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
    outer?.removeEventListener('abort', pass);
  }
}
