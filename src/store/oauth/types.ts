// Rows of the authorization server, and the apps that users have connected.

/**
 * Rows of oidc-provider's adapter and related data. Ids that are secrets are hashed before they reach this interface.
 */
export interface OAuthRows {
  upsert(row: OAuthRow): Promise<void>;
  /**
   * True when this call created the row, false when it existed. Of several simultaneous calls, in any process, one gets
   * true. An expired row counts until it is swept.
   */
  insertOnce(row: OAuthRow): Promise<boolean>;
  find(model: string, id: string): Promise<OAuthRow | undefined>;
  findByUid(model: string, uid: string): Promise<OAuthRow | undefined>;
  /** True when this call consumed it. */
  consume(model: string, id: string, at: number): Promise<boolean>;
  /** Whether the grant has a consumed refresh token with more rotations than `rotations`. */
  hasConsumedSuccessor(grantId: string, rotations: number): Promise<boolean>;
  /** Whether the grant has another consumed refresh token, besides this id, with the same number of rotations. */
  hasConsumedSibling(grantId: string, rotations: number, id: string): Promise<boolean>;
  destroy(model: string, id: string): Promise<void>;
  /** Deletes every row of the grant, in every model; raises `versions().grants`. */
  revokeGrant(grantId: string): Promise<void>;
  listByAccount(model: string, accountId: string): Promise<readonly OAuthRow[]>;
  /** Records a use of the client, which protects it from the sweep. */
  touchClient(clientId: string, at: number): Promise<void>;
  countClients(): Promise<number>;
  /** Deletes the oldest clients that were never used, at most `most`. Returns how many it deleted. */
  forgetUnused(maxClients: number): Promise<number>;
  /**
   * Deletes expired rows, at most 1,000 per statement. Also deletes clients that were never used and are older than
   * `unusedSince`, and clients without connections that were last used before `idleSince`. Returns the number of
   * deleted rows.
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
  /** Milliseconds since the epoch; absent when it never expires. */
  readonly expiresAt?: number;
}

/** The apps that users have connected (connections.ts). A connection is a grant of the authorization server. */
export interface Connections {
  /** Stores a user's decision about an app and replaces the previous one. */
  decide(decision: NewDecision): Promise<void>;
  /** The latest decision, even when it has ended: the consent page offers its choices again. */
  decisionOf(userId: number, clientId: string): Promise<Decision | undefined>;
  /**
   * Newest first. `after`: the cursor of the last row of the previous page. An invalid cursor starts at the newest row.
   */
  list(page: {
    readonly userId?: number | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly ConnectionRow[]>;
  find(id: string): Promise<ConnectionRow | undefined>;
  /**
   * Ends the connection and deletes the decision; raises `versions().grants`. False when it had already ended. `by`: a
   * user's id.
   */
  end(ending: { readonly id: string; readonly by?: number; readonly clientName: string }): Promise<boolean>;
  /** Names the connection, for its user only; '' removes the name. False if it is not a connection of this user. */
  name(naming: { readonly id: string; readonly userId: number; readonly name: string }): Promise<boolean>;
  /** Records a use without delay for the caller. Written some seconds later, and when the store closes. */
  noteUse(id: string): void;
  /**
   * Blocks the client from signing users in. Ends its connections and returns how many there were, or undefined when it
   * was already blocked. Raises `versions().grants`.
   */
  block(blocking: { readonly clientId: string; readonly by?: number }): Promise<number | undefined>;
  /** False when it was not blocked. Ended connections are not restored. */
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
  /** OAuth scopes that the app requested (`asked`), and those that the user granted (`scopes`). */
  readonly asked: readonly string[];
  readonly scopes: readonly string[];
  /** Other choices on the consent page; only the oauth folder reads them. */
  readonly choice: unknown;
  readonly decidedAt: number;
  /** Milliseconds since the epoch; null when it lasts until it is revoked. */
  readonly endsAt: number | null;
}

interface NewDecision extends Omit<Decision, 'decidedAt'> {
  readonly userId: number;
  readonly clientId: string;
  readonly clientName: string;
  /** Details for the admin log. */
  readonly told: unknown;
}

export interface ConnectionRow {
  /** Id of the grant; it is not a credential. */
  readonly id: string;
  /** Cursor of this row for the next page. */
  readonly cursor: string;
  readonly userId: number;
  readonly clientId: string;
  /** The user's name for it; '' without one. */
  readonly name: string;
  /** Payload of the grant. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Accurate to a few seconds. */
  readonly lastUsedAt: number | null;
}
