// The interface of the storage: one object with a part for each subject. It knows no HTTP and no protocol.

import type { Quotas, Windows } from '../core/limit.ts';
import type { Approvals, IdempotencyKeys } from './approvals/types.ts';
import type { ReadableActivityLog } from './audit/activity-types.ts';
import type { AdminLog } from './audit/log-types.ts';
import type { FileRows } from './files/types.ts';
import type { Notes } from './notes/types.ts';
import type { ApplicationTokens } from './oauth/token-types.ts';
import type { Connections, OAuthRows } from './oauth/types.ts';
import type { Meanings, Permissions, Rights } from './permissions/types.ts';
import type { Remotes } from './remotes/types.ts';
import type { AgentSessions, Links, SecondFactors, Sessions } from './sessions/types.ts';
import type { Identities, Identity, Members } from './users/types.ts';
import type { WaitingMails } from './users/waiting-mail-types.ts';
import type { Versions } from './version-types.ts';
import type { StartRules } from './workflows/start-rule-types.ts';
import type { Runs, Workflows } from './workflows/types.ts';

export interface Store {
  readonly identity: Identity;
  readonly identities: Identities;
  readonly permissions: Permissions;
  readonly meanings: Meanings;
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
  /** Counts of attempts, shared by all processes. */
  readonly windows: Windows;
  /** Calls of application tokens, shared by all processes. */
  readonly quotas: Quotas;
  readonly tokens: ApplicationTokens;
  readonly connections: Connections;
  readonly schema: AgentSchemas;
  readonly notes: Notes;
  readonly workflows: Workflows;
  readonly runs: Runs;
  readonly startRules: StartRules;
  readonly remotes: Remotes;
  readonly waitingMails: WaitingMails;
  /**
   * Version numbers that every call compares, which makes a change take effect at once in every process. There is no
   * cache lifetime. SQLite returns them synchronously when no commit has happened since the last call (`PRAGMA
   * data_version`). Otherwise the call costs one small query.
   */
  versions(): Versions | Promise<Versions>;
  /** Rejects with SOURCE_UNAVAILABLE when the database does not respond. */
  ready(): Promise<void>;
  /** Flushes batched writes, then closes. */
  close(): Promise<void>;
}

export interface SettingRows {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** The schema of the agent that serves the environment, as reported at its last start or restart. */
export interface AgentSchemas {
  /** SHA-256 of the document, base64url; undefined until an agent has reported one. */
  hash(): Promise<string | undefined>;
  get(): Promise<AgentSchema | undefined>;
  /** Replaces the previous document. */
  keep(document: string): Promise<void>;
}

interface AgentSchema {
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
  /** When the next generation replaced it; null for the generation that signs. */
  readonly replacedAt: number | null;
}

/**
 * Keys of this installation, encrypted at rest with its secret. The newest key of a purpose signs; all of them verify.
 */
export interface Keys {
  /** All generations of all purposes, newest first, without the key values. */
  list(): Promise<readonly KeyGeneration[]>;
  /**
   * Creates and returns the next generation of one purpose, or of every purpose that has a key. The new generation
   * signs from then on, in every process, and the older ones still verify. Raises `versions().keys`. INVALID_ARGUMENT
   * when the purpose has no key.
   */
  rotate(purpose?: string): Promise<readonly KeyGeneration[]>;
  /**
   * Deletes and returns the generations that were replaced before that time. Signatures made with them become invalid.
   * The newest generation is never deleted. Raises `versions().keys`. INVALID_ARGUMENT when the purpose has no key.
   */
  retire(replacedBefore: number, purpose?: string): Promise<readonly KeyGeneration[]>;
  /** Newest first. If the purpose has no key, `make` creates it; all processes share that one key. */
  of(
    purpose: string,
    make: () => string | Promise<string>,
  ): Promise<readonly { readonly id: string; readonly value: string }[]>;
}
