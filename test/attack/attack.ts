// What an attack is: it is made from outside against a started server, says whether it got what it wanted, and names the
// protection that keeps it from it.
import type { Dialect } from '../databases.ts';
import type { Mutation } from '../spec/ledger/runner.ts';
import type { Target } from './target.ts';

/** What a server serves. Attacks of one place share a server. */
export interface Place {
  readonly name: string;
  tables(dialect: Dialect): readonly string[];
  /** Path of a module that exports `customize`. */
  readonly code?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The server reaches its database by a wire that can be cut. */
  readonly isWired?: boolean;
  /** What is added to the address of the database. */
  readonly address?: (url: string) => string;
  /** Opens what the server is to find around it when it starts, such as a provider that people sign in with. */
  readonly around?: () => Promise<Around>;
  /** Path of a script that is started in place of the command: an application with an agent in it. */
  readonly host?: string;
}

export interface Around {
  readonly env: Readonly<Record<string, string>>;
  started?(target: Target): void;
  close(): unknown;
}

export interface Verdict {
  readonly broken: boolean;
  /** What came back, in short. */
  readonly evidence: string;
}

export interface Attack {
  readonly id: string;
  /** Of the findings, such as `data 6`; `data held` for what held from the first. */
  readonly finding: string;
  readonly title: string;
  /** All three when absent. */
  readonly on?: readonly Dialect[];
  readonly place: Place;
  /** On a server that no other attack has: it takes the server away, or waits for it. */
  readonly alone?: boolean;
  /** It takes more than some seconds, also where it succeeds. */
  readonly isSlow?: boolean;
  attack(target: Target): Promise<Verdict>;
  /** All of these switched off together let the attack succeed. */
  readonly protection: readonly Mutation[];
}

const SHOWN = 400;

/** `evidence`: a text, or anything as JSON. */
export function verdict(broken: boolean, evidence: unknown): Verdict {
  const text = typeof evidence === 'string' ? evidence : JSON.stringify(evidence);
  return { broken, evidence: text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text };
}
