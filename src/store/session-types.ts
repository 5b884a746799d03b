// How people are signed in, and with what: sessions, one-time links, second factors.
import type { User } from './identity-types.ts';

/**
 * Who is signed in to the console. The sessions of a user end, in every process, when he is disabled or his password is
 * changed.
 */
export interface Sessions {
  /**
   * Answers the id, which is kept nowhere: 256 random bits, new with every sign-in. `since` is when he began to prove who he
   * is: a password that was changed meanwhile ends the session too.
   */
  begin(
    session: Pick<Session, 'userId' | 'browser'> & {
      readonly issuer?: string | null;
      readonly address?: string;
      readonly since?: number;
    },
  ): Promise<string>;
  /** And keeps it from ending for want of use. Undefined when it has ended, or never was. */
  find(id: string): Promise<Session | undefined>;
  /** Of a user, the one that was used last first; `current` is an id. */
  list(userId: number, current?: string): Promise<readonly ListedSession[]>;
  end(id: string): Promise<void>;
  /** By the name of the list. False when it is not his, or has ended. `by` as of `endAll`. */
  endListed(userId: number, name: string, by?: number): Promise<boolean>;
  /**
   * Those of the console, and of the browsers in which assistants were connected; with `grants` the assistants are
   * disconnected too. `by` is who did it, where it was not the command.
   */
  endAll(userId: number, options: { readonly grants: boolean; readonly by?: number }): Promise<void>;
}

export interface Session {
  readonly userId: number;
  /** What the browser says that it is, at most 200 characters. */
  readonly browser: string;
  /** Through whom it was made: the OpenID provider, or the host application; null: by a password. */
  readonly issuer: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Before this use; up to a minute old. */
  readonly seenAt: number;
}

/**
 * Who is signed in to a front end of the agent's HTTP API. A sign-in is begun by the front end, answered by a person who is
 * signed in to the console, and redeemed by the front end: each once, in whichever process.
 */
export interface AgentSessions {
  /** Answers the state: 256 random bits. */
  beginSignIn(asked: AgentSignIn): Promise<string>;
  /** Undefined when it has expired, was answered, or never was. */
  findSignIn(state: string): Promise<AgentSignIn | undefined>;
  /** Answers the code, 256 random bits that count for SERVICE_AUTHORIZATION_CODE_SECONDS; undefined as above. */
  allowSignIn(state: string, userId: number): Promise<string | undefined>;
  /** The person said no; false as above. */
  dropSignIn(state: string): Promise<boolean>;
  /** What a code stands for, used or not. */
  findAnswer(state: string, code: string): Promise<(AgentSignIn & { readonly userId: number }) | undefined>;
  /** Begins the session, once; a second call with the same code ends it. */
  redeem(state: string, code: string): Promise<{ readonly id: string; readonly expiresAt: number } | undefined>;
  find(id: string): Promise<AgentSession | undefined>;
  /** Whether there was one; raises `versions().grants`. */
  end(id: string): Promise<boolean>;
}

export interface AgentSignIn {
  /** Of the front end that the answer goes to, such as `https://admin.example.com`. */
  readonly origin: string;
  /** RFC 7636 section 4.2, method S256. */
  readonly codeChallenge?: string;
  /** The view that the front end shows: another person's answer is no answer. */
  readonly renderingId?: number;
}

export interface AgentSession {
  readonly userId: number;
  /** Of the front end. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface ListedSession extends Omit<Session, 'userId'> {
  /** Opens nothing. */
  readonly name: string;
  /** Of the client at the sign-in, where it was known. */
  readonly address: string | null;
  readonly current: boolean;
}

/** What lets somebody choose a password who has none, or forgot it: once, and not for long. */
export interface Links {
  /** `token` is kept nowhere. The links that the user had before open nothing any more. INVALID_ARGUMENT for a disabled user. */
  make(
    userId: number,
    purpose: LinkPurpose,
    by?: number,
  ): Promise<{ readonly token: string; readonly expiresAt: number }>;
  find(token: string): Promise<FoundLink>;
  /**
   * Sets the password, ends every session of the user, and uses the link up: of several calls at once, in all processes, one is
   * answered `used-now`. INVALID_ARGUMENT for a password that cannot be one, which uses nothing up.
   */
  use(token: string, password: string): Promise<UsedLink>;
}

export type LinkPurpose = 'invite' | 'reset';

/** `unknown`: never made, replaced by another, or of a user who is disabled. */
export type DeadLink = 'used' | 'expired' | 'unknown';

export type FoundLink =
  | { readonly state: 'open'; readonly purpose: LinkPurpose; readonly user: User; readonly expiresAt: number }
  | { readonly state: DeadLink; readonly userId?: number };

export type UsedLink = { readonly state: 'used-now'; readonly user: User } | Exclude<FoundLink, { state: 'open' }>;

/** One-time codes of an app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds), and the recovery codes for when it is lost. */
export interface SecondFactors {
  /** How many recovery codes are left; undefined when it is off. */
  of(userId: number): Promise<{ readonly since: number; readonly recoveryCodes: number } | undefined>;
  /**
   * Base32, 160 random bits, and the address that the app reads of it; kept nowhere until it is switched on. `kept` is a
   * secret that was proposed before.
   */
  propose(email: string, issuer: string, kept?: string): Promise<{ readonly secret: string; readonly uri: string }>;
  /**
   * Answers ten recovery codes, which are kept as keyed hashes; undefined when the code is not one of the secret. The code is
   * used up.
   */
  switchOn(userId: number, secret: string, code: string): Promise<readonly string[] | undefined>;
  /** Ten new ones in place of those that are left. */
  renewRecoveryCodes(userId: number): Promise<readonly string[]>;
  /**
   * How the code was right: a code of the app counts in the 30 seconds before and after its own as well, and once in all
   * processes; so does a recovery code. Undefined when it was not.
   */
  check(userId: number, code: string): Promise<'app' | 'recovery' | undefined>;
  /** False when it was off. */
  switchOff(userId: number, by?: number): Promise<boolean>;
}
