import { test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { servers } from '../../databases.ts';
import { judge, seedFrom } from './judge.ts';

const WORLDS = 3;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  'memory and every database answer 80 random queries with what they mean, one statement a list (seed %i)',
  (worldSeed) => judge(worldSeed, 80, servers, (url, clock) => createSqlSource(url, { clock, observe: () => {} })),
  // Alone a world takes a second or two; beside other work on a small machine, twenty times that.
  120_000,
);
