// A sample of judge.long.test.ts.
import { afterAll, test } from 'vitest';
import { servers } from '../../databases.ts';
import { sqliteIsolates } from '../../sql/schemas.ts';
import { seedFrom } from '../oracle/judge.ts';
import { judgeAnalysis } from './judge.ts';
import { createTally, showTally } from './sides.ts';

const WORLDS = 2;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`analysis seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

const tally = createTally();
afterAll(() => console.log(showTally(tally)));

// The SQL written by hand for SQLite needs functions of the native driver.
const asked = servers.filter(({ dialect }) => dialect !== 'sqlite' || sqliteIsolates);

test.skipIf(asked.length === 0).each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'the engine answers 25 random analytic questions as the reference interpreter does (seed %i)',
  (worldSeed) => judgeAnalysis(worldSeed, 25, asked, tally),
);
