import { createRequire } from 'node:module';
import type { RateLimiterMemory as InMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from './errors.ts';

/** Only the in-memory limiter: the main module of the package loads one for every kind of database at each start. */
const RateLimiterMemory = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterMemory.js',
) as typeof InMemory;

/** A window of `points` per `seconds` for each key. */
export interface RateWindow {
  readonly points: number;
  readonly seconds: number;
}

export interface Limiter {
  /** Takes one point. Throws RATE_LIMITED with `retryAfterSeconds` when the window has no points left. */
  consume(key: string): Promise<void>;
  /** Returns one point, for limits that count only failures. */
  giveBack(key: string): Promise<void>;
  /** Returns all points, for example after a success. */
  reset(key: string): Promise<void>;
}

/** Counters that all processes share (store/limits/limits.ts). */
export interface Windows {
  /** Adds one to the counter; starts a new window of `ms` if the last one is over. Atomic across processes. */
  add(key: string, ms: number): Promise<Counted>;
  takeBack(key: string): Promise<void>;
  clear(key: string): Promise<void>;
}

export interface Counted {
  /** The count including this call. */
  readonly count: number;
  /** End of the window, in milliseconds since the epoch. */
  readonly endsAt: number;
}

/** Creates limiters that share one storage. */
export const sharedLimiters =
  (shared: Parameters<typeof createSharedLimiter>[2]) =>
  (name: string, window: RateWindow): Limiter =>
    createSharedLimiter(name, window, shared);

/** A limiter shared by all processes. The first attempt starts a window. Refused attempts do not extend it. */
export function createSharedLimiter(
  name: string,
  { points, seconds }: RateWindow,
  { windows, clock }: { readonly windows: Windows; readonly clock: { now(): number } },
): Limiter {
  const keyOf = (key: string) => `${name} ${key}`;
  return {
    async consume(key) {
      const { count, endsAt } = await windows.add(keyOf(key), seconds * 1000);
      if (count <= points) return;
      fail('RATE_LIMITED', { retryAfterSeconds: Math.max(1, Math.ceil((endsAt - clock.now()) / 1000)) });
    },
    giveBack: (key) => windows.takeBack(keyOf(key)),
    reset: (key) => windows.clear(keyOf(key)),
  };
}

/** A limiter for this process only: faster, but not exact across processes. */
export function createLimiter(name: string, window: RateWindow): Limiter {
  const limiter = new RateLimiterMemory({ keyPrefix: name, points: window.points, duration: window.seconds });
  return {
    async consume(key) {
      try {
        await limiter.consume(key);
      } catch (refusal) {
        const wait = (refusal as RateLimiterRes).msBeforeNext;
        if (typeof wait !== 'number') throw refusal;
        fail('RATE_LIMITED', { retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000)) });
      }
    },
    async giveBack(key) {
      await limiter.reward(key);
    },
    async reset(key) {
      await limiter.delete(key);
    },
  };
}

/** Limits per minute, hour and day. All three apply at once. */
export interface QuotaLimits {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
}

/** Counters that all processes share (store/limits/quotas.ts, store/limits/redis-quotas.ts). */
export interface Quotas {
  /**
   * Takes one point from each window, or leaves all unchanged if one of them is used up. The first call of a window
   * starts it. It takes one round trip and is atomic: concurrent calls in any number of processes get exactly the
   * available points.
   */
  take(key: string, limits: QuotaLimits): Promise<Quota>;
}

/**
 * State of the window with the fewest points left or, if the quota is exceeded, of the full window that resets last.
 */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the next window begins; at least 1. */
  readonly resetSeconds: number;
  readonly isExceeded: boolean;
}

export const quotaWindows = [
  { name: 'minute', ms: 60_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'day', ms: 86_400_000 },
] as const;

/** One window after a call. */
interface QuotaState {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

/** `states` in the order of {@link quotaWindows}. */
export function toQuota(states: readonly QuotaState[], limits: QuotaLimits, isExceeded: boolean, now: number): Quota {
  const all = states.map(({ count, endsAt }, at): Quota => {
    const limit = limits[quotaWindows[at]!.name];
    const resetSeconds = Math.max(1, Math.ceil((endsAt - now) / 1000));
    return { limit, remaining: Math.max(0, limit - count), resetSeconds, isExceeded };
  });
  if (!isExceeded) return all.reduce((a, b) => (b.remaining < a.remaining ? b : a));
  return all.filter(({ remaining }) => remaining === 0).reduce((a, b) => (b.resetSeconds > a.resetSeconds ? b : a));
}
