// Limits the requests of a user to /mcp per minute. The limit protects against runaway programs, so its default is far
// above the usage of assistants. It counts per user, across clients and tokens, because clients register themselves.
// The count is per process and synchronous, since every request passes through it.
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';

const WINDOW_MS = 60_000;

export interface RateLimit {
  /** Counts requests of the user. Throws RATE_LIMITED above the limit. */
  consume(userId: number, requests: number): void;
}

/** `perMinute` 0 means no limit. All users share one window, so its end clears all counts. */
export function createRateLimit(perMinute: number, clock: Pick<Clock, 'monotonic'>, observe: Observe): RateLimit {
  if (perMinute === 0) return { consume: () => undefined };
  let counts = new Map<number, number>();
  let endsAt = 0;
  return {
    consume(userId, requests) {
      const now = clock.monotonic();
      if (now >= endsAt) {
        counts = new Map();
        endsAt = now + WINDOW_MS;
      }
      const before = counts.get(userId) ?? 0;
      const count = before + requests;
      counts.set(userId, count);
      if (count <= perMinute) return;
      // Logged once per user and window; one event is enough for an operator.
      if (before <= perMinute) observe({ type: 'security', event: 'mcp.throttled', userId });
      fail('RATE_LIMITED', { retryAfterSeconds: Math.max(1, Math.ceil((endsAt - now) / 1000)) });
    },
  };
}
