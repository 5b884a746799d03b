// Narrowing by URL: `/mcp?readonly=true&collections=orders,customers` serves the same caller with fewer rights. It
// needs no new sign-in, because neither the token nor its resource contains the query. The narrowing restricts the
// Access (core/caller/restrictions.ts), in addition to the restrictions that the user chose when they authorized the
// app.
import { LRUCache } from 'lru-cache';
import { createRestrictions, type Restrictions, restrictAccess } from '../../core/caller/restrictions.ts';
import { fail } from '../../core/errors.ts';
import type { TokenAuthenticator } from '../../oauth/tokens/bearer.ts';
import type { Authenticated } from '../../oauth/tokens/verify.ts';

/** The maximum number of cached narrowings per token. */
const MAX_CACHED = 20;

const parameters: Readonly<Record<string, string>> = {
  readonly: 'send readonly=true, or leave it out.',
  collections: 'send names separated by commas, such as collections=orders,customers, or leave it out.',
};

/**
 * Reads the query of the URL. Undefined if there is none. Throws UNAUTHENTICATED for a token in the query, and
 * INVALID_ARGUMENT for an unknown, repeated or invalid parameter.
 */
export function readRestrictions(url: string): Restrictions | undefined {
  const at = url.indexOf('?');
  if (at < 0) return undefined;
  const query = new URLSearchParams(url.slice(at + 1));
  const names = [...query.keys()];
  // RFC 6750 section 2.3 and MCP, access token usage: a token in the query string is never used.
  if (names.some((name) => /^(access_?token|token|authorization|api_?key)$/i.test(name))) {
    fail('UNAUTHENTICATED', {
      problem: `A token in the query string is not accepted. Revoke it, and send a new one in the Authorization header.`,
    });
  }
  for (const [index, name] of names.entries()) {
    if (!Object.hasOwn(parameters, name)) refuse(name, 'unknown query parameter; remove it.');
    // Choosing one of two values is a guess, and a wrong guess grants more rights.
    if (names.indexOf(name) !== index) refuse(name, `sent twice; ${parameters[name]}`);
  }
  const readOnly = query.get('readonly');
  if (readOnly !== null && readOnly !== 'true') refuse('readonly', parameters.readonly!);
  return toRestrictions({ readOnly: readOnly !== null, collections: query.get('collections') ?? undefined });
}

export interface RestrictionParameters {
  readonly readOnly: boolean;
  /** Comma-separated names. */
  readonly collections?: string | undefined;
}

/** Undefined if all rights remain. Throws INVALID_ARGUMENT for a list with an empty name. */
export function toRestrictions({ readOnly, collections }: RestrictionParameters): Restrictions | undefined {
  const names = collections?.split(',').map((name) => name.trim());
  if (names?.includes('')) refuse('collections', parameters.collections!);
  return createRestrictions(readOnly, names ?? null);
}

function refuse(argument: string, problem: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem });
}

export interface RestrictingAuthenticator extends TokenAuthenticator {
  /** Returns the caller with narrowed rights. A later `renew` of the result narrows again. */
  restrict(auth: Authenticated, restrictions: Restrictions | undefined): Authenticated;
}

/**
 * Wraps a gate that does not know about URLs: it caches the full rights of a token, shared by all URLs. The narrowed
 * rights are cached beside them for as long, because other caches use the identity of an Access as their key.
 */
export function createRestrictingAuthenticator(authenticator: TokenAuthenticator): RestrictingAuthenticator {
  const cache = new WeakMap<Authenticated, LRUCache<string, Authenticated>>();

  const restrict = (auth: Authenticated, restrictions: Restrictions | undefined): Authenticated => {
    if (!restrictions) return auth;
    const restrictedByKey = cache.get(auth) ?? new LRUCache<string, Authenticated>({ max: MAX_CACHED });
    cache.set(auth, restrictedByKey);
    const found = restrictedByKey.get(restrictions.key);
    if (found) return found;
    const restricted: Authenticated = { ...auth, access: restrictAccess(auth.access, restrictions), restrictions };
    restrictedByKey.set(restrictions.key, restricted);
    return restricted;
  };

  return {
    ...authenticator,
    restrict,
    renew: async (auth) => restrict(await authenticator.renew(auth), auth.restrictions),
  };
}
