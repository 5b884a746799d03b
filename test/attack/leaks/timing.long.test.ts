// Time as a channel: a clerk sends one request while the hidden data is that of world A, and while it is that of world
// B, in turns, to one server. The two series of times must not be distinguishable. Only attempts with a control are
// measured (judge.ts). `LEAKS_SEED` repeats a choice, `LEAKS_PAIRS` sets its size, and `LEAKS_ONLY` is a pattern of ids.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { createRandom } from '../../agent/oracle/random.ts';
import { servers } from '../../databases.ts';
import { leaks } from './all.ts';
import { judge, type OpenedWorld, openWorlds, type Worlds } from './judge.ts';
import type { Leak } from './leak.ts';
import { mannWhitney } from './times.ts';

const REPEATS = 200;
const P = 0.001;
/** A pair below `P` is measured again this often. By chance, one of a million pairs is below each time. */
const AGAIN = 2;

const pairs = Number(process.env.LEAKS_PAIRS ?? 300);
const only = new RegExp(process.env.LEAKS_ONLY ?? '.');
const seed = Number(process.env.LEAKS_SEED ?? Date.now() % 2 ** 31);

describe.each(servers)(`$dialect (seed ${seed})`, (maker) => {
  const ends: (() => Promise<void>)[] = [];
  let worlds: Worlds;
  beforeAll(async () => {
    worlds = await openWorlds(maker, (end) => ends.unshift(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('the time of an answer does not depend on hidden data', { timeout: 7_200_000 }, async () => {
    const random = createRandom(seed);
    const controlled: Leak[] = [];
    const chosen = leaks.filter(({ id }) => only.test(id));
    for (const leak of random.some(chosen, chosen.length, chosen.length)) {
      if (controlled.length === pairs) break;
      if ((await judge(leak, worlds)).isControlled) controlled.push(leak);
    }
    const [world] = worlds;
    const below: string[] = [];
    const distinguished: string[] = [];
    const series = await measure(controlled, world);
    for (const [leak, p] of series) {
      if (p > P) continue;
      below.push(`${leak.id}: ${p.toExponential(1)}`);
      const again: number[] = [];
      for (let at = 0; at < AGAIN; at++) again.push((await measure([leak], world))[0]![1]);
      below.push(`  again: ${again.map((each) => each.toPrecision(2)).join(', ')}`);
      if (again.every((each) => each <= P)) distinguished.push(leak.id);
    }
    console.info(`${maker.dialect}: ${controlled.length} pairs, ${REPEATS} repeats each`);
    console.info([`p at most ${P}: ${below.length / 2}`, ...below].join('\n'));
    expect(distinguished).toEqual([]);
    if (process.env.LEAKS_ONLY === undefined) expect(controlled.length).toBe(pairs);
  });
});

/**
 * One call of each pair in each world, again and again, so that a change of world serves all pairs and load of the
 * machine affects both series equally.
 */
async function measure(chosen: readonly Leak[], world: OpenedWorld): Promise<(readonly [Leak, number])[]> {
  const { clerk, insiders } = world;
  const times = chosen.map(() => ({ A: [] as number[], B: [] as number[] }));
  for (let repeat = 0; repeat < REPEATS; repeat++)
    for (const name of repeat % 2 === 0 ? (['A', 'B'] as const) : (['B', 'A'] as const)) {
      await world.become(name);
      // The database reads its pages again.
      for (const collectionName of ['customers', 'orders', 'items', 'tags', 'visits', 'parcels'])
        await clerk.tool('list', { collectionName });
      for (const [at, leak] of chosen.entries()) {
        const began = systemClock.monotonic();
        await leak.run(clerk, insiders[leak.about]);
        times[at]![name].push(systemClock.monotonic() - began);
      }
    }
  await world.become('A');
  return chosen.map((leak, at) => [leak, mannWhitney(times[at]!.A, times[at]!.B)] as const);
}
