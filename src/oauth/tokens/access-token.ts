// Verifies access tokens of the authorization server. A token is a row in the store, so the check does not call the
// authorization server.
import { restrictAccess } from '../../core/caller/restrictions.ts';
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { OAuthRow } from '../../store/oauth/types.ts';
import type { Store } from '../../store/store.ts';
import { readLimits, restrictionsOf } from '../consent/connection.ts';
import type { Paths } from '../server/paths.ts';
import { effectiveScopes } from '../server/scopes.ts';
import type { Verify } from './verify.ts';

interface AccessTokenParts {
  readonly store: Pick<Store, 'oauth' | 'permissions' | 'connections'>;
  readonly paths: Pick<Paths, 'resource'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Scope expansion of the resource; default: that of /mcp. */
  readonly scopesOf?: (granted: string) => ReadonlySet<string>;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });
const signInAgain = 'Sign in again.';

export function createAccessTokenCheck(parts: AccessTokenParts): Verify {
  const { store, paths, clock, scopesOf = effectiveScopes } = parts;
  const checkToken = ({ payload, expiresAt }: OAuthRow): number => {
    const expiryMs = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, Number(payload.exp) * 1000);
    // RFC 6749 section 1.4, RFC 6750 section 3.1: the token has not expired. This form also rejects a missing time.
    if (!(expiryMs > clock.now())) return refuse('The token has expired. Refresh it or sign in again.');
    // The row must be an access token, not another kind of secret with the same hash.
    if (payload.kind !== 'AccessToken') return refuse('This is not an access token.');
    // RFC 8707 section 2, RFC 9728 section 7.4: the audience is exactly this resource.
    if (payload.aud !== paths.resource) return refuse('The token was issued for another resource.');
    // RFC 8705 section 3: a token bound to a TLS certificate is rejected, because this server does not check
    // certificates.
    if (payload['x5t#S256'] !== undefined)
      return refuse('The token is bound to a certificate and cannot be used here.');
    return expiryMs;
  };

  const findGrant = createGrantCheck(parts);
  return async (hash) => {
    // RFC 6750 section 2.1, RFC 7009 section 2: the token must exist; revoked tokens are deleted.
    const row =
      (await store.oauth.find('AccessToken', hash)) ??
      refuse(`The token is unknown, expired or revoked. ${signInAgain}`);
    const expiresAt = checkToken(row);
    const { payload } = row;
    const holder = {
      userId: Number(payload.accountId),
      clientId: asText(payload.clientId),
      grantId: asText(payload.grantId),
    };
    const { access, endsAt } = await findGrant(holder);
    const extra = payload.extra as { readonly client_name?: unknown } | undefined;
    return {
      ...holder,
      access,
      clientName: asText(extra?.client_name) || holder.clientId,
      scopes: scopesOf(asText(payload.scope)),
      thumbprint: payload.jkt === undefined ? undefined : asText(payload.jkt),
      expiresAt: Math.min(expiresAt, endsAt),
    };
  };
}

interface GrantHolder {
  readonly userId: number;
  readonly clientId: string;
  readonly grantId: string;
}

interface FoundGrant {
  readonly access: Access;
  readonly scopes: ReadonlySet<string>;
  /** Milliseconds since the epoch; infinite if the user set no end. */
  readonly endsAt: number;
}

/** Checks a grant and returns its current access and scopes. UNAUTHENTICATED if it is not usable. */
export function createGrantCheck({
  store,
  paths,
  clock,
  scopesOf = effectiveScopes,
}: AccessTokenParts): (holder: GrantHolder) => Promise<FoundGrant> {
  return async ({ userId, clientId, grantId }) => {
    const [grant, access, isBlocked] = await Promise.all([
      store.oauth.find('Grant', grantId),
      store.permissions.accessOf(userId),
      store.connections.isBlocked(clientId),
    ]);
    // RFC 6749 section 10.4: revoking the grant revokes every token issued from it.
    if (!grant || grant.payload.accountId !== `${userId}` || grant.payload.clientId !== clientId) {
      return refuse(`The authorization was revoked. ${signInAgain}`);
    }
    if (!access) return refuse('The account is disabled or gone.');
    if (isBlocked) return refuse('An administrator has blocked this app.');
    const limits = readLimits(grant.payload);
    // RFC 6749 section 1.5: access is limited to the scope and time that the user allowed.
    if (limits.endsAt !== null && !(limits.endsAt > clock.now())) {
      return refuse(`The authorization has expired. ${signInAgain}`);
    }
    const narrowing = restrictionsOf(limits);
    const resources = Object(grant.payload.resources) as Readonly<Record<string, unknown>>;
    return {
      access: narrowing ? restrictAccess(access, narrowing) : access,
      scopes: scopesOf(asText(resources[paths.resource])),
      endsAt: limits.endsAt ?? Number.POSITIVE_INFINITY,
    };
  };
}
