// One case of the conformance suite: a requirement of a standard in our words, a request, and the expected HTTP
// response. This folder has a table of cases for each standard. suite.ts runs them, and write.ts prints
// them.
import type { ConformanceServer } from './conformance-server.ts';

export type Level = 'MUST' | 'MUST NOT' | 'SHOULD' | 'SHOULD NOT' | 'MAY';

export interface Case {
  /** The section number, or the title if sections have no number. */
  readonly section: string;
  readonly level: Level;
  readonly requires: string;
  /** Sends the requests and returns the value to compare. */
  readonly send: (at: ConformanceServer) => Promise<unknown>;
  /** The expected value, or a function that computes it. */
  readonly back: unknown;
  /** Why the server deviates. `back` is then what the server does. */
  readonly otherwise?: string;
}

export interface Standard {
  /** As cited, such as `RFC 6749`. */
  readonly name: string;
  readonly title: string;
  readonly url: string;
  /** The file of the table in this folder. */
  readonly file: string;
  readonly cases: readonly Case[];
}

export const titleOf = ({ section, level, requires }: Case): string => `${section} ${level}: ${requires}`;
