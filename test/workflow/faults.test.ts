// A sample of the long test: workers that are killed at critical points.
import { afterAll, describe, expect, test } from 'vitest';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { servers } from '../databases.ts';
import { proveFaults } from './faults.ts';
import { hasRedisServer, makeRedis, type OwnRedis } from './own-redis.ts';

const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
let redis: OwnRedis | undefined;
afterAll(() => redis?.kill());

// The WebAssembly driver has one lock for reads and writes, so several processes cannot share a storage.
describe.runIf(loadSqliteDriver().kind === 'native')('killed workers', { timeout: 300_000 }, () => {
  test(`4 workers, one after another (TEST_SEED=${seed})`, async () => {
    const seen = await proveFaults(servers[0]!, { kills: 4, seed });
    expect(seen).toMatchObject({ runs: 16, kills: 4, flushes: 0 });
  });

  test.skipIf(!hasRedisServer)(`4 workers beside one that lives, with Redis (TEST_SEED=${seed})`, async () => {
    redis = await makeRedis();
    await redis.start();
    const seen = await proveFaults(servers.at(1) ?? servers[0]!, { kills: 4, seed, redis });
    expect(seen).toMatchObject({ runs: 16, kills: 4 });
  });
});
