// Counters of attempts, shared by all processes on one storage.
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createSharedLimiter } from '../../src/core/limit.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const window = { points: 10, seconds: 900 };

describe.each(variants)('attempts on $name', (variant) => {
  const limiterOf = ({ windows }: OpenedStore, now = systemClock.now) =>
    createSharedLimiter('test', window, { windows, clock: { now } });

  test('of two concurrent processes, exactly the allowed number of attempts passes', async () => {
    const stores = await openPair(await createPlace(variant), variant);
    const limiters = stores.map((store) => limiterOf(store));
    const tries = await Promise.allSettled(
      Array.from({ length: 30 }, (_, turn) => limiters[turn % 2]!.consume('somebody')),
    );
    await limiters[0]!.consume('another');
    const refused = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    const waits = refused.map(({ details }) => details.retryAfterSeconds as number);
    expect([refused.length, new Set(refused.map(({ code }) => code))]).toEqual([20, new Set(['RATE_LIMITED'])]);
    expect(waits.every((wait) => wait > 880 && wait <= 900)).toBe(true);
  });

  test('that come at once get consecutive counts of their own window', async () => {
    const { windows } = await (await createPlace(variant)).open();
    await windows.add('a', 900_000);

    const counted = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => windows.add(turn % 2 ? 'a' : 'b', 900_000)),
    );

    const countsOf = (odd: number) => counted.filter((_, turn) => turn % 2 === odd).map(({ count }) => count);
    const upTo = (first: number) => Array.from({ length: 10 }, (_, at) => first + at);
    expect([countsOf(1), countsOf(0)]).toEqual([upTo(2), upTo(1)]);
    const ends = counted.map(({ endsAt }) => endsAt - systemClock.now());
    expect(ends.every((ms) => ms > 880_000 && ms <= 900_000)).toBe(true);
  });

  test('restart if the clock is set back by more than a window, and continue if by less', async () => {
    let now = systemClock.now();
    const store = await (await createPlace(variant)).open({ clock: { ...systemClock, now: () => now } });
    const limiter = limiterOf(store, () => now);
    const wait = () =>
      limiter.consume('somebody').then(
        () => 0,
        ({ details }) => details.retryAfterSeconds as number,
      );
    for (let turn = 0; turn < 10; turn++) await wait();
    const waits = [await wait()];
    now -= 600_000;
    waits.push(await wait());
    now -= 3_600_000;
    waits.push(await wait());
    expect(waits).toEqual([900, 1500, 0]);
  });

  test('are given back one by one, or all; an expired window starts again, and is swept', async () => {
    let now = systemClock.now();
    const clock = { ...systemClock, now: () => now };
    const place = await createPlace(variant);
    const store = await place.open({ clock });
    const limiter = limiterOf(store, clock.now);
    const takeAll = async () => {
      let taken = 0;
      while (
        taken < 20 &&
        (await limiter.consume('somebody').then(
          () => true,
          () => false,
        ))
      )
        taken++;
      return taken;
    };
    const first = await takeAll();
    await limiter.giveBack('somebody');
    // The refused attempt counted as well.
    await limiter.giveBack('somebody');
    const afterOne = await takeAll();
    await limiter.reset('somebody');
    const afterAll = await takeAll();
    now += 900_000;
    const nextWindow = await takeAll();
    now += 3_600_000;
    await limiter.consume('another');
    const rows = await place.tables().knex('attempt_windows').pluck('key_hash');
    expect([first, afterOne, afterAll, nextWindow, rows.length]).toEqual([10, 1, 10, 10, 1]);
  });
});
