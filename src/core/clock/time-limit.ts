// Limits the total time of one call, including all statements and user code between them. When time is up, the signal
// that reports a disconnected client stops the work. A read is then abandoned even if its code ignores the signal. A
// write is awaited, because its response must report the outcome.

import type { Clock } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import { Stop, type StopSignal } from './stop.ts';

export interface TimeLimit {
  /** Aborts when time is up or the client disconnects. */
  readonly signal: StopSignal;
  /** A signal that aborts only when time is up. */
  withoutClient(): StopSignal;
  /** Rejects with CALL_TIMED_OUT when time is up first. */
  bound<T>(work: Promise<T>): Promise<T>;
  /** The time that `wait` takes does not count. */
  aside<T>(wait: () => Promise<T>): Promise<T>;
  /** Returns the failure, or CALL_TIMED_OUT if the work was cancelled because time was up. */
  explain(failure: AppError): AppError;
  end(): void;
}

export function createTimeLimit(clock: Clock, seconds: number, client: StopSignal): TimeLimit {
  const either = new Stop();
  let alone: Stop | undefined;
  let isUp = false;
  let giveUp: (() => void) | undefined;
  const leave = () => either.abort(client.reason);
  const timedOut = () => new AppError('CALL_TIMED_OUT', { seconds });
  if (client.aborted) leave();
  else client.addEventListener('abort', leave, { once: true });
  const expire = () => {
    isUp = true;
    either.abort();
    alone?.abort();
    giveUp?.();
  };
  let leftMs = seconds * 1000;
  let from = clock.monotonic();
  let forget = clock.after(leftMs, expire);
  return {
    signal: either,
    withoutClient() {
      alone ??= new Stop();
      if (isUp) alone.abort();
      return alone;
    },
    bound: (work) =>
      new Promise((resolve, reject) => {
        giveUp = () => reject(timedOut());
        work.then(resolve, reject);
      }),
    async aside(wait) {
      forget();
      leftMs -= clock.monotonic() - from;
      try {
        return await wait();
      } finally {
        from = clock.monotonic();
        forget = clock.after(Math.max(0, leftMs), expire);
      }
    },
    explain: (failure) => (isUp && isAppError(failure, 'CANCELLED') ? timedOut() : failure),
    // The listener needs no removal: the signal belongs to one request.
    end: forget,
  };
}
