// The consent page: the app, the destination of the response, the requested scopes and the possible limits. It works
// without scripts: the style sheet shows the fields that depend on a choice, and the server searches names. Text from a
// client is marked as the client's own claim unless we verified it.

import { type Html, html } from '../../http/html.ts';
import { createCard, type Page, type Place, signInLook } from '../../http/page.ts';
import { describeClient, describeDestination, type ShownClient, titleOf } from '../clients/display-name.ts';
import type { Destination } from '../clients/normalize.ts';
import { type ResourceScope, scopeTexts } from '../server/scopes.ts';
import { type Choice, describeChoice, lasting } from './limits.ts';

export interface ConsentPage {
  readonly place: Place;
  readonly client: ShownClient;
  readonly destination: Destination;
  readonly user: { readonly name: string; readonly email: string; readonly team: string; readonly role: string };
  readonly scopes: readonly ResourceScope[];
  /** Scopes in `scopes` that the user allowed this app before. */
  readonly before: readonly ResourceScope[];
  /** Whether the user has decided about this app before. */
  readonly isKnown: boolean;
  /** Whether all requested scopes were allowed before: one click is enough. */
  readonly isCovered: boolean;
  /** The collections that the user may see. */
  readonly offered: readonly string[];
  readonly choice: Choice;
  /** Whether the choice comes from the submitted form, which is shown again. */
  readonly isSentAgain: boolean;
  /** Search text for collection names. */
  readonly find: string;
  readonly problem?: string | undefined;
  readonly action: string;
  readonly csrf: string;
}

/** The page has a search field for this many collections or more. */
const MANY = 16;

const tick = html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg>`;

export function consentPage(page: ConsentPage): Page {
  const { client, user, destination, choice } = page;
  const onDevice = destination.kind !== 'web';
  const isMore = page.before.length > 0 && page.before.length < page.scopes.length;
  // Describes a prefilled earlier choice. A form that is shown again displays its own values.
  const told = page.isSentAgain ? '' : describeChoice(choice);
  const title = titleOf(client, destination);
  const heading = page.isCovered
    ? `Connect ${title} again?`
    : isMore
      ? `Allow ${title} more?`
      : `Allow ${title} to connect?`;
  return createCard(
    signInLook,
    page.problem ? 'Error: Allow access' : 'Allow access',
    page.place,
    html`<h1>${heading}</h1>
<dl class="facts">
<div><dt>Who asks</dt><dd>${describeClient(client, destination)}</dd></div>
<div><dt>Returns to</dt><dd>${describeDestination(destination)}</dd></div>
<div><dt>You are</dt><dd>${user.name || user.email}${user.name && html`<small>${user.email}</small>`}<small>${user.team} · ${user.role}</small></dd></div>
</dl>
${onDevice && html`<p class="warning">This app runs on a device. Continue only if you started this from it on this device yourself, just now.</p>`}
${page.problem && html`<p class="alert above" role="alert">${page.problem}</p>`}
<form method="post" action="${page.action}" class="consent">
<input type="hidden" name="csrf" value="${page.csrf}">
${page.isCovered ? coveredChoice(page, told) : openChoice(page, told)}
</form>
<form method="post" action="${page.action}" class="below">
<input type="hidden" name="csrf" value="${page.csrf}">
${page.isCovered && html`<button class="quiet" name="action" value="deny">Cancel</button> · `}<button class="quiet" name="action" value="switch">Not you? Switch account</button>
</form>`,
    html`It never gets more rights than you have. You or an administrator can disconnect it at any time.`,
  );
}

function openChoice(page: ConsentPage, told: string): Html {
  const { choice } = page;
  return html`<h2 id="may">If you allow it, it can:</h2>
${scopeList(page)}
<details class="limits"${(told || page.isSentAgain) && html` open`}>
<summary><b>Limit it</b><small>${told ? `As you chose before: ${told}` : 'Only reading, only some collections, only for a while'}</small></summary>
${page.scopes.length > 1 && readOnlyRow(choice)}
${limitRows(page)}
</details>
<div class="pair"><button class="plain" name="action" value="deny">Cancel</button><button class="primary" name="action" value="allow">Allow</button></div>`;
}

/** For a request that was allowed before: the details are collapsed, and can still be changed. */
function coveredChoice(page: ConsentPage, told: string): Html {
  const may = page.scopes.map((scope) => scopeTexts[scope].title.toLowerCase()).join(', ');
  return html`<details class="limits"${page.isSentAgain && html` open`}>
<summary><b>What it may do</b><small>As you allowed before: ${[may, told].filter(Boolean).join('; ')}</small></summary>
${scopeList(page)}
${page.scopes.length > 1 && readOnlyRow(page.choice)}
${limitRows(page)}
</details>
<div class="pair single"><button class="primary" name="action" value="allow">Continue</button></div>`;
}

function scopeList(page: ConsentPage): Html {
  return html`<ul class="scopes"${page.isCovered ? html` aria-label="It can"` : html` aria-labelledby="may"`}>
${page.scopes.map((scope, at) => scopeRow(page, scope, at === 0))}
</ul>`;
}

function limitRows(page: ConsentPage): Html {
  return html`${page.offered.length > 0 && collectionRows(page)}
<div class="lasts"><label for="lasts">Connected</label>
<select id="lasts" name="lasts">${Object.entries(lasting).map(([name, { text }]) => html`<option value="${name}"${name === page.choice.lasts && html` selected`}>${text}</option>`)}</select></div>`;
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
