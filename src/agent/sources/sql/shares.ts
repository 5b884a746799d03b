// Limits how many statements of one user a database runs at once. The others queue, which keeps one user from taking
// all connections. A running statement never waits for another one.
import type { Clock } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import type { ReadOptions } from '../source.ts';
import type { Driver } from './driver.ts';

/** The queue limit for one user; more is a flood. */
const MAX_WAITING = 200;

interface Shares {
  /** Throws TOO_MANY_QUERIES if the queue is full, and TIMED_OUT or CANCELLED while waiting. */
  run<T>(options: ReadOptions, work: () => Promise<T>): Promise<T>;
}

interface UserQueue {
  running: number;
  readonly waiting: (() => void)[];
}

/** `places`: the statements the source runs at once for all users. One user can take all but one of them. */
export function createShares(clock: Clock, places: number): Shares {
  const queues = new Map<number, UserQueue>();

  return {
    async run({ share, signal, timeoutMs }, work) {
      if (!share) return work();
      const { user, most } = share;
      const line = queues.get(user) ?? { running: 0, waiting: [] };
      queues.set(user, line);
      if (line.running >= Math.max(1, Math.min(most, places - 1))) await turn(line, signal, timeoutMs);
      else line.running++;
      try {
        return await work();
      } finally {
        // Passes the place directly to the next waiting statement.
        const next = line.waiting.shift();
        if (next) next();
        else if (--line.running === 0) queues.delete(user);
      }
    },
  };

  function turn({ waiting }: UserQueue, signal: ReadOptions['signal'], timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (waiting.length >= MAX_WAITING) return reject(new AppError('TOO_MANY_QUERIES', { waiting: MAX_WAITING }));
      const end = (settle: () => void) => {
        forget();
        signal?.removeEventListener('abort', cancel);
        settle();
      };
      const begin = () => end(resolve);
      const leave = (why: AppError) => {
        const at = waiting.indexOf(begin);
        if (at >= 0) waiting.splice(at, 1);
        end(() => reject(why));
      };
      const cancel = () => leave(new AppError('CANCELLED', {}));
      const forget = clock.after(timeoutMs, () => leave(new AppError('TIMED_OUT', { seconds: timeoutMs / 1000 })));
      signal?.addEventListener('abort', cancel, { once: true });
      waiting.push(begin);
      if (signal?.aborted) cancel();
    });
  }
}

/** Wraps a driver with a share for each user. */
export function shareDriver(driver: Driver, shares: Shares): Driver {
  return {
    ...driver,
    run: (prepared, values, options) => shares.run(options, async () => driver.run(prepared, values, options)),
    transaction: (work, options) => shares.run(options, () => driver.transaction(work, options)),
  };
}
