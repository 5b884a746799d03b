// Sign-in for the agent's HTTP API, an authorization code flow (RFC 6749 section 4.1). The client requests an
// authorization URL. The user signs in to the console at that URL. The client exchanges the returned code for a session
// token. Responses go only to the configured origins. With PKCE (RFC 7636), only the client with the code_verifier can
// redeem the code.
import type { Clock } from '../core/clock.ts';
import { AppError, fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken, timingSafeEqualText } from '../core/secret.ts';
import type { SignedIn } from '../oauth/tokens/session-gate.ts';
import type { SessionTokens } from '../oauth/tokens/session-token.ts';
import type { Store } from '../store/store.ts';

interface SignInParts {
  readonly store: Pick<Store, 'agentSessions' | 'permissions'>;
  readonly tokens: SessionTokens;
  /** The clients' origins. */
  readonly origins: readonly string[];
  /** The URL of the console page that completes a sign-in. */
  readonly pageOf: (state: string) => string;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

export interface SignIn {
  /** `origin`: the Origin header. Without one, the only configured origin is used. */
  begin(body: unknown, origin: string | undefined): Promise<{ readonly authorizationUrl: string }>;
  /** Throws UNAUTHENTICATED for an invalid code. */
  finish(query: URLSearchParams, origin: string | undefined, address: string): Promise<SessionAnswer>;
  describe(signedIn: SignedIn): TokenData;
  end(signedIn: SignedIn, address: string): Promise<void>;
}

interface SessionAnswer {
  readonly token: string;
  readonly tokenData: TokenData;
}

/** Account data for display that the token does not contain. The rights come from the storage on each call. */
interface TokenData {
  readonly id: number;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly team: string;
  readonly role: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly renderingId: number;
  readonly permissionLevel: string;
  readonly timezone: string;
  /** Seconds since the epoch. */
  readonly exp: number;
}

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

export function createSignIn({ store, tokens, origins, pageOf, observe }: SignInParts): SignIn {
  const describe = ({ access, expiresAt }: Pick<SignedIn, 'access' | 'expiresAt'>): TokenData => ({
    ...access.caller,
    exp: Math.floor(expiresAt / 1000),
  });

  return {
    async begin(body, originHeader) {
      const origin = originHeader ?? (origins.length === 1 ? origins[0] : undefined);
      if (origin === undefined || !origins.includes(origin)) {
        fail('ORIGIN_NOT_ALLOWED', { setting: 'SERVICE_AGENT_ORIGINS' });
      }
      const state = await store.agentSessions.beginSignIn({ origin, ...parseSignInRequest(body) });
      return { authorizationUrl: pageOf(state) };
    },

    async finish(query, originHeader, address) {
      const [state, code] = [readUnique(query, 'state'), readUnique(query, 'code')];
      const answer = await store.agentSessions.findAnswer(state, code);
      try {
        if (!answer) return refuse('The code is unknown, expired or already used. Sign in again.');
        // RFC 6749 section 4.1.3: only the client that got the code may redeem it.
        if (originHeader !== undefined && originHeader !== answer.origin)
          return refuse('The code was issued to another front end.');
        // RFC 7636 section 4.6.
        const verifier = query.get('code_verifier') ?? '';
        if (answer.codeChallenge !== undefined && !timingSafeEqualText(hashToken(verifier), answer.codeChallenge)) {
          return refuse('The code_verifier does not match the codeChallenge of this sign-in.');
        }
        const access = await store.permissions.accessOf(answer.userId);
        if (!access) return refuse('The account is disabled or gone.');
        if (answer.renderingId !== undefined && answer.renderingId !== access.caller.renderingId) {
          fail('DENIED', { problem: 'The account belongs to another team than the requested rendering.' });
        }
        const session = await store.agentSessions.redeem(state, code);
        if (!session) return refuse('The code was already used. Sign in again.');
        const { id: sessionId, expiresAt } = session;
        const token = await tokens.create({ userId: answer.userId, sessionId, expiresAt });
        observe({ type: 'security', event: 'agent.sign-in', userId: answer.userId, address });
        return { token, tokenData: describe({ access, expiresAt }) };
      } catch (error) {
        const userPart = answer && { userId: answer.userId };
        const detail = error instanceof AppError ? error.message : 'failed';
        observe({ type: 'security', event: 'agent.sign-in.refused', ...userPart, address, detail });
        throw error;
      }
    },

    describe,
    async end({ sessionId, userId }, address) {
      if (sessionId !== null) await store.agentSessions.end(sessionId);
      observe({ type: 'security', event: 'agent.sign-out', userId, address });
    },
  };
}

function parseSignInRequest(body: unknown): { readonly renderingId?: number; readonly codeChallenge?: string } {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    fail('INVALID_ARGUMENT', { argument: 'body', problem: 'expected an object such as {"renderingId": 1}.' });
  }
  const { renderingId: rendering, codeChallenge } = body as Readonly<Record<string, unknown>>;
  // Clients send a number or a string.
  const renderingId = typeof rendering === 'string' ? Number(rendering) : rendering;
  if (renderingId !== undefined && !(Number.isInteger(renderingId) && (renderingId as number) > 0)) {
    fail('INVALID_ARGUMENT', { argument: 'renderingId', problem: 'expected the id of a rendering, a whole number.' });
  }
  if (codeChallenge !== undefined && !(typeof codeChallenge === 'string' && /^[\w-]{43}$/.test(codeChallenge))) {
    const problem = 'expected the SHA-256 of the code_verifier, base64url, 43 characters (RFC 7636, S256).';
    fail('INVALID_ARGUMENT', { argument: 'codeChallenge', problem });
  }
  return {
    ...(renderingId !== undefined && { renderingId: renderingId as number }),
    ...(codeChallenge !== undefined && { codeChallenge }),
  };
}

function readUnique(query: URLSearchParams, name: string): string {
  const [value, ...more] = query.getAll(name);
  if (value === undefined || value === '' || more.length > 0) {
    fail('INVALID_ARGUMENT', { argument: name, problem: 'expected it exactly once, as the sign-in returned it.' });
  }
  return value;
}
