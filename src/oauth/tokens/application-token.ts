// Application tokens: tokens that a user creates for programs that cannot sign in (store/oauth/tokens.ts). Every
// entrance checks them here.
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { ApplicationToken, TokenEntrance } from '../../store/oauth/token-types.ts';
import { entrancePlaces, findSsoProblem, tokenScopes } from '../../store/oauth/tokens.ts';
import type { Store } from '../../store/store.ts';
import type { Versions } from '../../store/version-types.ts';
import { effectiveScopes } from '../server/scopes.ts';
import type { Verify } from './verify.ts';

interface ApplicationTokenParts {
  readonly store: Pick<Store, 'tokens' | 'permissions'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether users sign in through an OpenID provider. */
  readonly sso: boolean;
}

interface Holder {
  readonly token: ApplicationToken;
  /** The token has the user's current rights. */
  readonly access: Access;
}

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });
const createNewToken = "Create a new one with 'portico token create'.";

/**
 * Takes the hash of the token, or its id when the caller does not have the token. `versions`: read since the request
 * began. Throws UNAUTHENTICATED unless the token is valid at the entrance.
 */
type CheckToken = (hashOrId: string | number, versions?: Versions) => Promise<Holder>;

/** The token is read from the storage for every check, so a revocation applies to the next one in every process. */
export function createTokenCheck(entrance: TokenEntrance, parts: ApplicationTokenParts): CheckToken {
  const { store, clock, sso } = parts;
  return async (hashOrId, versions) => {
    // Behaviour api 5, 4: revoked tokens are deleted.
    const token =
      (await (typeof hashOrId === 'number' ? store.tokens.get(hashOrId) : store.tokens.find(hashOrId, versions))) ??
      refuse(`The token is unknown or revoked. ${createNewToken}`);
    // RFC 9700 section 2.3: a token is valid for one entrance; its scopes grant no rights at the others.
    if (token.entrance !== entrance) {
      const [other, here] = [entrancePlaces[token.entrance], entrancePlaces[entrance]];
      const scopes = tokenScopes[entrance].join(', ');
      return refuse(`The token is for ${other}. A token for ${here} needs one of the scopes ${scopes}.`);
    }
    // Behaviour api 7: expired and unknown tokens get different errors.
    if (token.expiresAt !== null && !(token.expiresAt > clock.now())) {
      return refuse(`The token has expired. ${createNewToken}`);
    }
    const problem = findSsoProblem(token, sso);
    if (problem !== undefined) return refuse(problem);
    const { permissions } = store;
    const cached = versions && permissions.cachedAccessOf(token.userId, versions.permissions);
    const access = cached ?? (await permissions.accessOf(token.userId)) ?? refuse('The account is disabled or gone.');
    return { token, access };
  };
}

/** The client in the activity log. It is no OAuth client id: this server generates those, or they are URLs. */
export const clientOfToken = ({ name }: Pick<ApplicationToken, 'name'>) => ({
  clientId: `token:${name}`,
  clientName: name,
});

/** The check at /mcp. */
export function createApplicationTokenCheck(
  parts: ApplicationTokenParts,
): (hashOrId: string | number) => ReturnType<Verify> {
  const checkToken = createTokenCheck('mcp', parts);
  return async (hashOrId) => {
    const { token, access } = await checkToken(hashOrId);
    return {
      access,
      userId: token.userId,
      ...clientOfToken(token),
      tokenId: token.id,
      scopes: effectiveScopes(token.scopes.join(' ')),
      thumbprint: undefined,
      expiresAt: token.expiresAt ?? Number.POSITIVE_INFINITY,
    };
  };
}
