// Tests outside the section of a row that are about an edge of it, where a user stands.
import type { Proof } from './decisions.ts';
import { proofsA } from './proofs-a.ts';
import { proofsB } from './proofs-b.ts';
import { proofsC } from './proofs-c.ts';
import { proofsD } from './proofs-d.ts';

/** By the id of the row. */
export const proofs: ReadonlyMap<string, readonly Proof[]> = new Map(
  [proofsA, proofsB, proofsC, proofsD].flatMap((some) => Object.entries(some)),
);
