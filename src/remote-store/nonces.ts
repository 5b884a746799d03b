// Detects repeated nonces. This process keeps a limited number in memory. When it drops an old one, it refuses all
// requests up to that time. Even a full memory therefore never accepts a nonce twice.
import type { Windows } from '../core/limit.ts';

/** How far the clocks of the two ends may differ in either direction, in milliseconds. */
export const windowMs = 300_000;
const MAX_NONCES = 200_000;

interface Nonces {
  /** True only for the first request with this nonce. */
  take(nonce: string, time: number, effect: 'again' | 'once'): boolean | Promise<boolean>;
}

/** Calls that change data are counted in the storage: across all processes and their restarts. */
export function createNonces(windows: Windows, maxNonces = MAX_NONCES): Nonces {
  const timesByNonce = new Map<string, number>();
  let floor = 0;
  return {
    take(nonce, time, effect) {
      if (time <= floor || timesByNonce.has(nonce)) return false;
      timesByNonce.set(nonce, time);
      if (timesByNonce.size > maxNonces) {
        const [[oldest, from]] = timesByNonce as Iterable<[string, number]> as [[string, number]];
        timesByNonce.delete(oldest);
        floor = Math.max(floor, from);
      }
      if (effect === 'again') return true;
      return windows.add(`platform nonce ${nonce}`, 2 * windowMs).then(({ count }) => count === 1);
    },
  };
}
