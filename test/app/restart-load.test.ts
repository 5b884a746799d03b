// A short sample of restart-load.long.test.ts, which runs for 30 s.
import { expect, test } from 'vitest';
import { openLoad } from './restart-load.ts';

test('restart() every 200 ms under 64 connections of mixed calls: no failed call, no leaked handle', async () => {
  const load = await openLoad();
  const before = await load.run(2);
  const after = await load.run(2.5);
  expect(load.failures.slice(0, 5)).toEqual([]);
  expect([load.answers.size, after.restarts > before.restarts + 3, after.handles]).toEqual([10, true, before.handles]);
}, 60_000);
