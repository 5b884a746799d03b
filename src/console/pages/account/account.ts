// The user's own account: name, password, authenticator app and signed-in browsers. Changes to sign-in credentials
// require the password, so access to an open browser is not enough to take over the account.

import type { Caller } from '../../../core/caller.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ConfirmAnswer } from '../../../oauth/login/sign-in.ts';
import { readCode } from '../../../oauth/login/sign-in-form.ts';
import type { ListedSession } from '../../../store/sessions/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { formOf } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { toWait } from '../sign-in.ts';
import { describeBrowser } from './browsers.ts';
import { newPasswordFields, passwordProblem, readNewPassword } from './new-password.ts';

export const title = 'Account';
export const under = '/account';

/** The section with the error, which the page expands. */
interface Problem {
  readonly section: 'profile' | 'password' | 'totp-off' | 'codes';
  readonly text: string;
}

const doneTexts: Readonly<Record<string, string>> = {
  profile: 'Saved.',
  password: 'Your password is changed. You are signed out everywhere but here. Assistants stay connected.',
  'totp-off': 'The authenticator app is switched off. Your password alone signs you in.',
  session: 'That session has ended.',
};

export function showAccount(visit: MemberVisit, parts: Parts): Promise<Answer> {
  return accountPage(visit, parts);
}

async function accountPage(visit: MemberVisit, parts: Parts, problem?: Problem): Promise<Answer> {
  const { caller } = visit.access;
  const { store } = parts;
  const [user, factor, sessions] = await Promise.all([
    store.identity.findUser(caller.id),
    store.secondFactors.of(caller.id),
    store.sessions.list(caller.id, visit.visitor.session?.id),
  ]);
  const usesPassword = user?.hasPassword && parts.ways.passwords;
  const done = problem ? undefined : doneTexts[visit.query.get('done') ?? ''];
  const content = html`<h1>Account</h1>
${done && html`<p class="done" role="status">${done}</p>`}
<p class="lead">${caller.email} · ${caller.team} · ${caller.role}</p>
${profileSection(caller, visit, parts, problem)}
${usesPassword && passwordSection(caller, visit, parts, problem)}
${usesPassword && factorSection(factor, visit, parts, problem)}
${sessionsSection(sessions, caller, visit, parts)}`;
  const page = createFramed(visit, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page, ...(problem && { status: 400 }) };
}

const noteOf = (section: Problem['section'], problem: Problem | undefined, id: string) =>
  problem?.section === section && html`<p class="note" id="${id}" role="alert">${problem.text}</p>`;

function profileSection(caller: Caller, visit: MemberVisit, parts: Parts, problem?: Problem): Html {
  const field = (id: string, name: string, label: string, value: string, autocomplete: string) =>
    html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${name}" type="text" autocomplete="${autocomplete}" maxlength="191" value="${value}"></div>`;
  const zones = [...new Set(['UTC', caller.timezone, ...Intl.supportedValuesOf('timeZone')])].sort();
  return html`<section aria-labelledby="you"><h2 class="plainly" id="you">You</h2>
${formOf(visit, parts, '/account')}
<div class="two">${field('first', 'firstName', 'First name', caller.firstName, 'given-name')}
${field('last', 'lastName', 'Last name', caller.lastName, 'family-name')}</div>
<div class="field"><label for="timezone">Time zone</label><select id="timezone" name="timezone">${zones.map((zone) => html`<option${zone === caller.timezone && html` selected`}>${zone}</option>`)}</select>
${noteOf('profile', problem, 'profile-note')}</div>
<button class="plain slim" name="action" value="profile">Save</button>
</form></section>`;
}

const currentPassword = (id: string) =>
  html`<div class="field"><label for="${id}">Your password</label><input id="${id}" name="password" type="password" autocomplete="current-password" required maxlength="1024"></div>`;

function passwordSection(caller: Caller, visit: MemberVisit, parts: Parts, problem?: Problem): Html {
  const mine = problem?.section === 'password' ? problem : undefined;
  return html`<section aria-labelledby="password-title"><h2 class="plainly" id="password-title">Password</h2>
<details class="more"${mine && html` open`}><summary>Change the password</summary>
${formOf(visit, parts, '/account')}
<div class="field"><label for="old">Present password</label><input id="old" name="password" type="password" autocomplete="current-password" required maxlength="1024"></div>
${newPasswordFields(caller.email, mine?.text)}
<button class="primary slim" name="action" value="password">Change the password</button>
</form></details></section>`;
}

function factorSection(
  factor: { readonly since: number; readonly recoveryCodes: number } | undefined,
  visit: MemberVisit,
  parts: Parts,
  problem?: Problem,
): Html {
  const { paths } = parts;
  const opened = (section: Problem['section']) => problem?.section === section && html` open`;
  const content = factor
    ? html`<p class="state"><span><b>On</b>since ${showTime(factor.since, visit.access.caller.timezone)}. ${factor.recoveryCodes} recovery ${factor.recoveryCodes === 1 ? 'code is' : 'codes are'} left.</span></p>
<details class="more"${opened('codes')}><summary>Make new recovery codes</summary>
${formOf(visit, parts, '/account')}<p class="quietly">The codes that you have stop working.</p>
${currentPassword('codes-password')}${noteOf('codes', problem, 'codes-note')}
<button class="plain slim" name="action" value="codes">Make new codes</button></form></details>
<details class="more"${opened('totp-off')}><summary>Switch it off</summary>
${formOf(visit, parts, '/account')}
${currentPassword('off-password')}${noteOf('totp-off', problem, 'off-note')}
<button class="danger slim" name="action" value="totp-off">Switch it off</button></form></details>`
    : html`<p class="quietly">With an app that shows codes, your password alone opens nothing to somebody else.</p>
<p><a class="button plain slim" href="${paths.path('/account/app')}">Set up an app</a></p>`;
  return html`<section aria-labelledby="app-title"><h2 class="plainly" id="app-title">Authenticator app</h2>${content}</section>`;
}

function sessionsSection(sessions: readonly ListedSession[], caller: Caller, visit: MemberVisit, parts: Parts): Html {
  const rows = sessions.map((session) => sessionRow(session, caller, visit, parts));
  return html`<section aria-labelledby="sessions-title"><h2 class="plainly" id="sessions-title">Where you are signed in</h2>
<ul class="rows sessions">${rows}</ul>
<details class="more"><summary>Sign out everywhere</summary>
${formOf(visit, parts, '/account')}
<p class="quietly">Here, in every other browser, and where you connected assistants.</p>
<div class="choice"><input type="checkbox" id="disconnect" name="disconnect" value="yes"><label for="disconnect">Also disconnect my assistants</label><small>They stop at once. To use one again you connect it again.</small></div>
<button class="danger slim" name="action" value="sign-out-everywhere">Sign out everywhere</button>
</form></details></section>`;
}

function sessionRow(session: ListedSession, caller: Caller, visit: MemberVisit, parts: Parts): Html {
  const { name, browser, address, createdAt, seenAt, current } = session;
  const said = describeBrowser(browser);
  const used = current ? 'in use now' : `used ${describeWait(parts.clock.now() - seenAt)} ago`;
  const end = current
    ? html`<span class="badge">This browser</span>`
    : html`${formOf(visit, parts, '/account')}<input type="hidden" name="session" value="${name}"><button class="plain slim" name="action" value="end" aria-label="End the session in ${said}, ${used}">End</button></form>`;
  return html`<li><div><b>${said}</b><span>${address && html`${address} · `}${used}</span><span>Signed in ${showTime(createdAt, caller.timezone)}</span></div>${end}</li>`;
}

type Change = (visit: MemberVisit, parts: Parts) => Promise<Answer>;

const changes: Readonly<Record<string, Change>> = {
  profile: changeProfile,
  password: changePassword,
  codes: renewCodes,
  'totp-off': switchOff,
  end: endSession,
  'sign-out-everywhere': signOutEverywhere,
};

export async function changeAccount(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { form } = visit;
  // Password managers submit the form without the value of its button.
  const action = form.get('action') ?? (form.has('new') ? 'password' : '');
  const change = Object.hasOwn(changes, action) ? changes[action] : undefined;
  if (!change) fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons of the page.' });
  return change(visit, parts);
}

async function changeProfile(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { form, access } = visit;
  const given = (name: string) => form.get(name) ?? '';
  const profile = { firstName: given('firstName'), lastName: given('lastName'), timezone: given('timezone') };
  await parts.store.identity.setProfile(access.caller.id, profile);
  return { to: '/account?done=profile' };
}

async function changePassword(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { caller } = visit.access;
  const again = (text: string) => accountPage(visit, parts, { section: 'password', text });
  const chosen = readNewPassword(visit.form);
  if (chosen.problem) return again(chosen.problem);
  return confirmed(visit, parts, 'password', async () => {
    const problem = await parts.store.identity
      .setPassword(caller.id, chosen.password, caller.id)
      .then(() => undefined, passwordProblem);
    if (problem) return again(problem);
    tell(visit, parts, 'password.changed');
    // The change ended all sessions, so start a new one for this browser.
    const begun = {
      userId: caller.id,
      issuer: null,
      browser: visit.browser,
      address: visit.address,
      since: parts.clock.now(),
    };
    const device = await parts.signIn.introduce(caller.email);
    return {
      to: '/account?done=password',
      cookies: await parts.sessions.begin(visit.visitor, { ...begun, device }),
    };
  });
}

function renewCodes(visit: MemberVisit, parts: Parts): Promise<Answer> {
  return confirmed(visit, parts, 'codes', async () => {
    const { id } = visit.access.caller;
    if (!(await parts.store.secondFactors.of(id))) return { to: '/account' };
    tell(visit, parts, 'totp.codes');
    return showCodes(await parts.store.secondFactors.renewRecoveryCodes(id), visit, parts);
  });
}

/** The recovery codes are shown only once. */
export function showCodes(codes: readonly string[], visit: MemberVisit, parts: Parts): Answer {
  const content = html`<h1>Your recovery codes</h1>
<p class="lead">Each signs you in once, in place of a code of the app. Keep them where you will find them without your phone: they are not shown again.</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a class="button primary slim" href="${parts.paths.path('/account')}">I have kept them</a></p>`;
  return { page: createFramed(visit, parts, { title: 'Your recovery codes', under, content }) };
}

function switchOff(visit: MemberVisit, parts: Parts): Promise<Answer> {
  return confirmed(visit, parts, 'totp-off', async () => {
    const { id } = visit.access.caller;
    await parts.store.secondFactors.switchOff(id, id);
    tell(visit, parts, 'totp.off');
    return { to: '/account?done=totp-off' };
  });
}

async function endSession(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { id } = visit.access.caller;
  const ended = await parts.store.sessions.endListed(id, visit.form.get('session') ?? '', id);
  if (ended) tell(visit, parts, 'sessions.ended');
  return { to: '/account?done=session' };
}

async function signOutEverywhere(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { id } = visit.access.caller;
  const grants = visit.form.get('disconnect') !== null;
  await parts.store.sessions.endAll(id, { grants, by: id });
  tell(visit, parts, 'sessions.ended', grants ? 'everywhere, and assistants' : 'everywhere');
  return { to: '/sign-in', cookies: await parts.sessions.end(visit.visitor) };
}

/** OWASP ASVS 3.7.1: requires the password before a sensitive change, and counts failed attempts. */
export async function confirmed(
  visit: MemberVisit,
  parts: Parts,
  section: Problem['section'],
  run: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await confirmPassword(visit, parts);
  if (answer.state === 'ok') return run();
  if (answer.state === 'throttled') return toWait(answer.retryAfterSeconds, 'try again.');
  return accountPage(visit, parts, { section, text: wrongPresent });
}

export const wrongPresent = 'This is not your present password.';

/** `withCode`: also requires a code from the authenticator app. */
export async function confirmPassword(visit: MemberVisit, parts: Parts, withCode = false): Promise<ConfirmAnswer> {
  const { form, access } = visit;
  const code = withCode ? readCode(form).code : undefined;
  const answer = await parts.signIn.confirm(access.caller, form.get('password') ?? '', code);
  if (answer.state !== 'ok') tell(visit, parts, `confirm.${answer.state}`);
  return answer;
}

export function tell(visit: MemberVisit, { observe }: Parts, event: string, detail?: string): void {
  const { address, access } = visit;
  observe({ type: 'security', event, address, userId: access.caller.id, ...(detail !== undefined && { detail }) });
}
