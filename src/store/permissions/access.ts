// Builds the `Access` of a user from stored facts, once for each version of the permissions. It is cached until the
// version changes. The facts are plain data: a process that fetches them from another one builds the same `Access`
// (remote-store/remote-store.ts).
import { LRUCache } from 'lru-cache';
import type { StoredMeanings } from '../../core/caller/meanings.ts';
import { type Access, allowPolicy, type Caller, type FieldAccess, type Policy, type Verb } from '../../core/caller.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { Observe } from '../../core/observe.ts';
import type { Versions } from '../version-types.ts';
import { findFilterProblem } from './filters.ts';
import { type Grant, noGrant, type PermissionRow, toGrant } from './grants.ts';
import { readMeanings } from './meanings.ts';
import { fillScope, matchesNothing } from './scopes.ts';
import type { MeaningRow, Permissions } from './types.ts';

export interface AccessFacts {
  readonly caller: Caller;
  /** Permissions of the role. */
  readonly permissions: readonly PermissionRow[];
  /** Row scopes of the team: the collection and the filter as JSON. */
  readonly scopes: readonly (readonly [collection: string, filter: string])[];
}

/** Facts that all belong to one version; undefined for a deleted or disabled user. */
export interface FactsAt {
  readonly version: number;
  readonly facts: AccessFacts | undefined;
}

/** `load` must return a version at least as new as the one at the time of the call. */
export function createAccessReader(options: {
  readonly versions: () => Versions | Promise<Versions>;
  readonly load: (userId: number) => Promise<FactsAt>;
  /** The same for all users of a version. */
  readonly loadMeanings: () => Promise<readonly MeaningRow[]>;
  readonly observe: Observe;
}): Pick<Permissions, 'accessOf' | 'cachedAccessOf' | 'caller'> {
  const cache = new LRUCache<number, { readonly version: number; readonly access: Access }>({ max: 10_000 });

  let meanings: { readonly version: number; readonly loaded: Promise<StoredMeanings> } | undefined;

  /** Those of the version or of a later one. */
  const meaningsAt = (version: number): Promise<StoredMeanings> => {
    if (meanings && meanings.version >= version) return meanings.loaded;
    const loaded = options.loadMeanings().then(readMeanings);
    const loading = { version, loaded };
    meanings = loading;
    loaded.catch(() => {
      if (meanings === loading) meanings = undefined;
    });
    return loaded;
  };

  const cachedAccessOf = (userId: number, version: number): Access | undefined => {
    const found = cache.get(userId);
    return found?.version === version ? found.access : undefined;
  };

  const accessOf = async (userId: number): Promise<Access | undefined> => {
    const { permissions } = await options.versions();
    const cached = cachedAccessOf(userId, permissions);
    if (cached) return cached;
    const { version, facts } = await options.load(userId);
    if (!facts) return undefined;
    const stored = await meaningsAt(version);
    // Other caches use the `Access` object as their key: simultaneous callers must get the same object.
    const access = cachedAccessOf(userId, version) ?? createAccess(facts, stored, options.observe);
    cache.set(userId, { version, access });
    return access;
  };

  return { accessOf, cachedAccessOf, caller: async (userId) => (await accessOf(userId))?.caller };
}

/** All methods read from memory. */
function createAccess(facts: AccessFacts, meanings: StoredMeanings, observe: Observe): Access {
  const caller = Object.freeze({ ...facts.caller, tags: Object.freeze({ ...facts.caller.tags }) });
  const grants = new Map(facts.permissions.map((row) => [row.collection, toGrant(row)]));
  const scopes = new Map(facts.scopes);
  const filled = new Map<string, PlainFilter>();
  const grantOf = (collection: string): Grant => grants.get(collection) ?? grants.get('*') ?? noGrant;

  function fillStoredScope(collection: string, text: string): PlainFilter {
    const stored = parseScope(text);
    if (typeof stored !== 'string') return fillScope(stored, caller);
    observe({
      type: 'warning',
      message: `The row scope of team '${caller.team}' on '${collection}' is not a filter (${stored}): it shows no records. Set it again.`,
    });
    return matchesNothing;
  }

  const hasPolicies = [...grants.values()].some(
    ({ policies, actions }) =>
      Object.keys(policies).length > 0 || Object.values(actions).some(({ policy }) => policy !== allowPolicy),
  );

  return Object.freeze({
    caller,
    startsWorkflows: true,
    collections: null,
    meanings,
    hasPolicies,
    mayCascade: (collection: string): boolean => grantOf(collection).cascades,
    policy: (verb: Verb, collection: string): Policy => grantOf(collection).policies[verb] ?? allowPolicy,
    actionPolicy(collection: string, action: string): Policy {
      const grant = grantOf(collection);
      // An action without its own entry follows the `edit` permission and its policy.
      return Object.hasOwn(grant.actions, action)
        ? grant.actions[action]!.policy
        : (grant.policies.edit ?? allowPolicy);
    },
    can: (verb: Verb, collection: string): boolean => grantOf(collection).verbs.has(verb),
    canTrigger(collection: string, action: string): boolean {
      const grant = grantOf(collection);
      return Object.hasOwn(grant.actions, action) ? grant.actions[action]!.trigger !== false : grant.verbs.has('edit');
    },
    triggerCondition(collection: string, action: string): PlainFilter | null {
      const { actions } = grantOf(collection);
      const trigger = Object.hasOwn(actions, action) ? actions[action]!.trigger : true;
      // A filter that needs a missing value of the caller matches no record, as in row scopes.
      return typeof trigger === 'boolean' ? null : fillScope(trigger.when, caller);
    },
    field(collection: string, field: string): FieldAccess {
      const grant = grantOf(collection);
      if (grant === noGrant) return 'hidden';
      return Object.hasOwn(grant.fields, field) ? grant.fields[field]! : 'write';
    },
    scope(collection: string): PlainFilter | null {
      const text = scopes.get(collection) ?? scopes.get('*');
      if (text === undefined) return null;
      const filledScope = filled.get(collection);
      if (filledScope) return filledScope;
      const filter = fillStoredScope(collection, text);
      filled.set(collection, filter);
      return filter;
    },
  });
}

/** The filter, or a description of the problem. */
function parseScope(text: string): PlainFilter | string {
  try {
    const value: unknown = JSON.parse(text);
    return findFilterProblem(value) ?? (value as PlainFilter);
  } catch {
    return 'not JSON';
  }
}
