// The page on which a person signs in for an app.
import { type Html, html } from './html.ts';
import { createCard, type Page, type Place, signInLook } from './page.ts';
import { type SignInChoices, signInChoices } from './sign-in-choices.ts';
import { type CodeForm, codeForm, codeLead } from './sign-in-form.ts';

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
${cancelForm(page)}`,
  );
}

export interface CodePage extends CodeForm {
  readonly place: Place;
  readonly client: ShownClient;
}

export function codePage(page: CodePage): Page {
  return createCard(
    signInLook,
    page.problem ? 'Error: One more step' : 'One more step',
    page.place,
    html`<h1>One more step</h1>
<p class="lead">${codeLead}</p>
${codeForm(page)}
${cancelForm(page)}`,
  );
}

function cancelForm({ action, csrf, client }: Pick<CodePage, 'action' | 'csrf' | 'client'>): Html {
  return html`<form method="post" action="${action}" class="below">
<input type="hidden" name="csrf" value="${csrf}">
<button class="quiet" name="action" value="cancel">Cancel and go back to ${client.name}</button>
</form>`;
}
