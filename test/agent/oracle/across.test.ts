import { test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { servers } from '../../databases.ts';
import { judgeAcross, seedFrom } from './judge.ts';

const WORLDS = 3;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed across sources ${seed} (ORACLE_SEED=${seed} asks the same again)`);

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'two sources answer 50 random queries across them as the reference interpreter does (seed %i)',
  (worldSeed) =>
    judgeAcross(worldSeed, 50, servers, (url, clock) => createSqlSource(url, { clock, observe: () => {} })),
  // A world takes a second or two on an idle machine, and up to twenty times that on a small busy one.
  120_000,
);
