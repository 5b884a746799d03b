// The page where a user signs in for an app.

import { type Html, html } from '../../http/html.ts';
import { createCard, type EnvironmentInfo, type Page, signInTheme } from '../../http/page.ts';
import { clientTitle, type DisplayedClient } from '../clients/display-name.ts';
import type { Destination } from '../clients/normalize.ts';
import { recoveryCodes, type SetUpForm, setUpForm, setUpLead } from './set-up-form.ts';
import { type SignInChoices, signInChoices } from './sign-in-choices.ts';
import { type CodeForm, codeForm, codeLead } from './sign-in-form.ts';

interface SignInPage extends SignInChoices {
  readonly environment: EnvironmentInfo;
  readonly client: DisplayedClient;
  /** Destination of the authorization response. */
  readonly destination: Destination;
}

export function signInPage(page: SignInPage): Page {
  return createCard(
    signInTheme,
    page.problem ? 'Error: Sign in' : 'Sign in',
    page.environment,
    html`<h1>Sign in</h1>
<p class="lead"><b>${capitalize(clientTitle(page.client, page.destination))}</b> asks to connect. It calls itself “${page.client.name}”. You see what it requests before you share any data.</p>
${signInChoices(page)}
${cancelForm(page)}`,
  );
}

interface CodePage extends CodeForm {
  readonly environment: EnvironmentInfo;
  readonly client: DisplayedClient;
  /** Destination of the authorization response. */
  readonly destination: Destination;
}

export function codePage(page: CodePage): Page {
  return createCard(
    signInTheme,
    page.problem ? 'Error: One more step' : 'One more step',
    page.environment,
    html`<h1>One more step</h1>
<p class="lead">${codeLead}</p>
${codeForm(page)}
${cancelForm(page)}`,
  );
}

export function setUpPage(page: CodePage & SetUpForm): Page {
  return createCard(
    signInTheme,
    page.problem ? 'Error: Set up an authenticator app' : 'Set up an authenticator app',
    page.environment,
    html`<h1>Set up an authenticator app</h1>
<p class="lead">${setUpLead}</p>
${setUpForm(page)}
${cancelForm(page)}`,
  );
}

/** Shows the recovery codes of a new app before the sign-in goes on at `next`. */
export function newCodesPage(environment: EnvironmentInfo, codes: readonly string[], next: string): Page {
  return createCard(signInTheme, 'Your recovery codes', environment, recoveryCodes(codes, next, 'Continue'));
}

/** The title of an app on a device starts with "an", not with a host name. */
const capitalize = (title: string): string => title.replace(/^an /, 'An ');

function cancelForm({
  action,
  csrf,
  client,
  destination,
}: Pick<CodePage, 'action' | 'csrf' | 'client' | 'destination'>): Html {
  return html`<form method="post" action="${action}" class="below">
<input type="hidden" name="csrf" value="${csrf}">
<button class="quiet" name="action" value="cancel">Cancel and go back to ${clientTitle(client, destination).replace(/^an /, 'the ')}</button>
</form>`;
}
