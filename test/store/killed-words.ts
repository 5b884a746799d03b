// What a process that is to be killed (killed.ts) and its parent say to one another.

/** How often it does something. */
export const TICK_MS = 10;

export interface KilledWish {
  readonly env: Readonly<Record<string, string>>;
  /** What its entries are found by. */
  readonly clientId: string;
  /** Per second. */
  readonly reads: number;
  readonly writes: number;
}
/** Numbers of reads and writes are counted apart, each from 0. Times are milliseconds since the epoch. */
export type KilledTold =
  | { readonly ready: true }
  | { readonly reads: readonly [first: number, last: number]; readonly at: number }
  | { readonly begun: number }
  | { readonly completed: number }
  /** A batch of reads is written from then on, and was. */
  | { readonly batch: 'begins' | 'ends'; readonly at: number }
  | { readonly warning: string };
