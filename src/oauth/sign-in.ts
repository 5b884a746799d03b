// Where a password is typed: one count of wrong ones for every page that takes one, and one form.
import type { Config } from '../core/config.ts';
import { isAppError } from '../core/errors.ts';
import { createLimiter } from '../core/limit.ts';
import { hashToken } from '../core/secret.ts';
import type { Identity, User } from '../store/store.ts';
import { type Html, html } from './html.ts';

export interface Credentials {
  /** As it was typed; cut to what an address can be. */
  readonly email: string;
  readonly password: string;
  /** Whoever guesses, as the front read it. */
  readonly address: string;
}

export type SignInAnswer =
  | { readonly state: 'ok'; readonly user: User }
  | { readonly state: 'failed' }
  | { readonly state: 'throttled'; readonly retryAfterSeconds: number };

export type CheckPassword = (credentials: Credentials) => Promise<SignInAnswer>;

const throttleSeconds = 900;

/** One for the process: guesses at one page count at the others. `isOpen`: whether passwords open anything. */
export function createPasswordCheck(
  identity: Pick<Identity, 'verifyPassword'>,
  config: Pick<Config, 'signInAttempts'>,
  isOpen = true,
): CheckPassword {
  const attempts = createLimiter('sign-in', { points: config.signInAttempts, seconds: throttleSeconds });
  return async (credentials) => {
    // Where people sign in elsewhere a password opens nothing, whichever page it was typed into.
    if (!isOpen) return { state: 'failed' };
    const address = `address ${credentials.address}`;
    const account = `account ${hashToken(credentials.email.toLowerCase())}`;
    // NIST SP 800-63B section 5.2.2: guesses are limited, for the account and for whoever guesses. The attempt is
    // counted before the password is looked at, so that attempts side by side cannot slip through.
    try {
      await attempts.consume(address);
      await attempts.consume(account);
    } catch (error) {
      if (!isAppError(error, 'RATE_LIMITED')) throw error;
      return { state: 'throttled', retryAfterSeconds: error.details.retryAfterSeconds };
    }
    const user = await identity.verifyPassword(credentials.email, credentials.password);
    if (!user) return { state: 'failed' };
    await attempts.giveBack(address);
    await attempts.reset(account);
    return { state: 'ok', user };
  };
}

export function readCredentials(form: URLSearchParams, address: string): Credentials {
  return { email: (form.get('email') ?? '').trim().slice(0, 254), password: form.get('password') ?? '', address };
}

export const wrongPassword = 'Wrong e-mail or password.';

/** `next` says what to do when the wait is over. */
export function throttledText(seconds: number, next: string): string {
  const minutes = Math.ceil(seconds / 60);
  return `Too many wrong passwords. Wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`}, then ${next}`;
}

export interface SignInForm {
  readonly action: string;
  readonly csrf: string;
  readonly email: string;
  /** What was wrong with the last attempt. */
  readonly problem?: string | undefined;
  /** Further fields that go with the form unseen. */
  readonly hidden?: Html;
}

export function signInForm({ action, csrf, email, problem, hidden }: SignInForm): Html {
  const described = problem ? html` aria-invalid="true" aria-describedby="problem"` : undefined;
  const [emailFocus, passwordFocus] = email ? [undefined, html` autofocus`] : [html` autofocus`, undefined];
  return html`<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">${hidden}
<div class="field"><label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" value="${email}"${described}${emailFocus}></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${described}${passwordFocus}>
<p class="note" id="problem" role="alert">${problem}</p></div>
<button class="primary" name="action" value="sign-in">Sign in</button>
</form>`;
}
