// Remote MCP servers that workflow steps call, and the users' grants there. Secrets are returned in plain text for the
// callers of those servers; they are encrypted at rest.

/** `bearer`: one secret for all users. `oauth`: each user connects an account. */
export const remoteSignIns = ['none', 'bearer', 'oauth'] as const;
export type RemoteSignIn = (typeof remoteSignIns)[number];

export interface RemoteServer {
  /** UUID. */
  readonly id: string;
  /** The name that definitions use. */
  readonly name: string;
  /** URL of its endpoint. It never changes, because credentials for one server must not reach another. */
  readonly url: string;
  readonly signIn: RemoteSignIn;
  /**
   * With `oauth`: the client that an administrator registered at the server. Null when the client is obtained
   * automatically.
   */
  readonly client: RemoteClientId | null;
  /** The tools that workflows may call; null for every tool, under the rules of the definition. */
  readonly tools: RemoteTools | null;
  /** User id. */
  readonly addedBy: number;
  /** Milliseconds since the epoch, like all times in this file. */
  readonly createdAt: number;
}

/** A client belongs to one authorization server. Its id and secret are used at no other server. */
interface RemoteClientId {
  readonly id: string;
  /** The `issuer` in the metadata of the authorization server (RFC 8414 section 2). */
  readonly issuer: string;
}

/** `allow`: the rules of the definition apply. `ask`: every call needs approval by a person. */
const remoteToolRules = ['allow', 'ask'] as const;
export type RemoteToolRule = (typeof remoteToolRules)[number];

/** By tool name; `*` for all other tools. Tools without a rule cannot be called. */
export type RemoteTools = Readonly<Record<string, RemoteToolRule>>;

interface NewRemoteServer extends Pick<RemoteServer, 'name' | 'url' | 'signIn' | 'addedBy'> {
  /** Only with `bearer`. */
  readonly secret?: string;
}

/** `reconnect`: the stored credentials are no longer valid, and only the user can renew them. */
export type RemoteAccountState = 'connected' | 'reconnect';

/** A user's account at a server with OAuth sign-in. */
export interface RemoteAccount {
  readonly serverId: string;
  readonly userId: number;
  readonly state: RemoteAccountState;
  readonly connectedAt: number;
  /** Null until the first use. */
  readonly usedAt: number | null;
}

/** The account with its credentials. */
export interface RemoteGrant extends RemoteAccount {
  /** Raised by every change of the following properties. */
  readonly generation: number;
  /** Expiry of the access token; null when the server did not report it. */
  readonly expiresAt: number | null;
  /** Data of the workflow folder: the client, the tokens, and the token endpoint. */
  readonly held: unknown;
}

/** Identifies a user's account at a server. */
export interface RemoteKey {
  readonly serverId: string;
  readonly userId: number;
}

interface RemoteSignInBegun extends RemoteKey {
  /** A random value that the authorization response must return. */
  readonly state: string;
  /** Console session that began the sign-in. The response is valid only in it. */
  readonly sessionId: string;
  readonly held: unknown;
  readonly expiresAt: number;
}

/**
 * `claimed`: this call, of all calls in all processes, performs the refresh. `busy`: another call is refreshing.
 * `stale`: another call has refreshed, or the account is gone. `lost`: an earlier refresh never finished, and the state
 * of the refresh token is unknown; the user must connect again.
 */
type RefreshClaim = 'claimed' | 'busy' | 'stale' | 'lost';

export interface Remotes {
  /** INVALID_ARGUMENT when the name is in use. */
  add(server: NewRemoteServer): Promise<RemoteServer>;
  /** Also deletes the users' grants for it. False when there is no such server. */
  remove(id: string, by: number): Promise<boolean>;
  /** The servers of this environment, by name. */
  list(): Promise<readonly RemoteServer[]>;
  find(id: string): Promise<RemoteServer | undefined>;
  findByName(name: string): Promise<RemoteServer | undefined>;
  /** The secret of a `bearer` server, or of the client of an `oauth` server. */
  secretOf(id: string): Promise<string | undefined>;
  /** Replaces the client of an `oauth` server and its secret; null removes both. False when there is no such server. */
  setClient(id: string, client: (RemoteClientId & { readonly secret?: string }) | null, by: number): Promise<boolean>;
  /** False when there is no such server. */
  setTools(id: string, tools: RemoteTools | null, by: number): Promise<boolean>;

  /** Also deletes expired sign-ins. */
  beginSignIn(begun: RemoteSignInBegun): Promise<void>;
  /**
   * Returns and deletes the sign-in that was begun with `state`. It must match the user and the session, and must not
   * have expired.
   */
  takeSignIn(answer: {
    readonly state: string;
    readonly userId: number;
    readonly sessionId: string;
  }): Promise<{ readonly serverId: string; readonly held: unknown } | undefined>;

  /** Replaces the stored credentials. False when the server has been deleted. */
  connect(grant: RemoteKey & Pick<RemoteGrant, 'held' | 'expiresAt'>): Promise<boolean>;
  /** False when it was not connected. */
  disconnect(key: RemoteKey, by: number): Promise<boolean>;
  /** The accounts of one user at all servers. */
  accountsOf(userId: number): Promise<readonly RemoteAccount[]>;
  grantOf(key: RemoteKey): Promise<RemoteGrant | undefined>;
  /** Records a use with one statement, at most once a minute. */
  noteUse(key: RemoteKey): Promise<void>;

  claimRefresh(key: RemoteKey, generation: number, leaseMs: number): Promise<RefreshClaim>;
  /**
   * Stores the result of a claimed refresh. `undefined` means that there is no result and another attempt is allowed.
   * False when the claim is no longer valid.
   */
  settleRefresh(
    key: RemoteKey,
    generation: number,
    fresh: Pick<RemoteGrant, 'held' | 'expiresAt'> | undefined,
  ): Promise<boolean>;
  /** Marks an account after the server has rejected its credentials. */
  markReconnect(key: RemoteKey, generation: number): Promise<void>;
}
