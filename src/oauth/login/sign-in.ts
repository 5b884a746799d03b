// Verifies a password, plus a code of an authenticator app if the user has one. Users without an app set it up here if
// the operator requires one. All pages and processes share one count of wrong attempts.
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { isAppError } from '../../core/errors.ts';
import { createAddressLimiter } from '../../core/limit/addresses.ts';
import { createSharedLimiter, sharedLimiters } from '../../core/limit.ts';
import { decrypt, encrypt, randomToken } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import type { User } from '../../store/users/types.ts';
import { accountKeyOf, createTrustedBrowsers } from './trusted-browsers.ts';

interface AttemptContext {
  /** Client address, as the HTTP handler read it. */
  readonly address: string;
  /** Cookie from an earlier sign-in in this browser, if any. */
  readonly device?: string | undefined;
}

export interface Credentials extends AttemptContext {
  /** As typed, cut to the maximum length of an e-mail address. */
  readonly email: string;
  readonly password: string;
  /** The interaction or console visit that the second step is bound to. */
  readonly binding: string;
}

interface Code extends AttemptContext {
  /** Ticket from the first step. */
  readonly ticket: string;
  readonly code: string;
  readonly binding: string;
}

interface SetUp {
  /** Ticket from the first step. */
  readonly ticket: string;
  /** Secret that the page proposed, in Base32. */
  readonly secret: string;
  /** Code of the app for that secret. */
  readonly code: string;
  readonly binding: string;
}

export type SignInAnswer =
  | {
      readonly state: 'ok';
      readonly user: User;
      /** Start of the sign-in, in milliseconds since the epoch. */
      readonly since: number;
      /** Value for the cookie of this browser. */
      readonly device: string;
      /** Method of the second step, if there was one. */
      readonly by?: 'app' | 'recovery';
      /** Recovery codes of the app that was set up, to be shown once. */
      readonly recoveryCodes?: readonly string[];
    }
  /** The password was correct. The code must be sent with `ticket`. */
  | { readonly state: 'code'; readonly ticket: string; readonly user: User }
  /** The password was correct, and the user must set up an app first, by `setUp` with `ticket`. */
  | { readonly state: 'set-up'; readonly ticket: string; readonly user: User }
  /** With the user if the password was correct. */
  | { readonly state: 'failed'; readonly user?: User }
  /** The second step is too late, or comes from another browser. The user must start again. */
  | { readonly state: 'stale' }
  | { readonly state: 'throttled'; readonly retryAfterSeconds: number };

export type ConfirmAnswer =
  | { readonly state: 'ok' }
  | { readonly state: 'failed'; readonly wrong: 'password' | 'code' }
  | Extract<SignInAnswer, { state: 'throttled' }>;

export interface SignIn {
  password(credentials: Credentials): Promise<SignInAnswer>;
  code(code: Code): Promise<SignInAnswer>;
  /** Switches an authenticator app on and ends the sign-in that began with the ticket. */
  setUp(app: SetUp): Promise<SignInAnswer>;
  /**
   * Asks a signed-in user for their password again before a sensitive operation. With `code`, also checks the code of
   * their authenticator app. These attempts have their own count.
   */
  confirm(user: Pick<User, 'id' | 'email'>, password: string, code?: string): Promise<ConfirmAnswer>;
  /**
   * Returns the device cookie for a user who was verified in another way, such as a one-time link. Also resets the
   * account's count of wrong attempts.
   */
  trustBrowser(email: string): Promise<string>;
}

interface Ticket {
  /** The step that it is for. A ticket for a code must not switch another app on. */
  readonly step: 'code' | 'set-up';
  readonly userId: number;
  readonly since: number;
  readonly binding: string;
}

const throttleSeconds = 900;
const ticketMs = 300_000;
const ticketKeys = 'sign-in-tickets';

export function createSignIn(options: {
  readonly store: Pick<Store, 'identity' | 'secondFactors' | 'windows' | 'keys'>;
  readonly config: Pick<Config, 'signInAttempts' | 'secondFactor'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether users can sign in with a password; default true. */
  readonly allowsPasswords?: boolean;
}): SignIn {
  const { store, config, clock, allowsPasswords = true } = options;
  const { identity, secondFactors } = store;
  const parts = { windows: store.windows, clock };
  const window = { points: config.signInAttempts, seconds: throttleSeconds };
  const attempts = createSharedLimiter('sign-in', window, parts);
  const addresses = createAddressLimiter(sharedLimiters(parts), 'sign-in address', window);
  const confirmations = createSharedLimiter('confirm', window, parts);
  const trustedBrowsers = createTrustedBrowsers(store);
  const keys = async () => (await store.keys.of(ticketKeys, () => randomToken())).map(({ value }) => value);

  /**
   * NIST SP 800-63B section 5.2.2: attempts are limited per account and per client address. A browser that knows the
   * account has its own limit. The attempt is counted before any check, because parallel attempts must not bypass the
   * limit. Returns a function that gives back one attempt, or all of them after a successful sign-in.
   */
  async function countAttempt(email: string, { address, device }: AttemptContext) {
    const browserId = await trustedBrowsers.verify(device, email);
    const account = browserId === undefined ? `account ${accountKeyOf(email)}` : `device ${browserId}`;
    if (browserId === undefined) await addresses.consume(address);
    await attempts.consume(account);
    return async (all: boolean): Promise<void> => {
      await Promise.all([
        browserId === undefined ? addresses.giveBack(address) : undefined,
        all ? attempts.reset(account) : attempts.giveBack(account),
      ]);
    };
  }

  async function succeed(
    user: User,
    since: number,
    more: Pick<Extract<SignInAnswer, { state: 'ok' }>, 'by' | 'recoveryCodes'> = {},
  ): Promise<SignInAnswer> {
    return { state: 'ok', user, since, device: await trustedBrowsers.issue(user.email), ...more };
  }

  /**
   * The second step needs the browser and sign-in of the first, within the time limit, and no sign-out in between.
   * Undefined otherwise.
   */
  async function resume(sealed: string, step: Ticket['step'], binding: string) {
    const ticket = allowsPasswords ? await open(sealed) : undefined;
    const user = ticket && (await identity.findUser(ticket.userId));
    const isStale =
      !user ||
      user.disabled ||
      ticket.step !== step ||
      ticket.binding !== binding ||
      ticket.since + ticketMs <= clock.now() ||
      (user.sessionsFrom ?? 0) > ticket.since;
    return isStale ? undefined : { user, since: ticket.since };
  }

  async function open(sealed: string): Promise<Ticket | undefined> {
    for (const key of await keys()) {
      try {
        return JSON.parse(decrypt(sealed, key)) as Ticket;
      } catch {
        // Wrong key, or not a ticket of ours.
      }
    }
    return undefined;
  }

  return {
    password: ({ email, password, binding, ...attempt }) =>
      throttled(async () => {
        // With passwords disabled, a password is rejected on every page.
        if (!allowsPasswords) return { state: 'failed' };
        const since = clock.now();
        const giveBack = await countAttempt(email, attempt);
        const user = await identity.verifyPassword(email, password);
        if (!user) return { state: 'failed' };
        // The count continues into the second step: knowing the password gives no additional guesses there.
        const hasSecondFactor = (await secondFactors.of(user.id)) !== undefined;
        await giveBack(!hasSecondFactor);
        if (!hasSecondFactor && config.secondFactor === 'optional') return succeed(user, since);
        const step = hasSecondFactor ? 'code' : 'set-up';
        const ticket: Ticket = { step, userId: user.id, since, binding };
        return { state: step, user, ticket: encrypt(JSON.stringify(ticket), (await keys())[0]!) };
      }),
    code: ({ ticket, code, binding, ...attempt }) =>
      throttled(async () => {
        const opened = await resume(ticket, 'code', binding);
        if (!opened) return { state: 'stale' };
        const { user, since } = opened;
        const giveBack = await countAttempt(user.email, attempt);
        const by = await secondFactors.check(user.id, code);
        if (!by) return { state: 'failed', user };
        await giveBack(true);
        return succeed(user, since, { by });
      }),
    async setUp({ ticket, secret, code, binding }) {
      const opened = await resume(ticket, 'set-up', binding);
      if (!opened || !isProposedSecret(secret)) return { state: 'stale' };
      const { user, since } = opened;
      const recoveryCodes = await secondFactors.switchOn(user.id, secret, code);
      if (!recoveryCodes) return { state: 'failed', user };
      return succeed(user, since, { recoveryCodes });
    },
    confirm: ({ id, email }, password, code) =>
      throttled(async () => {
        await confirmations.consume(`${id}`);
        const user = await identity.verifyPassword(email, password);
        if (user?.id !== id) return { state: 'failed', wrong: 'password' };
        // After the password check, because checking a code uses it up.
        if (code !== undefined && !(await secondFactors.check(id, code))) return { state: 'failed', wrong: 'code' };
        await confirmations.reset(`${id}`);
        return { state: 'ok' };
      }),
    async trustBrowser(email) {
      await attempts.reset(`account ${accountKeyOf(email)}`);
      return trustedBrowsers.issue(email);
    },
  };
}

/** Whether the text has the form of a secret that `propose` returned. */
export const isProposedSecret = (secret: string): boolean => /^[A-Z2-7]{32}$/.test(secret);

async function throttled<T>(run: () => Promise<T>) {
  try {
    return await run();
  } catch (error) {
    if (!isAppError(error, 'RATE_LIMITED')) throw error;
    return { state: 'throttled', retryAfterSeconds: error.details.retryAfterSeconds } as const;
  }
}
