// Less than an Access. What is taken away is taken from the Access itself, so that everything that asks one (tools/list,
// descriptions, near names, relations, actions, charts) answers as if the caller had no permission there. Nothing here can
// add: every answer is that of the Access underneath, or less, and what is narrowed twice has both taken away. The address
// of /mcp narrows (mcp/transport/narrowing.ts), and so does what a person allowed an app (oauth/access-token.ts).
import { LRUCache } from 'lru-cache';
import type { Access, Verb, WriteVerb } from '../caller.ts';

export interface Narrowing {
  readonly readOnly: boolean;
  /** Those that are left; null for all. A name that does not exist is no error: it is like one that may not be seen. */
  readonly collections: ReadonlySet<string> | null;
  /** The same for every spelling of the same narrowing. */
  readonly key: string;
}

/** What a caller who only reads may do. */
const reading: ReadonlySet<Verb> = new Set(['browse', 'read', 'export']);
/** Narrowings of one Access that are kept made. */
const MOST_KEPT = 20;

/** Undefined where nothing is left out. No names at all leave nothing. */
export function createNarrowing(readOnly: boolean, collections: readonly string[] | null): Narrowing | undefined {
  if (!readOnly && collections === null) return undefined;
  const left = collections && [...new Set(collections)].sort();
  return { readOnly, collections: left && new Set(left), key: JSON.stringify([readOnly, left]) };
}

const kept = new WeakMap<Access, LRUCache<string, Access>>();

/** The same Access for the same narrowing of one, since much is kept by its identity. */
export function narrowAccess(access: Access, narrowing: Narrowing): Access {
  const known = kept.get(access) ?? new LRUCache<string, Access>({ max: MOST_KEPT });
  kept.set(access, known);
  const narrowed = known.get(narrowing.key) ?? narrow(access, narrowing);
  known.set(narrowing.key, narrowed);
  return narrowed;
}

function narrow(access: Access, { readOnly, collections }: Narrowing): Access {
  const isLeft = (collection: string) => collections === null || collections.has(collection);
  return Object.freeze({
    caller: access.caller,
    can: (verb: Verb, collection: string) =>
      isLeft(collection) && (!readOnly || reading.has(verb)) && access.can(verb, collection),
    // Nobody knows what the code of an action does: none of them only reads.
    canTrigger: (collection: string, action: string) =>
      isLeft(collection) && !readOnly && access.canTrigger(collection, action),
    triggerCondition: (collection: string, action: string) => access.triggerCondition(collection, action),
    field: (collection: string, field: string) => (isLeft(collection) ? access.field(collection, field) : 'hidden'),
    scope: (collection: string) => access.scope(collection),
    hasPolicies: access.hasPolicies,
    policy: (verb: WriteVerb, collection: string) => access.policy(verb, collection),
    actionPolicy: (collection: string, action: string) => access.actionPolicy(collection, action),
    // A run changes what its steps say, with all rights of the caller.
    startsWorkflows: !readOnly && access.startsWorkflows,
    seesAgentCharts: collections === null && access.seesAgentCharts,
  } satisfies Access);
}
