// Tests outside the section of a row that are about an edge of it, where a user stands.
import type { Proof } from './decisions.ts';
import { proofsA } from './proofs-a.ts';
import { proofsB } from './proofs-b.ts';
import { proofsC } from './proofs-c.ts';
import { proofsD } from './proofs-d.ts';
import { proofsOfDecisions } from './proofs-decisions.ts';
import { proofsOf } from './proofs-e.ts';
import { proofsOfFiles } from './proofs-files.ts';

const lists: readonly Readonly<Record<string, readonly Proof[]>>[] = [
  proofsA,
  proofsB,
  proofsC,
  proofsD,
  proofsOfFiles,
  proofsOfDecisions,
];

export const idsWithProofs: readonly string[] = lists.flatMap((list) => Object.keys(list));

/** All proofs of a row, each file once. `own`: those that stand at the row itself. */
export function proofsFor(id: string, own: readonly Proof[] = []): readonly Proof[] {
  const byFile = new Map<string, string[]>();
  for (const { file, titles } of [...own, ...lists.flatMap((list) => list[id] ?? []), ...proofsOf(id)]) {
    const known = byFile.get(file);
    // Without titles, all tests of the file.
    const isWhole = titles.length === 0 || known?.length === 0;
    byFile.set(file, isWhole ? [] : [...new Set([...(known ?? []), ...titles])]);
  }
  return [...byFile].map(([file, titles]) => ({ file, titles }));
}
