import { test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { servers } from '../../databases.ts';
import { seedFrom } from './judge.ts';
import { judgeWrites } from './judge-writes.ts';

const WORLDS = 3;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed of writes ${seed} (ORACLE_SEED=${seed} writes the same again)`);

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  '60 random writes have the expected result or change nothing, on all sources (seed %i)',
  (worldSeed) =>
    judgeWrites(worldSeed, 60, servers, (url, clock) => createSqlSource(url, { clock, observe: () => {} })),
  // A world takes a second or two on an idle machine, and up to twenty times that on a small busy one.
  120_000,
);
