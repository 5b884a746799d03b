import { createRequire } from 'node:module';
import type { RateLimiterMemory as InMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from './errors.ts';

/** The part that counts in memory: the whole package brings one for every kind of database, for each start to load. */
const RateLimiterMemory = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterMemory.js',
) as typeof InMemory;

/** A window of `points` per `seconds` for each key. */
export interface RateWindow {
  readonly points: number;
  readonly seconds: number;
}

export interface Limiter {
  /** Takes one point; RATE_LIMITED with `retryAfterSeconds` when there is none left. */
  consume(key: string): Promise<void>;
  /** Gives one point back, where only failures count. */
  giveBack(key: string): Promise<void>;
  /** Gives everything back, as after a success. */
  reset(key: string): Promise<void>;
}

/** Where counts are kept that all processes share (store/limits.ts). */
export interface Windows {
  /** Counts one more, in a new window of `ms` where the last one is over. Atomic, in every process. */
  add(key: string, ms: number): Promise<Counted>;
  takeBack(key: string): Promise<void>;
  clear(key: string): Promise<void>;
}

export interface Counted {
  /** With this one. */
  readonly count: number;
  /** Of the window; milliseconds since the epoch. */
  readonly endsAt: number;
}

/** Counts for all processes. The first attempt begins a window, and those that are refused do not make it longer. */
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

/** Counts in this process: for what must be quick rather than exact. */
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

/** How often something may happen in a minute, in an hour and in a day: all three count at once. */
export interface QuotaLimits {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
}

/** Counts that all processes share (store/quotas.ts, store/redis-quotas.ts). */
export interface Quotas {
  /**
   * Takes one point of each window, or none where one of them has none left. The first call of a window begins it. One round
   * trip, and atomic: calls side by side in any number of processes get exactly as many points as there are.
   */
  take(key: string, limits: QuotaLimits): Promise<Quota>;
}

/** Of the window that has the least left, or of the full one that will be closed for longest. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
  /** Until the window begins anew; 1 at least. */
  readonly resetSeconds: number;
  readonly isExceeded: boolean;
}

export const quotaWindows = [
  { name: 'minute', ms: 60_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'day', ms: 86_400_000 },
] as const;

/** One window as it stands after a call. */
export interface QuotaState {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

/** `states`: in the order of {@link quotaWindows}. */
export function toQuota(states: readonly QuotaState[], limits: QuotaLimits, isExceeded: boolean, now: number): Quota {
  const all = states.map(({ count, endsAt }, at): Quota => {
    const limit = limits[quotaWindows[at]!.name];
    const resetSeconds = Math.max(1, Math.ceil((endsAt - now) / 1000));
    return { limit, remaining: Math.max(0, limit - count), resetSeconds, isExceeded };
  });
  if (!isExceeded) return all.reduce((a, b) => (b.remaining < a.remaining ? b : a));
  return all.filter(({ remaining }) => remaining === 0).reduce((a, b) => (b.resetSeconds > a.resetSeconds ? b : a));
}
