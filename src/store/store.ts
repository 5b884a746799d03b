// What the platform keeps, as the rooms above see it: one object with a part for each subject. No HTTP, no protocol.

import type { Quotas, Windows } from '../core/limit.ts';
import type { ReadableActivityLog } from './activity-types.ts';
import type { Approvals, IdempotencyKeys } from './approval-types.ts';
import type { FileRows } from './file-types.ts';
import type { Identities, Identity, Members } from './identity-types.ts';
import type { AdminLog } from './log-types.ts';
import type { Notes } from './note-types.ts';
import type { Connections, OAuthRows } from './oauth-types.ts';
import type { Remotes } from './remote-types.ts';
import type { Permissions, Rights } from './rights-types.ts';
import type { AgentSessions, Links, SecondFactors, Sessions } from './session-types.ts';
import type { ApplicationTokens } from './token-types.ts';
import type { Runs, Workflows } from './workflow-types.ts';

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
