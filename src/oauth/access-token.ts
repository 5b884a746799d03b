// Access tokens of the authorization server. The server itself is not asked: a token is a row of the store.
import { narrowAccess } from '../core/caller/narrowing.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { OAuthRow } from '../store/oauth-types.ts';
import type { Store } from '../store/store.ts';
import type { Verify } from './bearer.ts';
import { narrowingOf, readLimits } from './connection.ts';
import type { Paths } from './paths.ts';
import { effectiveScopes } from './scopes.ts';

export interface AccessTokenParts {
  readonly store: Pick<Store, 'oauth' | 'permissions' | 'connections'>;
  readonly paths: Pick<Paths, 'resource'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Of the resource; those of /mcp when absent. */
  readonly scopesOf?: (granted: string) => ReadonlySet<string>;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });
const signInAgain = 'Sign in again.';

export function createAccessTokenCheck(parts: AccessTokenParts): Verify {
  const { store, paths, clock, scopesOf = effectiveScopes } = parts;
  const checkToken = ({ payload, expiresAt }: OAuthRow): number => {
    const expires = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, Number(payload.exp) * 1000);
    // RFC 6749 section 1.4, RFC 6750 section 3.1: not expired. Written so that a missing time is expired.
    if (!(expires > clock.now())) return refuse('The token has expired. Refresh it or sign in again.');
    // The row is an access token and no other kind of secret that hashes alike.
    if (payload.kind !== 'AccessToken') return refuse('This is no access token.');
    // RFC 8707 section 2, RFC 9728 section 7.4: the audience is this resource, and only this one.
    if (payload.aud !== paths.resource) return refuse('The token was issued for another resource.');
    // RFC 8705 section 3: a token bound to a TLS certificate is of no use where no certificate is looked at.
    if (payload['x5t#S256'] !== undefined)
      return refuse('The token is bound to a certificate and cannot be used here.');
    return expires;
  };

  return async (hash) => {
    // RFC 6750 section 2.1, RFC 7009 section 2: the token exists; a revoked one is no longer there.
    const row =
      (await store.oauth.find('AccessToken', hash)) ??
      refuse(`The token is unknown, expired or revoked. ${signInAgain}`);
    const expiresAt = checkToken(row);
    const { payload } = row;
    const grantId = text(payload.grantId);
    const userId = Number(payload.accountId);
    const clientId = text(payload.clientId);
    const [grant, access, isBlocked] = await Promise.all([
      store.oauth.find('Grant', grantId),
      store.permissions.accessOf(userId),
      store.connections.isBlocked(clientId),
    ]);
    // RFC 6749 section 10.4: what the user withdrew is withdrawn from every token that was made of it.
    if (!grant || grant.payload.accountId !== payload.accountId || grant.payload.clientId !== payload.clientId) {
      return refuse(`The authorization was revoked. ${signInAgain}`);
    }
    if (!access) return refuse('The account is disabled or gone.');
    if (isBlocked) return refuse('An administrator has blocked this app.');
    const limits = readLimits(grant.payload);
    // RFC 6749 section 1.5: the access is as narrow and as short as the person allowed it.
    if (limits.endsAt !== null && !(limits.endsAt > clock.now())) {
      return refuse(`The time for which it was allowed is over. ${signInAgain}`);
    }
    const narrowing = narrowingOf(limits);
    const extra = payload.extra as { readonly client_name?: unknown } | undefined;
    return {
      access: narrowing ? narrowAccess(access, narrowing) : access,
      userId,
      clientId,
      clientName: text(extra?.client_name) || clientId,
      grantId,
      scopes: scopesOf(text(payload.scope)),
      thumbprint: payload.jkt === undefined ? undefined : text(payload.jkt),
      expiresAt: Math.min(expiresAt, limits.endsAt ?? Number.POSITIVE_INFINITY),
    };
  };
}
