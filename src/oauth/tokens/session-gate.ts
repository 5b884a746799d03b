// The only check of the agent's HTTP API: it identifies the user of a request and loads the user's current rights. The
// result for a token is cached while the storage versions are unchanged. Ending a session, disabling a user and every
// change of rights raise one of the versions. They therefore take effect with the next call in every process.
import { LRUCache } from 'lru-cache';
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { hashToken } from '../../core/secret.ts';
import { isApplicationToken } from '../../store/oauth/tokens.ts';
import type { Store } from '../../store/store.ts';
import type { Versions } from '../../store/version-types.ts';
import { sameRights } from '../../store/versions.ts';
import type { SessionTokens } from './session-token.ts';

export interface SignedIn {
  readonly access: Access;
  readonly userId: number;
  /** Null for the testing client of a sandbox. */
  readonly sessionId: string | null;
  /** Origin of the front end. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The versions for which these facts were checked. */
  readonly versions: Versions;
}

export interface SessionAuthenticator {
  /** UNAUTHENTICATED if the header contains no token of an active session. */
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
  readonly store: Pick<Store, 'agentSessions' | 'permissions' | 'versions'>;
  readonly tokens: SessionTokens;
  readonly clock: Pick<Clock, 'now'>;
}

/** Replaces the origin of a front end, for the testing client of a sandbox. */
const testingOrigin = 'testing';

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

export function createSessionAuthenticator({ store, tokens, clock }: SessionAuthenticatorParts): SessionAuthenticator {
  const cache = new LRUCache<string, SignedIn>({ max: 10_000 });

  return {
    async check(authorization) {
      const token = readSessionToken(authorization);
      const key = hashToken(token);
      const versions = await store.versions();
      const cached = cache.get(key);
      if (cached && cached.expiresAt > clock.now() && sameRights(cached.versions, versions)) return cached;
      cache.delete(key);
      const { userId, sessionId, expiresAt: tokenEndsAt } = await tokens.read(token);
      const session =
        sessionId === null
          ? { userId, origin: testingOrigin, expiresAt: tokenEndsAt }
          : await store.agentSessions.find(sessionId);
      // OWASP session management: the server decides whether a session is active, regardless of the token.
      if (!session || session.userId !== userId) return refuse('The session has ended. Sign in again.');
      const access = (await store.permissions.accessOf(userId)) ?? refuse('The account is disabled or gone.');
      const { origin, expiresAt } = session;
      const signedIn = { access, userId, sessionId, origin, expiresAt, versions };
      cache.set(key, signedIn);
      return signedIn;
    },
    async isCurrent({ versions }, currentVersions) {
      return sameRights(versions, currentVersions ?? (await store.versions()));
    },
    challenge: (authorization) => `Bearer realm="agent"${authorization === undefined ? '' : ', error="invalid_token"'}`,
  };
}

/** RFC 6750 section 2.1: the token is read only from the Authorization header. Its format shows its kind. */
function readSessionToken(authorization: string | undefined): string {
  if (!authorization) return refuse('A session token is required, as `Authorization: Bearer <token>`.');
  const token = /^Bearer +([A-Za-z0-9\-._~+/]{1,4096}=*)$/i.exec(authorization)?.[1];
  if (token === undefined) return refuse('The Authorization header must be `Bearer <token>`.');
  // RFC 9700 section 2.3: a token is valid for one entrance.
  if (isApplicationToken(token)) return refuse('Application tokens work only with the public API and /mcp.');
  if (token.split('.').length !== 3) return refuse('This is not a session token. Tokens for /mcp do not work here.');
  return token;
}
