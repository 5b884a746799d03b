// The user's own account: name, password, authenticator app and signed-in browsers. Changes to sign-in credentials
// require the password, so access to an open browser is not enough to take over the account.

import type { Caller } from '../../../core/caller.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { recoveryCodes } from '../../../oauth/login/set-up-form.ts';
import type { ConfirmAnswer } from '../../../oauth/login/sign-in.ts';
import { readCode } from '../../../oauth/login/sign-in-form.ts';
import type { ListedSession } from '../../../store/sessions/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { checkField, openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { throttledAnswer } from '../sign-in/sign-in.ts';
import { describeBrowser } from './browsers.ts';
import { newPasswordFields, passwordProblem, readNewPassword } from './new-password.ts';

const title = 'Account';
export const under = '/account';

/** The section with the error, which the page expands. */
interface Problem {
  readonly section: 'profile' | 'password' | 'totp-off' | 'codes';
  readonly text: string;
}

const doneTexts: Readonly<Record<string, string>> = {
  profile: 'Saved.',
  password: 'Password changed. Your other sessions have ended. Assistants stay connected.',
  'totp-off': 'The authenticator app is off. Your password is now enough to sign in.',
  session: 'Session ended.',
  mail: 'Saved.',
};

export function showAccount(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return accountPage(request, parts);
}

async function accountPage(request: SignedInRequest, parts: Parts, problem?: Problem): Promise<Answer> {
  const { caller } = request.access;
  const { store } = parts;
  const [user, factor, sessions, wantsMail] = await Promise.all([
    store.identity.findUser(caller.id),
    store.secondFactors.of(caller.id),
    store.sessions.list(caller.id, request.visitor.session?.id),
    parts.mailer !== null && store.waitingMails.isOn(caller.id),
  ]);
  const usesPassword = user?.hasPassword && parts.loginMethods.passwords;
  const done = problem ? undefined : doneTexts[request.query.get('done') ?? ''];
  const content = html`<h1>Account</h1>
${done && html`<p class="done" role="status">${done}</p>`}
<p class="lead">${caller.email} · ${caller.team} · ${caller.role}</p>
${profileSection(caller, request, parts, problem)}
${parts.mailer !== null && mailSection(wantsMail, request, parts)}
${usesPassword && passwordSection(caller, request, parts, problem)}
${usesPassword && factorSection(factor, request, parts, problem)}
${sessionsSection(sessions, caller, request, parts)}`;
  const page = createFramedPage(request, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page, ...(problem && { status: 400 }) };
}

const noteOf = (section: Problem['section'], problem: Problem | undefined, id: string) =>
  problem?.section === section && html`<p class="note" id="${id}" role="alert">${problem.text}</p>`;

function profileSection(caller: Caller, request: SignedInRequest, parts: Parts, problem?: Problem): Html {
  const field = (id: string, name: string, label: string, value: string, autocomplete: string) =>
    html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${name}" type="text" autocomplete="${autocomplete}" maxlength="191" value="${value}"></div>`;
  const zones = [...new Set(['UTC', caller.timezone, ...Intl.supportedValuesOf('timeZone')])].sort();
  return html`<section aria-labelledby="you"><h2 class="plainly" id="you">You</h2>
${openForm(request, parts, '/account')}
<div class="two">${field('first', 'firstName', 'First name', caller.firstName, 'given-name')}
${field('last', 'lastName', 'Last name', caller.lastName, 'family-name')}</div>
<div class="field"><label for="timezone">Time zone</label><select id="timezone" name="timezone">${zones.map((zone) => html`<option${zone === caller.timezone && html` selected`}>${zone}</option>`)}</select>
${noteOf('profile', problem, 'profile-note')}</div>
<button class="plain slim" name="action" value="profile">Save</button>
</form></section>`;
}

function mailSection(wantsMail: boolean, request: SignedInRequest, parts: Parts): Html {
  const choice = checkField({
    ...{ id: 'waiting', name: 'waiting', checked: wantsMail, label: 'Send me mail when something waits for me' },
    hint: 'Approvals that you may decide, and questions of workflow runs: at most one mail in 5 minutes, with names of collections and workflows, and a link to your inbox.',
  });
  return html`<section aria-labelledby="mail-title"><h2 class="plainly" id="mail-title">Mail</h2>
${openForm(request, parts, '/account')}${choice}<button class="plain slim" name="action" value="mail">Save</button></form></section>`;
}

const currentPassword = (id: string) =>
  html`<div class="field"><label for="${id}">Your password</label><input id="${id}" name="password" type="password" autocomplete="current-password" required maxlength="1024"></div>`;

function passwordSection(caller: Caller, request: SignedInRequest, parts: Parts, problem?: Problem): Html {
  const sectionProblem = problem?.section === 'password' ? problem : undefined;
  return html`<section aria-labelledby="password-title"><h2 class="plainly" id="password-title">Password</h2>
<details class="more"${sectionProblem && html` open`}><summary>Change password</summary>
${openForm(request, parts, '/account')}
<div class="field"><label for="old">Current password</label><input id="old" name="password" type="password" autocomplete="current-password" required maxlength="1024"></div>
${newPasswordFields(caller.email, sectionProblem?.text)}
<button class="primary slim" name="action" value="password">Change password</button>
</form></details></section>`;
}

function factorSection(
  factor: { readonly since: number; readonly recoveryCodes: number } | undefined,
  request: SignedInRequest,
  parts: Parts,
  problem?: Problem,
): Html {
  const { paths } = parts;
  const opened = (section: Problem['section']) => problem?.section === section && html` open`;
  const content = factor
    ? html`<p class="state"><span><b>On</b>since ${showTime(factor.since, request.access.caller.timezone)}. ${factor.recoveryCodes} recovery ${factor.recoveryCodes === 1 ? 'code is' : 'codes are'} left.</span></p>
<details class="more"${opened('codes')}><summary>Create new recovery codes</summary>
${openForm(request, parts, '/account')}<p class="quietly">Your current codes stop working.</p>
${currentPassword('codes-password')}${noteOf('codes', problem, 'codes-note')}
<button class="plain slim" name="action" value="codes">Create codes</button></form></details>
${
  parts.config.secondFactor === 'required'
    ? html`<p class="quietly">Everyone who signs in with a password needs one here. After losing yours, ask an administrator to reset it.</p>`
    : html`<details class="more"${opened('totp-off')}><summary>Turn off</summary>
${openForm(request, parts, '/account')}
${currentPassword('off-password')}${noteOf('totp-off', problem, 'off-note')}
<button class="danger slim" name="action" value="totp-off">Turn off</button></form></details>`
}`
    : html`<p class="quietly">With an authenticator app, a stolen password is not enough to sign in.</p>
<p><a class="button plain slim" href="${paths.path('/account/app')}">Set up an app</a></p>`;
  return html`<section aria-labelledby="app-title"><h2 class="plainly" id="app-title">Authenticator app</h2>${content}</section>`;
}

function sessionsSection(
  sessions: readonly ListedSession[],
  caller: Caller,
  request: SignedInRequest,
  parts: Parts,
): Html {
  const rows = sessions.map((session) => sessionRow(session, caller, request, parts));
  return html`<section aria-labelledby="sessions-title"><h2 class="plainly" id="sessions-title">Where you are signed in</h2>
<ul class="rows sessions">${rows}</ul>
<details class="more"><summary>Sign out everywhere</summary>
${openForm(request, parts, '/account')}
<p class="quietly">Ends your sessions in this browser, in every other browser, and in the sign-in pages of your assistants.</p>
<div class="choice"><input type="checkbox" id="disconnect" name="disconnect" value="yes"><label for="disconnect">Also disconnect my assistants</label><small>They lose access immediately. To use one again, connect it again.</small></div>
<button class="danger slim" name="action" value="sign-out-everywhere">Sign out everywhere</button>
</form></details></section>`;
}

function sessionRow(session: ListedSession, caller: Caller, request: SignedInRequest, parts: Parts): Html {
  const { name, browser, address, createdAt, seenAt, current } = session;
  const browserText = describeBrowser(browser);
  const used = current ? 'in use now' : `used ${describeWait(parts.clock.now() - seenAt)} ago`;
  const end = current
    ? html`<span class="badge">This browser</span>`
    : html`${openForm(request, parts, '/account')}<input type="hidden" name="session" value="${name}"><button class="plain slim" name="action" value="end" aria-label="End the session in ${browserText}, ${used}">End</button></form>`;
  return html`<li><div><b>${browserText}</b><span>${address && html`${address} · `}${used}</span><span>Signed in ${showTime(createdAt, caller.timezone)}</span></div>${end}</li>`;
}

type Change = (request: SignedInRequest, parts: Parts) => Promise<Answer>;

const changes: Readonly<Record<string, Change>> = {
  profile: changeProfile,
  mail: changeMail,
  password: changePassword,
  codes: renewCodes,
  'totp-off': switchOff,
  end: endSession,
  'sign-out-everywhere': signOutEverywhere,
};

export async function changeAccount(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form } = request;
  // Password managers submit the form without the value of its button.
  const action = form.get('action') ?? (form.has('new') ? 'password' : '');
  const change = Object.hasOwn(changes, action) ? changes[action] : undefined;
  if (!change) fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons on the page.' });
  return change(request, parts);
}

async function changeProfile(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form, access } = request;
  const readField = (name: string) => form.get(name) ?? '';
  const profile = {
    firstName: readField('firstName'),
    lastName: readField('lastName'),
    timezone: readField('timezone'),
  };
  await parts.store.identity.setProfile(access.caller.id, profile);
  return { to: '/account?done=profile' };
}

async function changeMail({ form, access }: SignedInRequest, parts: Parts): Promise<Answer> {
  if (parts.mailer !== null) await parts.store.waitingMails.setOn(access.caller.id, form.get('waiting') === 'yes');
  return { to: '/account?done=mail' };
}

async function changePassword(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { caller } = request.access;
  const showProblem = (text: string) => accountPage(request, parts, { section: 'password', text });
  const chosen = readNewPassword(request.form);
  if (chosen.problem) return showProblem(chosen.problem);
  return runConfirmed(request, parts, 'password', async () => {
    const problem = await parts.store.identity
      .setPassword(caller.id, chosen.password, caller.id)
      .then(() => undefined, passwordProblem);
    if (problem) return showProblem(problem);
    reportSecurity(request, parts, 'password.changed');
    // The change ended all sessions, so start a new one for this browser.
    const begun = {
      userId: caller.id,
      issuer: null,
      browser: request.browser,
      address: request.address,
      since: parts.clock.now(),
    };
    const device = await parts.signIn.trustBrowser(caller.email);
    return {
      to: '/account?done=password',
      cookies: await parts.sessions.begin(request.visitor, { ...begun, device }),
    };
  });
}

function renewCodes(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return runConfirmed(request, parts, 'codes', async () => {
    const { id } = request.access.caller;
    if (!(await parts.store.secondFactors.of(id))) return { to: '/account' };
    reportSecurity(request, parts, 'totp.codes');
    return showCodes(await parts.store.secondFactors.renewRecoveryCodes(id), request, parts);
  });
}

/** The recovery codes are shown only once. */
export function showCodes(codes: readonly string[], request: SignedInRequest, parts: Parts): Answer {
  const content = recoveryCodes(codes, parts.paths.path('/account'), 'Done');
  return { page: createFramedPage(request, parts, { title: 'Your recovery codes', under, content }) };
}

async function switchOff(request: SignedInRequest, parts: Parts): Promise<Answer> {
  if (parts.config.secondFactor === 'required') return { to: '/account' };
  return runConfirmed(request, parts, 'totp-off', async () => {
    const { id } = request.access.caller;
    await parts.store.secondFactors.switchOff(id, id);
    reportSecurity(request, parts, 'totp.off');
    return { to: '/account?done=totp-off' };
  });
}

async function endSession(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { id } = request.access.caller;
  const ended = await parts.store.sessions.endListed(id, request.form.get('session') ?? '', id);
  if (ended) reportSecurity(request, parts, 'sessions.ended');
  return { to: '/account?done=session' };
}

async function signOutEverywhere(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { id } = request.access.caller;
  const grants = request.form.get('disconnect') !== null;
  await parts.store.sessions.endAll(id, { grants, by: id });
  reportSecurity(request, parts, 'sessions.ended', grants ? 'everywhere, and assistants' : 'everywhere');
  return { to: '/sign-in', cookies: await parts.sessions.end(request.visitor) };
}

/** OWASP ASVS 3.7.1: requires the password before a sensitive change, and counts failed attempts. */
async function runConfirmed(
  request: SignedInRequest,
  parts: Parts,
  section: Problem['section'],
  run: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await confirmPassword(request, parts);
  if (answer.state === 'ok') return run();
  if (answer.state === 'throttled') return throttledAnswer(answer.retryAfterSeconds, 'try again.');
  return accountPage(request, parts, { section, text: wrongCurrentPassword });
}

export const wrongCurrentPassword = 'The current password is wrong.';

/** `withCode`: also requires a code from the authenticator app. */
export async function confirmPassword(
  request: SignedInRequest,
  parts: Parts,
  withCode = false,
): Promise<ConfirmAnswer> {
  const { form, access } = request;
  const code = withCode ? readCode(form).code : undefined;
  const answer = await parts.signIn.confirm(access.caller, form.get('password') ?? '', code);
  if (answer.state !== 'ok') reportSecurity(request, parts, `confirm.${answer.state}`);
  return answer;
}

export function reportSecurity(request: SignedInRequest, { observe }: Parts, event: string, detail?: string): void {
  const { address, access } = request;
  observe({ type: 'security', event, address, userId: access.caller.id, ...(detail !== undefined && { detail }) });
}
