// One case of the authorization suite: a requirement of a standard in our words, and what must come back over HTTP when
// something is sent. The tables of cases lie beside this file, one for each standard; suite.ts runs them in a
// place, and write.ts makes docs/conformance.md of them.
import type { Place } from './place.ts';

export type Level = 'MUST' | 'MUST NOT' | 'SHOULD' | 'SHOULD NOT' | 'MAY';

export interface Case {
  /** Number of the section, or its name where sections have none. */
  readonly section: string;
  readonly level: Level;
  readonly requires: string;
  /** Sends, and answers what is to be compared. */
  readonly send: (at: Place) => Promise<unknown>;
  /** What it must be, or a function of the place that says so. */
  readonly back: unknown;
  /** Why the server does otherwise. `back` then shows what it does. */
  readonly otherwise?: string;
}

export interface Standard {
  /** As it is cited: `RFC 6749`. */
  readonly name: string;
  readonly title: string;
  readonly url: string;
  /** Of the table, in this folder. */
  readonly file: string;
  readonly cases: readonly Case[];
}

export const titleOf = ({ section, level, requires }: Case): string => `${section} ${level}: ${requires}`;
