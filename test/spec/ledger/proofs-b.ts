import type { Proof } from './decisions.ts';

/** By the id of the row. */
export const proofsB: Readonly<Record<string, readonly Proof[]>> = {};
