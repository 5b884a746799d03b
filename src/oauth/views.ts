// The pages that a person sees. They work without scripts, and every text that a client wrote is escaped and marked as
// the client's own claim unless we could verify it.
import type { Destination } from './clients.ts';
import { type Html, html } from './html.ts';
import { createCard, type Page, type Place, signInLook } from './page.ts';
import { type ResourceScope, scopeTexts } from './scopes.ts';
import { type SignInForm, signInForm } from './sign-in.ts';

export interface ShownClient {
  readonly name: string;
  /** The host that serves the client's metadata document, which proves that it speaks for that host. */
  readonly verifiedHost?: string;
}

const tick = html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg>`;

export interface SignInPage extends SignInForm {
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
${signInForm(page)}
<form method="post" action="${page.action}" class="below">
<input type="hidden" name="csrf" value="${page.csrf}">
<button class="quiet" name="action" value="cancel">Cancel and go back to ${page.client.name}</button>
</form>`,
  );
}

export interface ConsentPage {
  readonly place: Place;
  readonly client: ShownClient;
  readonly destination: Destination;
  readonly user: { readonly name: string; readonly email: string; readonly team: string; readonly role: string };
  readonly scopes: readonly ResourceScope[];
  readonly action: string;
  readonly csrf: string;
}

export function consentPage(page: ConsentPage): Page {
  const { client, user, destination } = page;
  const onDevice = destination.kind !== 'web';
  const [always, ...optional] = page.scopes;
  return createCard(
    signInLook,
    'Allow access',
    page.place,
    html`<h1>Allow ${client.name} to connect?</h1>
<dl class="facts">
<div><dt>Who asks</dt><dd>${describeClient(client, onDevice)}</dd></div>
<div><dt>Returns to</dt><dd>${describeDestination(destination)}</dd></div>
<div><dt>You are</dt><dd>${user.name || user.email}${user.name && html`<small>${user.email}</small>`}<small>${user.team} · ${user.role}</small></dd></div>
</dl>
${onDevice && html`<p class="warning">This app runs on a device. Continue only if you started this from ${client.name} on this device yourself, just now.</p>`}
<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
<h2 id="may">If you allow it, it can:</h2>
<ul class="scopes" aria-labelledby="may">
${always && html`<li class="scope">${tick}<div><b>${scopeTexts[always].title}</b><small>${scopeTexts[always].detail}</small></div></li>`}
${optional.map((scope) => html`<li class="scope"><input type="checkbox" id="${scope}" name="scope" value="${scope}" checked aria-describedby="${scope}-detail"><div><label for="${scope}">${scopeTexts[scope].title}</label><small id="${scope}-detail">${scopeTexts[scope].detail}</small></div></li>`)}
</ul>
<div class="pair"><button class="plain" name="action" value="deny">Cancel</button><button class="primary" name="action" value="allow">Allow</button></div>
</form>
<form method="post" action="${page.action}" class="below">
<input type="hidden" name="csrf" value="${page.csrf}">
<button class="quiet" name="action" value="switch">Not you? Switch account</button>
</form>`,
    html`It never gets more rights than you have. It stays connected until you or an administrator disconnect it.`,
  );
}

/** A host vouches for the app on its own site only: on a device any program can use the name of another's document. */
export function describeClient({ name, verifiedHost }: ShownClient, onDevice: boolean): Html {
  if (verifiedHost && !onDevice) return html`${name} <span class="badge">verified</span><small>${verifiedHost}</small>`;
  const claim = verifiedHost ? html`It says it is the app of ${verifiedHost}.` : html`It gave itself this name.`;
  return html`${name} <span class="badge unsure">unverified</span><small>${claim}</small>`;
}

function describeDestination({ kind, name }: Destination): Html {
  if (kind === 'web') return html`${name}`;
  if (kind === 'device') return html`This device<small>${name}</small>`;
  return html`An app on this device<small>that opens ${name}: links</small>`;
}
