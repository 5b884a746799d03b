// Sign-in state: sessions, one-time links and second factors.
import type { User } from '../users/types.ts';

/**
 * Sessions of the console. All sessions of a user end, in every process, when the user is disabled or the password
 * changes.
 */
export interface Sessions {
  /**
   * Returns the id: 256 random bits, new for every sign-in and never stored. `since` is the start of the sign-in: a
   * password change after that time ends the session too.
   */
  begin(
    session: Pick<Session, 'userId' | 'browser'> & {
      readonly issuer?: string | null;
      readonly address?: string;
      readonly since?: number;
    },
  ): Promise<string>;
  /** Also extends the idle timeout. Undefined when the session has ended or is unknown. */
  find(id: string): Promise<Session | undefined>;
  /** The user's sessions, most recently used first. `current`: a session id. */
  list(userId: number, current?: string): Promise<readonly ListedSession[]>;
  end(id: string): Promise<void>;
  /**
   * Ends a session by its name in the list. False when it has ended or belongs to another user. `by` as in `endAll`.
   */
  endListed(userId: number, name: string, by?: number): Promise<boolean>;
  /**
   * Ends the console sessions, and the browser sessions that connected assistants. `grants` also disconnects the
   * assistants. `by`: the user who did it; absent for the command line.
   */
  endAll(userId: number, options: { readonly grants: boolean; readonly by?: number }): Promise<void>;
}

interface Session {
  readonly userId: number;
  /** The browser's self-description (User-Agent), at most 200 characters. */
  readonly browser: string;
  /** The issuer that signed the user in: the OpenID provider or the host application. Null for a password. */
  readonly issuer: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The last use before this one; accurate to a minute. */
  readonly seenAt: number;
}

/**
 * Sessions of front ends of the agent's HTTP API. The front end starts a sign-in, a user with a console session answers
 * it, and the front end redeems the code. Each step works once across all processes.
 */
export interface AgentSessions {
  /** Returns the state: 256 random bits. */
  beginSignIn(signIn: AgentSignIn): Promise<string>;
  /** Undefined when it has expired, has been answered, or is unknown. */
  findSignIn(state: string): Promise<AgentSignIn | undefined>;
  /** Returns the code: 256 random bits, valid for SERVICE_AUTHORIZATION_CODE_SECONDS. Undefined as in `findSignIn`. */
  allowSignIn(state: string, userId: number): Promise<string | undefined>;
  /** The user declined. False when `findSignIn` would return undefined. */
  dropSignIn(state: string): Promise<boolean>;
  /** The sign-in of a code, used or unused. */
  findAnswer(state: string, code: string): Promise<(AgentSignIn & { readonly userId: number }) | undefined>;
  /** Begins the session. A second call with the same code ends it. */
  redeem(state: string, code: string): Promise<{ readonly id: string; readonly expiresAt: number } | undefined>;
  find(id: string): Promise<AgentSession | undefined>;
  /** Returns whether there was such a session; raises `versions().grants`. */
  end(id: string): Promise<boolean>;
}

export interface AgentSignIn {
  /** Origin of the front end that receives the answer, such as `https://admin.example.com`. */
  readonly origin: string;
  /** RFC 7636 section 4.2, method S256. */
  readonly codeChallenge?: string;
  /** The rendering that the front end shows. Only its users may answer. */
  readonly renderingId?: number;
}

interface AgentSession {
  readonly userId: number;
  /** Origin of the front end. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface ListedSession extends Omit<Session, 'userId'> {
  /** An identifier for the list; it is not a credential. */
  readonly name: string;
  /** Client address at the sign-in, when it was known. */
  readonly address: string | null;
  readonly current: boolean;
}

/** One-time links to set a first password or to replace a forgotten one. They expire soon. */
export interface Links {
  /** `token` is not stored. Earlier links of the user become invalid. INVALID_ARGUMENT for a disabled user. */
  make(
    userId: number,
    purpose: LinkPurpose,
    by?: number,
  ): Promise<{ readonly token: string; readonly expiresAt: number }>;
  find(token: string): Promise<FoundLink>;
  /**
   * Sets the password, ends every session of the user, and consumes the link. Of several simultaneous calls, in all
   * processes, one gets `used-now`. INVALID_ARGUMENT for an invalid password, which does not consume the link.
   */
  use(token: string, password: string): Promise<UsedLink>;
}

export type LinkPurpose = 'invite' | 'reset';

/** `unknown`: never created, replaced by another link, or of a disabled user. */
export type DeadLink = 'used' | 'expired' | 'unknown';

export type FoundLink =
  | { readonly state: 'open'; readonly purpose: LinkPurpose; readonly user: User; readonly expiresAt: number }
  | { readonly state: DeadLink; readonly userId?: number };

export type UsedLink = { readonly state: 'used-now'; readonly user: User } | Exclude<FoundLink, { state: 'open' }>;

/**
 * One-time codes of an authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds), and recovery codes for a lost
 * app.
 */
export interface SecondFactors {
  /** The number of remaining recovery codes; undefined when the second factor is off. */
  of(userId: number): Promise<{ readonly since: number; readonly recoveryCodes: number } | undefined>;
  /**
   * Returns a secret (Base32, 160 random bits) and the URI that the app scans. They are not stored until `switchOn`.
   * `kept` is a previously proposed secret.
   */
  propose(
    email: string,
    issuer: string,
    existingSecret?: string,
  ): Promise<{ readonly secret: string; readonly uri: string }>;
  /**
   * Consumes the code and returns ten recovery codes, which are stored as keyed hashes. Undefined when the code does
   * not match the secret, or the user has an app already: it is never replaced.
   */
  switchOn(userId: number, secret: string, code: string): Promise<readonly string[] | undefined>;
  /** Replaces the remaining codes with ten new ones. */
  renewRecoveryCodes(userId: number): Promise<readonly string[]>;
  /**
   * Returns which kind of code matched, or undefined. An app code is also valid in the 30 seconds before and after its
   * own. Codes of both kinds work once across all processes.
   */
  check(userId: number, code: string): Promise<'app' | 'recovery' | undefined>;
  /** False when it was already off. */
  switchOff(userId: number, by?: number): Promise<boolean>;
}
