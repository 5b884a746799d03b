import type { Proof } from './decisions.ts';

/** By the id of the row. */
export const proofsD: Readonly<Record<string, readonly Proof[]>> = {};
