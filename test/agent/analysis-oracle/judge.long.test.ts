// Random questions to the tool `aggregate`: the answers of every source, what the questions mean, and plain SQL agree.
import { afterAll, test } from 'vitest';
import { servers } from '../../databases.ts';
import { seedFrom } from '../oracle/judge.ts';
import { judgeAnalysis } from './judge.ts';
import { createTally, showTally } from './sides.ts';

const WORLDS = Number(process.env.ORACLE_WORLDS ?? '40');
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`analysis seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

const tally = createTally();
afterAll(() => console.log(showTally(tally)));

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'the engine answers 50 random analytic questions as the reference interpreter does (seed %i)',
  (worldSeed) => judgeAnalysis(worldSeed, 50, servers, tally),
  120_000,
);
