import type { StoredMeanings } from './caller/meanings.ts';
import type { PlainFilter } from './filter.ts';

export const permissionLevels = ['admin', 'developer', 'editor', 'user'] as const;
/** What a user may do with the installation itself, in addition to the rights of the role. */
export type PermissionLevel = (typeof permissionLevels)[number];

/**
 * Admins and developers write customizations. For that, they may see the structure of the database, whatever the role
 * shows.
 */
export const mayCustomize = (level: PermissionLevel): boolean => level === 'admin' || level === 'developer';

/** The user who makes a call (behaviour 2.7). */
export interface Caller {
  /** The id of the user in Portico. */
  readonly id: number;
  /** The e-mail address, which is also the name for sign-in. */
  readonly email: string;
  /** The first name, or an empty text. */
  readonly firstName: string;
  /** The last name, or an empty text. */
  readonly lastName: string;
  /** The team that the user is in. */
  readonly team: string;
  /** The role that gives the user their rights. */
  readonly role: string;
  /** The tags of the user, as values by name. */
  readonly tags: Readonly<Record<string, string>>;
  /** IANA name, such as `Europe/Paris`; `UTC` when the profile has no timezone. */
  readonly timezone: string;
  /** The rights on the installation itself. */
  readonly permissionLevel: PermissionLevel;
  /** The id of the team, for front ends that expect one. */
  readonly renderingId: number;
}

/** Rights of a role on the records of a collection. */
export const verbs = ['browse', 'read', 'edit', 'add', 'delete', 'export'] as const;
export type Verb = (typeof verbs)[number];
export type WriteVerb = Extract<Verb, 'add' | 'edit' | 'delete'>;

export type FieldAccess = 'write' | 'read' | 'hidden';

/** From the most lenient to the strictest. */
export const policyNames = ['allow', 'ask', 'ask-person', 'deny'] as const;
export type PolicyName = (typeof policyNames)[number];

/**
 * The approval that a call needs. `ask`: the user confirms it in the client; the server cannot prove that a person did.
 * `ask-person`: a person signed in to the console approves it. `deny`: always refused, as if the right were missing.
 */
export interface Policy {
  readonly policy: PolicyName;
  /** The approver must not be the caller. Only with `ask-person`. */
  readonly secondPerson: boolean;
}

/** A policy as people write it, or only its name when one person is enough. */
export type PolicyInput = PolicyName | { readonly policy: PolicyName; readonly secondPerson?: boolean };

export const allowPolicy: Policy = Object.freeze({ policy: 'allow', secondPerson: false });

/** The result of several policies together. Only the console can ask a second person. */
export function strictestPolicy(...policies: readonly Policy[]): Policy {
  const secondPerson = policies.some((each) => each.secondPerson);
  const minimum: PolicyName = secondPerson ? 'ask-person' : 'allow';
  const policy = policies.reduce<PolicyName>(
    (strictest, each) => (policyNames.indexOf(each.policy) > policyNames.indexOf(strictest) ? each.policy : strictest),
    minimum,
  );
  return { policy, secondPerson };
}

/** Describes what is wrong with a policy; undefined when it is valid. */
export function findPolicyProblem(input: unknown): string | undefined {
  const names: readonly unknown[] = policyNames;
  const expected = `expected ${policyNames.join(', ')}, or { policy: 'ask-person', secondPerson: true }.`;
  if (names.includes(input)) return undefined;
  if (typeof input !== 'object' || input === null) return expected;
  const { policy, secondPerson = false, ...more } = input as Record<string, unknown>;
  if (!names.includes(policy) || typeof secondPerson !== 'boolean' || Object.keys(more).length > 0) return expected;
  // The client of the caller cannot ask another person. A second person without `ask-person` is a mistake in the
  // configuration.
  if (secondPerson && policy !== 'ask-person') return "secondPerson needs the policy 'ask-person'.";
  return undefined;
}

/** Returns {@link allowPolicy} itself for `allow` or when no policy is set. */
export function readPolicy(input: PolicyInput | undefined): Policy {
  const { policy, secondPerson = false } = typeof input === 'object' ? input : { policy: input ?? 'allow' };
  if (policy === 'allow') return allowPolicy;
  // Fail closed: an unknown policy, from a newer version or an edit by hand, becomes `deny`.
  return policyNames.includes(policy) ? { policy, secondPerson } : { policy: 'deny', secondPerson: false };
}

/**
 * A capability: every operation of the engine requires one. It is valid for one caller at one version of the
 * permissions. When they change, the holder gets a new one.
 */
export interface Access {
  /** The user who makes the call. */
  readonly caller: Caller;
  /** Whether the caller has a right on the records of a collection. */
  can(verb: Verb, collection: string): boolean;
  /** Whether the caller may load the form of an action and execute it. */
  canTrigger(collection: string, action: string): boolean;
  /**
   * An extra filter that every record of the action must match, or null. Variables are already replaced, as in `scope`.
   * Only applies if `canTrigger` is true.
   */
  triggerCondition(collection: string, action: string): PlainFilter | null;
  /** For the caller, `hidden` fields do not exist: they cannot be described, selected, filtered or sorted. */
  field(collection: string, field: string): FieldAccess;
  /**
   * The rows of the collection that the caller may see, or null for all rows. Variables are already replaced. A
   * variable without a value makes the filter match no row (fail closed).
   */
  scope(collection: string): PlainFilter | null;
  /**
   * Whether any policy exists. If so, every write checks `policy` and `actionPolicy` before it begins. The rights are
   * separate (`can`, `canTrigger`); they are false where the policy is `deny`.
   */
  readonly hasPolicies: boolean;
  /**
   * Whether a database cascade may touch the collection: delete or change its records because of others, or others
   * because of them. The caller also needs the rights for those changes.
   */
  mayCascade(collection: string): boolean;
  /** The approval that a write to the collection needs. */
  policy(verb: WriteVerb, collection: string): Policy;
  /** The approval that an action needs before it runs. */
  actionPolicy(collection: string, action: string): Policy;
  /**
   * Whether the caller may start workflows. A run can change any data, which is why a read-only caller may start no
   * run.
   */
  readonly startsWorkflows: boolean;
  /**
   * The collections that the consent or the URL allows; null for all. Runs of workflows that the caller starts have the
   * same limit. Charts of the whole agent can use any collection, and are only available when this is null.
   */
  readonly collections: readonly string[] | null;
  /** What administrators say in the console about collections, whatever the caller may see. Absent: nothing. */
  readonly meanings?: StoredMeanings;
}

/**
 * Allows everything. For customization code, start-up and tests; never pass it to an entry point.
 *
 * @example
 * const rows = await engine.list(fullAccess(caller), { collection: 'orders', limit: 10 });
 */
export function fullAccess(caller: Caller): Access {
  return {
    caller,
    can: () => true,
    canTrigger: () => true,
    triggerCondition: () => null,
    field: () => 'write',
    scope: () => null,
    hasPolicies: false,
    mayCascade: () => true,
    policy: () => allowPolicy,
    actionPolicy: () => allowPolicy,
    startsWorkflows: true,
    collections: null,
  };
}
