import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from './errors.ts';

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

/** Several windows at once, of which the tightest counts. */
export interface Quotas {
  /** Takes one point of each window, or none where one has none left. */
  take(key: string): Promise<Quota>;
}

/** Of the window that has the least left, or that will be closed for longest. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
  /** Until the window begins anew. */
  readonly resetSeconds: number;
  readonly isExceeded: boolean;
}

/** Counts in this process, as {@link createLimiter} does. */
export function createQuotas(name: string, windows: readonly RateWindow[]): Quotas {
  const limiters = windows.map(
    ({ points, seconds }) => new RateLimiterMemory({ keyPrefix: `${name}-${seconds}`, points, duration: seconds }),
  );
  const toQuota = ({ msBeforeNext, remainingPoints }: RateLimiterRes, limit: number, isExceeded: boolean): Quota => ({
    limit,
    remaining: isExceeded ? 0 : Math.max(0, remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
    isExceeded,
  });
  return {
    async take(key) {
      const before = await Promise.all(limiters.map((limiter) => limiter.get(key)));
      const closed = limiters.flatMap(({ points }, at) => {
        const state = before[at];
        return state && state.consumedPoints >= points ? [toQuota(state, points, true)] : [];
      });
      if (closed.length > 0) return closed.reduce((a, b) => (b.resetSeconds > a.resetSeconds ? b : a));
      const taken = await Promise.all(
        limiters.map((limiter) =>
          limiter.consume(key).then(
            (state) => toQuota(state, limiter.points, false),
            // Another call took the last one since.
            (state: unknown) => {
              if (typeof (state as RateLimiterRes).msBeforeNext !== 'number') throw state;
              return toQuota(state as RateLimiterRes, limiter.points, true);
            },
          ),
        ),
      );
      return taken.reduce((a, b) => (b.isExceeded || (!a.isExceeded && b.remaining < a.remaining) ? b : a));
    },
  };
}
