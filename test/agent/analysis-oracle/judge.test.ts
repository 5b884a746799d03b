// A sample of judge.long.test.ts.
import { afterAll, test } from 'vitest';
import { servers } from '../../databases.ts';
import { sqliteIsolates } from '../../sql/schemas.ts';
import { seedFrom } from '../oracle/judge.ts';
import { judgeAnalysis, judgeQuestion } from './judge.ts';
import { type Asked, createTally, showTally } from './sides.ts';

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

// MariaDB took the keys of the grouped rows from the rows of the row scope, and gave all records the same group.
test.each(asked)('a group through a relation to many, within a row scope of relations ($dialect)', (server) => {
  const big = { field: 'person:joined:order notes:big ü', operator: 'NotEqual', value: '9223372036854775807' };
  const members = { aggregator: 'Or', conditions: [big, { none: 'order:memberships' }] };
  const question = {
    collectionName: 'order notes',
    filters: { field: 'order:memberships:flag ü', operator: 'Equal', value: true },
    measures: { a: { avg: 'order:order notes:order_id' } },
    groups: [{ field: 'order:members of it:regions:new day ü', bucket: 'Quarter' }],
  };
  return judgeQuestion(9700033, { question, scopes: { members }, zone: 'Europe/Paris' } as unknown as Asked, server);
});
