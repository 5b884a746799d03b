// The two sign-in forms (password and code), for the pages of assistants and of the console.
import { type Html, html } from '../../http/html.ts';
import type { Credentials } from './sign-in.ts';

export function readCredentials(form: URLSearchParams): Pick<Credentials, 'email' | 'password'> {
  return { email: (form.get('email') ?? '').trim().slice(0, 254), password: form.get('password') ?? '' };
}

export function readCode(form: URLSearchParams): { readonly ticket: string; readonly code: string } {
  return { ticket: form.get('ticket') ?? '', code: (form.get('code') ?? '').slice(0, 64) };
}

/**
 * Returns the button of the sign-in form that was pressed. A password manager may submit the form without a button
 * value. Then the fields identify the form. Undefined if they do not.
 */
export function readAction(form: URLSearchParams): string | undefined {
  const button = form.get('action');
  if (button !== null) return button;
  if (form.has('password')) return 'sign-in';
  return form.has('ticket') && form.has('code') ? 'code' : undefined;
}

/** For a consent form that was submitted without one of its buttons. */
export const undecidedText = 'Press Allow or Cancel.';

export const wrongPasswordText = 'Wrong e-mail or password.';
export const wrongCodeText = 'This code is wrong or was already used. Wait for the next one.';

/** `next` is the text for the action after the wait. */
export function throttledText(seconds: number, next: string): string {
  const minutes = Math.ceil(seconds / 60);
  return `Too many wrong passwords or codes. Wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`}, then ${next}`;
}

interface FormContext {
  readonly action: string;
  readonly csrf: string;
  /** Error message for the previous attempt. */
  readonly problem?: string | undefined;
  /** Additional hidden fields. */
  readonly hidden?: Html;
}

export interface SignInForm extends FormContext {
  readonly email: string;
}

export interface CodeForm extends FormContext {
  readonly ticket: string;
}

const errorAttributes = (problem: string | undefined) =>
  problem ? html` aria-invalid="true" aria-describedby="problem"` : undefined;

export function signInForm({ action, csrf, email, problem, hidden }: SignInForm): Html {
  const described = errorAttributes(problem);
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

export function codeForm({ action, csrf, ticket, problem, hidden }: CodeForm): Html {
  return html`<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="ticket" value="${ticket}">${hidden}
<div class="field"><label for="code">Code</label>
<input id="code" name="code" type="text" class="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required maxlength="40"${errorAttributes(problem)} autofocus>
<p class="note" id="problem" role="alert">${problem}</p></div>
<button class="primary" name="action" value="code">Continue</button>
</form>
<p class="hint">Without your phone, enter one of your recovery codes.</p>`;
}

export const codeLead =
  'Your password is correct. Enter the six-digit code that your authenticator app shows for this account.';
