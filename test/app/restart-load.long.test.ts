// Restarts under load for long enough to show a leak.
import { expect, test } from 'vitest';
import { openLoad } from './restart-load.ts';

test('restart() every 200 ms for 30 s under 64 connections of mixed calls: no failed call, no leak', async () => {
  const load = await openLoad();
  const at5 = await load.run(5);
  const at30 = await load.run(25);
  const heap = at30.heapBytes / at5.heapBytes;
  console.log({ restarts: at30.restarts, heap, answers: Object.fromEntries(load.answers) });
  expect(load.failures.slice(0, 5)).toEqual([]);
  expect([at30.handles, at30.restarts > at5.restarts + 20]).toEqual([at5.handles, true]);
  expect(heap).toBeLessThan(1.1);
});
