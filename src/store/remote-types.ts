// Remote MCP servers that steps of workflows call, and what people allowed us there. Secrets come out of here in the clear, for
// whoever calls the server; at rest they are sealed.

/** `bearer`: one secret for everybody. `oauth`: everybody connects an account of his own. */
export const remoteSignIns = ['none', 'bearer', 'oauth'] as const;
export type RemoteSignIn = (typeof remoteSignIns)[number];

export interface RemoteServer {
  /** UUID. */
  readonly id: string;
  /** What definitions call it. */
  readonly name: string;
  /** Of its endpoint. Never changed: what a server was allowed is never sent to another. */
  readonly url: string;
  readonly signIn: RemoteSignIn;
  /** With `oauth`: the client that somebody registered for us there; null where we find one by ourselves. */
  readonly client: RemoteClientId | null;
  /** Which tools workflows may call; null: every one, as the definition says. */
  readonly tools: RemoteTools | null;
  /** User id. */
  readonly addedBy: number;
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number;
}

/** A client is one at one authorization server: what it is known by there is sent to no other. */
export interface RemoteClientId {
  readonly id: string;
  /** As the metadata of the authorization server names it (RFC 8414 section 2). */
  readonly issuer: string;
}

/** `allow`: as the definition says. `ask`: a person says yes to every call. */
export const remoteToolRules = ['allow', 'ask'] as const;
export type RemoteToolRule = (typeof remoteToolRules)[number];

/** By name of the tool; `*` for all that are not named. What is not there is not called. */
export type RemoteTools = Readonly<Record<string, RemoteToolRule>>;

export interface NewRemoteServer extends Pick<RemoteServer, 'name' | 'url' | 'signIn' | 'addedBy'> {
  /** With `bearer`. */
  readonly secret?: string;
}

/** `reconnect`: what the server gave is not good any more, and only the person can get it anew. */
export type RemoteAccountState = 'connected' | 'reconnect';

/** A person's account at a server that has people sign in. */
export interface RemoteAccount {
  readonly serverId: string;
  readonly userId: number;
  readonly state: RemoteAccountState;
  readonly connectedAt: number;
  /** Null: not yet. */
  readonly usedAt: number | null;
}

/** The same with what opens it. */
export interface RemoteGrant extends RemoteAccount {
  /** Raised by every change of what follows. */
  readonly generation: number;
  /** When the access token ends; null where the server did not say. */
  readonly expiresAt: number | null;
  /** What the room `workflow` keeps: the client, the tokens, and where they are refreshed. */
  readonly held: unknown;
}

/** Whose account at which server. */
export interface RemoteKey {
  readonly serverId: string;
  readonly userId: number;
}

export interface RemoteSignInBegun extends RemoteKey {
  /** Random; comes back with the answer. */
  readonly state: string;
  /** Of the console: the answer counts in it alone. */
  readonly sessionId: string;
  readonly held: unknown;
  readonly expiresAt: number;
}

/**
 * `claimed`: this call, of all in all processes, is the one that refreshes. `busy`: another does. `stale`: another has done so,
 * or the account is gone. `lost`: another began and never ended, so that whether the refresh token was used nobody knows; the
 * account must be connected again.
 */
export type RefreshClaim = 'claimed' | 'busy' | 'stale' | 'lost';

export interface Remotes {
  /** INVALID_ARGUMENT when the name is taken. */
  add(server: NewRemoteServer): Promise<RemoteServer>;
  /** With what everybody was allowed there. False when it is not there. */
  remove(id: string, by: number): Promise<boolean>;
  /** Of this environment, by name. */
  list(): Promise<readonly RemoteServer[]>;
  find(id: string): Promise<RemoteServer | undefined>;
  findByName(name: string): Promise<RemoteServer | undefined>;
  /** The one of a `bearer` server, or of the client of an `oauth` server. */
  secretOf(id: string): Promise<string | undefined>;
  /** Of an `oauth` server, in place of the one before; null: none, and with it goes its secret. False when there is no such server. */
  setClient(id: string, client: (RemoteClientId & { readonly secret?: string }) | null, by: number): Promise<boolean>;
  /** False when it is not there. */
  setTools(id: string, tools: RemoteTools | null, by: number): Promise<boolean>;

  /** Also forgets sign-ins that were never answered. */
  beginSignIn(begun: RemoteSignInBegun): Promise<void>;
  /** What was begun with `state`, once, by that person in that session and in time. */
  takeSignIn(answer: {
    readonly state: string;
    readonly userId: number;
    readonly sessionId: string;
  }): Promise<{ readonly serverId: string; readonly held: unknown } | undefined>;

  /** In place of what was held before. False when the server is gone. */
  connect(grant: RemoteKey & Pick<RemoteGrant, 'held' | 'expiresAt'>): Promise<boolean>;
  /** False when it was not connected. */
  disconnect(key: RemoteKey, by: number): Promise<boolean>;
  /** Of one person, at all servers. */
  accountsOf(userId: number): Promise<readonly RemoteAccount[]>;
  grantOf(key: RemoteKey): Promise<RemoteGrant | undefined>;
  /** Costs one statement; once a minute at the most. */
  noteUse(key: RemoteKey): Promise<void>;

  claimRefresh(key: RemoteKey, generation: number, leaseMs: number): Promise<RefreshClaim>;
  /** What came of it, by whoever claimed it; `undefined`: nothing, and it may be tried again. False when the claim is no longer good. */
  settleRefresh(
    key: RemoteKey,
    generation: number,
    fresh: Pick<RemoteGrant, 'held' | 'expiresAt'> | undefined,
  ): Promise<boolean>;
  /** The server takes what is held no longer. */
  markReconnect(key: RemoteKey, generation: number): Promise<void>;
}
