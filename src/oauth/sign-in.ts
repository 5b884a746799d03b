// Where somebody proves who he is: a password, and the code of an app where he has switched that on. One count of wrong ones
// for every page that takes them, in all processes.
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { isAppError } from '../core/errors.ts';
import { createSharedLimiter } from '../core/limit.ts';
import { decrypt, encrypt, randomToken } from '../core/secret.ts';
import type { User } from '../store/identity-types.ts';
import type { Store } from '../store/store.ts';
import { accountOf, createDevices } from './devices.ts';

export interface Guesser {
  /** Whoever guesses, as the front read it. */
  readonly address: string;
  /** What his browser kept of an earlier sign-in, if anything. */
  readonly device?: string | undefined;
}

export interface Credentials extends Guesser {
  /** As it was typed; cut to what an address can be. */
  readonly email: string;
  readonly password: string;
  /** What the second step is held to: the interaction, or the visit. */
  readonly binding: string;
}

export interface Code extends Guesser {
  /** Of the first step. */
  readonly ticket: string;
  readonly code: string;
  readonly binding: string;
}

export type SignInAnswer =
  | {
      readonly state: 'ok';
      readonly user: User;
      /** When he began to prove it. */
      readonly since: number;
      /** For his browser to keep. */
      readonly device: string;
      /** The second step, where there was one. */
      readonly by?: 'app' | 'recovery';
    }
  /** The password was right; `ticket` goes with the code. */
  | { readonly state: 'code'; readonly ticket: string; readonly user: User }
  | { readonly state: 'failed'; readonly userId?: number }
  /** The second step comes too late, or in another browser: from the beginning. */
  | { readonly state: 'stale' }
  | { readonly state: 'throttled'; readonly retryAfterSeconds: number };

export type ConfirmAnswer =
  | { readonly state: 'ok' }
  | { readonly state: 'failed'; readonly wrong: 'password' | 'code' }
  | Extract<SignInAnswer, { state: 'throttled' }>;

export interface SignIn {
  password(credentials: Credentials): Promise<SignInAnswer>;
  code(code: Code): Promise<SignInAnswer>;
  /**
   * Asks somebody who is signed in once more, before something that matters: for his password, and with a `code` for the one of
   * his app as well. Counted by itself.
   */
  confirm(user: Pick<User, 'id' | 'email'>, password: string, code?: string): Promise<ConfirmAnswer>;
  /** What the browser of somebody who proved who he is by a link is to keep; and wrong guesses of before count no more. */
  introduce(email: string): Promise<string>;
}

interface Ticket {
  readonly userId: number;
  readonly since: number;
  readonly binding: string;
}

const throttleSeconds = 900;
const ticketMs = 300_000;
const ticketKeys = 'sign-in-tickets';

export function createSignIn(options: {
  readonly store: Pick<Store, 'identity' | 'secondFactors' | 'windows' | 'keys'>;
  readonly config: Pick<Config, 'signInAttempts'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether passwords open anything; default true. */
  readonly isOpen?: boolean;
}): SignIn {
  const { store, config, clock, isOpen = true } = options;
  const { identity, secondFactors } = store;
  const parts = { windows: store.windows, clock };
  const window = { points: config.signInAttempts, seconds: throttleSeconds };
  const attempts = createSharedLimiter('sign-in', window, parts);
  const confirmations = createSharedLimiter('confirm', window, parts);
  const devices = createDevices(store);
  const keys = async () => (await store.keys.of(ticketKeys, () => randomToken())).map(({ value }) => value);

  /**
   * NIST SP 800-63B section 5.2.2: guesses are limited, for the account and for whoever guesses; a browser that knows the
   * account is limited by itself. The attempt is counted before anything is looked at, so that attempts side by side cannot
   * slip through. Answers what gives it back: one attempt, or all of them once somebody is signed in.
   */
  async function take(email: string, { address, device }: Guesser) {
    const known = await devices.recognise(device, email);
    const account = known === undefined ? `account ${accountOf(email)}` : `device ${known}`;
    const from = known === undefined ? `address ${address}` : undefined;
    if (from !== undefined) await attempts.consume(from);
    await attempts.consume(account);
    return async (all: boolean): Promise<void> => {
      await Promise.all([
        from === undefined ? undefined : attempts.giveBack(from),
        all ? attempts.reset(account) : attempts.giveBack(account),
      ]);
    };
  }

  async function begin(user: User, since: number, by?: 'app' | 'recovery'): Promise<SignInAnswer> {
    return { state: 'ok', user, since, device: await devices.make(user.email), ...(by && { by }) };
  }

  async function open(sealed: string): Promise<Ticket | undefined> {
    for (const key of await keys()) {
      try {
        return JSON.parse(decrypt(sealed, key)) as Ticket;
      } catch {
        // Not by this key, or by none.
      }
    }
    return undefined;
  }

  return {
    password: ({ email, password, binding, ...guesser }) =>
      throttled(async () => {
        // Where people sign in elsewhere a password opens nothing, whichever page it was typed into.
        if (!isOpen) return { state: 'failed' };
        const since = clock.now();
        const giveBack = await take(email, guesser);
        const user = await identity.verifyPassword(email, password);
        if (!user) return { state: 'failed' };
        // The count goes on to the second step: who knows the password has no more guesses there than others have here.
        const second = (await secondFactors.of(user.id)) !== undefined;
        await giveBack(!second);
        if (!second) return begin(user, since);
        const ticket: Ticket = { userId: user.id, since, binding };
        return { state: 'code', user, ticket: encrypt(JSON.stringify(ticket), (await keys())[0]!) };
      }),
    code: ({ ticket, code, binding, ...guesser }) =>
      throttled(async () => {
        const found = isOpen ? await open(ticket) : undefined;
        const user = found && (await identity.findUser(found.userId));
        // The second step is of the browser and the sign-in of the first, soon after it, and nothing has ended it since.
        const stale =
          !user ||
          user.disabled ||
          found.binding !== binding ||
          found.since + ticketMs <= clock.now() ||
          (user.sessionsFrom ?? 0) > found.since;
        if (stale) return { state: 'stale' };
        const giveBack = await take(user.email, guesser);
        const by = await secondFactors.check(user.id, code);
        if (!by) return { state: 'failed', userId: user.id };
        await giveBack(true);
        return begin(user, found.since, by);
      }),
    confirm: ({ id, email }, password, code) =>
      throttled(async () => {
        await confirmations.consume(`${id}`);
        const user = await identity.verifyPassword(email, password);
        if (user?.id !== id) return { state: 'failed', wrong: 'password' };
        // After the password, so that a code is not used up by who does not know it.
        if (code !== undefined && !(await secondFactors.check(id, code))) return { state: 'failed', wrong: 'code' };
        await confirmations.reset(`${id}`);
        return { state: 'ok' };
      }),
    async introduce(email) {
      await attempts.reset(`account ${accountOf(email)}`);
      return devices.make(email);
    },
  };
}

async function throttled<T>(run: () => Promise<T>) {
  try {
    return await run();
  } catch (error) {
    if (!isAppError(error, 'RATE_LIMITED')) throw error;
    return { state: 'throttled', retryAfterSeconds: error.details.retryAfterSeconds } as const;
  }
}
