// How many requests a user may make at /mcp in a minute. It is there for a program that has gone wild, not for thrift: the
// default is far beyond what assistants do. What counts is the user, whichever client or token speaks for him, since clients
// register themselves. Counted in this process alone and without waiting, as every call passes here.
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';

const WINDOW_MS = 60_000;

export interface Pace {
  /** Counts so many requests of the user. RATE_LIMITED when they are too many. */
  take(userId: number, requests: number): void;
}

/** `perMinute` 0: no limit. All windows are one, so that what is kept goes with it. */
export function createPace(perMinute: number, clock: Pick<Clock, 'monotonic'>, observe: Observe): Pace {
  if (perMinute === 0) return { take: () => undefined };
  let counts = new Map<number, number>();
  let endsAt = 0;
  return {
    take(userId, requests) {
      const now = clock.monotonic();
      if (now >= endsAt) {
        counts = new Map();
        endsAt = now + WINDOW_MS;
      }
      const before = counts.get(userId) ?? 0;
      const count = before + requests;
      counts.set(userId, count);
      if (count <= perMinute) return;
      // Once a window: an operator wants to know of it, not to drown in it.
      if (before <= perMinute) observe({ type: 'security', event: 'mcp.throttled', userId });
      fail('RATE_LIMITED', { retryAfterSeconds: Math.max(1, Math.ceil((endsAt - now) / 1000)) });
    },
  };
}
