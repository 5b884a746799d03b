import type { PlainFilter } from './filter.ts';

export type PermissionLevel = 'admin' | 'developer' | 'editor' | 'user';

/** Who asks (spec 2.7). */
export interface Caller {
  readonly id: number;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly team: string;
  readonly role: string;
  readonly tags: Readonly<Record<string, string>>;
  /** IANA name, such as `Europe/Paris`; `UTC` when the profile has none. */
  readonly timezone: string;
  readonly permissionLevel: PermissionLevel;
  readonly renderingId: number;
}

/** What a role may do with the records of a collection. */
export const verbs = ['browse', 'read', 'edit', 'add', 'delete', 'export'] as const;
export type Verb = (typeof verbs)[number];

export type FieldAccess = 'write' | 'read' | 'hidden';

/**
 * A capability: no operation of the engine can be called from outside without one. It answers for one caller at one
 * version of the permissions; when they change, the holder gets another one.
 */
export interface Access {
  readonly caller: Caller;
  can(verb: Verb, collection: string): boolean;
  /** Whether the caller may load the form of an action and execute it. */
  canTrigger(collection: string, action: string): boolean;
  /** `hidden` fields do not exist for the caller: not described, not selected, not filterable, not sortable. */
  field(collection: string, field: string): FieldAccess;
  /**
   * The rows of the collection that the caller may see, or null for all of them. Variables are already replaced; a
   * variable without a value gives a filter that matches nothing (fail closed).
   */
  scope(collection: string): PlainFilter | null;
  /** Whether the charts of the whole agent are there for the caller: what they tell is of any collection. */
  readonly seesAgentCharts: boolean;
}

/** For customization code, start-up and tests: everything is allowed. Never handed to an entry point. */
export function fullAccess(caller: Caller): Access {
  return {
    caller,
    can: () => true,
    canTrigger: () => true,
    field: () => 'write',
    scope: () => null,
    seesAgentCharts: true,
  };
}
