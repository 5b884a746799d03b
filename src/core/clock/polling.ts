// Work that a process repeats at intervals, such as looking for rows that are due.
import type { Clock } from '../clock.ts';

interface Polling {
  start(): void;
  /** The current call continues, and no other one follows. */
  stop(): void;
}

/** Calls `poll`, which never rejects, `everyMs` after the start and after the end of each call. */
export function createPolling(clock: Pick<Clock, 'after'>, everyMs: number, poll: () => Promise<void>): Polling {
  let isStopped = true;
  let cancel = (): void => undefined;
  const schedule = (): void => {
    cancel = clock.after(everyMs, () => {
      void poll().then(() => {
        if (!isStopped) schedule();
      });
    });
  };
  return {
    start() {
      isStopped = false;
      schedule();
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
