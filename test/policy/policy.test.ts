// Entry point x operation x policy: the same rights apply at every entry point (CWE-862, CWE-863). oracle.ts has the
// expected results, written from the docs; the actual results come from the database and the activity log. Each run
// tests a random part of the cells, which POLICY_SEED repeats; policy.long.test.ts tests all.
import { describe } from 'vitest';
import { servers } from '../databases.ts';
import { describeTable } from './groups.ts';

const seed = Number(process.env.POLICY_SEED ?? Date.now() % 1_000_000);

/**
 * The fractions on SQLite, 1 by default. Entry points that share their code with another one have smaller fractions.
 */
const parts: Readonly<Record<string, number>> = {
  'tools over MCP': 0.3,
  "the agent's HTTP API": 0.2,
  "the agent's HTTP API, by a program": 0.1,
  'the playground of the console': 0.05,
  'starts of workflows': 0.2,
  'steps of workflows': 0.2,
  'steps that ask a person': 0.08,
  'approved calls, done by the server': 0.08,
  'approved calls, done by the assistant': 0.04,
};

describe.each(servers)(`$dialect (seed ${seed})`, (maker) => {
  const share = (group: string) =>
    maker.dialect === 'sqlite' ? (parts[group] ?? 1) : /MCP|HTTP/.test(group) ? 0.03 : 0;
  describeTable({ maker, seed, share });
});
