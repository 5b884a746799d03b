// The list of roles with their members, and a form for a new role, empty or copied from another.
import { verbs } from '../../../core/caller.ts';
import { type Html, html } from '../../../http/html.ts';
import type { CollectionPermission, Right } from '../../../store/permissions/types.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { table } from '../../ui/data.ts';
import { field, formOf, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { namesOf, rolePage } from '../rights/places.ts';
import { applyProposal, findNameProblem, propose, type Wanted } from '../rights/proposal.ts';
import { refusal } from '../rights/review.ts';

const under = '/roles';
const title = 'Roles';

export const listRoles = (visit: MemberVisit, parts: Parts): Promise<Answer> => rolesPage(visit, parts);

async function rolesPage(visit: MemberVisit, parts: Parts, problem?: string): Promise<Answer> {
  const { store, paths } = parts;
  const [rights, users] = await Promise.all([store.rights.read(), store.identity.listUsers()]);
  const { environment } = visit.place;
  const roles = namesOf(rights, 'role');
  const { form } = visit;
  const content = html`<h1>${title}</h1>
${flash({ saved: 'Saved. It holds from the next call on.' }, visit.query)}
<p class="lead">What people may do with each collection. Which records they see of it is said by their <a href="${paths.path('/teams')}">team</a>.</p>
${table({
  caption: 'Roles',
  heads: ['Role', 'People', `In ${environment}`],
  rows: roles.map((role) => [
    html`<a href="${paths.path(rolePage(role))}">${role}</a>`,
    countPeople(users.filter((user) => user.role === role)),
    describeRole(rights, role, environment),
  ]),
})}
<details class="more"${problem !== undefined && html` open`}><summary>Make a role</summary>
${formOf(visit, parts, under)}
${field({ id: 'name', label: 'Name', value: form.get('name') ?? '', most: 191, required: true, problem })}
${selectField({
  id: 'from',
  label: 'It may do',
  value: form.get('from') ?? '',
  options: [['', 'nothing yet'], ...roles.map((role) => [role, `the same as ${role}`] as const)],
})}
<button class="primary slim" name="action" value="make">Make it</button></form></details>
<p class="quietly spaced"><a href="${paths.path('/rights/file')}" download>All of it as a file</a> (YAML) for <code>portico roles push</code>.</p>`;
  const page = createFramed(visit, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page, ...(problem !== undefined && { status: 400 }) };
}

export function countPeople(users: readonly User[]): Html | string {
  const active = users.filter(({ disabled }) => !disabled).length;
  const disabled = users.length - active;
  return disabled > 0 ? html`${active}<small>and ${disabled} disabled</small>` : `${active}`;
}

/** `everything`, or the number of collections with permissions. */
export function describeRole(rights: readonly Right[], role: string, environment: string): string {
  const rows = rights.filter(({ kind, path }) => kind === 'permission' && path[0] === role && path[1] === environment);
  const permissionOf = ({ value }: Right) => value as CollectionPermission;
  const rest = rows.find(({ path }) => path[2] === '*');
  const own = rows.filter((row) => row !== rest);
  const may = own.filter((row) => verbs.some((verb) => permissionOf(row)[verb])).length;
  const ownText = own.length === 0 ? '' : `${may} of ${own.length} collections with a line of their own`;
  if (!rest) return ownText || 'nothing yet';
  const held = verbs.filter((verb) => permissionOf(rest)[verb]);
  const restText = held.length === verbs.length ? 'everything' : held.length === 0 ? 'nothing' : held.join(', ');
  return ownText ? `${restText}; ${ownText}` : restText;
}

export async function makeRole(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const name = (visit.form.get('name') ?? '').trim();
  const from = visit.form.get('from') ?? '';
  const rights = await parts.store.rights.read();
  const problem =
    findNameProblem(name) ?? (namesOf(rights, 'role').includes(name) ? 'There is a role of that name.' : undefined);
  if (problem) return rolesPage(visit, parts, problem);
  const copied = rights.flatMap(({ kind, path: [role, ...rest], value }): Wanted[] =>
    kind === 'permission' && role === from ? [{ kind, path: [name, ...rest], value }] : [],
  );
  const about = { kind: 'role', path: [name] } as const;
  const proposal = propose(rights, about, [{ ...about, value: name }, ...copied]);
  const applied = await applyProposal(parts.store, proposal, visit.access.caller.id);
  if (applied.state === 'done') return { to: `${rolePage(name)}?done=made` };
  const said = applied.state === 'refused' ? applied.problem : 'a role of that name was made meanwhile.';
  return refusal(visit, parts, { under, problem: said, back: under });
}
