// The options on a sign-in page: a button for each enabled method, and the password form if passwords are enabled.
import { type Html, html } from '../../http/html.ts';
import { createCard, messagePage, type Page, type PageTheme, signInTheme } from '../../http/page.ts';
import { type LoginMethods, ssoAction } from './login-methods.ts';
import { type SignInForm, signInForm } from './sign-in-form.ts';

export interface SignInChoices extends SignInForm {
  readonly loginMethods: Pick<LoginMethods, 'providers' | 'passwords' | 'forgotUrl'>;
  /** Sign-in page of the host application; it redirects back. */
  readonly hostUrl?: string | undefined;
  /** The user that the host application reports. */
  readonly hostUser?: { readonly email: string } | undefined;
}

export function signInChoices(page: SignInChoices): Html {
  const { loginMethods, hostUrl, hostUser, problem } = page;
  // The password form shows its own error message.
  const alert = !loginMethods.passwords && problem && html`<p class="alert" role="alert">${problem}</p>\n`;
  const others = [
    ...loginMethods.providers.map((sso) => ssoForm(page, sso)),
    hostUser && buttonForm(page, 'host', `Continue as ${hostUser.email}`),
    hostUrl !== undefined &&
      html`<p class="way"><a class="button primary" href="${hostUrl}">${URL.canParse(hostUrl) ? `Sign in at ${new URL(hostUrl).host}` : 'Sign in'}</a></p>`,
  ].filter((part) => part instanceof Object);
  if (!loginMethods.passwords) return others.length > 0 ? html`${alert}${others}` : html`${alert}${noMethodMessage}`;
  return html`${others}${others.length > 0 && html`<p class="or">or with your password</p>\n`}${signInForm(page)}${
    loginMethods.forgotUrl !== undefined &&
    html`
<p class="below"><a href="${loginMethods.forgotUrl}">Forgot your password?</a></p>`
  }`;
}

const noMethodMessage = html`<p class="alert" role="alert">You are not signed in to the application that this server belongs to. Sign in there, then reload this page.</p>`;

function ssoForm(page: SignInForm, sso: LoginMethods['providers'][number]): Html {
  const { name } = sso;
  return html`<form method="post" action="${page.action}" class="way">
<input type="hidden" name="csrf" value="${page.csrf}">${page.hidden}
<button class="primary" name="action" value="${ssoAction(sso, false)}">Sign in with ${name}</button>
<button class="quiet" name="action" value="${ssoAction(sso, true)}">Use another ${name} account</button>
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
export function tryAgainPage(text: string, back: string, theme: PageTheme = signInTheme): Page {
  return createCard(
    theme,
    'You are not signed in',
    undefined,
    html`<h1>You are not signed in</h1>
<p class="lead" role="alert">${text}</p>
<p class="way"><a class="button primary" href="${back}">Back to the sign-in</a></p>`,
  );
}

export const invalidSignInPage = (theme: PageTheme = signInTheme): Page =>
  messagePage(
    {
      title: 'This sign-in cannot be completed',
      text: 'It was started in another browser, was already completed, or has expired. Go back to where you started and sign in again.',
    },
    theme,
  );
