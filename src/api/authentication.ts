// Authentication of the public API: finds the application token and its user's current rights.
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { hasSso } from '../core/config/sso.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { hashToken } from '../core/secret.ts';
import { createTokenCheck } from '../oauth/tokens/application-token.ts';
import type { ApplicationToken } from '../store/oauth/token-types.ts';
import { isApplicationToken } from '../store/oauth/tokens.ts';
import type { Store } from '../store/store.ts';
import type { Versions } from '../store/version-types.ts';

export interface TokenHolder {
  readonly token: ApplicationToken;
  readonly access: Access;
  /** SHA-256 of the token, the key for rate limits. Unlike an id, it is unique across installations. */
  readonly hash: string;
  /** Read at the beginning of this request. */
  readonly versions: Versions;
}

interface HolderCheckParts {
  readonly store: Pick<Store, 'tokens' | 'permissions' | 'versions'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether users sign in through an OpenID provider. */
  readonly config: Pick<Config, 'ssoIssuer' | 'ssoProviders'>;
}

/** Throws UNAUTHENTICATED unless the header has a valid application token for the public API. */
type CheckHolder = (authorization: string | undefined) => Promise<TokenHolder>;

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

export function createHolderCheck({ store, clock, config }: HolderCheckParts): CheckHolder {
  const checkToken = createTokenCheck('api', { store, clock, sso: hasSso(config) });
  return async (authorization) => {
    const hash = hashToken(readToken(authorization));
    // One read for the whole check: it begins after the request, and sees every revocation before it.
    const versions = await store.versions();
    const { token, access } = await checkToken(hash, versions);
    store.tokens.noteUse(token.id);
    return { token, access, hash, versions };
  };
}

/** RFC 6750 section 2.1: the token must be in the Authorization header. Its format identifies an application token. */
function readToken(authorization: string | undefined): string {
  if (!authorization) return refuse('Send an application token as `Authorization: Bearer <token>`.');
  const token = /^Bearer +(\S{1,4096})$/i.exec(authorization)?.[1];
  if (token === undefined) return refuse('The Authorization header must be `Bearer <token>`.');
  if (!isApplicationToken(token)) {
    return refuse(
      'This is not an application token. Tokens of a sign-in, for /mcp or a front end, do not work with this API.',
    );
  }
  return token;
}
