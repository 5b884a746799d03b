// Entry point x operation x policy: whatever way somebody comes, the same rights hold. What should happen is in oracle.ts, written from
// the docs; what happened is read from the database and the activity log. CWE-862, CWE-863. A part of the cells is walked here, another
// one each time, and all of them in policy.long.test.ts; POLICY_SEED repeats a part.
import { describe } from 'vitest';
import { servers } from '../databases.ts';
import { describeTable } from './groups.ts';

const seed = Number(process.env.POLICY_SEED ?? Date.now() % 1_000_000);

/** On SQLite; 1 where nothing is said. Ways in that end in the same code as another have the smaller parts. */
const parts: Readonly<Record<string, number>> = {
  'tools over MCP': 0.3,
  "the agent's HTTP API": 0.2,
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
