// Calls counted in three windows at once, in the storage and in
// Redis: equal to a naive counter, and shared by all processes.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { type Quota, type QuotaLimits, type Quotas, quotaWindows } from '../../src/core/limit.ts';
import type { Observation } from '../../src/core/observe.ts';
import { createRedisQuotas } from '../../src/store/limits/redis-quotas.ts';
import { redisUrl } from '../redis.ts';
import { cleanUpAfterAll, createPlace, openPair, type Place, variants } from './stores.ts';

interface Counter {
  readonly name: string;
  /** The same counters in two processes, with one clock. */
  open(now: () => number): Promise<readonly [Quotas, Quotas]>;
  /** The number of stored keys. Absent if expired keys disappear by themselves. */
  rows?(): Promise<number>;
}

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0)) await close();
});

const failing: Quotas = { take: () => Promise.reject(new Error('the storage was asked')) };

const redisAt = (url: string, now = systemClock.now, storage = failing, observed: Observation[] = []) => {
  const clock = { ...systemClock, now };
  const quotas = createRedisQuotas(url, storage, { observe: (one) => observed.push(one), clock });
  closing.push(() => quotas.close());
  return quotas;
};

const counters: readonly Counter[] = [
  ...variants.map((variant): Counter => {
    let place: Place | undefined;
    return {
      name: variant.name,
      async open(now) {
        const made = await createPlace(variant);
        place = made;
        const clock = { ...systemClock, now };
        const [one, other] = await openPair({ ...made, open: (options) => made.open({ clock, ...options }) }, variant);
        return [one.quotas, other.quotas];
      },
      rows: async () => (await place!.tables().knex('quotas').pluck('key_hash')).length,
    };
  }),
  ...(redisUrl === undefined
    ? []
    : [
        {
          name: 'redis',
          open: async (now: () => number) => [redisAt(redisUrl!, now), redisAt(redisUrl!, now)] as const,
        },
      ]),
];

/** A naive counter in memory, to compare with. */
function createNaive(limits: QuotaLimits) {
  const windows = quotaWindows.map(({ name, ms }) => ({ limit: limits[name], ms, taken: 0, endsAt: 0 }));
  return (now: number): Quota => {
    for (const one of windows) if (one.endsAt <= now) Object.assign(one, { taken: 0, endsAt: now + one.ms });
    const full = windows.filter(({ taken, limit }) => taken >= limit);
    const show = ({ limit, taken, endsAt }: (typeof windows)[number]) => ({
      limit,
      remaining: limit - taken,
      resetSeconds: Math.max(1, Math.ceil((endsAt - now) / 1000)),
    });
    if (full.length > 0) {
      // A window that has ended and is not full begins with the next counted call.
      for (const one of windows) if (one.taken === 0) one.endsAt = 0;
      const longest = full.sort((a, b) => b.endsAt - a.endsAt)[0]!;
      return { ...show(longest), isExceeded: true };
    }
    for (const one of windows) one.taken++;
    const tightest = windows.reduce((a, b) => (b.limit - b.taken < a.limit - a.taken ? b : a));
    return { ...show(tightest), isExceeded: false };
  };
}

const step = fc.record({
  wait: fc.oneof(
    { weight: 6, arbitrary: fc.nat(3000) },
    { weight: 3, arbitrary: fc.nat(90_000) },
    { weight: 1, arbitrary: fc.nat(30_000_000) },
    { weight: 1, arbitrary: fc.constantFrom(59_999, 60_000, 3_600_000, 86_399_999, 86_400_000) },
  ),
  which: fc.nat(1),
});
const limitsOf = fc.record({
  minute: fc.integer({ min: 1, max: 5 }),
  hour: fc.integer({ min: 1, max: 9 }),
  day: fc.integer({ min: 1, max: 14 }),
});

describe.each(counters)('calls counted in $name', ({ open, rows }) => {
  let now = systemClock.now();
  let processes: readonly [Quotas, Quotas];
  beforeAll(async () => {
    processes = await open(() => now);
  }, 60_000);
  cleanUpAfterAll();

  test('are counted like a naive count, in every process and over time', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(limitsOf, fc.array(step, { minLength: 5, maxLength: 40 }), async (limits, steps) => {
        const key = randomUUID();
        const naive = createNaive(limits);
        for (const { wait, which } of steps) {
          now += wait;
          expect(await processes[which]!.take(key, limits)).toEqual(naive(now));
        }
      }),
      { numRuns: 8 },
    );
  });

  test('concurrently in two processes: as many pass as the limit allows, and refused calls do not count', async () => {
    const key = randomUUID();
    const limits = { minute: 10, hour: 15, day: 1000 };
    const many = () => Promise.all(Array.from({ length: 30 }, (_, turn) => processes[turn % 2]!.take(key, limits)));
    const first = await many();
    now += 60_000;
    const second = await many();
    const taken = (quotas: readonly Quota[]) => quotas.filter(({ isExceeded }) => !isExceeded);
    // Each point was granted once.
    expect(
      taken(first)
        .map(({ remaining }) => remaining)
        .sort((a, b) => a - b),
    ).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(taken(second).length).toBe(5);
    expect(new Set(second.filter(({ isExceeded }) => isExceeded).map(({ limit }) => limit))).toEqual(new Set([15]));
  });

  test('keep their counts and block for at most two windows if the clock is set back', async () => {
    const [quotas] = processes;
    const key = randomUUID();
    const limits = { minute: 1, hour: 100, day: 100 };
    await quotas.take(key, limits);
    // Simulates another process with a clock that is behind.
    now -= 30_000;
    const behind = await quotas.take(key, limits);
    now -= 3_600_000;
    const later = [await quotas.take(key, limits), await quotas.take(key, limits)];
    now += 3_630_000;
    expect([behind, ...later].map(({ isExceeded, resetSeconds }) => [isExceeded, resetSeconds])).toEqual([
      [true, 90],
      [false, 60],
      [true, 60],
    ]);
  });

  test('with the largest possible limits are exact', async () => {
    const [quotas] = processes;
    const key = randomUUID();
    const limits = { minute: 1_000_000_000, hour: 1_000_000_000, day: 100_000_000 };
    const [first, second] = [await quotas.take(key, limits), await quotas.take(key, limits)];
    const told = { limit: 100_000_000, isExceeded: false, resetSeconds: 86_400 };
    expect([first, second]).toEqual([
      { ...told, remaining: 99_999_999 },
      { ...told, remaining: 99_999_998 },
    ]);
  });

  test.skipIf(!rows)('are deleted when their windows are over', async () => {
    const limits = { minute: 1, hour: 1, day: 1 };
    now += 86_400_000 + 600_000;
    await processes[0].take('new', limits);
    const kept = [await rows!()];
    now += 86_400_000 - 1;
    await processes[0].take('another', limits);
    kept.push(await rows!());
    expect(kept).toEqual([1, 2]);
  });
});

test('an unreachable Redis: the storage counts, no call fails, and one warning without the password is logged', async () => {
  const observed: Observation[] = [];
  const quota: Quota = { limit: 1, remaining: 0, resetSeconds: 60, isExceeded: false };
  let asked = 0;
  const storage: Quotas = {
    async take() {
      asked++;
      return quota;
    },
  };
  const away = redisAt('redis://:the-password@127.0.0.1:1', systemClock.now, storage, observed);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => away.take('somebody', { minute: 1, hour: 1, day: 1 })),
  );
  expect([answers.every((one) => one === quota), asked]).toEqual([true, 20]);
  expect(observed).toEqual([{ type: 'warning', message: expect.stringContaining('SERVICE_REDIS_URL') }]);
  expect(JSON.stringify(observed)).not.toContain('the-password');
});

test.skipIf(redisUrl === undefined)(
  'a Redis that refuses the password: the storage counts, and the password is not logged',
  async () => {
    const observed: Observation[] = [];
    const quota: Quota = { limit: 1, remaining: 0, resetSeconds: 60, isExceeded: false };
    const url = new URL(redisUrl!);
    url.username = 'nobody';
    url.password = 'the-password';
    const refused = redisAt(url.href, systemClock.now, { take: async () => quota }, observed);
    expect(await refused.take('somebody', { minute: 1, hour: 1, day: 1 })).toBe(quota);
    expect(JSON.stringify(observed)).toContain('WRONGPASS');
    expect(JSON.stringify(observed)).not.toContain('the-password');
  },
);
