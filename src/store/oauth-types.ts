// What the authorization server keeps, and what people allowed apps.

/** Rows of oidc-provider's adapter and what goes with them; ids are hashed before they get here where they are secrets. */
export interface OAuthRows {
  upsert(row: OAuthRow): Promise<void>;
  /**
   * True when this call made the row, false when it was there; of several calls at once, in any process, one gets true.
   * A row that has expired counts until it is swept.
   */
  insertOnce(row: OAuthRow): Promise<boolean>;
  find(model: string, id: string): Promise<OAuthRow | undefined>;
  findByUid(model: string, uid: string): Promise<OAuthRow | undefined>;
  /** True when this call was the one that consumed it. */
  consume(model: string, id: string, at: number): Promise<boolean>;
  /** A consumed refresh token of the grant with more rotations than `rotations`. */
  hasConsumedSuccessor(grantId: string, rotations: number): Promise<boolean>;
  destroy(model: string, id: string): Promise<void>;
  /** Every row of the grant, in every model; raises `versions().grants`. */
  revokeGrant(grantId: string): Promise<void>;
  listByAccount(model: string, accountId: string): Promise<readonly OAuthRow[]>;
  /** A client was used: keeps it from being swept. */
  touchClient(clientId: string, at: number): Promise<void>;
  countClients(): Promise<number>;
  /**
   * Deletes expired rows, at most 1,000 a statement, clients that were never used and are older than `unusedSince`, and
   * those that were last used before `idleSince` and that nobody is connected through any more. Answers how many.
   */
  sweep(now: number, unusedSince: number, idleSince: number): Promise<number>;
}

export interface OAuthRow {
  readonly model: string;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly grantId?: string;
  readonly uid?: string;
  readonly accountId?: string;
  readonly clientId?: string;
  /** Seconds since the epoch, as oidc-provider counts. */
  readonly consumedAt?: number;
  /** Milliseconds since the epoch; absent: never. */
  readonly expiresAt?: number;
}

/** What people allowed apps (store/connections.ts). A connection is a grant of the authorization server. */
export interface Connections {
  /** Keeps what a person decided about an app, in place of what he decided before. */
  decide(decision: NewDecision): Promise<void>;
  /** The last one; one that has ended as well, so that its choices can be offered again. */
  decisionOf(userId: number, clientId: string): Promise<Decision | undefined>;
  /** Newest first. `after`: the cursor of the last one that was seen; one that is none begins at the newest. */
  list(page: {
    readonly userId?: number | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly ConnectionRow[]>;
  find(id: string): Promise<ConnectionRow | undefined>;
  /** Ends the connection and forgets the decision; raises `versions().grants`. False when it was over. `by`: a user's id. */
  end(ending: { readonly id: string; readonly by?: number; readonly clientName: string }): Promise<boolean>;
  /** Costs the caller nothing: written some seconds later, and when the store closes. */
  noteUse(id: string): void;
  /**
   * From now on the client signs nobody in. Ends its connections and answers how many those were, undefined when it was
   * blocked before; raises `versions().grants`.
   */
  block(blocking: { readonly clientId: string; readonly by?: number }): Promise<number | undefined>;
  /** False when it was not blocked. What was ended stays so. */
  unblock(blocking: { readonly clientId: string; readonly by?: number }): Promise<boolean>;
  isBlocked(clientId: string): Promise<boolean>;
  /** Oldest first. */
  listBlocked(): Promise<readonly BlockedClient[]>;
}

export interface BlockedClient {
  readonly clientId: string;
  readonly since: number;
}

export interface Decision {
  /** OAuth scopes that the app asked for, and those of them that it was given. */
  readonly asked: readonly string[];
  readonly scopes: readonly string[];
  /** What else was chosen: the oauth room's business. */
  readonly choice: unknown;
  readonly decidedAt: number;
  /** Milliseconds since the epoch; null: when it is taken back. */
  readonly endsAt: number | null;
}

export interface NewDecision extends Omit<Decision, 'decidedAt'> {
  readonly userId: number;
  readonly clientId: string;
  readonly clientName: string;
  /** For the admin log. */
  readonly told: unknown;
}

export interface ConnectionRow {
  /** Of the grant; it opens nothing. */
  readonly id: string;
  /** Its place in the list. */
  readonly cursor: string;
  readonly userId: number;
  readonly clientId: string;
  /** Of the grant. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** To within some seconds. */
  readonly lastUsedAt: number | null;
}
