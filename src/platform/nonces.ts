// Numbers that were used once. Those of this process lie in memory, as many as it holds; when an older one has to go, every
// request of its time and before is refused from then on, so that none is ever taken twice for want of room.
import type { Windows } from '../core/limit.ts';

/** How far the clocks of the two ends may differ, either way. */
export const windowMs = 300_000;
const MOST_KEPT = 200_000;

export interface Nonces {
  /** True for the first request with this number, and for no other of the same. */
  take(nonce: string, time: number, effect: 'again' | 'once'): boolean | Promise<boolean>;
}

/** What changes something is counted in the storage: in all processes, and across their restarts. */
export function createNonces(windows: Windows, most = MOST_KEPT): Nonces {
  const seen = new Map<string, number>();
  let floor = 0;
  return {
    take(nonce, time, effect) {
      if (time <= floor || seen.has(nonce)) return false;
      seen.set(nonce, time);
      if (seen.size > most) {
        const [[oldest, from]] = seen as Iterable<[string, number]> as [[string, number]];
        seen.delete(oldest);
        floor = Math.max(floor, from);
      }
      if (effect === 'again') return true;
      return windows.add(`platform nonce ${nonce}`, 2 * windowMs).then(({ count }) => count === 1);
    },
  };
}
