// Kills a process that records 5,000 reads per second plus writes, 20 times on each database, at random
// moments. No begun write is missing, completed writes stay completed, no entry is duplicated, and only
// reads of the last moment are missing. TEST_KILLS sets a higher number, TEST_SEED repeats a run.
import { expect, test } from 'vitest';
import { randomOf } from '../workflow/faults.ts';
import { type Kill, killAfter, promised } from './kills.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const kills = Number(process.env.TEST_KILLS ?? 20);
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);

test.each(variants.filter(({ sqlite }) => sqlite === 'auto'))(
  'on $name',
  async (variant) => {
    const place = await createPlace(variant);
    await (await place.open()).close();
    const random = randomOf(seed);
    const found: Kill[] = [];
    for (let kill = 0; kill < kills; kill++) {
      found.push(await killAfter(place, { reads: 5000, writes: 50 }, 300 + Math.floor(random() * 2000)));
    }
    const sum = (of: (kill: Kill) => number): number => found.reduce((all, kill) => all + of(kill), 0);
    const lost = found.map(({ lostMs }) => lostMs).sort((a, b) => a - b);
    console.log(
      `${variant.name}: seed ${seed}, ${kills} kills, ${sum(({ reads }) => reads)} reads, ${sum(({ writes }) => writes)} writes; ` +
        `the oldest read that was lost: ${lost.join(' ')} ms; ` +
        `the process stood still for ${Math.max(...found.map(({ stillMs }) => stillMs))} ms at most, and a batch took ${Math.max(...found.map(({ batchMs }) => batchMs))} ms`,
    );
    expect(found.flatMap(({ wrong, warnings }) => [...wrong, ...warnings])).toEqual([]);
    expect([sum(({ twice }) => twice), sum(({ gaps }) => gaps)]).toEqual([0, 0]);
    expect(found.filter((kill) => kill.lostMs > promised(kill))).toEqual([]);
  },
  1_200_000,
);
