// The difference in the database before and after a call equals what the dry run, the approval, the answer and the log
// report. This includes writes that the database makes itself. DIFFERENCES_SEED repeats a failed seed.
import { describe, expect, test } from 'vitest';
import { servers } from '../../databases.ts';
import { newTally, runSeed } from './run.ts';

const seed = Number(process.env.DIFFERENCES_SEED ?? Date.now() % 1_000_000);

describe.each(servers)('$dialect', (maker) => {
  test(`calls report exactly the changes in the database (seed ${seed})`, async () => {
    const tally = newTally();
    for (let at = 0; at < 2; at++) await runSeed(maker, seed + at, 25, tally);
    console.log(maker.dialect, seed, {
      ...tally,
      codes: Object.fromEntries(tally.codes),
      kinds: Object.fromEntries(tally.kinds),
    });
    expect(tally.differences).toEqual([]);
    expect(tally.calls - tally.refused).toBeGreaterThan(10);
  }, 120_000);
});
