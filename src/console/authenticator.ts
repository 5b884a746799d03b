// Setting up an app that shows codes. The secret is made for the page and kept nowhere until a code of it came back, so that
// nobody locks himself out with an app that did not take it.
import { encode } from 'uqr';
import { type Html, html, markup } from '../oauth/html.ts';
import { confirmPassword, showCodes, tell, under, wrongPresent } from './account.ts';
import { createFramed } from './frame.ts';
import { formOf } from './parts/form.ts';
import { toWait } from './signing.ts';
import type { Answer, MemberVisit, Parts } from './visit.ts';

export async function showSetUp(visit: MemberVisit, parts: Parts): Promise<Answer> {
  return (await alreadyOn(visit, parts)) ?? setUpPage(visit, parts);
}

/** Who has an app switches that one off first, which asks for the password. */
async function alreadyOn({ access }: MemberVisit, { store, ways }: Parts): Promise<Answer | undefined> {
  const user = await store.identity.findUser(access.caller.id);
  const isOn = (await store.secondFactors.of(access.caller.id)) !== undefined;
  return isOn || !user?.hasPassword || !ways.passwords ? { to: '/account' } : undefined;
}

async function setUpPage(visit: MemberVisit, parts: Parts, kept?: string, problem?: string): Promise<Answer> {
  const { caller } = visit.access;
  const { secret, uri } = await parts.store.secondFactors.propose(caller.email, visit.place.organization, kept);
  const described = problem && html` aria-invalid="true" aria-describedby="problem"`;
  const content = html`<h1>Set up an authenticator app</h1>
<ol class="steps">
<li><b>Scan this with the app</b><span>Any app for one-time codes will do: the one of your password manager, Aegis, 2FAS, Google or Microsoft Authenticator.</span>
<div class="qr">${drawCode(uri)}<div><span>Or type this in:</span><code>${secret.match(/.{4}/g)!.join(' ')}</code></div></div></li>
<li><b>Type the six digits that it shows, and your password</b>
${formOf(visit, parts, '/account/app')}<input type="hidden" name="secret" value="${secret}">
<div class="field"><label for="code">Code</label><input id="code" name="code" type="text" class="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="12"${described}></div>
<div class="field"><label for="password">Your password</label><input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${described}>
<p class="note" id="problem" role="alert">${problem}</p></div>
<button class="primary slim" name="action" value="totp-on">Switch it on</button>
<a class="aside" href="${parts.paths.path('/account')}">Not now</a></form></li>
</ol>`;
  const named = problem ? 'Error: Set up an authenticator app' : 'Set up an authenticator app';
  return { page: createFramed(visit, parts, { title: named, under, content }), ...(problem && { status: 400 }) };
}

export async function setUp(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const on = await alreadyOn(visit, parts);
  if (on) return on;
  const secret = visit.form.get('secret') ?? '';
  if (!/^[A-Z2-7]{32}$/.test(secret))
    return setUpPage(visit, parts, undefined, 'This page was too old. Scan it again.');
  const answer = await confirmPassword(visit, parts);
  if (answer.state === 'throttled') return toWait(answer.retryAfterSeconds, 'try again.');
  if (answer.state !== 'ok') return setUpPage(visit, parts, secret, wrongPresent);
  const { id } = visit.access.caller;
  const codes = await parts.store.secondFactors.switchOn(id, secret, visit.form.get('code') ?? '');
  if (!codes) return setUpPage(visit, parts, secret, 'This code is not of this app. Check the time of your phone.');
  tell(visit, parts, 'totp.on');
  return showCodes(codes, visit, parts);
}

/** Dark on light in any scheme, since cameras expect that. The policy of the page allows it: it is part of the page. */
function drawCode(text: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return html`<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code for the app" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path fill="#000" d="${markup(path)}"/></svg>`;
}
