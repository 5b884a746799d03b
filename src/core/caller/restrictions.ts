// Narrows an Access. Every consumer (tools/list, descriptions, name suggestions, relations, actions, charts) then
// behaves as if the caller had no permission there. A narrowed Access never grants more than the original, and
// narrowing twice applies both restrictions. The URL of /mcp narrows (mcp/transport/narrowing.ts), and so does the
// consent of a user for an app (oauth/tokens/access-token.ts).
import { LRUCache } from 'lru-cache';
import type { Access, Verb, WriteVerb } from '../caller.ts';

export interface Restrictions {
  readonly readOnly: boolean;
  /**
   * The allowed collections; null for all. An unknown name is not an error: it behaves like a collection that the
   * caller may not see.
   */
  readonly collections: ReadonlySet<string> | null;
  /** Identical for every spelling of the same narrowing. */
  readonly key: string;
}

/** The rights of a read-only caller. */
const readVerbs: ReadonlySet<Verb> = new Set(['browse', 'read', 'export']);
/** How many narrowings of one Access are cached. */
const MAX_CACHED = 20;

/** Undefined if there is no restriction. An empty list allows no collection. */
export function createRestrictions(readOnly: boolean, collections: readonly string[] | null): Restrictions | undefined {
  if (!readOnly && collections === null) return undefined;
  const names = collections && [...new Set(collections)].sort();
  return { readOnly, collections: names && new Set(names), key: JSON.stringify([readOnly, names]) };
}

const restrictedByAccess = new WeakMap<Access, LRUCache<string, Access>>();

/** Returns the same object for the same narrowing of the same Access, because caches use its identity. */
export function restrictAccess(access: Access, restrictions: Restrictions): Access {
  const cached = restrictedByAccess.get(access) ?? new LRUCache<string, Access>({ max: MAX_CACHED });
  restrictedByAccess.set(access, cached);
  const restricted = cached.get(restrictions.key) ?? applyRestrictions(access, restrictions);
  cached.set(restrictions.key, restricted);
  return restricted;
}

function applyRestrictions(access: Access, { readOnly, collections }: Restrictions): Access {
  const isAllowed = (collection: string) => collections === null || collections.has(collection);
  return Object.freeze({
    caller: access.caller,
    can: (verb: Verb, collection: string) =>
      isAllowed(collection) && (!readOnly || readVerbs.has(verb)) && access.can(verb, collection),
    // The code of an action can do anything, so no action counts as read-only.
    canTrigger: (collection: string, action: string) =>
      isAllowed(collection) && !readOnly && access.canTrigger(collection, action),
    triggerCondition: (collection: string, action: string) => access.triggerCondition(collection, action),
    field: (collection: string, field: string) => (isAllowed(collection) ? access.field(collection, field) : 'hidden'),
    scope: (collection: string) => access.scope(collection),
    hasPolicies: access.hasPolicies,
    mayCascade: (collection: string) => access.mayCascade(collection),
    policy: (verb: WriteVerb, collection: string) => access.policy(verb, collection),
    actionPolicy: (collection: string, action: string) => access.actionPolicy(collection, action),
    // A run changes what its steps define, within the allowed collections (workflows/runs/execution.ts).
    startsWorkflows: !readOnly && access.startsWorkflows,
    collections: collections
      ? [...collections].filter((name) => access.collections?.includes(name) ?? true)
      : access.collections,
    ...(access.meanings && { meanings: access.meanings }),
  } satisfies Access);
}
