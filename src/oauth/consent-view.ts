// The page on which a person allows an app to connect: who asks, where the answer goes, what it may do, and how that can be
// limited. It works without scripts: what depends on a choice is shown by the style sheet, and names are looked for by the
// server. Every text that a client wrote is marked as the client's own claim unless we could verify it.
import { type Choice, describeChoice, lasting } from './choice.ts';
import type { Destination } from './clients.ts';
import { type Html, html } from './html.ts';
import { createCard, type Page, type Place, signInLook } from './page.ts';
import { type ResourceScope, scopeTexts } from './scopes.ts';
import type { ShownClient } from './views.ts';

export interface ConsentPage {
  readonly place: Place;
  readonly client: ShownClient;
  readonly destination: Destination;
  readonly user: { readonly name: string; readonly email: string; readonly team: string; readonly role: string };
  readonly scopes: readonly ResourceScope[];
  /** Those of them that the person allowed this app before. */
  readonly before: readonly ResourceScope[];
  /** Whether the person decided about this app before. */
  readonly isKnown: boolean;
  /** The collections that the person may see. */
  readonly offered: readonly string[];
  readonly choice: Choice;
  /** Whether the choice is of the form itself, which is shown once more. */
  readonly isSentAgain: boolean;
  /** What is looked for among the collections. */
  readonly find: string;
  readonly problem?: string | undefined;
  readonly action: string;
  readonly csrf: string;
}

/** From so many on, names can be looked for. */
const MANY = 16;

const tick = html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg>`;

export function consentPage(page: ConsentPage): Page {
  const { client, user, destination, choice } = page;
  const onDevice = destination.kind !== 'web';
  const isMore = page.before.length > 0 && page.before.length < page.scopes.length;
  // What is filled in of before; of the form that is sent again, it says what it shows.
  const told = page.isSentAgain ? '' : describeChoice(choice);
  return createCard(
    signInLook,
    page.problem ? 'Error: Allow access' : 'Allow access',
    page.place,
    html`<h1>${isMore ? html`Allow ${client.name} more?` : html`Allow ${client.name} to connect?`}</h1>
<dl class="facts">
<div><dt>Who asks</dt><dd>${describeClient(client, onDevice)}</dd></div>
<div><dt>Returns to</dt><dd>${describeDestination(destination)}</dd></div>
<div><dt>You are</dt><dd>${user.name || user.email}${user.name && html`<small>${user.email}</small>`}<small>${user.team} · ${user.role}</small></dd></div>
</dl>
${onDevice && html`<p class="warning">This app runs on a device. Continue only if you started this from ${client.name} on this device yourself, just now.</p>`}
${page.problem && html`<p class="alert above" role="alert">${page.problem}</p>`}
<form method="post" action="${page.action}" class="consent">
<input type="hidden" name="csrf" value="${page.csrf}">
<h2 id="may">If you allow it, it can:</h2>
<ul class="scopes" aria-labelledby="may">
${page.scopes.map((scope, at) => scopeRow(page, scope, at === 0))}
</ul>
<details class="limits"${(told || page.isSentAgain) && html` open`}>
<summary><b>Limit it</b><small>${told ? `As you chose before: ${told}` : 'Only reading, only some collections, only for a while'}</small></summary>
${page.scopes.length > 1 && readOnlyRow(choice)}
${page.offered.length > 0 && collectionRows(page)}
<div class="lasts"><label for="lasts">Connected</label>
<select id="lasts" name="lasts">${Object.entries(lasting).map(([name, { text }]) => html`<option value="${name}"${name === choice.lasts && html` selected`}>${text}</option>`)}</select></div>
</details>
<div class="pair"><button class="plain" name="action" value="deny">Cancel</button><button class="primary" name="action" value="allow">Allow</button></div>
</form>
<form method="post" action="${page.action}" class="below">
<input type="hidden" name="csrf" value="${page.csrf}">
<button class="quiet" name="action" value="switch">Not you? Switch account</button>
</form>`,
    html`It never gets more rights than you have. You or an administrator can disconnect it at any time.`,
  );
}

function scopeRow({ before, isKnown, choice }: ConsentPage, scope: ResourceScope, isFirst: boolean): Html {
  const { title, detail } = scopeTexts[scope];
  const mark =
    isKnown &&
    html` <span class="badge${!before.includes(scope) && ' new'}">${before.includes(scope) ? 'allowed before' : 'new'}</span>`;
  if (isFirst) return html`<li class="scope">${tick}<div><b>${title}</b>${mark}<small>${detail}</small></div></li>`;
  const checked = choice.ticked.includes(scope) && html` checked`;
  return html`<li class="scope writes"><input type="checkbox" id="${scope}" name="scope" value="${scope}"${checked} aria-describedby="${scope}-detail"><div><label for="${scope}">${title}</label>${mark}<small id="${scope}-detail">${detail}</small></div></li>`;
}

function readOnlyRow({ readOnly }: Choice): Html {
  return html`<div class="scope"><input type="checkbox" id="readonly" name="limit" value="read-only"${readOnly && html` checked`} aria-describedby="readonly-detail"><div><label for="readonly">Read only</label><small id="readonly-detail">Whatever is ticked above, it changes nothing and runs no actions.</small></div></div>`;
}

function collectionRows({ offered, choice, find }: ConsentPage): Html {
  const chosen = new Set(choice.collections ?? []);
  const wanted = find.toLowerCase();
  const found = offered.filter((name) => !chosen.has(name) && name.toLowerCase().includes(wanted));
  const shown = wanted ? [...offered.filter((name) => chosen.has(name)), ...found] : offered;
  const which = (value: string, isChosen: boolean, text: string) =>
    html`<label class="which"><input type="radio" name="which" value="${value}"${value === 'some' && html` id="some"`}${isChosen && html` checked`}> ${text}</label>`;
  return html`<fieldset><legend>Collections</legend>
${which('all', choice.collections === null, 'All that you may see, now and later')}
${which('some', choice.collections !== null, `Only some of your ${offered.length}`)}
<div class="choose">
${(offered.length >= MANY || wanted) && html`<div class="find"><label for="find">Find a collection</label><div><input id="find" name="find" type="search" value="${find}" maxlength="100" autocomplete="off" spellcheck="false"><button class="plain" name="action" value="find">Find</button></div></div>`}
${wanted && html`<p class="quiet-note" role="status">${found.length === 0 ? `None with “${find}” in its name.` : `${found.length} with “${find}” in the name.`} ${chosen.size > 0 && 'Those that you chose stay chosen.'}</p>`}
<ul class="names">${shown.map((name) => html`<li><label><input type="checkbox" name="collection" value="${name}"${chosen.has(name) && html` checked`}> <span>${name}</span></label></li>`)}</ul>
</div>
</fieldset>`;
}

/** A host vouches for the app on its own site only: on a device any program can use the name of another's document. */
export function describeClient({ name, verifiedHost }: ShownClient, onDevice: boolean): Html {
  if (verifiedHost && !onDevice) return html`${name} <span class="badge">verified</span><small>${verifiedHost}</small>`;
  const claim = verifiedHost ? html`It says it is the app of ${verifiedHost}.` : html`It gave itself this name.`;
  return html`${name} <span class="badge unsure">unverified</span><small>${claim}</small>`;
}

export function describeDestination({ kind, name }: Destination): Html {
  if (kind === 'web') return html`${name}`;
  if (kind === 'device') return html`This device<small>${name}</small>`;
  return html`An app on this device<small>that opens ${name}: links</small>`;
}
