// The pages that a person sees. They work without scripts, and every text that a client wrote is escaped and marked as
// the client's own claim unless we could verify it.
import type { ServerResponse } from 'node:http';
import { hashToken } from '../core/secret.ts';
import type { Destination } from './clients.ts';
import { type Html, html, markup } from './html.ts';
import { type ResourceScope, scopeTexts } from './scopes.ts';
import { style } from './style.ts';

export interface Place {
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

export interface ShownClient {
  readonly name: string;
  /** The host that serves the client's metadata document, which proves that it speaks for that host. */
  readonly verifiedHost?: string;
}

const styleHash = Buffer.from(hashToken(style), 'base64url').toString('base64');

/**
 * No scripts, nothing from elsewhere, no frames. There is no form-action: Chrome applies it to the redirects after a
 * form as well, which lead to the client.
 */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; frame-ancestors 'none'`;

/** Without Cross-Origin-Opener-Policy: web assistants open the page as a popup and wait for it to come back to them. */
const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': pagePolicy,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

export function setPageHeaders(res: ServerResponse): void {
  for (const [name, value] of Object.entries(pageHeaders)) res.setHeader(name, value);
}

export function sendPage(res: ServerResponse, status: number, page: Html): void {
  setPageHeaders(res);
  res.writeHead(status).end(page.text);
}

const logo = html`<svg viewBox="0 0 36 36" aria-hidden="true"><rect class="tile" width="36" height="36" rx="10"/><g fill="none" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"><path d="m8.5 14 9.5-5.5 9.5 5.5z"/><path d="M11.5 18v6M18 18v6M24.5 18v6M8.5 27.5h19"/></g></svg>`;
const tick = html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg>`;

function layout(title: string, place: Place | undefined, content: Html, footer?: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${markup(style)}</style>
</head>
<body>
<main>
<div class="brand">${logo}<div><strong>${place?.organization ?? 'Portico'}</strong>${place && html`<span>${place.project} · ${place.environment}</span>`}</div></div>
${content}
</main>
${footer && html`<footer>${footer}</footer>`}
</body>
</html>
`;
}

export interface SignInPage {
  readonly place: Place;
  readonly client: ShownClient;
  readonly action: string;
  readonly csrf: string;
  readonly email: string;
  /** What was wrong with the last attempt. */
  readonly problem?: string;
}

export function signInPage(page: SignInPage): Html {
  const described = page.problem ? html` aria-invalid="true" aria-describedby="problem"` : undefined;
  const [emailFocus, passwordFocus] = page.email ? [undefined, html` autofocus`] : [html` autofocus`, undefined];
  return layout(
    page.problem ? 'Error: Sign in' : 'Sign in',
    page.place,
    html`<h1>Sign in</h1>
<p class="lead"><b>${page.client.name}</b> ${page.client.verifiedHost && html`(${page.client.verifiedHost}) `}asks to connect. You will see what it asks for before anything is shared.</p>
<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
<div class="field"><label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" value="${page.email}"${described}${emailFocus}></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${described}${passwordFocus}>
<p class="note" id="problem" role="alert">${page.problem}</p></div>
<button class="primary" name="action" value="sign-in">Sign in</button>
</form>
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

export function consentPage(page: ConsentPage): Html {
  const { client, user, destination } = page;
  const onDevice = destination.kind !== 'web';
  const [always, ...optional] = page.scopes;
  return layout(
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
function describeClient({ name, verifiedHost }: ShownClient, onDevice: boolean): Html {
  if (verifiedHost && !onDevice) return html`${name} <span class="badge">verified</span><small>${verifiedHost}</small>`;
  const claim = verifiedHost ? html`It says it is the app of ${verifiedHost}.` : html`It gave itself this name.`;
  return html`${name} <span class="badge unsure">unverified</span><small>${claim}</small>`;
}

function describeDestination({ kind, name }: Destination): Html {
  if (kind === 'web') return html`${name}`;
  if (kind === 'device') return html`This device<small>${name}</small>`;
  return html`An app on this device<small>that opens ${name}: links</small>`;
}

export interface MessagePage {
  readonly title: string;
  readonly text: string;
  readonly detail?: string;
}

export function messagePage(page: MessagePage): Html {
  return layout(
    page.title,
    undefined,
    html`<h1>${page.title}</h1>
<p class="lead" role="alert">${page.text}</p>
${page.detail && html`<p><code>${page.detail}</code></p>`}`,
  );
}
