// Kills two hundred workers at random points, and two hundred more beside a surviving one with a
// Redis that is flushed from time to time, spread over the databases. TEST_SEED repeats a run.
import { afterEach, describe, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { proveFaults } from './faults.ts';
import { hasRedisServer, makeRedis, type OwnRedis } from './own-redis.ts';

const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const kills = Math.ceil(200 / servers.length);
let redis: OwnRedis | undefined;
afterEach(() => redis?.kill());

describe.each(servers)('killed workers, on $dialect', { timeout: 1_800_000 }, (server) => {
  test(`${kills} workers, one after another (TEST_SEED=${seed})`, async () => {
    const seen = await proveFaults(server, { kills, seed });
    console.log(`${server.dialect}: ${JSON.stringify(seen)}`);
    expect(seen.uncertain).toBeGreaterThan(0);
    // Some workers died before the change, and some after it.
    expect([seen.kills, seen.done > 0, seen.again > 0]).toEqual([kills, true, true]);
  });

  test.skipIf(!hasRedisServer)(`${kills} workers beside one that lives, with Redis (TEST_SEED=${seed})`, async () => {
    redis = await makeRedis();
    await redis.start();
    const seen = await proveFaults(server, { kills, seed, redis });
    console.log(`${server.dialect}, Redis: ${JSON.stringify(seen)}`);
    expect([seen.kills, seen.uncertain > 0, seen.flushes > 0]).toEqual([kills, true, true]);
  });
});
