// One person: their data, and the account actions of an administrator.
import { permissionLevels } from '../../../core/caller.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { findConnections } from '../../../oauth/consent/connection.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { facts } from '../../ui/data.ts';
import { areaField, buttonTo, checkField, field, type Option, openForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { namesOf, personPage, rolePage, teamPage } from '../rights/places.ts';
import { mailChoice } from './link.ts';
import { nameOf, stateBadge, stateOf, under } from './list.ts';
import { type ProvidedField, type Provider, providerOf } from './provider.ts';

/** Error of one form on the page, which is shown again with the typed values. */
export interface Problem {
  readonly section: 'rights' | 'profile' | 'tags';
  readonly text: string;
  readonly status: 400 | 409;
}

const done: Readonly<Record<string, string>> = {
  saved: 'Saved. It takes effect immediately.',
  same: 'No change was needed.',
  disabled: 'Disabled. All sessions ended, and every assistant is refused immediately.',
  enabled: 'Enabled. Earlier sessions have ended. Connected assistants work again.',
  'signed-out': 'Signed out everywhere.',
  disconnected: 'Signed out everywhere, and every assistant is disconnected.',
  'totp-off': 'The authenticator app is off. The password is now enough to sign in.',
};

export async function requirePerson({
  id,
  request,
  parts,
}: {
  id: string;
  request: SignedInRequest;
  parts: Parts;
}): Promise<User> {
  const user = /^\d{1,15}$/.test(id) ? await parts.store.identity.findUser(Number(id)) : undefined;
  return user ?? fail('NOT_FOUND', { path: parts.paths.path(`${under}/${request.id}`) });
}

export async function showPerson(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const user = await requirePerson({ id: request.id, request, parts });
  return personAnswer(user, request, parts);
}

export async function personAnswer(
  user: User,
  request: SignedInRequest,
  parts: Parts,
  problem?: Problem,
): Promise<Answer> {
  const [provider, shown, rights] = await Promise.all([
    providerOf(user, parts),
    factsOf(user, request, parts),
    parts.store.rights.read(),
  ]);
  const isSelf = user.id === request.access.caller.id;
  const choices = { teams: namesOf(rights, 'team'), roles: namesOf(rights, 'role') };
  const content = html`<div class="headed"><h1>${nameOf(user)}</h1>${stateBadge(stateOf(user, parts))}</div>
${flash(done, request.query)}
${shown}
${provider.name !== '' && html`<p class="warning">${describeProvider(provider)}</p>`}
${rightsSection(user, request, parts, { provider, choices, problem, isSelf })}
${profileSection(user, request, parts, provider, problem)}
${tagsSection(user, request, parts, provider, problem)}
${accountSection(user, request, parts, isSelf)}`;
  const title = problem ? `Error: ${nameOf(user)}` : nameOf(user);
  const page = createFramedPage(request, parts, { title, under, content });
  return { page, ...(problem && { status: problem.status }) };
}

const fieldWords: Readonly<Record<ProvidedField, string>> = {
  names: 'names',
  team: 'team',
  role: 'role',
  level: 'level',
};

function describeProvider({ name, providedFields, tags, maybe }: Provider): string {
  if (maybe) return `Signs in with ${name}. Every sign-in replaces the settings here with its values.`;
  const provided = [
    ...[...providedFields].map((one) => fieldWords[one]),
    ...(tags.length > 0 ? [`the tags ${tags.join(', ')}`] : []),
  ];
  return `Signs in with ${name}, which manages ${provided.join(', ')}. Change that there.`;
}

/** Second factor, sessions, connections and tokens of the user. */
async function factsOf(
  user: User,
  request: SignedInRequest,
  { store, clock, paths, loginMethods }: Parts,
): Promise<Html> {
  const [factor, sessions, connections, everyToken] = await Promise.all([
    store.secondFactors.of(user.id),
    store.sessions.list(user.id),
    findConnections(store, { userId: user.id, limit: 500 }),
    store.tokens.list(),
  ]);
  const tokens = everyToken.filter(({ userId }) => userId === user.id);
  const last = Math.max(0, ...[...connections, ...tokens].map(({ lastUsedAt }) => lastUsedAt ?? 0));
  const { timezone } = request.access.caller;
  const apps = paths.path(`/apps/everyone?user=${encodeURIComponent(user.email)}`);
  return facts([
    ['E-mail', user.email],
    ['Team', html`<a href="${paths.path(teamPage(user.team))}">${user.team}</a>`],
    ['Role', html`<a href="${paths.path(rolePage(user.role))}">${user.role}</a>`],
    ['Level', user.level],
    [
      'Second factor',
      factor
        ? html`Authenticator app<small>since ${showTime(factor.since, timezone)}, ${factor.recoveryCodes} recovery codes left</small>`
        : loginMethods.passwords && 'No authenticator app',
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
  ({ form }: SignedInRequest, problem: Problem | undefined, section: Problem['section']) =>
  (name: string, is: string): string =>
    problem?.section === section ? (form.get(name) ?? is) : is;

const note = (problem: Problem | undefined, section: Problem['section']) =>
  problem?.section === section && html`<p class="alert" role="alert">${problem.text}</p>`;

function rightsSection(
  user: User,
  request: SignedInRequest,
  parts: Parts,
  options: {
    readonly provider: Provider;
    readonly choices: { readonly teams: readonly string[]; readonly roles: readonly string[] };
    readonly problem: Problem | undefined;
    readonly isSelf: boolean;
  },
): Html {
  const { provider, choices, problem, isSelf } = options;
  const is = typed(request, problem, 'rights');
  const choose = (id: 'team' | 'role' | 'level', label: string, values: readonly string[], hint: string) => {
    if (provider.providedFields.has(id))
      return html`<div class="field fixed"><b>${label}</b><span>${user[id]}</span><small>managed by ${provider.name}</small></div>`;
    return selectField({ id, label, value: is(id, user[id]), hint, options: values.map((one): Option => [one, one]) });
  };
  return html`<section aria-labelledby="rights"><h2 class="plainly" id="rights">Permissions</h2>${note(problem, 'rights')}
${openForm(request, parts, personPage(user.id))}<div class="trio">
${choose('team', 'Team', choices.teams, 'Decides which records are visible.')}
${choose('role', 'Role', choices.roles, 'Decides what is allowed with them.')}
${isSelf ? html`<div class="field fixed"><b>Level</b><span>${user.level}</span><small>Ask another administrator to change your level.</small></div>` : choose('level', 'Level', permissionLevels, 'Admins manage people and permissions.')}
</div><button class="primary slim" name="action" value="rights">Save</button></form></section>`;
}

function profileSection(
  user: User,
  request: SignedInRequest,
  parts: Parts,
  { providedFields, name }: Provider,
  problem: Problem | undefined,
): Html {
  const is = typed(request, problem, 'profile');
  const names = providedFields.has('names')
    ? html`<div class="field fixed"><b>Name</b><span>${nameOf(user)}</span><small>managed by ${name}</small></div>`
    : html`<div class="two">${field({ id: 'firstName', label: 'First name', value: is('firstName', user.firstName), maxLength: 191 })}
${field({ id: 'lastName', label: 'Last name', value: is('lastName', user.lastName), maxLength: 191 })}</div>`;
  const zones = [...new Set(['UTC', user.timezone, ...Intl.supportedValuesOf('timeZone')])].sort();
  return html`<section aria-labelledby="profile"><h2 class="plainly" id="profile">Profile</h2>${note(problem, 'profile')}
${openForm(request, parts, personPage(user.id))}${names}
${selectField({ id: 'timezone', label: 'Time zone', value: is('timezone', user.timezone), options: zones.map((one): Option => [one, one]) })}
<button class="plain slim" name="action" value="profile">Save</button></form></section>`;
}

function tagsSection(
  user: User,
  request: SignedInRequest,
  parts: Parts,
  { tags, name }: Provider,
  problem: Problem | undefined,
): Html {
  const line = ([key, value]: readonly [string, string]) => `${key}=${value}`;
  const isProvided = ([key]: readonly [string, string]) => tags.includes(key);
  const all = Object.entries(user.tags);
  const providedTags = all.filter(isProvided);
  const own = all
    .filter((tag) => !isProvided(tag))
    .map(line)
    .join('\n');
  return html`<section aria-labelledby="tags-title"><h2 class="plainly" id="tags-title">Tags</h2>
${providedTags.length > 0 && html`<p class="quietly">Managed by ${name}: ${providedTags.map(line).join(', ')}</p>`}
${openForm(request, parts, personPage(user.id))}
${areaField({
  id: 'tags',
  label: 'One per line, as key=value',
  value: typed(request, problem, 'tags')('tags', own),
  rows: Math.max(3, Math.min(10, all.length + 1)),
  maxLength: 20_000,
  problem: problem?.section === 'tags' ? problem.text : undefined,
  hint: html`For row scopes: <code>region=south</code> is <code>{{currentUser.tags.region}}</code> there.`,
})}
<button class="plain slim" name="action" value="tags">Save</button></form></section>`;
}

function accountSection(user: User, request: SignedInRequest, parts: Parts, isSelf: boolean): Html {
  const page = personPage(user.id);
  const invited = !user.hasPassword;
  const link = invited ? 'invitation' : 'password reset link';
  return html`<section aria-labelledby="account"><h2 class="plainly" id="account">Account</h2>
${
  parts.loginMethods.passwords &&
  !user.disabled &&
  html`<details class="more"><summary>Create ${invited ? 'an' : 'a'} ${link}</summary>
<p class="quietly">The link is shown once and works once. Earlier links stop working.${!invited && ' The current password works until a new one is set.'}</p>
${openForm(request, parts, page)}${mailChoice(parts)}<button class="plain slim" name="action" value="link">Create link</button></form></details>`
}
<details class="more"><summary>Sign out everywhere</summary>
${openForm(request, parts, page)}${checkField({ id: 'assistants', name: 'assistants', label: 'Also disconnect every assistant', hint: 'Each must ask for access again.' })}
<button class="plain slim" name="action" value="end-sessions">Sign out</button></form></details>
${
  !isSelf &&
  parts.loginMethods.passwords &&
  html`<details class="more"><summary>Authenticator app lost</summary>
<p class="quietly">After this the password alone is enough. Verify who is asking.</p>
${buttonTo(request, parts, { page, action: 'totp-off', text: 'Turn off' })}</details>`
}
${isSelf && html`<p class="quietly">Only another administrator can disable your account. <a href="${parts.paths.path('/account')}">Password and authenticator app</a></p>`}
${
  !isSelf &&
  (user.disabled
    ? buttonTo(request, parts, { page, action: 'enable', text: 'Enable', label: `Enable ${user.email}` })
    : html`<details class="more"><summary>Disable</summary><p class="quietly">Ends all sessions. Assistants and tokens are refused until you enable the account again. No data is deleted.</p>
${buttonTo(request, parts, { page, action: 'disable', text: 'Disable', label: `Disable ${user.email}`, kind: 'danger' })}</details>`)
}
${
  !isSelf &&
  html`<details class="more"><summary>Delete</summary><p class="quietly">Deletes the account, sessions, connections, tokens and waiting approvals, and ends workflow runs. Logs and notes keep “user ${user.id}” instead of the name. This cannot be undone.</p>
${openForm(request, parts, page)}${field({ id: 'confirm', label: `Type ${user.email} to confirm`, value: '', maxLength: 254, required: true })}
<button class="danger slim" name="action" value="delete">Delete</button></form></details>`
}</section>`;
}
