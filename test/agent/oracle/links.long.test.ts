import { test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { servers } from '../../databases.ts';
import { seedFrom } from './judge.ts';
import { judgeLinks } from './judge-links.ts';

const WORLDS = 25;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`oracle seed of links ${seed} (ORACLE_SEED=${seed} links the same again)`);

test.each(Array.from({ length: WORLDS }, (_, world) => seed + world))(
  '300 random associate and dissociate calls have the expected result or change nothing, on all sources (seed %i)',
  (worldSeed) =>
    judgeLinks(worldSeed, 300, servers, (url, clock) => createSqlSource(url, { clock, observe: () => {} })),
);
