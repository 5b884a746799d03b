// Application tokens at /mcp: what a person made for a program that cannot sign in (store/tokens.ts).
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Store } from '../store/store.ts';
import type { ApplicationToken } from '../store/token-types.ts';
import { findSsoProblem, tokenScopes } from '../store/tokens.ts';
import type { Verify } from './bearer.ts';
import { effectiveScopes } from './scopes.ts';

export interface ApplicationTokenParts {
  readonly store: Pick<Store, 'tokens' | 'permissions'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether people sign in through an OpenID provider. */
  readonly sso: boolean;
}

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });
const another = "'portico token create' makes another.";

export function createApplicationTokenCheck({ store, clock, sso }: ApplicationTokenParts): Verify {
  const checkToken = (token: ApplicationToken): number => {
    const { entrance, expiresAt } = token;
    const expires = expiresAt ?? Number.POSITIVE_INFINITY;
    // Spec public-http-api 7: an expired token is told from an unknown one.
    if (!(expires > clock.now())) return refuse(`The token has expired. ${another}`);
    // RFC 9700 section 2.3: a token opens one entrance; the scopes of one are no rights at the other.
    if (entrance !== 'mcp') {
      const scopes = tokenScopes.mcp.join(', ');
      return refuse(`The token is for the public API. One for /mcp has some of the scopes ${scopes}.`);
    }
    const problem = findSsoProblem(token, sso);
    return problem === undefined ? expires : refuse(problem);
  };

  return async (hash) => {
    // Spec public-http-api 5, 4: what was revoked is no longer there.
    const token = (await store.tokens.find(hash)) ?? refuse(`The token is unknown or revoked. ${another}`);
    const expiresAt = checkToken(token);
    // The rights are those of the user, and as they are now.
    const access = (await store.permissions.accessOf(token.userId)) ?? refuse('The account is disabled or gone.');
    return {
      access,
      userId: token.userId,
      // No client of OAuth has such an id: those are made here, or are URLs.
      clientId: `token:${token.name}`,
      clientName: token.name,
      tokenId: token.id,
      scopes: effectiveScopes(token.scopes.join(' ')),
      thumbprint: undefined,
      expiresAt,
    };
  };
}
