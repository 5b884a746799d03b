// A sample of the attempts; leaks.long.test.ts has all. `LEAKS_SEED` repeats a choice.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../agent/oracle/random.ts';
import { servers } from '../../databases.ts';
import { leaks } from './all.ts';
import { type Judged, judge, openWorlds, type Worlds } from './judge.ts';

const SAMPLE = 50;
const seed = Number(process.env.LEAKS_SEED ?? Date.now() % 2 ** 31);

test('every attempt has a unique id; some attempts are about fields and some about rows', () => {
  expect(new Set(leaks.map(({ id }) => id)).size).toBe(leaks.length);
  for (const about of ['field', 'row'] as const)
    expect(leaks.filter((leak) => leak.about === about).length).toBeGreaterThan(300);
});

describe.each(servers.slice(0, 1))(`$dialect (seed ${seed})`, (maker) => {
  const ends: (() => Promise<void>)[] = [];
  let worlds: Worlds;
  beforeAll(async () => {
    worlds = await openWorlds(maker, (end) => ends.unshift(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('answers are the same in two worlds that differ in what the caller may not see', async () => {
    const judged: Judged[] = [];
    for (const leak of createRandom(seed).some(leaks, SAMPLE, SAMPLE)) judged.push(await judge(leak, worlds));
    expect(judged.flatMap(({ leak, learned }) => (learned ? [[leak.id, ...learned]] : []))).toEqual([]);
    // Most attempts learn something for a caller with the right.
    expect(judged.filter(({ isControlled }) => isControlled).length).toBeGreaterThan(SAMPLE / 2);
  });
});
