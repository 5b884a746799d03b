// Records the time of the last use. Times are collected in memory and written some seconds later, at no cost to the
// call.
import type { Clock } from '../../core/clock.ts';

/** Delay before collected times are written. */
const WAIT_MS = 5000;

interface LastUsed<K> {
  touch(key: K): void;
  /** Writes the collected times. Call it before the storage is closed. */
  flush(): Promise<void>;
}

export function createLastUsed<K>(clock: Clock, write: (key: K, at: number) => PromiseLike<unknown>): LastUsed<K> {
  let timesByKey = new Map<K, number>();
  let cancelTimer: (() => void) | undefined;

  async function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    const pending = timesByKey;
    timesByKey = new Map();
    // A failed write is dropped; the next use writes a newer time.
    for (const [key, at] of pending) await write(key, at);
  }
  const flushQuietly = () => flush().catch(() => undefined);

  return {
    touch(key) {
      timesByKey.set(key, clock.now());
      cancelTimer ??= clock.after(WAIT_MS, () => void flushQuietly());
    },
    flush: flushQuietly,
  };
}
