// The consent page: the app, the destination of the response, the requested scopes and the possible limits. It works
// without scripts: the style sheet shows the fields that depend on a choice, and the server searches names. Text from a
// client is marked as the client's own claim unless we verified it.

import { type Html, html } from '../../http/html.ts';
import { createCard, type EnvironmentInfo, type Page, signInTheme } from '../../http/page.ts';
import { clientTitle, type DisplayedClient, describeClient, describeDestination } from '../clients/display-name.ts';
import type { Destination } from '../clients/normalize.ts';
import { type ResourceScope, scopeTexts } from '../server/scopes.ts';
import { type ConsentLimits, describeLimits, durations } from './limits.ts';

interface ConsentPage {
  readonly environment: EnvironmentInfo;
  readonly client: DisplayedClient;
  readonly destination: Destination;
  readonly user: { readonly name: string; readonly email: string; readonly team: string; readonly role: string };
  readonly scopes: readonly ResourceScope[];
  /** Scopes in `scopes` that the user allowed this app before. */
  readonly allowedBefore: readonly ResourceScope[];
  /** Whether the user has decided about this app before. */
  readonly isKnown: boolean;
  /** Whether all requested scopes were allowed before: one click is enough. */
  readonly isCovered: boolean;
  /** The collections that the user may see. */
  readonly collections: readonly string[];
  readonly limits: ConsentLimits;
  /** Whether the choice comes from the submitted form, which is shown again. */
  readonly isResubmitted: boolean;
  /** Search text for collection names. */
  readonly search: string;
  readonly problem?: string | undefined;
  readonly action: string;
  readonly csrf: string;
}

/** The page has a search field for this many collections or more. */
const MIN_FOR_SEARCH = 16;

const tickIcon = html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg>`;

export function consentPage(page: ConsentPage): Page {
  const { client, user, destination, limits } = page;
  const onDevice = destination.kind !== 'web';
  const isMore = page.allowedBefore.length > 0 && page.allowedBefore.length < page.scopes.length;
  // Describes a prefilled earlier choice. A form that is shown again displays its own values.
  const description = page.isResubmitted ? '' : describeLimits(limits);
  const title = clientTitle(client, destination);
  const heading = page.isCovered
    ? `Connect ${title} again?`
    : isMore
      ? `Allow ${title} more?`
      : `Allow ${title} to connect?`;
  return createCard(
    signInTheme,
    page.problem ? 'Error: Allow access' : 'Allow access',
    page.environment,
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
${page.isCovered ? coveredForm(page, description) : limitsForm(page, description)}
</form>
<form method="post" action="${page.action}" class="below">
<input type="hidden" name="csrf" value="${page.csrf}">
${page.isCovered && html`<button class="quiet" name="action" value="deny">Cancel</button> · `}<button class="quiet" name="action" value="switch">Not you? Switch account</button>
</form>`,
    html`It never gets more rights than you have. You or an administrator can disconnect it at any time.`,
  );
}

function limitsForm(page: ConsentPage, description: string): Html {
  const { limits } = page;
  return html`<h2 id="may">If you allow it, it can:</h2>
${scopeList(page)}
<details class="limits"${(description || page.isResubmitted) && html` open`}>
<summary><b>Limit it</b><small>${description ? `As you chose before: ${description}` : 'Read-only, selected collections or a limited time'}</small></summary>
${page.scopes.length > 1 && readOnlyRow(limits)}
${limitRows(page)}
</details>
<div class="pair"><button class="plain" name="action" value="deny">Cancel</button><button class="primary" name="action" value="allow">Allow</button></div>`;
}

/** For a request that was allowed before: the details are collapsed, and can still be changed. */
function coveredForm(page: ConsentPage, description: string): Html {
  const permissions = page.scopes.map((scope) => scopeTexts[scope].title.toLowerCase()).join(', ');
  return html`<details class="limits"${page.isResubmitted && html` open`}>
<summary><b>What it may do</b><small>As you allowed before: ${[permissions, description].filter(Boolean).join('; ')}</small></summary>
${scopeList(page)}
${page.scopes.length > 1 && readOnlyRow(page.limits)}
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
  return html`${page.collections.length > 0 && collectionRows(page)}
<div class="lasts"><label for="lasts">Connected</label>
<select id="lasts" name="lasts">${Object.entries(durations).map(([name, { text }]) => html`<option value="${name}"${name === page.limits.lasts && html` selected`}>${text}</option>`)}</select></div>`;
}

function scopeRow({ allowedBefore, isKnown, limits }: ConsentPage, scope: ResourceScope, isFirst: boolean): Html {
  const { title, detail } = scopeTexts[scope];
  const badge =
    isKnown &&
    html` <span class="badge${!allowedBefore.includes(scope) && ' new'}">${allowedBefore.includes(scope) ? 'allowed before' : 'new'}</span>`;
  if (isFirst)
    return html`<li class="scope">${tickIcon}<div><b>${title}</b>${badge}<small>${detail}</small></div></li>`;
  const checked = limits.ticked.includes(scope) && html` checked`;
  return html`<li class="scope writes"><input type="checkbox" id="${scope}" name="scope" value="${scope}"${checked} aria-describedby="${scope}-detail"><div><label for="${scope}">${title}</label>${badge}<small id="${scope}-detail">${detail}</small></div></li>`;
}

function readOnlyRow({ readOnly }: ConsentLimits): Html {
  return html`<div class="scope"><input type="checkbox" id="readonly" name="limit" value="read-only"${readOnly && html` checked`} aria-describedby="readonly-detail"><div><label for="readonly">Read only</label><small id="readonly-detail">Overrides the choices above: no changes, no actions.</small></div></div>`;
}

function collectionRows({ collections, limits, search }: ConsentPage): Html {
  const chosen = new Set(limits.collections ?? []);
  const searchText = search.toLowerCase();
  const matching = collections.filter((name) => !chosen.has(name) && name.toLowerCase().includes(searchText));
  const listed = searchText ? [...collections.filter((name) => chosen.has(name)), ...matching] : collections;
  const radioButton = (value: string, isChosen: boolean, text: string) =>
    html`<label class="which"><input type="radio" name="which" value="${value}"${value === 'some' && html` id="some"`}${isChosen && html` checked`}> ${text}</label>`;
  return html`<fieldset><legend>Collections</legend>
${radioButton('all', limits.collections === null, 'All collections I can see, now and later')}
${radioButton('some', limits.collections !== null, `Selected collections (of ${collections.length})`)}
<div class="choose">
${(collections.length >= MIN_FOR_SEARCH || searchText) && html`<div class="find"><label for="find">Find a collection</label><div><input id="find" name="find" type="search" value="${search}" maxlength="100" autocomplete="off" spellcheck="false"><button class="plain" name="action" value="find">Find</button></div></div>`}
${searchText && html`<p class="quiet-note" role="status">${matching.length === 0 ? `No collection with “${search}” in its name.` : `${matching.length} with “${search}” in the name.`} ${chosen.size > 0 && 'Your selection is kept.'}</p>`}
<ul class="names">${listed.map((name) => html`<li><label><input type="checkbox" name="collection" value="${name}"${chosen.has(name) && html` checked`}> <span>${name}</span></label></li>`)}</ul>
</div>
</fieldset>`;
}
