// How long one call may take in all, whatever it does: several statements, and code of users between them. When time is
// up, the same signal that tells of a client who has gone away stops the work; a read is then given up even if its code
// does not listen. What writes is waited for, since its answer must say what has happened.

import type { Clock } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import { Stop, type StopSignal } from './stop.ts';

export interface TimeLimit {
  /** Aborted when time is up or the client goes away. */
  readonly signal: StopSignal;
  /** Aborted when time is up alone. */
  withoutClient(): StopSignal;
  /** CALL_TIMED_OUT when time is up first. */
  bound<T>(work: Promise<T>): Promise<T>;
  /** The time that `wait` takes does not count. */
  aside<T>(wait: () => Promise<T>): Promise<T>;
  /** What the work failed with, or that it failed because time was up. */
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
    // The listener goes with the signal, which is that of one request.
    end: forget,
  };
}
