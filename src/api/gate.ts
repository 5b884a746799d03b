// The one check of the public API: whose application token it is, and what its user may do at this moment. The token is
// looked up with every call, so that revoking it is felt by the next one, in every process.
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { hashToken } from '../core/secret.ts';
import type { Store } from '../store/store.ts';
import type { ApplicationToken } from '../store/token-types.ts';
import { findSsoProblem, isApplicationToken } from '../store/tokens.ts';

export interface Holder {
  readonly token: ApplicationToken;
  readonly access: Access;
  /** SHA-256 of the token: what it is counted by. Unlike its id it is of no other installation. */
  readonly hash: string;
}

export interface ApiGateParts {
  readonly store: Pick<Store, 'tokens' | 'permissions'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether people sign in through an OpenID provider. */
  readonly config: Pick<Config, 'ssoIssuer'>;
}

/** UNAUTHENTICATED when the header holds no application token for the public API that counts. */
export type CheckHolder = (authorization: string | undefined) => Promise<Holder>;

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

export function createHolderCheck({ store, clock, config }: ApiGateParts): CheckHolder {
  return async (authorization) => {
    const hash = hashToken(readToken(authorization));
    const token = await store.tokens.find(hash);
    // Spec public-http-api 5, 4: what was revoked is no longer there.
    if (!token) return refuse('The token is unknown or revoked. Make another one.');
    // RFC 9700 section 2.3: a token opens one entrance; the scopes of one are no rights at the other.
    if (token.entrance !== 'api') return refuse('The token is for /mcp. Make one with scopes of the public API.');
    // Spec public-http-api 7.1: an expired token is told from an unknown one.
    if (token.expiresAt !== null && !(token.expiresAt > clock.now())) {
      return refuse('The token has expired. Make another one.');
    }
    const problem = findSsoProblem(token, config.ssoIssuer !== null);
    if (problem !== undefined) return refuse(problem);
    const access = (await store.permissions.accessOf(token.userId)) ?? refuse('The account is disabled or gone.');
    store.tokens.noteUse(token.id);
    return { token, access, hash };
  };
}

/** RFC 6750 section 2.1: the token of the Authorization header, and no other place. Which class it is of, its form tells. */
function readToken(authorization: string | undefined): string {
  if (!authorization) return refuse('An application token is needed, as `Authorization: Bearer <token>`.');
  const token = /^Bearer +(\S{1,4096})$/i.exec(authorization)?.[1];
  if (token === undefined) return refuse('The Authorization header must be `Bearer <token>`.');
  if (!isApplicationToken(token)) {
    return refuse('This is no application token. Tokens of a sign-in, for /mcp or a front end, open nothing here.');
  }
  return token;
}
