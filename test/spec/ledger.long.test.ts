import { expect, test } from 'vitest';
import { runMutations } from './ledger/run.ts';

test('every row fails when its behaviour is switched off', async () => {
  const printed = await runMutations();
  const [, noticed, all] = /^(\d+) of (\d+) rows notice when they are switched off; seed \d+$/.exec(printed) ?? [];
  expect([printed, noticed === all && Number(all) > 100]).toEqual([printed, true]);
}, 1_800_000);
