// The address narrows: `/mcp?readonly=true&collections=orders,customers` serves the same caller with less, and with no new
// sign-in, since neither the token nor the resource it is for knows of it. What is taken away is taken from the Access
// (core/caller/narrowing.ts), on top of what the person took away who allowed the app.
import { LRUCache } from 'lru-cache';
import { createNarrowing, type Narrowing, narrowAccess } from '../../core/caller/narrowing.ts';
import { fail } from '../../core/errors.ts';
import type { Authenticated, Gate } from '../../oauth/bearer.ts';

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
  return createNarrowing(readOnly, names ?? null);
}

function refuse(argument: string, problem: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem });
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
