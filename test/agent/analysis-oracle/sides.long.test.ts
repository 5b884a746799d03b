import { afterAll, test } from 'vitest';
import { servers } from '../../databases.ts';
import { seedFrom } from '../oracle/judge.ts';
import { compareSides, createTally, showTally } from './sides.ts';

const WORLDS = Number(process.env.ORACLE_WORLDS ?? '3');
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`analysis seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

const tally = createTally();
afterAll(() => console.log(showTally(tally)));

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'plain SQL on every database answers 40 random analytic questions as the reference interpreter does (seed %i)',
  (worldSeed) => compareSides(worldSeed, 40, servers, tally),
  120_000,
);
