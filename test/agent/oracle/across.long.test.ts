import { test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { servers } from '../../databases.ts';
import { judgeAcross, seedFrom } from './judge.ts';

const WORLDS = 30;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed across sources ${seed} (ORACLE_SEED=${seed} asks the same again)`);

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'two sources answer 200 random queries across them as the reference interpreter does (seed %i)',
  (worldSeed) =>
    judgeAcross(worldSeed, 200, servers, (url, clock) => createSqlSource(url, { clock, observe: () => {} })),
);
