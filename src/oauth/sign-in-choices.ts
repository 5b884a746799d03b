// What a sign-in page offers: a button for each way in that is open, and the form of passwords where they are.
import { type Html, html } from './html.ts';
import { createCard, type Look, messagePage, type Page, signInLook } from './page.ts';
import { type SignInForm, signInForm } from './sign-in-form.ts';
import type { SignInWays } from './sign-in-ways.ts';

export interface SignInChoices extends SignInForm {
  readonly ways: Pick<SignInWays, 'sso' | 'passwords'>;
  /** The sign-in page of the host application, which leads back. */
  readonly hostUrl?: string | undefined;
  /** Whom the host application says this is. */
  readonly known?: { readonly email: string } | undefined;
}

export function signInChoices(page: SignInChoices): Html {
  const { ways, hostUrl, known, problem } = page;
  // The form of passwords says itself what was wrong with one.
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

/** What went wrong outside of our pages, with the way back to begin again. */
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
