import type { Proof } from './decisions.ts';

/** By the id of the row. */
export const proofsA: Readonly<Record<string, readonly Proof[]>> = {};
