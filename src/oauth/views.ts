// The page on which a person signs in for an app.
import { html } from './html.ts';
import { createCard, type Page, type Place, signInLook } from './page.ts';
import { type SignInChoices, signInChoices } from './sign-in-choices.ts';

export interface ShownClient {
  readonly name: string;
  /** The host that serves the client's metadata document, which proves that it speaks for that host. */
  readonly verifiedHost?: string;
}

export interface SignInPage extends SignInChoices {
  readonly place: Place;
  readonly client: ShownClient;
}

export function signInPage(page: SignInPage): Page {
  return createCard(
    signInLook,
    page.problem ? 'Error: Sign in' : 'Sign in',
    page.place,
    html`<h1>Sign in</h1>
<p class="lead"><b>${page.client.name}</b> ${page.client.verifiedHost && html`(${page.client.verifiedHost}) `}asks to connect. You will see what it asks for before anything is shared.</p>
${signInChoices(page)}
<form method="post" action="${page.action}" class="below">
<input type="hidden" name="csrf" value="${page.csrf}">
<button class="quiet" name="action" value="cancel">Cancel and go back to ${page.client.name}</button>
</form>`,
  );
}
