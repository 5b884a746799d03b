// One person: their data, and the account actions of an administrator.
import { permissionLevels } from '../../../core/caller.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { findConnections } from '../../../oauth/consent/connection.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { facts } from '../../ui/data.ts';
import { areaField, buttonTo, checkField, field, formOf, type Option, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { namesOf, personPage, rolePage, teamPage } from '../rights/places.ts';
import { nameOf, stateBadge, stateOf, under } from './list.ts';
import { type Provider, providerOf, type Said } from './provider.ts';

/** Error of one form on the page, which is shown again with the typed values. */
export interface Problem {
  readonly section: 'rights' | 'profile' | 'tags';
  readonly text: string;
  readonly status: 400 | 409;
}

const done: Readonly<Record<string, string>> = {
  saved: 'Saved. It holds from the next call on.',
  same: 'Nothing to change: all is so already.',
  disabled: 'Disabled: signed out everywhere, and every assistant is refused from the next call on.',
  enabled: 'Enabled. Sessions of before have ended; assistants that were connected work again.',
  'signed-out': 'Signed out everywhere.',
  disconnected: 'Signed out everywhere, and every assistant is disconnected.',
  'totp-off': 'The authenticator app is switched off: the password alone signs in.',
};

export async function requirePerson({
  id,
  visit,
  parts,
}: {
  id: string;
  visit: MemberVisit;
  parts: Parts;
}): Promise<User> {
  const user = /^\d{1,15}$/.test(id) ? await parts.store.identity.findUser(Number(id)) : undefined;
  return user ?? fail('NOT_FOUND', { path: parts.paths.path(`${under}/${visit.id}`) });
}

export async function showPerson(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const user = await requirePerson({ id: visit.id, visit, parts });
  return personAnswer(user, visit, parts);
}

export async function personAnswer(user: User, visit: MemberVisit, parts: Parts, problem?: Problem): Promise<Answer> {
  const [provider, shown, rights] = await Promise.all([
    providerOf(user, parts),
    factsOf(user, visit, parts),
    parts.store.rights.read(),
  ]);
  const isSelf = user.id === visit.access.caller.id;
  const choices = { teams: namesOf(rights, 'team'), roles: namesOf(rights, 'role') };
  const content = html`<p class="quietly"><a href="${parts.paths.path(under)}">People</a></p>
<div class="headed"><h1>${nameOf(user)}</h1>${stateBadge(stateOf(user, parts))}</div>
${flash(done, visit.query)}
${shown}
${provider.name !== '' && html`<p class="warning">${sayProvider(provider)}</p>`}
${rightsSection(user, visit, parts, { provider, choices, problem, isSelf })}
${profileSection(user, visit, parts, provider, problem)}
${tagsSection(user, visit, parts, provider, problem)}
${accountSection(user, visit, parts, isSelf)}`;
  const title = problem ? `Error: ${nameOf(user)}` : nameOf(user);
  const page = createFramed(visit, parts, { title, under, content });
  return { page, ...(problem && { status: problem.status }) };
}

const words: Readonly<Record<Said, string>> = { names: 'names', team: 'team', role: 'role', level: 'level' };

function sayProvider({ name, says, tags, maybe }: Provider): string {
  if (maybe) return `Comes in through ${name}. What it says is put in force by every sign-in, over what is set here.`;
  const said = [...[...says].map((one) => words[one]), ...(tags.length > 0 ? [`the tags ${tags.join(', ')}`] : [])];
  return `Comes in through ${name}, which says ${said.join(', ')} with every sign-in. Change that there.`;
}

/** Second factor, sessions, connections and tokens of the user. */
async function factsOf(user: User, visit: MemberVisit, { store, clock, paths, ways }: Parts): Promise<Html> {
  const [factor, sessions, connections, everyToken] = await Promise.all([
    store.secondFactors.of(user.id),
    store.sessions.list(user.id),
    findConnections(store, { userId: user.id, limit: 500 }),
    store.tokens.list(),
  ]);
  const tokens = everyToken.filter(({ userId }) => userId === user.id);
  const last = Math.max(0, ...[...connections, ...tokens].map(({ lastUsedAt }) => lastUsedAt ?? 0));
  const { timezone } = visit.access.caller;
  const apps = paths.path(`/apps/everyone?user=${encodeURIComponent(user.email)}`);
  return facts([
    ['E-mail', user.email],
    ['Team', html`<a href="${paths.path(teamPage(user.team))}">${user.team}</a>`],
    ['Role', html`<a href="${paths.path(rolePage(user.role))}">${user.role}</a>`],
    ['Level', user.level],
    [
      'Codes',
      factor
        ? html`Authenticator app<small>since ${showTime(factor.since, timezone)}, ${factor.recoveryCodes} recovery codes left</small>`
        : ways.passwords && 'No authenticator app',
    ],
    ['Sessions', `${sessions.length}`],
    ['Apps', connections.length === 0 ? 'none' : html`<a href="${apps}">${connections.length}</a>`],
    ['Tokens', tokens.length === 0 ? 'none' : `${tokens.length}`],
    [
      'Last call',
      last === 0 ? 'never' : html`${describeWait(clock.now() - last)} ago<small>${showTime(last, timezone)}</small>`,
    ],
  ]);
}

/** The typed value in the section with an error, else the stored value. */
const typed =
  ({ form }: MemberVisit, problem: Problem | undefined, section: Problem['section']) =>
  (name: string, is: string): string =>
    problem?.section === section ? (form.get(name) ?? is) : is;

const note = (problem: Problem | undefined, section: Problem['section']) =>
  problem?.section === section && html`<p class="alert" role="alert">${problem.text}</p>`;

function rightsSection(
  user: User,
  visit: MemberVisit,
  parts: Parts,
  given: {
    readonly provider: Provider;
    readonly choices: { readonly teams: readonly string[]; readonly roles: readonly string[] };
    readonly problem: Problem | undefined;
    readonly isSelf: boolean;
  },
): Html {
  const { provider, choices, problem, isSelf } = given;
  const is = typed(visit, problem, 'rights');
  const choose = (id: 'team' | 'role' | 'level', label: string, values: readonly string[], hint: string) => {
    if (provider.says.has(id))
      return html`<div class="field fixed"><b>${label}</b><span>${user[id]}</span><small>as ${provider.name} says</small></div>`;
    return selectField({ id, label, value: is(id, user[id]), hint, options: values.map((one): Option => [one, one]) });
  };
  return html`<section aria-labelledby="rights"><h2 class="plainly" id="rights">What ${isSelf ? 'you' : 'the person'} may do</h2>${note(problem, 'rights')}
${formOf(visit, parts, personPage(user.id))}<div class="trio">
${choose('team', 'Team', choices.teams, 'Which records are seen')}
${choose('role', 'Role', choices.roles, 'What may be done with them')}
${isSelf ? html`<div class="field fixed"><b>Level</b><span>${user.level}</span><small>Your own is changed by another administrator.</small></div>` : choose('level', 'Level', permissionLevels, 'admin looks after people and rights')}
</div><button class="primary slim" name="action" value="rights">Save</button></form></section>`;
}

function profileSection(
  user: User,
  visit: MemberVisit,
  parts: Parts,
  { says, name }: Provider,
  problem: Problem | undefined,
): Html {
  const is = typed(visit, problem, 'profile');
  const names = says.has('names')
    ? html`<div class="field fixed"><b>Name</b><span>${nameOf(user)}</span><small>as ${name} says</small></div>`
    : html`<div class="two">${field({ id: 'firstName', label: 'First name', value: is('firstName', user.firstName), most: 191 })}
${field({ id: 'lastName', label: 'Last name', value: is('lastName', user.lastName), most: 191 })}</div>`;
  const zones = [...new Set(['UTC', user.timezone, ...Intl.supportedValuesOf('timeZone')])].sort();
  return html`<section aria-labelledby="profile"><h2 class="plainly" id="profile">Profile</h2>${note(problem, 'profile')}
${formOf(visit, parts, personPage(user.id))}${names}
${selectField({ id: 'timezone', label: 'Time zone', value: is('timezone', user.timezone), options: zones.map((one): Option => [one, one]) })}
<button class="plain slim" name="action" value="profile">Save</button></form></section>`;
}

function tagsSection(
  user: User,
  visit: MemberVisit,
  parts: Parts,
  { tags, name }: Provider,
  problem: Problem | undefined,
): Html {
  const line = ([key, value]: readonly [string, string]) => `${key}=${value}`;
  const isSaid = ([key]: readonly [string, string]) => tags.includes(key);
  const all = Object.entries(user.tags);
  const said = all.filter(isSaid);
  const own = all
    .filter((tag) => !isSaid(tag))
    .map(line)
    .join('\n');
  return html`<section aria-labelledby="tags-title"><h2 class="plainly" id="tags-title">Tags</h2>
${said.length > 0 && html`<p class="quietly">As ${name} says: ${said.map(line).join(', ')}</p>`}
${formOf(visit, parts, personPage(user.id))}
${areaField({
  id: 'tags',
  label: 'One a line, as key=value',
  value: typed(visit, problem, 'tags')('tags', own),
  rows: Math.max(3, Math.min(10, all.length + 1)),
  most: 20_000,
  problem: problem?.section === 'tags' ? problem.text : undefined,
  hint: html`For row scopes: <code>region=south</code> is <code>{{currentUser.tags.region}}</code> there.`,
})}
<button class="plain slim" name="action" value="tags">Save</button></form></section>`;
}

function accountSection(user: User, visit: MemberVisit, parts: Parts, isSelf: boolean): Html {
  const page = personPage(user.id);
  const invited = !user.hasPassword;
  const link = invited ? 'invitation' : 'link for a new password';
  return html`<section aria-labelledby="account"><h2 class="plainly" id="account">Account</h2>
${
  parts.ways.passwords &&
  !user.disabled &&
  html`<details class="more"><summary>Make ${invited ? 'an' : 'a'} ${link}</summary>
<p class="quietly">It is shown to you once, for you to hand on; it works once. Links of before open nothing any more.${!invited && ' The present password works until another is chosen.'}</p>
${buttonTo(visit, parts, { page, action: 'link', text: 'Make the link' })}</details>`
}
<details class="more"><summary>Sign out everywhere</summary>
${formOf(visit, parts, page)}${checkField({ id: 'assistants', name: 'assistants', label: 'Also disconnect every assistant', hint: 'Each has to ask again.' })}
<button class="plain slim" name="action" value="end-sessions">Sign out</button></form></details>
${
  !isSelf &&
  parts.ways.passwords &&
  html`<details class="more"><summary>Authenticator app lost</summary>
<p class="quietly">Switched off, the password alone signs in. Be sure who asks for it.</p>
${buttonTo(visit, parts, { page, action: 'totp-off', text: 'Switch it off' })}</details>`
}
${isSelf && html`<p class="quietly">Your own account cannot be disabled here: another administrator can. <a href="${parts.paths.path('/account')}">Password and authenticator app</a></p>`}
${
  !isSelf &&
  (user.disabled
    ? buttonTo(visit, parts, { page, action: 'enable', text: 'Enable', label: `Enable ${user.email}` })
    : html`<details class="more"><summary>Disable</summary><p class="quietly">Signed out everywhere, and assistants and tokens are refused from the next call on, until enabled again. Nothing is deleted.</p>
${buttonTo(visit, parts, { page, action: 'disable', text: 'Disable', label: `Disable ${user.email}`, kind: 'danger' })}</details>`)
}</section>`;
}
