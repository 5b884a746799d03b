// 10,000 random questions to each database, 100 per world. ORACLE_SEED repeats a run, ORACLE_FROM skips the first
// worlds, and ORACLE_WORLDS sets their number.
import { afterAll, test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { servers } from '../../databases.ts';
import { judge, seedFrom } from './judge.ts';
import { addTally, createTally, showTally } from './third.ts';

const QUESTIONS = 100;
const { ORACLE_SEED, ORACLE_FROM = '0', ORACLE_WORLDS = '100' } = process.env;
const seed = seedFrom(ORACLE_SEED);
const worlds = Array.from({ length: Number(ORACLE_WORLDS) }, (_, world) => world).slice(Number(ORACLE_FROM));
console.log(`oracle seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);

const total = createTally();
const open = (url: string, clock: Clock) => createSqlSource(url, { clock, observe: () => {} });
afterAll(() => console.log(`all worlds: ${showTally(total)}`));

test.each(worlds)(
  'all sources answer 100 random queries as the interpreter and plain SQL do, in one statement each (world %i)',
  async (world) => {
    addTally(total, await judge(seed + world, QUESTIONS, servers, open));
    console.log(`world ${world} (go on with ORACLE_SEED=${seed} ORACLE_FROM=${world + 1}): ${showTally(total)}`);
  },
  600_000,
);
