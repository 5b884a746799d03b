// The pages of a sign-in that a terminal started. An attacker can send a victim the link with the attacker's own code
// (RFC 8628 section 5.4). Each page therefore says what to compare, and to stop if the user did not start a sign-in.

import { html } from '../../http/html.ts';
import { createCard, type EnvironmentInfo, messagePage, type Page, signInTheme } from '../../http/page.ts';
import { cloudScopeText } from '../server/scopes.ts';

interface CodeEntryPage {
  readonly environment: EnvironmentInfo;
  readonly action: string;
  readonly csrf: string;
  /** Code from the URL, or ''. */
  readonly code: string;
  readonly problem: string | undefined;
}

export function codeEntryPage({ environment, action, csrf, code, problem }: CodeEntryPage): Page {
  const isPrefilled = code !== '';
  const describedBy = [problem && 'problem', 'only'].filter(Boolean).join(' ');
  return createCard(
    signInTheme,
    problem ? 'Error: Connect a terminal' : 'Connect a terminal',
    environment,
    html`<h1>${isPrefilled ? 'Is this the code in your terminal?' : 'Connect a terminal'}</h1>
<p class="lead">${isPrefilled ? 'Compare it letter by letter, then continue.' : html`Enter the code that <b>portico cloud</b> shows in your terminal.`}</p>
<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${csrf}"><input type="hidden" name="confirm" value="yes">
<div class="field"><label for="user_code">Code</label>
<input class="code device" id="user_code" name="user_code" type="text" value="${code}" maxlength="20" required autocomplete="off" autocapitalize="characters" spellcheck="false" aria-describedby="${describedBy}"${problem && html` aria-invalid="true"`}${!isPrefilled && html` autofocus`}>
${problem && html`<p class="note" id="problem" role="alert">${problem}</p>`}</div>
<p class="warning" id="only">Continue only if you started this in your own terminal, just now. If another person sent you this code, stop: they would be signed in as you.</p>
<button class="primary spaced" name="action" value="continue">Continue</button>
</form>`,
    html`No code? Run <b>portico cloud login</b> in your terminal.`,
  );
}

interface DeviceConsentPage {
  readonly environment: EnvironmentInfo;
  readonly user: { readonly name: string; readonly email: string; readonly team: string; readonly role: string };
  /** Code in the format of the terminal. */
  readonly code: string;
  readonly info: DeviceInfo;
  /** Minutes since the terminal's request. */
  readonly minutes: number;
  /** Whether the user is an admin or a developer. */
  readonly isEntitled: boolean;
  readonly problem: string | undefined;
  readonly action: string;
  readonly csrf: string;
}

export function deviceConsentPage(page: DeviceConsentPage): Page {
  const { user, code, info, minutes } = page;
  const since = minutes < 1 ? 'just now' : minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`;
  const cancel = html`<button class="plain" name="action" value="deny">Cancel</button>`;
  return createCard(
    signInTheme,
    page.isEntitled && !page.problem ? 'Allow access' : 'Error: Allow access',
    page.environment,
    html`<h1>Allow the Portico command line to connect?</h1>
<dl class="facts">
<div><dt>Who asks</dt><dd>A terminal <span class="badge unsure">unverified</span><small>from ${info.address}, ${since}</small></dd></div>
<div><dt>Its code</dt><dd><span class="code">${code}</span></dd></div>
<div><dt>You are</dt><dd>${user.name || user.email}${user.name && html`<small>${user.email}</small>`}<small>${user.team} · ${user.role}</small></dd></div>
</dl>
${
  page.isEntitled
    ? html`<p class="warning">Continue only if you started this yourself, just now, and your terminal shows this code.</p>
<h2 id="may">If you allow it, it can:</h2>
<ul class="scopes" aria-labelledby="may"><li class="scope"><svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg><div><b>${cloudScopeText.title}</b><small>${cloudScopeText.detail}</small></div></li></ul>`
    : html`<p class="alert above" role="alert">Only developers and admins can write customizations, and you are neither here. Ask an administrator for one of these levels.</p>`
}
${page.problem && html`<p class="alert above" role="alert">${page.problem}</p>`}
<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
<div class="pair${!page.isEntitled && ' single'}">${cancel}${page.isEntitled && html`<button class="primary" name="action" value="allow">Allow</button>`}</div>
</form>
<form method="post" action="${page.action}" class="below">
<input type="hidden" name="csrf" value="${page.csrf}">
<button class="quiet" name="action" value="switch">Not you? Switch account</button>
</form>`,
    html`You or an administrator can disconnect it at any time.`,
  );
}

export const connectedPage = messagePage({
  title: 'Your terminal is connected',
  text: 'Go back to the terminal: it continues automatically. You can close this page.',
});

export const cancelledPage = messagePage({
  title: 'Not connected',
  text: 'The terminal was denied access. You can close this page.',
});

/** Data about the terminal's request, stored for the consent page. */
export interface DeviceInfo {
  /** Client address. */
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
}
