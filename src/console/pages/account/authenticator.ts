// Setup of an authenticator app. The secret is stored only after the user enters a valid code, so a failed setup cannot
// lock the user out.
import { encode } from 'uqr';
import { type Html, html, markup } from '../../../http/html.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { formOf } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { toWait } from '../sign-in.ts';
import { confirmPassword, showCodes, tell, under, wrongPresent } from './account.ts';

export async function showSetUp(visit: MemberVisit, parts: Parts): Promise<Answer> {
  return (await alreadyOn(visit, parts)) ?? setUpPage(visit, parts);
}

/** Users with an app must switch it off first, which requires the password. */
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

/** QR code, dark on light in every color scheme because cameras expect that. It is inline SVG, which the CSP allows. */
function drawCode(text: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return html`<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code for the app" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path fill="#000" d="${markup(path)}"/></svg>`;
}
