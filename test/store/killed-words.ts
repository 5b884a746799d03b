// The messages between a process that will be killed (killed.ts) and its parent.

/** The interval between actions. */
export const TICK_MS = 10;

export interface KilledWish {
  readonly env: Readonly<Record<string, string>>;
  /** Identifies the entries of this process. */
  readonly clientId: string;
  /** Per second. */
  readonly reads: number;
  readonly writes: number;
}
/** Reads and writes are numbered separately, each from 0. Times are milliseconds since the epoch. */
export type KilledTold =
  | { readonly ready: true }
  | { readonly reads: readonly [first: number, last: number]; readonly at: number }
  | { readonly begun: number }
  | { readonly completed: number }
  /** A batch of reads starts to be written, or is written. */
  | { readonly batch: 'begins' | 'ends'; readonly at: number }
  | { readonly warning: string };
