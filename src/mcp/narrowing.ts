// The address narrows: `/mcp?readonly=true&collections=orders,customers` serves the same caller with less, and with no new
// sign-in, since neither the token nor the resource it is for knows of it. What is taken away is taken from the Access, so
// that everything that asks one (tools/list, descriptions, near names, relations, actions, charts) answers as if the
// caller had no permission there. Nothing here can add: every answer is that of the Access underneath, or less.
import { LRUCache } from 'lru-cache';
import type { Access, Verb, WriteVerb } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { Authenticated, Gate } from '../oauth/bearer.ts';

export interface Narrowing {
  readonly readOnly: boolean;
  /** Those that are left; null for all. A name that does not exist is no error: it is like one that may not be seen. */
  readonly collections: ReadonlySet<string> | null;
  /** The same for every spelling of the same narrowing. */
  readonly key: string;
}

/** What a caller who only reads may do. */
const reading: ReadonlySet<Verb> = new Set(['browse', 'read', 'export']);
/** Narrowings of one token that are kept made. */
const MOST_KEPT = 20;

const parameters: Readonly<Record<string, string>> = {
  readonly: 'send readonly=true, or leave it out.',
  collections: 'send names with commas between them, such as collections=orders,customers, or leave it out.',
};

/**
 * Reads the query of the address; undefined where there is none. UNAUTHENTICATED for a token in it, INVALID_ARGUMENT for a
 * parameter that is unknown, repeated or without a meaning.
 */
export function readNarrowing(url: string): Narrowing | undefined {
  const at = url.indexOf('?');
  if (at < 0) return undefined;
  const query = new URLSearchParams(url.slice(at + 1));
  const names = [...query.keys()];
  // RFC 6750 section 2.3 and MCP, access token usage: a token in the query string is never used.
  if (names.some((name) => /^(access_?token|token|authorization|api_?key)$/i.test(name))) {
    fail('UNAUTHENTICATED', {
      problem: `A token in the query string is not taken and should now be revoked. Send it in the Authorization header.`,
    });
  }
  for (const [index, name] of names.entries()) {
    if (!Object.hasOwn(parameters, name)) refuse(name, 'unknown parameter of the address; remove it.');
    // Which of two would be meant is a guess, and a wrong one widens.
    if (names.indexOf(name) !== index) refuse(name, `given twice; ${parameters[name]}`);
  }
  const readOnly = query.get('readonly');
  if (readOnly !== null && readOnly !== 'true') refuse('readonly', parameters.readonly!);
  return makeNarrowing({ readOnly: readOnly !== null, collections: query.get('collections') ?? undefined });
}

export interface NarrowingWishes {
  readonly readOnly: boolean;
  /** Names with commas between them. */
  readonly collections?: string | undefined;
}

/** Undefined where nothing is to be left out. INVALID_ARGUMENT for a list with an empty name. */
export function makeNarrowing({ readOnly, collections }: NarrowingWishes): Narrowing | undefined {
  const names = collections?.split(',').map((name) => name.trim());
  if (names?.includes('')) refuse('collections', parameters.collections!);
  if (!readOnly && !names) return undefined;
  const left = names && [...new Set(names)].sort();
  return {
    readOnly,
    collections: left ? new Set(left) : null,
    key: JSON.stringify([readOnly, left ?? null]),
  };
}

function refuse(argument: string, problem: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem });
}

export function narrowAccess(access: Access, { readOnly, collections }: Narrowing): Access {
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
    seesAgentCharts: collections === null && access.seesAgentCharts,
  } satisfies Access);
}

export interface NarrowingGate extends Gate {
  /** The same caller with less; what `renew` gives for it later is narrowed alike. */
  narrow(auth: Authenticated, narrowing: Narrowing | undefined): Authenticated;
}

/**
 * Over a gate that knows nothing of addresses: what it remembers of a token is the whole of it, and is shared by all
 * addresses. A narrowed one is kept beside it, for as long, since much else is kept by the identity of an Access.
 */
export function createNarrowingGate(gate: Gate): NarrowingGate {
  const narrowings = new WeakMap<Authenticated, Narrowing>();
  const kept = new WeakMap<Authenticated, LRUCache<string, Authenticated>>();

  const narrow = (auth: Authenticated, narrowing: Narrowing | undefined): Authenticated => {
    if (!narrowing) return auth;
    const known = kept.get(auth) ?? new LRUCache<string, Authenticated>({ max: MOST_KEPT });
    kept.set(auth, known);
    const found = known.get(narrowing.key);
    if (found) return found;
    const narrowed: Authenticated = { ...auth, access: narrowAccess(auth.access, narrowing) };
    narrowings.set(narrowed, narrowing);
    known.set(narrowing.key, narrowed);
    return narrowed;
  };

  return {
    ...gate,
    narrow,
    renew: async (auth) => narrow(await gate.renew(auth), narrowings.get(auth)),
  };
}
