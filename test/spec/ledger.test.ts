// The ledger of the specification: every row has a test, and the tests of sampled rows fail when the behavior of the row
// is switched off.
import { expect, test } from 'vitest';
import { runMutations } from './ledger/run.ts';

test('every row has a test that quotes it and a point that switches it off, and 3 random rows fail', async () => {
  const seed = process.env.LEDGER_SEED ?? String(Date.now() % 2 ** 31);
  console.log(`ledger seed ${seed} (LEDGER_SEED=${seed} takes the same rows again)`);
  expect(await runMutations(['--sample', '3', '--seed', seed])).toBe(
    `3 of 3 rows notice when they are switched off; seed ${seed}`,
  );
}, 600_000);
