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

/** Counts in this process. What several processes must share goes through the store or Redis (a later issue). */
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
