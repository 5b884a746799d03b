// What roles may do, and all rights of a project at once.
import type { Access, Caller, PolicyWish, WriteVerb } from '../core/caller.ts';
import type { PlainFilter } from '../core/filter.ts';

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
