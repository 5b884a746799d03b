// Application tokens, which programs use.

import type { Versions } from '../version-types.ts';

/** Where an application token is valid: /mcp, the agent's HTTP API, or the public API with the webhook. */
export type TokenEntrance = 'mcp' | 'agent' | 'api';

export interface NewToken {
  readonly userId: number;
  /** Unique for the user. */
  readonly name: string;
  /** All of one entrance. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch; null, the default: never. */
  readonly expiresAt?: number | null;
  /** Created in a session that began with single sign-on. Default false. */
  readonly sso?: boolean;
}

export interface ApplicationToken extends Required<NewToken> {
  readonly id: number;
  /** Email address of the user. */
  readonly email: string;
  readonly entrance: TokenEntrance;
  readonly createdAt: number;
  /** Accurate to a few seconds. */
  readonly lastUsedAt: number | null;
}

export interface ApplicationTokens {
  /**
   * `secret` is the token itself; it cannot be retrieved again. `by` is a user's id. INVALID_ARGUMENT for a name in use
   * or for wrong scopes.
   */
  create(token: NewToken, by?: number): Promise<{ readonly token: ApplicationToken; readonly secret: string }>;
  /**
   * Finds a token by its SHA-256. Expired tokens are returned too, which lets the caller report the expiry. `versions`:
   * those that the caller has read for this request.
   */
  find(hash: string, versions?: Versions): Promise<ApplicationToken | undefined>;
  /** Finds a token by its id. */
  get(id: number): Promise<ApplicationToken | undefined>;
  /** Oldest first. */
  list(): Promise<readonly ApplicationToken[]>;
  /**
   * Returns the deleted token, or undefined when there was no such token. Raises `versions().grants`. `by`: a user's
   * id.
   */
  revoke(id: number, by?: number): Promise<ApplicationToken | undefined>;
  /** Records a use without delay for the caller. Written some seconds later, and when the store closes. */
  noteUse(id: number): void;
}
