// Which window of a quota a response describes.
import { expect, test } from 'vitest';
import { toQuota } from '../../src/core/limit.ts';

const limits = { minute: 10, hour: 100, day: 1000 };
const now = 1_700_000_000_000;
const windows = (minute: number, hour: number, day: number) =>
  [
    [minute, 30_000],
    [hour, 1_800_000],
    [day, 43_200_000],
  ].map(([count, ms]) => ({ count: count!, endsAt: now + ms! }));

test.each<[counts: [minute: number, hour: number, day: number], isExceeded: boolean, limit: number, remaining: number, reset: number]>([
  [[1, 1, 1], false, 10, 9, 30],
  [[1, 95, 95], false, 100, 5, 1800],
  [[1, 5, 999], false, 1000, 1, 43_200],
  [[10, 20, 20], false, 10, 0, 30],
  [[11, 20, 20], true, 10, 0, 30],
  [[2, 101, 200], true, 100, 0, 1800],
  [[11, 101, 200], true, 100, 0, 1800],
  [[11, 20, 1001], true, 1000, 0, 43_200],
  [[11, 101, 1001], true, 1000, 0, 43_200],
])('calls %j, exceeded: %s: the window of %i calls', (counts, isExceeded, limit, remaining, resetSeconds) => {
  expect(toQuota(windows(...counts), limits, isExceeded, now)).toEqual({ limit, remaining, resetSeconds, isExceeded });
}); // biome-ignore format: short

test('a window that ends now resets in one second', () => {
  const states = [{ count: 11, endsAt: now }, { count: 11, endsAt: now - 5000 }, { count: 11, endsAt: now - 5000 }]; // biome-ignore format: short
  expect(toQuota(states, limits, true, now)).toEqual({ limit: 10, remaining: 0, resetSeconds: 1, isExceeded: true });
});
