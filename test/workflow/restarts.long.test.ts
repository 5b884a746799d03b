// Kills or stops databases at random points under working executors, and restarts them: each kind, with one worker
// and with three, with and without Redis, for the storage, the served database, or both. TEST_SEED repeats a run.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { makeServer, type OwnServer, ownDialects } from './own-databases.ts';
import { hasRedisServer, makeRedis, type OwnRedis } from './own-redis.ts';
import { proveRestarts, type Restarts } from './restarts.ts';

const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe.each(ownDialects)('%s is restarted', { timeout: 1_200_000 }, (dialect) => {
  let server: OwnServer;
  let redis: OwnRedis | undefined;
  beforeAll(async () => {
    server = await makeServer(dialect);
  });
  afterEach(async () => {
    await redis?.kill();
    redis = undefined;
  });
  afterAll(() => server.remove());

  const wishes: readonly (Omit<Restarts, 'seed' | 'redis' | 'restarts'> & { readonly redis: boolean })[] = [
    { holds: 'both', workers: 1, redis: false },
    { holds: 'both', workers: 3, redis: true },
    { holds: 'storage', workers: 3, redis: false },
    { holds: 'storage', workers: 1, redis: true },
    { holds: 'served', workers: 3, redis: false },
    { holds: 'served', workers: 1, redis: true },
  ];
  test.each(wishes)(`$holds, workers: $workers, Redis: $redis (TEST_SEED=${seed})`, async ({ redis: has, ...wish }) => {
    if (has && !hasRedisServer) return;
    if (has) {
      redis = await makeRedis();
      await redis.start();
    }
    const stays = servers.at(-1)!;
    const seen = await proveRestarts(server, stays, { ...wish, restarts: 20, seed, ...(redis && { redis }) });
    console.log(`${dialect}: ${JSON.stringify({ ...wish, redis: has, ...seen })}`);
    expect(seen.killed).toBeGreaterThan(0);
    // The database died before a change and after one, and no worker got a response.
    if (wish.holds === 'served') expect([seen.done > 0, seen.again > 0]).toEqual([true, true]);
    if (wish.holds === 'both') expect(seen.uncertain).toBeGreaterThan(0);
  });
});
