// Random questions to the tool `aggregate`: the answers of every source, what the questions mean, and plain SQL agree.
import { afterAll, test } from 'vitest';
import { servers } from '../../databases.ts';
import { seedFrom } from '../oracle/judge.ts';
import { judgeAnalysis } from './judge.ts';
import { createTally, showTally } from './sides.ts';

const WORLDS = Number(process.env.ORACLE_WORLDS ?? '10');
/** Many for each world, whose tables take as long to make as ten questions. */
const QUESTIONS = 200;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`analysis seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

const tally = createTally();
afterAll(() => console.log(showTally(tally)));

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  `the engine answers ${QUESTIONS} random analytic questions as the reference interpreter does (seed %i)`,
  (worldSeed) => judgeAnalysis(worldSeed, QUESTIONS, servers, tally),
  300_000,
);
