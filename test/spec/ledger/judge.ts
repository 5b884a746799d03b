// What is wrong with the ledger, one line for each offence.
import { readFileSync } from 'node:fs';
import { mutations, points } from './mutations.ts';
import { pending } from './pending.ts';
import { rows } from './rows.ts';
import { type SpecTest, testsOf, timesIn } from './runner.ts';

export function judgeLedger(tests: readonly SpecTest[]): string[] {
  const ids = new Set(rows.map(({ id }) => id));
  const unknown = [...pending, ...mutations.keys()].filter((id) => !ids.has(id));
  return [
    ...unknown.map((id) => `'${id}' is no row of test/spec/ledger/rows.ts`),
    ...rows.flatMap((row) => judgeRow(row.id, testsOf(row, tests).length)),
    ...points.flatMap(([id, { file, text, into }]) => {
      if (mutations.get(id)?.text !== text) return [`${id}: there are two mutations of it; keep one`];
      const times = timesIn(readFileSync(file, 'utf8'), text);
      if (times !== 1) return [`${id}: '${text}' stands ${times} times in ${file}; name the point anew`];
      return text === into ? [`${id}: the mutation changes nothing`] : [];
    }),
  ];
}

function judgeRow(id: string, tests: number): string[] {
  if (pending.has(id)) return tests > 0 ? [`${id} has a test: it is no longer pending`] : [];
  if (tests === 0) return [`${id} has no test: name one after it in test/spec`];
  return mutations.has(id) ? [] : [`${id} has no mutation: name the point that switches it off`];
}
