// Permissions of roles, and all rights of a project.

import type { MeaningSubject } from '../../core/caller/meanings.ts';
import type { Access, Caller, PolicyInput, WriteVerb } from '../../core/caller.ts';
import type { PlainFilter } from '../../core/filter.ts';

/** Permissions of a role on one collection. `*` applies to every collection without a row of its own. */
export interface CollectionPermission {
  readonly browse: boolean;
  readonly read: boolean;
  readonly edit: boolean;
  readonly add: boolean;
  readonly delete: boolean;
  readonly export: boolean;
  /** Absent fields are `write`. */
  readonly fields?: Readonly<Record<string, 'read' | 'hidden'>>;
  /** By name. Users who may edit may trigger an action that is absent. */
  readonly actions?: Readonly<Record<string, { readonly trigger: ActionTrigger; readonly approval?: PolicyInput }>>;
  /** Writes that need approval. An absent verb needs no approval. */
  readonly approval?: Readonly<Partial<Record<WriteVerb, PolicyInput>>>;
  /**
   * With `deny`, the database may not extend a write to records of the collection, or from them to others (`ON DELETE
   * CASCADE`, `SET NULL`). Such a write is refused. When absent, callers with the necessary rights may cascade.
   */
  readonly cascades?: 'deny';
}

/**
 * Always, never, or only for records that all satisfy the filter. The filter may contain `{{currentUser...}}`, like a
 * row scope. A global action has no records, and a condition therefore blocks it.
 */
export type ActionTrigger = boolean | { readonly when: PlainFilter };

export interface Permissions {
  /**
   * The access of a user at the current version, or undefined when the user is deleted or disabled. Served from memory
   * while `versions().permissions` is unchanged.
   */
  accessOf(userId: number): Promise<Access | undefined>;
  /** Synchronous variant: returns the access when it is cached for this version, else undefined. */
  cachedAccessOf(userId: number, version: number): Access | undefined;
  caller(userId: number): Promise<Caller | undefined>;
  setRole(role: string, collections: Readonly<Record<string, CollectionPermission>>): Promise<void>;
  /** The filter as JSON with `{{currentUser...}}` variables; null removes it. */
  setScope(team: string, collection: string, filter: unknown): Promise<void>;
}

/** One stored meaning. */
export interface MeaningRow {
  readonly kind: MeaningSubject['kind'];
  /** Empty for the introduction. */
  readonly collection: string;
  /** Of the field, relation, metric or segment; else empty. */
  readonly name: string;
  /** JSON. */
  readonly value: string;
}

/** What administrators say about collections in the console. */
export interface Meanings {
  /** All rows of the environment. */
  list(): Promise<readonly MeaningRow[]>;
  /**
   * Replaces what is stored; null removes it. False, without any change, if it is not `before` any more. INVALID_ARGUMENT
   * for a text that is too long. Raises `versions().permissions`. `by` as in `Identity.setDisabled`.
   */
  set(
    subject: MeaningSubject,
    value: unknown,
    about: { readonly before: unknown; readonly by?: number },
  ): Promise<boolean>;
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
 * One fact about permissions. The path of a `scope` is team, environment and collection, and its value is a filter. The
 * path of a `permission` is role, environment and collection, and its value is a CollectionPermission. For the other
 * kinds, the value is the name.
 */
export interface Right {
  readonly kind: RightKind;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Added when `before` is absent, removed when `after` is absent. */
export interface RightChange {
  readonly kind: RightKind;
  readonly path: readonly string[];
  readonly before?: unknown;
  readonly after?: unknown;
}

/** All rights of the project: every environment, team and role, and the networks that may reach it. */
export interface Rights {
  read(): Promise<readonly Right[]>;
  /**
   * Changes the rights from `before` to `after` in one transaction and returns the changes. Each change has a row in
   * the admin log. INVALID_ARGUMENT, without any change, when the stored rights differ from `before`, or when a team or
   * role with members would be removed. `by` as in `Identity.setDisabled`.
   */
  apply(before: readonly Right[], after: readonly Right[], by?: number): Promise<readonly RightChange[]>;
  /**
   * The networks that may reach the project; an empty list allows every network. A change also raises
   * `versions().permissions`.
   */
  networks(): Promise<readonly string[]>;
}
