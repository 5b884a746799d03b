import { afterAll, test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { servers } from '../../databases.ts';
import { judge, seedFrom } from './judge.ts';
import { addTally, createTally, showTally } from './third.ts';

const WORLDS = 3;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

const total = createTally();
afterAll(() => console.log(showTally(total)));

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'all sources answer 60 random queries as the interpreter and plain SQL do, in one statement each (seed %i)',
  async (worldSeed) => {
    const open = (url: string, clock: Clock) => createSqlSource(url, { clock, observe: () => {} });
    addTally(total, await judge(worldSeed, 60, servers, open));
  },
  // A world takes a second or two on an idle machine, and up to twenty times that on a small busy one.
  120_000,
);
