// Runs differences.test.ts with 5,000 calls on the three databases. DIFFERENCES_SEED is the first seed, 1 by default.
import { describe, expect, test } from 'vitest';
import { servers } from '../../databases.ts';
import { newTally, runSeed } from './run.ts';

const CALLS = 50;
// A few extra calls, because some cannot be made when all rows are deleted.
const seeds = Number(process.env.DIFFERENCES_SEEDS ?? Math.ceil(5_250 / CALLS / servers.length));
const first = Number(process.env.DIFFERENCES_SEED ?? 1);

describe.each(servers)('$dialect', (maker) => {
  const all = newTally();

  test.each(Array.from({ length: seeds }, (_, at) => first + at))(
    'calls report exactly the changes in the database (seed %i)',
    async (seed) => {
      const tally = newTally();
      await runSeed(maker, seed, CALLS, tally);
      for (const name of ['calls', 'refused', 'extended', 'approved', 'others'] as const) all[name] += tally[name];
      for (const name of ['codes', 'kinds'] as const)
        for (const [key, count] of tally[name]) all[name].set(key, (all[name].get(key) ?? 0) + count);
      if (seed === first + seeds - 1)
        console.log(maker.dialect, `seeds ${first} to ${seed}`, {
          ...all,
          ...{ codes: Object.fromEntries(all.codes), kinds: Object.fromEntries(all.kinds) },
        });
      expect(tally.differences).toEqual([]);
    },
  );

  test('enough calls wrote more records than they named', () => {
    expect(all.extended).toBeGreaterThan(all.calls / 20);
  });
});
