// When something was last used: gathered in memory and written some seconds later, so that the call itself pays nothing.
import type { Clock } from '../core/clock.ts';

/** How long uses are gathered before they are written. */
const WAIT_MS = 5000;

export interface Uses<K> {
  note(key: K): void;
  /** Writes what was noted; before the storage is closed. */
  flush(): Promise<void>;
}

export function createUses<K>(clock: Clock, write: (key: K, at: number) => PromiseLike<unknown>): Uses<K> {
  let noted = new Map<K, number>();
  let cancelTimer: (() => void) | undefined;

  async function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    const uses = noted;
    noted = new Map();
    // What could not be written is written with the next use.
    for (const [key, at] of uses) await write(key, at);
  }
  const flushQuietly = () => flush().catch(() => undefined);

  return {
    note(key) {
      noted.set(key, clock.now());
      cancelTimer ??= clock.after(WAIT_MS, () => void flushQuietly());
    },
    flush: flushQuietly,
  };
}
