import { test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { servers } from '../../databases.ts';
import { judgeAggregates } from './aggregates.ts';
import { seedFrom } from './judge.ts';

const WORLDS = 50;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'all sources answer 200 random aggregates as the reference interpreter does, in one statement each (seed %i)',
  (worldSeed) =>
    judgeAggregates(worldSeed, 200, servers, (url, clock) => createSqlSource(url, { clock, observe: () => {} })),
);
