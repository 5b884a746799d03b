// Tokens of programs.

/** What an application token opens: /mcp, or the public API with the webhook. */
export type TokenEntrance = 'mcp' | 'api';

export interface NewToken {
  readonly userId: number;
  /** Unique among those of the user. */
  readonly name: string;
  /** Of one entrance. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch; null, the default: never. */
  readonly expiresAt?: number | null;
  /** Made in a session that came through single sign-on. Default false. */
  readonly sso?: boolean;
}

export interface ApplicationToken extends Required<NewToken> {
  readonly id: number;
  /** Of the user. */
  readonly email: string;
  readonly entrance: TokenEntrance;
  readonly createdAt: number;
  /** To within some seconds. */
  readonly lastUsedAt: number | null;
}

export interface ApplicationTokens {
  /**
   * `secret` is the token itself, which nobody can ask for again; `by` a user's id. INVALID_ARGUMENT for a taken name or wrong
   * scopes.
   */
  create(token: NewToken, by?: number): Promise<{ readonly token: ApplicationToken; readonly secret: string }>;
  /** By SHA-256 of the token; one that has expired as well, so that it can be said. */
  find(hash: string): Promise<ApplicationToken | undefined>;
  /** Oldest first. */
  list(): Promise<readonly ApplicationToken[]>;
  /** Answers what is gone now, undefined where there was nothing; raises `versions().grants`. `by`: a user's id. */
  revoke(id: number, by?: number): Promise<ApplicationToken | undefined>;
  /** Costs the caller nothing: written some seconds later, and when the store closes. */
  noteUse(id: number): void;
}
