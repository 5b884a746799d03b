import { test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { servers } from '../../databases.ts';
import { judgeAggregates } from './aggregates.ts';
import { seedFrom } from './judge.ts';

const WORLDS = 2;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'all sources answer 60 random aggregates as the reference interpreter does, in one statement each (seed %i)',
  (worldSeed) =>
    judgeAggregates(worldSeed, 60, servers, (url, clock) => createSqlSource(url, { clock, observe: () => {} })),
  // A world takes a second or two on an idle machine, and up to twenty times that on a small busy one.
  120_000,
);
