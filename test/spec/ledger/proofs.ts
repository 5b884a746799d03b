// Tests outside the section of a row that are about an edge of it, where a user stands.
import type { Proof } from './decisions.ts';
import { proofsA } from './proofs-a.ts';
import { proofsB } from './proofs-b.ts';
import { proofsC } from './proofs-c.ts';
import { proofsD } from './proofs-d.ts';
import { proofsOfFiles } from './proofs-files.ts';

const byRow = new Map<string, Proof[]>();
for (const some of [proofsA, proofsB, proofsC, proofsD, proofsOfFiles])
  for (const [id, of] of Object.entries(some)) byRow.set(id, [...(byRow.get(id) ?? []), ...of]);

/** By the id of the row. */
export const proofs: ReadonlyMap<string, readonly Proof[]> = byRow;
