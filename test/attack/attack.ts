// An attack runs from outside against a started server. It reports whether it succeeded, and names the protection that
// prevents it.
import type { Dialect } from '../databases.ts';
import type { Mutation } from '../spec/ledger/runner.ts';
import type { Target } from './target.ts';

/** What a server serves. Attacks with the same place share a server. */
export interface Place {
  readonly name: string;
  tables(dialect: Dialect): readonly string[];
  /** Path of a module that exports `customize`. */
  readonly code?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The server reaches its database through a proxy that can be cut. */
  readonly isWired?: boolean;
  /** Adds parameters to the URL of the database. */
  readonly address?: (url: string) => string;
  /** Opens services that must run when the server starts, such as an OpenID provider. */
  readonly around?: () => Promise<Around>;
  /** Path of a script that starts instead of the command: an application with an agent in it. */
  readonly host?: string;
}

export interface Around {
  readonly env: Readonly<Record<string, string>>;
  started?(target: Target): void;
  close(): unknown;
}

export interface Verdict {
  readonly broken: boolean;
  /** The answers of the server, in short. */
  readonly evidence: string;
}

export interface Attack {
  readonly id: string;
  /** The number of the finding, such as `data 6`; `data held` for attacks that never succeeded. */
  readonly finding: string;
  readonly title: string;
  /** Defaults to all three. */
  readonly on?: readonly Dialect[];
  readonly place: Place;
  /** Needs its own server, because it stops the server or waits for it to end. */
  readonly alone?: boolean;
  /** Takes more than a few seconds, even if it succeeds. */
  readonly isSlow?: boolean;
  attack(target: Target): Promise<Verdict>;
  /** The attack succeeds when all of these are switched off together. */
  readonly protection: readonly Mutation[];
}

const SHOWN = 400;

/** `evidence` is a text, or any value that is shown as JSON. */
export function verdict(broken: boolean, evidence: unknown): Verdict {
  const text = typeof evidence === 'string' ? evidence : JSON.stringify(evidence);
  return { broken, evidence: text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text };
}
