import { test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { servers } from '../../databases.ts';
import { seedFrom } from './judge.ts';
import { judgeWritesAcross } from './judge-writes.ts';

const WORLDS = 20;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed of writes across sources ${seed} (ORACLE_SEED=${seed} writes the same again)`);

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  '200 random writes across two sources have the expected result or change nothing (seed %i)',
  (worldSeed) =>
    judgeWritesAcross(worldSeed, 200, servers, (url, clock) => createSqlSource(url, { clock, observe: () => {} })),
);
