// Setup of an authenticator app. The secret is stored only after the user enters a valid code, so a failed setup cannot
// lock the user out.
import { html } from '../../../http/html.ts';
import { scanStep, wrongAppCodeText } from '../../../oauth/login/set-up-form.ts';
import { isProposedSecret } from '../../../oauth/login/sign-in.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { throttledAnswer } from '../sign-in/sign-in.ts';
import { confirmPassword, reportSecurity, showCodes, under, wrongCurrentPassword } from './account.ts';

export async function showSetUp(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return (await refuseIfEnabled(request, parts)) ?? setUpPage(request, parts);
}

/** Users with an app must switch it off first, which requires the password. */
async function refuseIfEnabled(
  { access }: SignedInRequest,
  { store, loginMethods }: Parts,
): Promise<Answer | undefined> {
  const user = await store.identity.findUser(access.caller.id);
  const isOn = (await store.secondFactors.of(access.caller.id)) !== undefined;
  return isOn || !user?.hasPassword || !loginMethods.passwords ? { to: '/account' } : undefined;
}

async function setUpPage(
  request: SignedInRequest,
  parts: Parts,
  existingSecret?: string,
  problem?: string,
): Promise<Answer> {
  const { caller } = request.access;
  const app = await parts.store.secondFactors.propose(caller.email, request.place.organization, existingSecret);
  const described = problem && html` aria-invalid="true" aria-describedby="problem"`;
  const content = html`<h1>Set up an authenticator app</h1>
<ol class="steps">
<li><b>Scan this with the app</b><span>Any app for one-time codes works: your password manager, Aegis, 2FAS, Google or Microsoft Authenticator.</span>
${scanStep(app)}</li>
<li><b>Enter the six-digit code that it shows, and your password</b>
${openForm(request, parts, '/account/app')}<input type="hidden" name="secret" value="${app.secret}">
<div class="field"><label for="code">Code</label><input id="code" name="code" type="text" class="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="12"${described}></div>
<div class="field"><label for="password">Your password</label><input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${described}>
<p class="note" id="problem" role="alert">${problem}</p></div>
<button class="primary slim" name="action" value="totp-on">Turn on</button>
<a class="aside" href="${parts.paths.path('/account')}">Not now</a></form></li>
</ol>`;
  const named = problem ? 'Error: Set up an authenticator app' : 'Set up an authenticator app';
  return { page: createFramedPage(request, parts, { title: named, under, content }), ...(problem && { status: 400 }) };
}

export async function setUp(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const on = await refuseIfEnabled(request, parts);
  if (on) return on;
  const secret = request.form.get('secret') ?? '';
  if (!isProposedSecret(secret))
    return setUpPage(request, parts, undefined, 'The page has expired. Scan the new code.');
  const answer = await confirmPassword(request, parts);
  if (answer.state === 'throttled') return throttledAnswer(answer.retryAfterSeconds, 'try again.');
  if (answer.state !== 'ok') return setUpPage(request, parts, secret, wrongCurrentPassword);
  const { id } = request.access.caller;
  const codes = await parts.store.secondFactors.switchOn(id, secret, request.form.get('code') ?? '');
  if (!codes) return setUpPage(request, parts, secret, wrongAppCodeText);
  reportSecurity(request, parts, 'totp.on');
  return showCodes(codes, request, parts);
}
