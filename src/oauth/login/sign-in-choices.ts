// The options on a sign-in page: a button for each enabled method, and the password form if passwords are enabled.
import { type Html, html } from '../../http/html.ts';
import { createCard, type Look, messagePage, type Page, signInLook } from '../../http/page.ts';
import type { SignInWays } from './login-methods.ts';
import { type SignInForm, signInForm } from './sign-in-form.ts';

export interface SignInChoices extends SignInForm {
  readonly ways: Pick<SignInWays, 'sso' | 'passwords'>;
  /** Sign-in page of the host application; it redirects back. */
  readonly hostUrl?: string | undefined;
  /** The user that the host application reports. */
  readonly known?: { readonly email: string } | undefined;
}

export function signInChoices(page: SignInChoices): Html {
  const { ways, hostUrl, known, problem } = page;
  // The password form shows its own error message.
  const alert = !ways.passwords && problem && html`<p class="alert" role="alert">${problem}</p>\n`;
  const others = [
    ways.sso && ssoForm(page, ways.sso.name),
    known && buttonForm(page, 'host', `Continue as ${known.email}`),
    hostUrl !== undefined &&
      html`<p class="way"><a class="button primary" href="${hostUrl}">${URL.canParse(hostUrl) ? `Sign in at ${new URL(hostUrl).host}` : 'Sign in'}</a></p>`,
  ].filter((one) => one instanceof Object);
  if (!ways.passwords) return others.length > 0 ? html`${alert}${others}` : html`${alert}${nothingOpen}`;
  return html`${others}${others.length > 0 && html`<p class="or">or with your password</p>\n`}${signInForm(page)}`;
}

const nothingOpen = html`<p class="alert" role="alert">You are not signed in to the application that this belongs to. Sign in there, then load this page again.</p>`;

function ssoForm(page: SignInForm, name: string): Html {
  return html`<form method="post" action="${page.action}" class="way">
<input type="hidden" name="csrf" value="${page.csrf}">${page.hidden}
<button class="primary" name="action" value="sso">Sign in with ${name}</button>
<button class="quiet" name="action" value="sso-again">Use another account of ${name}</button>
</form>
`;
}

function buttonForm(page: SignInForm, action: string, label: string): Html {
  return html`<form method="post" action="${page.action}" class="way">
<input type="hidden" name="csrf" value="${page.csrf}">${page.hidden}
<button class="primary" name="action" value="${action}">${label}</button>
</form>
`;
}

/** Page for an error outside of our pages, with a link to start again. */
export function tryAgainPage(text: string, back: string, look: Look = signInLook): Page {
  return createCard(
    look,
    'You are not signed in',
    undefined,
    html`<h1>You are not signed in</h1>
<p class="lead" role="alert">${text}</p>
<p class="way"><a class="button primary" href="${back}">Back to the sign-in</a></p>`,
  );
}

export const lostPage = (look: Look = signInLook): Page =>
  messagePage(
    {
      title: 'This sign-in cannot be finished',
      text: 'It was not begun in this browser, was finished already, or took too long. Nothing was done. Go back to where you started and sign in again.',
    },
    look,
  );
