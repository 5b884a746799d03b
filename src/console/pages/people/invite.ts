// Adding a user. With passwords enabled, the new user gets a one-time link to choose one. With an OpenID provider, the
// user record is enough.
import { type PermissionLevel, permissionLevels } from '../../../core/caller.ts';
import { isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import type { NewUser } from '../../../store/users/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { field, formOf, type Option, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { namesOf, personPage } from '../rights/places.ts';
import { linkAnswer } from './link.ts';
import { under } from './list.ts';

const page = '/people/new';
const title = 'Invite somebody';

export const showInvite = (visit: MemberVisit, parts: Parts): Promise<Answer> => invitePage(visit, parts);

interface Problem {
  readonly field: string;
  readonly text: string;
}

async function invitePage(visit: MemberVisit, parts: Parts, problem?: Problem): Promise<Answer> {
  const { paths, store, ways } = parts;
  const rights = await store.rights.read();
  const [teams, roles] = [namesOf(rights, 'team'), namesOf(rights, 'role')];
  const is = (name: string, otherwise = '') => visit.form.get(name) ?? otherwise;
  const of = (name: string) => ({ id: name, problem: problem?.field === name ? problem.text : undefined });
  const options = (names: readonly string[]) => names.map((one): Option => [one, one]);
  const usual = (names: readonly string[], name: string) => (names.includes(name) ? name : (names[0] ?? ''));
  const content = html`<p class="quietly"><a href="${paths.path(under)}">People</a></p><h1>${title}</h1>
<p class="lead">${ways.passwords ? 'You get a link to hand on; it lets the person choose a password.' : `People sign in through ${ways.sso?.name ?? 'your application'}. Whoever signs in there with this address gets these rights, where users are linked by their address.`}</p>
${formOf(visit, parts, page)}
${field({ ...of('email'), label: 'E-mail', type: 'email', value: is('email'), most: 254, required: true })}
<div class="two">${field({ ...of('firstName'), label: 'First name', value: is('firstName'), most: 191 })}
${field({ ...of('lastName'), label: 'Last name', value: is('lastName'), most: 191 })}</div>
<div class="trio">${selectField({ ...of('team'), label: 'Team', value: is('team', usual(teams, 'Operations')), options: options(teams), hint: 'Which records are seen' })}
${selectField({ ...of('role'), label: 'Role', value: is('role', usual(roles, 'Member')), options: options(roles), hint: 'What may be done with them' })}
${selectField({ ...of('level'), label: 'Level', value: is('level', 'user'), options: options(permissionLevels), hint: 'admin looks after people and rights' })}</div>
<button class="primary slim" name="action" value="invite">${ways.passwords ? 'Invite and make the link' : 'Add'}</button></form>`;
  const shown = createFramed(visit, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page: shown, ...(problem && { status: 400 }) };
}

export async function invite(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { store, ways } = parts;
  const text = (name: string) => visit.form.get(name) ?? '';
  const rights = await store.rights.read();
  // Require an existing name: the storage would create a team with no row scope.
  for (const kind of ['team', 'role'] as const) {
    if (!namesOf(rights, kind).includes(text(kind))) {
      return invitePage(visit, parts, { field: kind, text: `There is no ${kind} '${text(kind)}'.` });
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
    const added = await store.identity.addUser(user, visit.access.caller.id);
    return ways.passwords ? linkAnswer(added, visit, parts) : { to: `${personPage(added.id)}?done=saved` };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { argument, problem } = error.details;
    return invitePage(visit, parts, { field: argument, text: problem });
  }
}
