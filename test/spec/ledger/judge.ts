// Finds problems in the ledger, one line each.
import { existsSync, readFileSync } from 'node:fs';
import { mutations, points } from './mutations.ts';
import { idsWithProofs } from './proofs.ts';
import { type Row, rows } from './rows.ts';
import { type SpecTest, testsOf, timesIn } from './runner.ts';

export function judgeLedger(tests: readonly SpecTest[]): string[] {
  const ids = new Set(rows.map(({ id }) => id));
  const unknown = [...mutations.keys(), ...idsWithProofs].filter((id) => !ids.has(id));
  return [
    ...unknown.map((id) => `'${id}' is no row of test/spec/ledger/rows.ts`),
    ...rows.flatMap((row) =>
      row.section === 'decisions'
        ? judgeDecision(row)
        : [...judgeRow(row.id, testsOf({ ...row, proofs: [] }, tests).length), ...findMissing(row)],
    ),
    ...points.flatMap(([id, { file, text, into }]) => {
      const same = mutations
        .get(id)!
        .filter((other) => other.file === file && other.text === text && other.into === into);
      if (same.length > 1) return [`${id}: the same mutation stands there twice`];
      const times = timesIn(readFileSync(file, 'utf8'), text);
      if (times !== 1) return [`${id}: '${text}' stands ${times} times in ${file}; name the point anew`];
      return text === into ? [`${id}: the mutation changes nothing`] : [];
    }),
  ];
}

function judgeDecision(row: Row): string[] {
  const { id, proofs } = row;
  if (proofs.length === 0) return [`${id} has no test: name one in test/spec/ledger/decisions.ts`];
  return findMissing(row);
}

/** Searches the proofs in the text of their files, to avoid loading the files. */
function findMissing({ id, proofs }: Row): string[] {
  return proofs.flatMap(({ file, titles }) => {
    if (!existsSync(file)) return [`${id}: no file ${file}`];
    const text = readFileSync(file, 'utf8');
    return titles.filter((title) => !text.includes(title)).map((title) => `${id}: no test '${title}' in ${file}`);
  });
}

function judgeRow(id: string, tests: number): string[] {
  if (tests === 0) return [`${id} has no test: name one after it in test/spec`];
  return mutations.has(id) ? [] : [`${id} has no mutation: name the point that switches it off`];
}
