// What the platform keeps, as the rooms above see it: one object with a part for each subject. No HTTP, no protocol.
import type { Access, Caller, PermissionLevel, Policy, PolicyWish, WriteVerb } from '../core/caller.ts';
import type { PlainFilter } from '../core/filter.ts';
import type { Quotas, Windows } from '../core/limit.ts';
import type { ActivitySearches, AdminLog } from './log-types.ts';
import type { Notes } from './note-types.ts';
import type { Remotes } from './remote-types.ts';
import type { EntryWorkflow, Runs, Workflows } from './workflow-types.ts';

export interface Store {
  readonly identity: Identity;
  readonly identities: Identities;
  readonly permissions: Permissions;
  readonly rights: Rights;
  readonly members: Members;
  readonly oauth: OAuthRows;
  readonly activity: ReadableActivityLog;
  readonly adminLog: AdminLog;
  readonly idempotency: IdempotencyKeys;
  readonly approvals: Approvals;
  readonly settings: SettingRows;
  readonly keys: Keys;
  readonly files: FileRows;
  readonly sessions: Sessions;
  readonly agentSessions: AgentSessions;
  readonly links: Links;
  readonly secondFactors: SecondFactors;
  /** Counts of attempts, for all processes together. */
  readonly windows: Windows;
  /** Calls of application tokens, for all processes together. */
  readonly quotas: Quotas;
  readonly tokens: ApplicationTokens;
  readonly connections: Connections;
  readonly schema: AgentSchemas;
  readonly notes: Notes;
  readonly workflows: Workflows;
  readonly runs: Runs;
  readonly remotes: Remotes;
  /**
   * The numbers that every call compares, so that a change is felt at once in every process (never a time to live).
   * On SQLite it answers synchronously when nothing was committed since (`PRAGMA data_version`); else one small read.
   */
  versions(): Versions | Promise<Versions>;
  /** Rejects with SOURCE_UNAVAILABLE when the database does not answer. */
  ready(): Promise<void>;
  /** Flushes what is batched, then closes. */
  close(): Promise<void>;
}

export interface Versions {
  /** Raised by every change of users, roles, permissions, teams or row scopes. */
  readonly permissions: number;
  /** Raised by every revocation of a grant or token. */
  readonly grants: number;
  /** Raised when a key of the installation is rotated or retired. */
  readonly keys: number;
}

export interface User {
  readonly id: number;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly timezone: string;
  readonly disabled: boolean;
  /** False for one who was invited and has not chosen one yet. */
  readonly hasPassword: boolean;
  /** Sessions that began before this have ended; milliseconds since the epoch. */
  readonly sessionsFrom: number | null;
  readonly level: PermissionLevel;
  readonly team: string;
  readonly role: string;
  readonly tags: Readonly<Record<string, string>>;
}

export interface NewUser {
  readonly email: string;
  /** Absent: he cannot sign in with one until a link lets him choose it. */
  readonly password?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly timezone?: string;
  /** Default `user`. */
  readonly level?: PermissionLevel;
  /** Made when it does not exist; default `Operations`. */
  readonly team?: string;
  /** Made, with no permissions, when it does not exist; default `Member` (`Administrator` for level admin). */
  readonly role?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Identity {
  /** INVALID_ARGUMENT when the address is taken or malformed, or the password too short or too common. `by` as of `setDisabled`. */
  addUser(user: NewUser, by?: number): Promise<User>;
  countUsers(): Promise<number>;
  /** Oldest first. */
  listUsers(): Promise<readonly User[]>;
  findUser(id: number): Promise<User | undefined>;
  findUserByEmail(email: string): Promise<User | undefined>;
  /** The user, when the password is right and the user is not disabled; takes equally long otherwise. */
  verifyPassword(email: string, password: string): Promise<User | undefined>;
  /** Ends every session of the user. `by` is who did it, where it was not the command. INVALID_ARGUMENT as of `addUser`. */
  setPassword(userId: number, password: string, by?: number): Promise<void>;
  /**
   * Disabling ends every session of the user. `by`: the administrator who did it, where it was not the command; he must be one
   * at that moment, and cannot disable himself: DENIED. So one is always left.
   */
  setDisabled(userId: number, disabled: boolean, by?: number): Promise<void>;
  /** By the user himself. INVALID_ARGUMENT as of `addUser`. */
  setProfile(userId: number, profile: Required<Pick<NewUser, 'firstName' | 'lastName' | 'timezone'>>): Promise<void>;
  /** Names of the one project and environment that this process serves. */
  place(): Promise<{
    readonly organization: string;
    readonly project: string;
    readonly environment: string;
    readonly environmentId: number;
  }>;
}

/** Users who are known elsewhere, by (issuer, subject). */
export interface Identities {
  /**
   * The user that the identity is, made at its first sign-in, with the rights that the issuer says now. `link`: a user of the
   * same verified address, who is no other account of the issuer, becomes that user; otherwise he keeps it out.
   */
  admit(identity: ExternalIdentity, options: { readonly link: boolean }): Promise<Admission>;
  findUserId(issuer: string, subject: string): Promise<number | undefined>;
  /** Whether the user has come in through the issuer. */
  has(userId: number, issuer: string): Promise<boolean>;
}

export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  /** An IANA name; anything else is not heeded. */
  readonly timezone?: string | undefined;
  readonly rights: ExternalRights;
}

/** What is absent is not the issuer's to say: a new user gets the default, and one who is known keeps what he has. */
export interface ExternalRights {
  /** The first of these that exists here; nobody comes in without one. */
  readonly team?: readonly string[] | undefined;
  readonly role?: readonly string[] | undefined;
  /** Null: nobody comes in. */
  readonly level?: PermissionLevel | null | undefined;
  /** Null: the tag is taken away. */
  readonly tags?: Readonly<Record<string, string | null>> | undefined;
  /** Every other tag is taken away as well. Default false. */
  readonly onlyTheseTags?: boolean;
}

export type Admission =
  | { readonly state: 'ok'; readonly user: User; readonly isNew: boolean }
  /** `why` is for the log. */
  | { readonly state: 'refused'; readonly why: string };

/** What a role may do with one collection; `*` stands for every collection that has no row of its own. */
export interface CollectionPermission {
  readonly browse: boolean;
  readonly read: boolean;
  readonly edit: boolean;
  readonly add: boolean;
  readonly delete: boolean;
  readonly export: boolean;
  /** Absent fields are `write`. */
  readonly fields?: Readonly<Record<string, 'read' | 'hidden'>>;
  /** By name. An action that is absent may be triggered by those who may edit. */
  readonly actions?: Readonly<Record<string, { readonly trigger: ActionTrigger; readonly approval?: PolicyWish }>>;
  /** What needs somebody's yes first; what is absent needs none. */
  readonly approval?: Readonly<Partial<Record<WriteVerb, PolicyWish>>>;
}

/**
 * Always, never, or on records alone of which each satisfies the filter, which may hold `{{currentUser...}}` as a row scope
 * does. An action about no chosen records has none: under a condition it cannot be triggered.
 */
export type ActionTrigger = boolean | { readonly when: PlainFilter };

export interface Permissions {
  /**
   * The access of a user at the current version, or undefined when the user is gone or disabled. Answers from memory
   * while `versions().permissions` stands still.
   */
  accessOf(userId: number): Promise<Access | undefined>;
  /** The same, synchronously, when it is in memory for this version; else undefined. */
  cachedAccessOf(userId: number, version: number): Access | undefined;
  caller(userId: number): Promise<Caller | undefined>;
  setRole(role: string, collections: Readonly<Record<string, CollectionPermission>>): Promise<void>;
  /** The filter as JSON with `{{currentUser...}}` variables, or null to remove it. */
  setScope(team: string, collection: string, filter: unknown): Promise<void>;
}

export type RightKind =
  | 'organization'
  | 'project'
  | 'environment'
  | 'network'
  | 'team'
  | 'scope'
  | 'role'
  | 'permission';

/**
 * One fact of who may do what. The path of a `scope` is team, environment, collection, and its value a filter; that of a
 * `permission` is role, environment, collection, and its value a CollectionPermission; of the others, the value is the name.
 */
export interface Right {
  readonly kind: RightKind;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Added where `before` is absent, removed where `after` is. */
export interface RightChange {
  readonly kind: RightKind;
  readonly path: readonly string[];
  readonly before?: unknown;
  readonly after?: unknown;
}

/** All of it at once, for the whole project: every environment, team and role, and from where it may be reached. */
export interface Rights {
  read(): Promise<readonly Right[]>;
  /**
   * Makes `after` of `before` in one transaction, with a row in the admin log for each change; answers the changes.
   * INVALID_ARGUMENT, and nothing is changed, when they are no longer as `before` says, or when a team or role that has
   * members would be removed. `by` as of `Identity.setDisabled`.
   */
  apply(before: readonly Right[], after: readonly Right[], by?: number): Promise<readonly RightChange[]>;
  /** The networks from which the project may be reached; none: from anywhere. Changed together with `versions().permissions`. */
  networks(): Promise<readonly string[]>;
}

/** What of a user is to be another; what is absent stays. */
export interface UserChange {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly timezone?: string;
  readonly level?: PermissionLevel;
  /** One that is there; so is the role. */
  readonly team?: string;
  readonly role?: string;
  /** By key; null takes the tag away. */
  readonly tags?: Readonly<Record<string, string | null>>;
}

export interface Members {
  /**
   * INVALID_ARGUMENT for an unknown team or role, with near names, or a value that cannot be. Answers what has changed. `by` as
   * of `Identity.setDisabled`: nobody changes his own level.
   */
  change(
    userId: number,
    change: UserChange,
    by?: number,
  ): Promise<Readonly<Record<string, { before: unknown; after: unknown }>>>;
}

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

export interface ActivityEntry {
  readonly userId: number;
  readonly renderingId: number;
  /** OAuth client id and its name, as registered. */
  readonly clientId: string;
  readonly clientName: string;
  readonly action: string;
  readonly type: 'read' | 'write';
  readonly collection?: string;
  readonly recordIds?: readonly string[];
  readonly outcome: 'completed' | 'failed' | 'denied' | 'unknown';
  readonly code?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Of a run, or of what started one. */
  readonly workflow?: EntryWorkflow;
}

/** A write that has left its mark; a crash leaves it `unknown`. */
export interface Intent {
  /** At the moment of the mark, where the storage tells them with it. */
  readonly versions?: Versions;
  /** `recordIds` are those that were not known before, such as of new records; so is `workflow`. */
  complete(
    result: Pick<ActivityEntry, 'code' | 'recordIds' | 'workflow'> & { readonly outcome: KnownOutcome },
  ): Promise<void>;
}
export type KnownOutcome = Exclude<ActivityEntry['outcome'], 'unknown'>;

export interface ActivityLog {
  /** Reads: kept in memory and written in batches, within 200 ms and at close. Never throws. */
  record(entry: ActivityEntry): void;
  /** Writes and actions: committed as `unknown` before the mutating statement, completed after it. */
  begin(entry: Omit<ActivityEntry, 'outcome' | 'durationMs'>): Promise<Intent>;
  flush(): Promise<void>;
  /** Newest first. */
  list(page: {
    readonly limit: number;
    readonly before?: number;
  }): Promise<readonly (ActivityEntry & { readonly id: number })[]>;
}

export interface ReadableActivityLog extends ActivityLog, ActivitySearches {}

/** What a client may repeat without doing it twice; bound to the user, the client and the tool. */
export interface IdempotencyKeys {
  claim(call: {
    readonly userId: number;
    readonly clientId: string;
    readonly tool: string;
    readonly key: string;
    /** The arguments as text, the same for the same arguments; kept as a hash. */
    readonly args: string;
    /** Of the caller, all that the answer depends on, as text; kept as a hash. */
    readonly rights: string;
  }): Promise<IdempotencyClaim>;
}

export type IdempotencyClaim =
  | {
      /** This call has the key, and must end in one of the three. */
      readonly state: 'mine';
      /** Repeats are given this answer. */
      settle(answer: string): Promise<void>;
      /** Nothing was written: the key may be used again. */
      release(): Promise<void>;
      /** It may have been written or not. */
      doubt(): Promise<void>;
    }
  | { readonly state: 'done'; readonly answer: string }
  /** `other` arguments; done with other rights, so that the answer is `withheld`; under way; cut off, `unknown` how far. */
  | { readonly state: 'other' | 'withheld' | 'running' | 'unknown' };

/**
 * Calls that wait for somebody's yes. A request is bound to its call (who, by which client, which tool, which arguments) and
 * to what the call would find; who repeats the call is given the same request, as long as it is open. It is open while it
 * waits to be decided, and after that for the time in which it may be used; kept for 24 hours in all.
 */
export interface Approvals {
  /** Files the request, or gives the open one of the same call. `full`: the user has too many that wait. */
  ask(request: ApprovalRequest): Promise<Approval | 'full'>;
  /** The open request of a call; `unchanged`: whether the call would find what it found when it was asked for. */
  openOf(call: ApprovalCall): Promise<{ readonly approval: Approval; readonly unchanged: boolean } | undefined>;
  find(id: string): Promise<Approval | undefined>;
  /** Newest first: those that wait, or those that were decided, used up or overtaken. At most 100. */
  list(which: 'pending' | 'settled', limit: number): Promise<readonly Approval[]>;
  /** True when this call, of all in all processes, decided it: it was waiting, and had not expired. */
  decide(id: string, decision: { readonly by: number; readonly verdict: 'approved' | 'denied' }): Promise<boolean>;
  /** True when this call, of all in all processes, may now do what was approved; never true again. */
  take(id: string, call: ApprovalCall): Promise<boolean>;
  /** What the call would find has changed: nobody can approve or use the request any more. */
  overtake(id: string): Promise<void>;
  /**
   * Keeps an answer that the client itself brought, used or denied, under an id that was chosen when it was asked. True when
   * this call, of all in all processes, is the first with that id.
   */
  keepAnswer(id: string, request: ApprovalRequest, accepted: boolean): Promise<boolean>;
  /** Deletes what is older than 24 hours. */
  sweep(): Promise<void>;
}

export interface ApprovalCall {
  readonly userId: number;
  readonly clientId: string;
  readonly tool: string;
  /** The arguments as text, the same for the same arguments; kept as a keyed hash. */
  readonly args: string;
  /** What the call would find and change, as text; kept as a keyed hash. */
  readonly found: string;
}

export interface ApprovalRequest extends ApprovalCall {
  readonly clientName: string;
  readonly renderingId: number;
  readonly collection: string;
  /** Of an action: its name. */
  readonly action?: string;
  /** Those that the call names; absent when it names none. */
  readonly recordIds?: readonly string[];
  readonly policy: Policy;
  readonly content: ApprovalContent;
}

/** Sealed at rest. */
export interface ApprovalContent {
  /** As the tool takes them. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What would happen, as far as the one who asks may see it. */
  readonly preview: ApprovalPreview;
}

export interface ApprovalPreview {
  /** How many records would be touched; null for an action that is about no chosen ones. */
  readonly count: number | null;
  /** Of the first records; `id` is null for a new one. A deleted record has its values before and null after. */
  readonly changes: readonly {
    readonly id: string | null;
    readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
  }[];
  /** Of an action: what its form is filled with. */
  readonly values?: Readonly<Record<string, unknown>>;
}

export interface Approval extends Omit<ApprovalRequest, 'args' | 'found'> {
  readonly id: string;
  /** `overtaken`: what the call would find has changed since. `expired`: nobody decided in time, or nobody used it. */
  readonly state: 'pending' | 'approved' | 'denied' | 'used' | 'overtaken' | 'expired';
  readonly decidedBy?: number;
  /** Milliseconds since the epoch, as the others. */
  readonly decidedAt?: number;
  readonly createdAt: number;
  /** Until when it may be decided; once it is, until when it may be used, or the denial holds. */
  readonly expiresAt: number;
}

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

export interface SettingRows {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** The schema of the agent that serves the environment, as it told at its last start or restart. */
export interface AgentSchemas {
  /** SHA-256 of the document, base64url; undefined when no agent has told yet. */
  hash(): Promise<string | undefined>;
  get(): Promise<AgentSchema | undefined>;
  /** In place of the one of before. */
  keep(document: string): Promise<void>;
}

export interface AgentSchema {
  readonly hash: string;
  /** JSON, as in the schema file. */
  readonly document: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

export interface KeyGeneration {
  readonly purpose: string;
  readonly generation: number;
  readonly id: string;
  readonly createdAt: number;
  /** When the next one took its place; null for the one that signs. */
  readonly replacedAt: number | null;
}

/** Keys of this installation, sealed at rest with the installation's secret. The newest of a purpose signs; all verify. */
export interface Keys {
  /** All generations of all purposes, newest first, without the keys themselves. */
  list(): Promise<readonly KeyGeneration[]>;
  /**
   * Makes the next generation of a purpose, or of every purpose that has one, and answers them: from then on it signs, in
   * every process, and those of before verify. Raises `versions().keys`. INVALID_ARGUMENT for a purpose that has none.
   */
  rotate(purpose?: string): Promise<readonly KeyGeneration[]>;
  /**
   * Forgets generations that another took the place of before that time, and answers them: what they signed is no longer
   * good. Never the newest. Raises `versions().keys`. INVALID_ARGUMENT for a purpose that has none.
   */
  retire(replacedBefore: number, purpose?: string): Promise<readonly KeyGeneration[]>;
  /** Newest first; `make` is called, once in all processes, when there is none. */
  of(
    purpose: string,
    make: () => string | Promise<string>,
  ): Promise<readonly { readonly id: string; readonly value: string }[]>;
}

/**
 * Files on their way, in parts. What they are called and hold is sealed by whoever has the file's key, of which the id is
 * the hash: the storage alone opens none. A row that has expired is as if it were not there.
 */
export interface FileRows {
  add(file: FileRow): Promise<void>;
  find(id: string): Promise<FileRow | undefined>;
  /** True when this call was the one, in all processes, that took the file from `from` to `to`. */
  move(id: string, from: FileState, to: FileState): Promise<boolean>;
  putPart(id: string, part: number, sealed: string): Promise<void>;
  findPart(id: string, part: number): Promise<string | undefined>;
  /** From `arriving` to `ready`, with its size; false when it has expired meanwhile. */
  finish(id: string, size: { readonly bytes: number; readonly parts: number }): Promise<boolean>;
  /** Drops what arrived of it, so that it may be sent again. */
  restart(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Files of the user that have not expired. */
  countOf(userId: number): Promise<number>;
  /** Deletes what has expired. */
  sweep(): Promise<void>;
}

/** `taken`: whoever took it is using it up. */
export type FileState = 'asked' | 'arriving' | 'ready' | 'taken';

export interface FileRow {
  /** Hash of the file's key. */
  readonly id: string;
  readonly kind: 'upload' | 'download';
  readonly userId: number;
  readonly state: FileState;
  readonly sealed: string;
  readonly bytes: number;
  readonly parts: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Who is signed in to the console. The sessions of a user end, in every process, when he is disabled or his password is
 * changed.
 */
export interface Sessions {
  /**
   * Answers the id, which is kept nowhere: 256 random bits, new with every sign-in. `since` is when he began to prove who he
   * is: a password that was changed meanwhile ends the session too.
   */
  begin(
    session: Pick<Session, 'userId' | 'browser'> & {
      readonly issuer?: string | null;
      readonly address?: string;
      readonly since?: number;
    },
  ): Promise<string>;
  /** And keeps it from ending for want of use. Undefined when it has ended, or never was. */
  find(id: string): Promise<Session | undefined>;
  /** Of a user, the one that was used last first; `current` is an id. */
  list(userId: number, current?: string): Promise<readonly ListedSession[]>;
  end(id: string): Promise<void>;
  /** By the name of the list. False when it is not his, or has ended. `by` as of `endAll`. */
  endListed(userId: number, name: string, by?: number): Promise<boolean>;
  /**
   * Those of the console, and of the browsers in which assistants were connected; with `grants` the assistants are
   * disconnected too. `by` is who did it, where it was not the command.
   */
  endAll(userId: number, options: { readonly grants: boolean; readonly by?: number }): Promise<void>;
}

export interface Session {
  readonly userId: number;
  /** What the browser says that it is, at most 200 characters. */
  readonly browser: string;
  /** Through whom it was made: the OpenID provider, or the host application; null: by a password. */
  readonly issuer: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Before this use; up to a minute old. */
  readonly seenAt: number;
}

/**
 * Who is signed in to a front end of the agent's HTTP API. A sign-in is begun by the front end, answered by a person who is
 * signed in to the console, and redeemed by the front end: each once, in whichever process.
 */
export interface AgentSessions {
  /** Answers the state: 256 random bits. */
  beginSignIn(asked: AgentSignIn): Promise<string>;
  /** Undefined when it has expired, was answered, or never was. */
  findSignIn(state: string): Promise<AgentSignIn | undefined>;
  /** Answers the code, 256 random bits that count for SERVICE_AUTHORIZATION_CODE_SECONDS; undefined as above. */
  allowSignIn(state: string, userId: number): Promise<string | undefined>;
  /** The person said no; false as above. */
  dropSignIn(state: string): Promise<boolean>;
  /** What a code stands for, used or not. */
  findAnswer(state: string, code: string): Promise<(AgentSignIn & { readonly userId: number }) | undefined>;
  /** Begins the session, once; a second call with the same code ends it. */
  redeem(state: string, code: string): Promise<{ readonly id: string; readonly expiresAt: number } | undefined>;
  find(id: string): Promise<AgentSession | undefined>;
  /** Whether there was one; raises `versions().grants`. */
  end(id: string): Promise<boolean>;
}

export interface AgentSignIn {
  /** Of the front end that the answer goes to, such as `https://admin.example.com`. */
  readonly origin: string;
  /** RFC 7636 section 4.2, method S256. */
  readonly codeChallenge?: string;
  /** The view that the front end shows: another person's answer is no answer. */
  readonly renderingId?: number;
}

export interface AgentSession {
  readonly userId: number;
  /** Of the front end. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface ListedSession extends Omit<Session, 'userId'> {
  /** Opens nothing. */
  readonly name: string;
  /** Of the client at the sign-in, where it was known. */
  readonly address: string | null;
  readonly current: boolean;
}

/** What lets somebody choose a password who has none, or forgot it: once, and not for long. */
export interface Links {
  /** `token` is kept nowhere. The links that the user had before open nothing any more. INVALID_ARGUMENT for a disabled user. */
  make(
    userId: number,
    purpose: LinkPurpose,
    by?: number,
  ): Promise<{ readonly token: string; readonly expiresAt: number }>;
  find(token: string): Promise<FoundLink>;
  /**
   * Sets the password, ends every session of the user, and uses the link up: of several calls at once, in all processes, one is
   * answered `used-now`. INVALID_ARGUMENT for a password that cannot be one, which uses nothing up.
   */
  use(token: string, password: string): Promise<UsedLink>;
}

export type LinkPurpose = 'invite' | 'reset';
/** `unknown`: never made, replaced by another, or of a user who is disabled. */
export type DeadLink = 'used' | 'expired' | 'unknown';
export type FoundLink =
  | { readonly state: 'open'; readonly purpose: LinkPurpose; readonly user: User; readonly expiresAt: number }
  | { readonly state: DeadLink; readonly userId?: number };
export type UsedLink = { readonly state: 'used-now'; readonly user: User } | Exclude<FoundLink, { state: 'open' }>;

/** One-time codes of an app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds), and the recovery codes for when it is lost. */
export interface SecondFactors {
  /** How many recovery codes are left; undefined when it is off. */
  of(userId: number): Promise<{ readonly since: number; readonly recoveryCodes: number } | undefined>;
  /**
   * Base32, 160 random bits, and the address that the app reads of it; kept nowhere until it is switched on. `kept` is a
   * secret that was proposed before.
   */
  propose(email: string, issuer: string, kept?: string): Promise<{ readonly secret: string; readonly uri: string }>;
  /**
   * Answers ten recovery codes, which are kept as keyed hashes; undefined when the code is not one of the secret. The code is
   * used up.
   */
  switchOn(userId: number, secret: string, code: string): Promise<readonly string[] | undefined>;
  /** Ten new ones in place of those that are left. */
  renewRecoveryCodes(userId: number): Promise<readonly string[]>;
  /**
   * How the code was right: a code of the app counts in the 30 seconds before and after its own as well, and once in all
   * processes; so does a recovery code. Undefined when it was not.
   */
  check(userId: number, code: string): Promise<'app' | 'recovery' | undefined>;
  /** False when it was off. */
  switchOff(userId: number, by?: number): Promise<boolean>;
}
