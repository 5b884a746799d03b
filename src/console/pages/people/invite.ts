// Adds a user. With passwords enabled, the new user gets a one-time link to choose one. With an OpenID provider, the
// user record is enough.
import { type PermissionLevel, permissionLevels } from '../../../core/caller.ts';
import { isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import { listProviders } from '../../../oauth/login/login-methods.ts';
import type { NewUser } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { field, type Option, openForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { namesOf, personPage } from '../rights/places.ts';
import { linkAnswer, mailChoice } from './link.ts';
import { under } from './list.ts';

const page = '/people/new';
const title = 'Invite a person';

export const showInvite = (request: SignedInRequest, parts: Parts): Promise<Answer> => invitePage(request, parts);

interface Problem {
  readonly field: string;
  readonly text: string;
}

async function invitePage(request: SignedInRequest, parts: Parts, problem?: Problem): Promise<Answer> {
  const { store, loginMethods } = parts;
  const rights = await store.rights.read();
  const [teams, roles] = [namesOf(rights, 'team'), namesOf(rights, 'role')];
  const is = (name: string, otherwise = '') => request.form.get(name) ?? otherwise;
  const of = (name: string) => ({ id: name, problem: problem?.field === name ? problem.text : undefined });
  const options = (names: readonly string[]) => names.map((one): Option => [one, one]);
  const usual = (names: readonly string[], name: string) => (names.includes(name) ? name : (names[0] ?? ''));
  const content = html`<h1>${title}</h1>
<p class="lead">${loginMethods.passwords ? (parts.mailer ? 'The person gets a link to set a password: by mail, or from you.' : 'You get a link to send to the person, who uses it to set a password.') : `People sign in through ${listProviders(loginMethods.providers) || 'your application'}. The person who signs in there with this address gets these permissions, if users are linked by address.`}</p>
${openForm(request, parts, page)}
${field({ ...of('email'), label: 'E-mail', type: 'email', value: is('email'), maxLength: 254, required: true })}
<div class="two">${field({ ...of('firstName'), label: 'First name', value: is('firstName'), maxLength: 191 })}
${field({ ...of('lastName'), label: 'Last name', value: is('lastName'), maxLength: 191 })}</div>
<div class="trio">${selectField({ ...of('team'), label: 'Team', value: is('team', usual(teams, 'Operations')), options: options(teams), hint: 'Decides which records are visible.' })}
${selectField({ ...of('role'), label: 'Role', value: is('role', usual(roles, 'Member')), options: options(roles), hint: 'Decides what is allowed with them.' })}
${selectField({ ...of('level'), label: 'Level', value: is('level', 'user'), options: options(permissionLevels), hint: 'Admins manage people and permissions.' })}</div>
${loginMethods.passwords && mailChoice(parts)}
<button class="primary slim" name="action" value="invite">${loginMethods.passwords ? (parts.mailer ? 'Invite' : 'Invite and create link') : 'Add'}</button></form>`;
  const shown = createFramedPage(request, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page: shown, ...(problem && { status: 400 }) };
}

export async function invite(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { store, loginMethods } = parts;
  const text = (name: string) => request.form.get(name) ?? '';
  const rights = await store.rights.read();
  // Require an existing name: the storage would create a team with no row scope.
  for (const kind of ['team', 'role'] as const) {
    if (!namesOf(rights, kind).includes(text(kind))) {
      return invitePage(request, parts, { field: kind, text: `There is no ${kind} '${text(kind)}'.` });
    }
  }
  const user: NewUser = {
    email: text('email'),
    firstName: text('firstName'),
    lastName: text('lastName'),
    team: text('team'),
    role: text('role'),
    level: text('level') as PermissionLevel,
  };
  try {
    const added = await store.identity.addUser(user, request.access.caller.id);
    return loginMethods.passwords ? linkAnswer(added, request, parts) : { to: `${personPage(added.id)}?done=saved` };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { argument, problem } = error.details;
    return invitePage(request, parts, { field: argument, text: problem });
  }
}
