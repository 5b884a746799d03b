import type { PlainFilter } from './filter.ts';

export const permissionLevels = ['admin', 'developer', 'editor', 'user'] as const;
/** What somebody may do with the installation itself, beside the rights of the role. */
export type PermissionLevel = (typeof permissionLevels)[number];

/** Who writes customizations, and may see the structure of the database for it, whatever the role shows. */
export const mayCustomize = (level: PermissionLevel): boolean => level === 'admin' || level === 'developer';

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
export type WriteVerb = Extract<Verb, 'add' | 'edit' | 'delete'>;

export type FieldAccess = 'write' | 'read' | 'hidden';

/** From the most lenient to the strictest. */
export const policyNames = ['allow', 'ask', 'ask-person', 'deny'] as const;
export type PolicyName = (typeof policyNames)[number];

/**
 * Whose yes a call needs. `ask`: that of the person at the client, who is asked through it; what comes back comes from the
 * client and is not provably a person's. `ask-person`: that of a person who is signed in to the console. `deny`: nobody's is
 * enough, so that the right is as if it were not there.
 */
export interface Policy {
  readonly policy: PolicyName;
  /** That person must be another than the one who asks. Only with `ask-person`. */
  readonly secondPerson: boolean;
}

/** A policy as people write it, or its name alone where one person is enough. */
export type PolicyWish = PolicyName | { readonly policy: PolicyName; readonly secondPerson?: boolean };

export const freely: Policy = Object.freeze({ policy: 'allow', secondPerson: false });

/** What holds where several policies meet. A second person can only be asked in the console. */
export function strictestOf(...some: readonly Policy[]): Policy {
  const secondPerson = some.some((each) => each.secondPerson);
  const least: PolicyName = secondPerson ? 'ask-person' : 'allow';
  const policy = some.reduce<PolicyName>(
    (most, each) => (policyNames.indexOf(each.policy) > policyNames.indexOf(most) ? each.policy : most),
    least,
  );
  return { policy, secondPerson };
}

/** What is wrong with a wish; undefined when it is understood. */
export function findWishProblem(wish: unknown): string | undefined {
  const names: readonly unknown[] = policyNames;
  const expected = `expected ${policyNames.join(', ')}, or { policy: 'ask-person', secondPerson: true }.`;
  if (names.includes(wish)) return undefined;
  if (typeof wish !== 'object' || wish === null) return expected;
  const { policy, secondPerson = false, ...more } = wish as Record<string, unknown>;
  if (!names.includes(policy) || typeof secondPerson !== 'boolean' || Object.keys(more).length > 0) return expected;
  // Asking another person through the client of this one is not possible, and one who is asked about nothing is a mistake.
  if (secondPerson && policy !== 'ask-person') return "secondPerson needs the policy 'ask-person'.";
  return undefined;
}

/** {@link freely} itself where there is none. */
export function readPolicy(wish: PolicyWish | undefined): Policy {
  const { policy, secondPerson = false } = typeof wish === 'object' ? wish : { policy: wish ?? 'allow' };
  if (policy === 'allow') return freely;
  // Fail closed: what a newer version wrote, or a hand, is not understood.
  return policyNames.includes(policy) ? { policy, secondPerson } : { policy: 'deny', secondPerson: false };
}

/**
 * A capability: no operation of the engine can be called from outside without one. It answers for one caller at one
 * version of the permissions; when they change, the holder gets another one.
 */
export interface Access {
  readonly caller: Caller;
  can(verb: Verb, collection: string): boolean;
  /** Whether the caller may load the form of an action and execute it. */
  canTrigger(collection: string, action: string): boolean;
  /**
   * What every record that the action is run on must satisfy besides, or null: a filter as `scope` gives it, variables
   * replaced. Asked of what `canTrigger` allows.
   */
  triggerCondition(collection: string, action: string): PlainFilter | null;
  /** `hidden` fields do not exist for the caller: not described, not selected, not filterable, not sortable. */
  field(collection: string, field: string): FieldAccess;
  /**
   * The rows of the collection that the caller may see, or null for all of them. Variables are already replaced; a
   * variable without a value gives a filter that matches nothing (fail closed).
   */
  scope(collection: string): PlainFilter | null;
  /**
   * Whether something needs a yes at all: then every write asks `policy` and `actionPolicy` before it begins. Whether it may
   * be done is another question (`can`, `canTrigger`), which is answered no where the policy is `deny`.
   */
  readonly hasPolicies: boolean;
  /** Whose yes it needs to write to the collection. */
  policy(verb: WriteVerb, collection: string): Policy;
  actionPolicy(collection: string, action: string): Policy;
  /** Whether workflows may be started: what a run changes nobody knows before, so that who only reads starts none. */
  readonly startsWorkflows: boolean;
  /** Whether the charts of the whole agent are there for the caller: what they tell is of any collection. */
  readonly seesAgentCharts: boolean;
}

/** For customization code, start-up and tests: everything is allowed. Never handed to an entry point. */
export function fullAccess(caller: Caller): Access {
  return {
    caller,
    can: () => true,
    canTrigger: () => true,
    triggerCondition: () => null,
    field: () => 'write',
    scope: () => null,
    hasPolicies: false,
    policy: () => freely,
    actionPolicy: () => freely,
    startsWorkflows: true,
    seesAgentCharts: true,
  };
}
