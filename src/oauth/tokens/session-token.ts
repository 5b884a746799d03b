// Session tokens of the agent's HTTP API: JWTs signed with HS256 that contain only a user and a session. Rights are
// never read from a token. Type, issuer and audience are checked, to reject any other JWT signed with the same secret.
// Tokens of the testing client have their own type and work only on a sandbox platform. The JWT package is loaded with
// the first token.
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { sign } from '../../core/secret.ts';

interface SessionClaims {
  readonly userId: number;
  /** Session id; the storage has its hash. Null for the testing client, which has no session. */
  readonly sessionId: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface SessionTokens {
  create(claims: SessionClaims & { readonly sessionId: string }): Promise<string>;
  /** UNAUTHENTICATED if the token is not a session token of ours, or has expired. */
  read(token: string): Promise<SessionClaims>;
}

interface SessionTokenParts {
  /** The first secret signs; every secret verifies. */
  readonly secrets: () => Promise<readonly string[]>;
  /** Public URL of the HTTP API: issuer and audience of the tokens. */
  readonly address: string;
  /** Secret for tokens of the testing client; set only on a sandbox platform. */
  readonly testingSecret?: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

const sessionTokenType = 'portico-session+jwt';
const testingTokenType = 'portico-testing+jwt';

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });
const signInHint = "Sign in through POST authentication under this API's prefix.";

/** The operator may use the same secret to sign other things, so a separate key is derived for this purpose. */
const signingKeyOf = (secret: string): Uint8Array => Buffer.from(sign('portico session token', secret), 'base64url');

/** Not a URL: a test may reach the agent under any host name. */
const testingAudience = 'portico sandbox';
const testingKeyOf = (secret: string): Uint8Array => Buffer.from(sign('portico testing token', secret), 'base64url');

/**
 * Creates a token of the testing client. It names a user of a sandbox and works only with an agent on a sandbox
 * platform.
 */
export async function createTestingToken(options: {
  readonly authSecret: string;
  readonly userId: number;
  readonly seconds: number;
  readonly clock: Pick<Clock, 'now'>;
}): Promise<string> {
  const { authSecret, userId, seconds, clock } = options;
  const { SignJWT } = await import('jose');
  const now = Math.floor(clock.now() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: testingTokenType })
    .setAudience(testingAudience)
    .setSubject(`${userId}`)
    .setIssuedAt(now)
    .setExpirationTime(now + seconds)
    .sign(testingKeyOf(authSecret));
}

async function readTestingToken(token: string, secret: string, clock: Pick<Clock, 'now'>): Promise<SessionClaims> {
  const { errors, jwtVerify } = await import('jose');
  try {
    // RFC 8725 sections 3.1, 3.9 and 3.11, as below.
    const { payload } = await jwtVerify(token, testingKeyOf(secret), {
      algorithms: ['HS256'],
      typ: testingTokenType,
      audience: testingAudience,
      requiredClaims: ['sub', 'iat', 'exp'],
      currentDate: new Date(clock.now()),
    });
    return { userId: Number(payload.sub), sessionId: null, expiresAt: payload.exp! * 1000 };
  } catch (error) {
    if (error instanceof errors.JOSEError)
      return refuse('This testing token has expired or is not signed with this authSecret.');
    throw error;
  }
}

export function createSessionTokens({ secrets, address, testingSecret, clock }: SessionTokenParts): SessionTokens {
  return {
    async create({ userId, sessionId, expiresAt }) {
      const [{ SignJWT }, [secret]] = await Promise.all([import('jose'), secrets()]);
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: 'HS256', typ: sessionTokenType })
        .setIssuer(address)
        .setAudience(address)
        .setSubject(`${userId}`)
        .setIssuedAt(Math.floor(clock.now() / 1000))
        .setExpirationTime(Math.floor(expiresAt / 1000))
        .sign(signingKeyOf(secret!));
    },
    async read(token) {
      const [{ decodeProtectedHeader, errors, jwtVerify }, all] = await Promise.all([import('jose'), secrets()]);
      const typ = tryRead(() => decodeProtectedHeader(token).typ);
      if (typ === testingTokenType) {
        // A production platform never accepts testing tokens.
        if (testingSecret === undefined) return refuse('Tokens of the testing client work only in a sandbox.');
        return readTestingToken(token, testingSecret, clock);
      }
      for (const secret of all) {
        try {
          // RFC 8725 sections 3.1, 3.8, 3.9 and 3.11: the algorithm is fixed, not read from the token; type, issuer and
          // audience must be ours.
          const { payload } = await jwtVerify(token, signingKeyOf(secret), {
            algorithms: ['HS256'],
            typ: sessionTokenType,
            issuer: address,
            audience: address,
            requiredClaims: ['sub', 'sid', 'iat', 'exp'],
            currentDate: new Date(clock.now()),
          });
          return { userId: Number(payload.sub), sessionId: `${payload.sid}`, expiresAt: payload.exp! * 1000 };
        } catch (error) {
          if (error instanceof errors.JWTExpired) return refuse(`The session has expired. ${signInHint}`);
          if (!(error instanceof errors.JOSEError)) throw error;
        }
      }
      return refuse(`This is not a session token of this API. ${signInHint}`);
    },
  };
}

function tryRead(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}
