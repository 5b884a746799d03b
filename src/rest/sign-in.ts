// Signing in to the agent's HTTP API: an authorization code flow (RFC 6749 section 4.1) in which the front end asks for an
// address, the person answers there, in the console, and the front end brings the answer back for a session token. Answers
// go to the front ends that the operator names and nowhere else. A front end that keeps a code_verifier (RFC 7636) is the
// only one that can redeem its answer.
import type { Clock } from '../core/clock.ts';
import { AppError, fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken, sameText } from '../core/secret.ts';
import type { SignedIn } from '../oauth/session-gate.ts';
import type { SessionTokens } from '../oauth/session-token.ts';
import type { Store } from '../store/store.ts';

export interface SignInParts {
  readonly store: Pick<Store, 'agentSessions' | 'permissions'>;
  readonly tokens: SessionTokens;
  /** Of the front ends. */
  readonly origins: readonly string[];
  /** The page on which a sign-in is answered. */
  readonly pageOf: (state: string) => string;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

export interface SignIn {
  /** `origin`: the Origin header; a program without one is answered where the only front end is. */
  begin(body: unknown, origin: string | undefined): Promise<{ readonly authorizationUrl: string }>;
  /** UNAUTHENTICATED when the answer is not good. */
  finish(query: URLSearchParams, origin: string | undefined, address: string): Promise<SessionAnswer>;
  describe(signedIn: SignedIn): TokenData;
  end(signedIn: SignedIn, address: string): Promise<void>;
}

export interface SessionAnswer {
  readonly token: string;
  readonly tokenData: TokenData;
}

/** What the token does not hold, for the front end to show: the rights are asked of the storage at each call. */
export interface TokenData {
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
    async begin(body, sent) {
      const origin = sent ?? (origins.length === 1 ? origins[0] : undefined);
      if (origin === undefined || !origins.includes(origin)) {
        fail('ORIGIN_NOT_ALLOWED', { setting: 'SERVICE_AGENT_ORIGINS' });
      }
      const state = await store.agentSessions.beginSignIn({ origin, ...readAsked(body) });
      return { authorizationUrl: pageOf(state) };
    },

    async finish(query, sent, address) {
      const [state, code] = [readOnce(query, 'state'), readOnce(query, 'code')];
      const answer = await store.agentSessions.findAnswer(state, code);
      try {
        if (!answer) return refuse('The code is unknown, expired or used. Sign in again.');
        // RFC 6749 section 4.1.3: the answer is redeemed by whom it was given to.
        if (sent !== undefined && sent !== answer.origin) return refuse('The answer was for another front end.');
        // RFC 7636 section 4.6.
        const verifier = query.get('code_verifier') ?? '';
        if (answer.codeChallenge !== undefined && !sameText(hashToken(verifier), answer.codeChallenge)) {
          return refuse('The code_verifier is not the one that the sign-in began with.');
        }
        const access = await store.permissions.accessOf(answer.userId);
        if (!access) return refuse('The account is disabled or gone.');
        if (answer.renderingId !== undefined && answer.renderingId !== access.caller.renderingId) {
          fail('DENIED', { problem: 'The account belongs to another team than the one whose view was asked for.' });
        }
        const session = await store.agentSessions.redeem(state, code);
        if (!session) return refuse('The code was used before. Sign in again.');
        const { id: sessionId, expiresAt } = session;
        const token = await tokens.make({ userId: answer.userId, sessionId, expiresAt });
        observe({ type: 'security', event: 'agent.sign-in', userId: answer.userId, address });
        return { token, tokenData: describe({ access, expiresAt }) };
      } catch (error) {
        const about = answer && { userId: answer.userId };
        const detail = error instanceof AppError ? error.message : 'failed';
        observe({ type: 'security', event: 'agent.sign-in.refused', ...about, address, detail });
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

function readAsked(body: unknown): { readonly renderingId?: number; readonly codeChallenge?: string } {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    fail('INVALID_ARGUMENT', { argument: 'body', problem: 'expected an object such as {"renderingId": 1}.' });
  }
  const { renderingId: rendering, codeChallenge } = body as Readonly<Record<string, unknown>>;
  // Front ends send either.
  const renderingId = typeof rendering === 'string' ? Number(rendering) : rendering;
  if (renderingId !== undefined && !(Number.isInteger(renderingId) && (renderingId as number) > 0)) {
    fail('INVALID_ARGUMENT', { argument: 'renderingId', problem: 'expected the number of a rendering.' });
  }
  if (codeChallenge !== undefined && !(typeof codeChallenge === 'string' && /^[\w-]{43}$/.test(codeChallenge))) {
    const problem = 'expected the SHA-256 of the code_verifier, base64url, 43 characters (RFC 7636, S256).';
    fail('INVALID_ARGUMENT', { argument: 'codeChallenge', problem });
  }
  return {
    ...(renderingId !== undefined && { renderingId: renderingId as number }),
    ...(codeChallenge !== undefined && { codeChallenge: codeChallenge as string }),
  };
}

function readOnce(query: URLSearchParams, name: string): string {
  const [value, ...more] = query.getAll(name);
  if (value === undefined || value === '' || more.length > 0) {
    fail('INVALID_ARGUMENT', { argument: name, problem: 'expected it once, as the sign-in brought it back.' });
  }
  return value;
}
