// The only check of the agent's HTTP API: it identifies the user of a request, by a session token or an application
// token, and loads the user's current rights. The result for a token is cached while the storage versions are unchanged.
// Ending a session, revoking a token, disabling a user and every change of rights raise one of the versions. They
// therefore take effect with the next call in every process.
import { LRUCache } from 'lru-cache';
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { hashToken } from '../../core/secret.ts';
import { isApplicationToken } from '../../store/oauth/tokens.ts';
import type { Store } from '../../store/store.ts';
import type { Versions } from '../../store/version-types.ts';
import { sameRights } from '../../store/versions.ts';
import { clientOfToken, createTokenCheck } from './application-token.ts';
import type { SessionTokens } from './session-token.ts';

export interface SignedIn {
  readonly access: Access;
  readonly userId: number;
  /** Null for the testing client of a sandbox, and for an application token. */
  readonly sessionId: string | null;
  /** For an application token: a program calls, within these OAuth scopes. */
  readonly token?: { readonly id: number; readonly scopes: readonly string[] };
  /** The client in the activity log. */
  readonly clientId: string;
  /** The origin of the front end, or the name of the application token. */
  readonly clientName: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The versions for which these facts were checked. */
  readonly versions: Versions;
}

export interface SessionAuthenticator {
  /** UNAUTHENTICATED if the header contains no token of an active session, and no valid application token. */
  check(authorization: string | undefined): Promise<SignedIn>;
  /**
   * Whether the rights are unchanged since `check`. Writes call it before their first mutating statement. `versions`:
   * the current versions, if the storage already returned them.
   */
  isCurrent(signedIn: SignedIn, versions?: Versions): Promise<boolean>;
  /** The WWW-Authenticate value of a 401 (RFC 6750 section 3). */
  challenge(authorization: string | undefined): string;
}

interface SessionAuthenticatorParts {
  readonly store: Pick<Store, 'agentSessions' | 'permissions' | 'versions' | 'tokens'>;
  readonly tokens: SessionTokens;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether users sign in through an OpenID provider. */
  readonly sso: boolean;
}

/** Replaces the origin of a front end, for the testing client of a sandbox. */
const testingOrigin = 'testing';

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

export function createSessionAuthenticator(parts: SessionAuthenticatorParts): SessionAuthenticator {
  const { store, tokens, clock } = parts;
  const cache = new LRUCache<string, SignedIn>({ max: 10_000 });
  const checkToken = createTokenCheck('agent', parts);

  const readApplicationToken = async (hash: string): Promise<Omit<SignedIn, 'versions'>> => {
    const { token, access } = await checkToken(hash);
    const { id, userId, scopes, expiresAt } = token;
    const holder = { access, userId, sessionId: null, ...clientOfToken(token), token: { id, scopes } };
    return { ...holder, expiresAt: expiresAt ?? Number.POSITIVE_INFINITY };
  };

  const readSession = async (token: string): Promise<Omit<SignedIn, 'versions'>> => {
    const { userId, sessionId, expiresAt: tokenEndsAt } = await tokens.read(token);
    const session =
      sessionId === null
        ? { userId, origin: testingOrigin, expiresAt: tokenEndsAt }
        : await store.agentSessions.find(sessionId);
    // OWASP session management: the server decides whether a session is active, regardless of the token.
    if (!session || session.userId !== userId) return refuse('The session has ended. Sign in again.');
    const access = (await store.permissions.accessOf(userId)) ?? refuse('The account is disabled or gone.');
    const { origin, expiresAt } = session;
    return { access, userId, sessionId, clientId: 'agent-api', clientName: origin, expiresAt };
  };

  const noteUse = (signedIn: SignedIn): SignedIn => {
    if (signedIn.token) store.tokens.noteUse(signedIn.token.id);
    return signedIn;
  };

  return {
    async check(authorization) {
      const token = readToken(authorization);
      const key = hashToken(token);
      const versions = await store.versions();
      const cached = cache.get(key);
      if (cached && cached.expiresAt > clock.now() && sameRights(cached.versions, versions)) return noteUse(cached);
      cache.delete(key);
      const holder = await (isApplicationToken(token) ? readApplicationToken(key) : readSession(token));
      const signedIn = { ...holder, versions };
      cache.set(key, signedIn);
      return noteUse(signedIn);
    },
    async isCurrent({ versions }, currentVersions) {
      return sameRights(versions, currentVersions ?? (await store.versions()));
    },
    challenge: (authorization) => `Bearer realm="agent"${authorization === undefined ? '' : ', error="invalid_token"'}`,
  };
}

/** RFC 6750 section 2.1: the token is read only from the Authorization header. Its format shows its kind. */
function readToken(authorization: string | undefined): string {
  if (!authorization) {
    return refuse('A session token or an application token is required, as `Authorization: Bearer <token>`.');
  }
  const token = /^Bearer +([A-Za-z0-9\-._~+/]{1,4096}=*)$/i.exec(authorization)?.[1];
  if (token === undefined) return refuse('The Authorization header must be `Bearer <token>`.');
  // RFC 9700 section 2.3: a token is valid for one entrance.
  if (!isApplicationToken(token) && token.split('.').length !== 3)
    return refuse('This is not a session token. Tokens for /mcp do not work here.');
  return token;
}
