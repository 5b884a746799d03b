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
  timeoutSignal(): StopSignal;
  /** Rejects with CALL_TIMED_OUT when time is up first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** The time that `wait` takes does not count. */
  pauseDuring<T>(wait: () => Promise<T>): Promise<T>;
  /** Returns the failure, or CALL_TIMED_OUT if the work was cancelled because time was up. */
  explain(failure: AppError): AppError;
  end(): void;
}

export function createTimeLimit(clock: Clock, seconds: number, client: StopSignal): TimeLimit {
  const combined = new Stop();
  let timeoutOnly: Stop | undefined;
  let isUp = false;
  let rejectWork: (() => void) | undefined;
  const onClientAbort = () => combined.abort(client.reason);
  const timedOut = () => new AppError('CALL_TIMED_OUT', { seconds });
  if (client.aborted) onClientAbort();
  else client.addEventListener('abort', onClientAbort, { once: true });
  const expire = () => {
    isUp = true;
    combined.abort();
    timeoutOnly?.abort();
    rejectWork?.();
  };
  let remainingMs = seconds * 1000;
  let from = clock.monotonic();
  let cancelTimer = clock.after(remainingMs, expire);
  return {
    signal: combined,
    timeoutSignal() {
      timeoutOnly ??= new Stop();
      if (isUp) timeoutOnly.abort();
      return timeoutOnly;
    },
    race: (work) =>
      new Promise((resolve, reject) => {
        rejectWork = () => reject(timedOut());
        work.then(resolve, reject);
      }),
    async pauseDuring(wait) {
      cancelTimer();
      remainingMs -= clock.monotonic() - from;
      try {
        return await wait();
      } finally {
        from = clock.monotonic();
        cancelTimer = clock.after(Math.max(0, remainingMs), expire);
      }
    },
    explain: (failure) => (isUp && isAppError(failure, 'CANCELLED') ? timedOut() : failure),
    // The listener needs no removal: the signal belongs to one request.
    end: cancelTimer,
  };
}
