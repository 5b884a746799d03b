// Kills a process in the middle of its work, once. kills.long.test.ts does it often, on every database.
import { expect, test } from 'vitest';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { killAfter, promised } from './kills.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

// The WebAssembly driver has one lock for reads and writes, so several processes cannot share a storage.
const isShared = loadSqliteDriver().kind === 'native';

test.runIf(isShared)('a killed process loses no write, and only reads of the last moment', async () => {
  const place = await createPlace(variants[0]!);
  await (await place.open()).close();
  const kill = await killAfter(place, { reads: 5000, writes: 50 }, 600);
  const { reads, writes, lostMs, stillMs: _, batchMs: __, ...rest } = kill;
  expect(rest).toEqual({ wrong: [], twice: 0, gaps: 0, warnings: [] });
  expect([reads > 1000, writes > 10, lostMs <= promised(kill)]).toEqual([true, true, true]);
});
