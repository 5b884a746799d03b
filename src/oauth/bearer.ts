// The one token check of /mcp. What it answers is proof that it ran: an Authenticated can only come from here.
//
// A verified token is remembered by its hash together with the versions of grants and permissions that were read before
// the check began. It is taken again only while both stand still and the token has not expired, so a revocation or a
// change of rights is felt by the next call in every process. Refusals are never remembered. The authorization server
// itself is not imported: a token is a row of the store.
import { LRUCache } from 'lru-cache';
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import { hashToken } from '../core/secret.ts';
import type { OAuthRow, Store, Versions } from '../store/store.ts';
import type { Paths } from './paths.ts';
import { effectiveScopes } from './scopes.ts';

export interface Authenticated {
  readonly access: Access;
  readonly userId: number;
  readonly clientId: string;
  readonly clientName: string;
  readonly grantId: string;
  /** OAuth scopes, with those that they include. */
  readonly scopes: ReadonlySet<string>;
  /** The versions at which all of this was true. */
  readonly versions: Versions;
}

export interface Gate {
  /**
   * Checks the Authorization header; answers (and refuses) synchronously where it can. UNAUTHENTICATED when there is no
   * usable token: missing, malformed, unknown, expired, revoked, or for another audience.
   */
  check(authorization: string | undefined): Authenticated | Promise<Authenticated>;
  /**
   * Whether everything still stands as it did when `auth` was given. Reads ask it while they work and hold their
   * answer until it is known; writes ask it before their first mutating statement.
   */
  holds(auth: Authenticated): boolean | Promise<boolean>;
  /** The WWW-Authenticate value of a 401 (RFC 6750 section 3, RFC 9728 section 5.1). */
  challenge(hadToken: boolean): string;
  /** The WWW-Authenticate value of a 403 insufficient_scope. */
  scopeChallenge(scopes: readonly string[]): string;
}

export interface GateOptions {
  readonly store: Pick<Store, 'oauth' | 'permissions' | 'versions'>;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  /** What the 401 challenge offers. */
  readonly defaultScopes: readonly string[];
}

interface Remembered {
  readonly auth: Authenticated;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const same = (a: Versions, b: Versions): boolean => a.grants === b.grants && a.permissions === b.permissions;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });
const signInAgain = 'Sign in again.';

export function createGate({ store, paths, clock, defaultScopes }: GateOptions): Gate {
  const remembered = new LRUCache<string, Remembered>({ max: 10_000 });

  const recall = (hash: string, versions: Versions): Authenticated | undefined => {
    const found = remembered.get(hash);
    return found && found.expiresAt > clock.now() && same(found.auth.versions, versions) ? found.auth : undefined;
  };

  const verify = async (hash: string, versions: Versions): Promise<Authenticated> => {
    remembered.delete(hash);
    // RFC 6750 section 2.1, RFC 7009 section 2: the token exists; a revoked one is no longer there.
    const row =
      (await store.oauth.find('AccessToken', hash)) ??
      refuse(`The token is unknown, expired or revoked. ${signInAgain}`);
    const expiresAt = checkToken(row);
    const { payload } = row;
    const grantId = text(payload.grantId);
    const userId = Number(payload.accountId);
    const [grant, access] = await Promise.all([store.oauth.find('Grant', grantId), store.permissions.accessOf(userId)]);
    // RFC 6749 section 10.4: what the user withdrew is withdrawn from every token that was made of it.
    if (!grant || grant.payload.accountId !== payload.accountId || grant.payload.clientId !== payload.clientId) {
      return refuse(`The authorization was revoked. ${signInAgain}`);
    }
    if (!access) return refuse('The account is disabled or gone.');
    const clientId = text(payload.clientId);
    const extra = payload.extra as { readonly client_name?: unknown } | undefined;
    const auth: Authenticated = {
      access,
      userId,
      clientId,
      clientName: text(extra?.client_name) || clientId,
      grantId,
      scopes: effectiveScopes(text(payload.scope)),
      versions,
    };
    remembered.set(hash, { auth, expiresAt });
    return auth;
  };

  const checkToken = ({ payload, expiresAt }: OAuthRow): number => {
    const expires = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, Number(payload.exp) * 1000);
    // RFC 6749 section 1.4, RFC 6750 section 3.1: not expired. Written so that a missing time is expired.
    if (!(expires > clock.now())) return refuse('The token has expired. Refresh it or sign in again.');
    // The row is an access token and no other kind of secret that hashes alike.
    if (payload.kind !== 'AccessToken') return refuse('This is no access token.');
    // RFC 8707 section 2, RFC 9728 section 7.4: the audience is this resource, and only this one.
    if (payload.aud !== paths.resource) return refuse('The token was issued for another resource.');
    // RFC 9449 section 7.1: a token bound to a key is not usable as a plain bearer token.
    if (payload.jkt !== undefined || payload['x5t#S256'] !== undefined) {
      return refuse('The token is bound to a key and cannot be used as a bearer token.');
    }
    return expires;
  };

  return {
    check(authorization) {
      const hash = hashToken(readToken(authorization));
      const versions = store.versions();
      if (!(versions instanceof Promise)) return recall(hash, versions) ?? verify(hash, versions);
      return versions.then((known) => recall(hash, known) ?? verify(hash, known));
    },
    holds(auth) {
      const versions = store.versions();
      if (!(versions instanceof Promise)) return same(auth.versions, versions);
      return versions.then((known) => same(auth.versions, known));
    },
    challenge: (hadToken) =>
      // RFC 6750 section 3: no error code when the request carried no credentials at all.
      challenge(hadToken ? { error: 'invalid_token' } : {}, defaultScopes),
    scopeChallenge: (scopes) => challenge({ error: 'insufficient_scope' }, scopes),
  };

  function challenge(error: Readonly<Record<string, string>>, scopes: readonly string[]): string {
    const parts = { ...error, resource_metadata: paths.resourceMetadata, scope: scopes.join(' ') };
    return `Bearer ${Object.entries(parts)
      .map(([name, value]) => `${name}="${value}"`)
      .join(', ')}`;
  }
}

/** RFC 6750 section 2.1: the token of `Authorization: Bearer`, and no other place. */
function readToken(authorization: string | undefined): string {
  if (!authorization) {
    return refuse('A bearer token is needed. Sign in through the authorization server that the challenge names.');
  }
  const token = /^Bearer +([A-Za-z0-9\-._~+/]{16,512}=*)$/i.exec(authorization)?.[1];
  return token ?? refuse('The Authorization header must be `Bearer <token>`.');
}
