// The list of roles with their members, and a form for a new role, empty or copied from another.
import { verbs } from '../../../core/caller.ts';
import { type Html, html } from '../../../http/html.ts';
import type { CollectionPermission, Right } from '../../../store/permissions/types.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { table } from '../../ui/data.ts';
import { field, openForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { namesOf, rolePage } from '../rights/places.ts';
import { applyProposal, findNameProblem, type ProposedRight, propose } from '../rights/proposal.ts';
import { refusal } from '../rights/review.ts';

const under = '/roles';
const title = 'Roles';

export const listRoles = (request: SignedInRequest, parts: Parts): Promise<Answer> => rolesPage(request, parts);

async function rolesPage(request: SignedInRequest, parts: Parts, problem?: string): Promise<Answer> {
  const { store, paths } = parts;
  const [rights, users] = await Promise.all([store.rights.read(), store.identity.listUsers()]);
  const { environment } = request.place;
  const roles = namesOf(rights, 'role');
  const { form } = request;
  const content = html`<h1>${title}</h1>
${flash({ saved: 'Saved. It takes effect immediately.' }, request.query)}
<p class="lead">Roles decide what people can do. <a href="${paths.path('/teams')}">Teams</a> decide which records they see.</p>
${table({
  caption: 'Roles',
  heads: ['Role', 'People', `In ${environment}`],
  rows: roles.map((role) => [
    html`<a href="${paths.path(rolePage(role))}">${role}</a>`,
    countPeople(users.filter((user) => user.role === role)),
    describeRole(rights, role, environment),
  ]),
})}
<details class="more"${problem !== undefined && html` open`}><summary>New role</summary>
${openForm(request, parts, under)}
${field({ id: 'name', label: 'Name', value: form.get('name') ?? '', maxLength: 191, required: true, problem })}
${selectField({
  id: 'from',
  label: 'Permissions',
  value: form.get('from') ?? '',
  options: [['', 'none yet'], ...roles.map((role) => [role, `same as ${role}`] as const)],
})}
<button class="primary slim" name="action" value="make">Create</button></form></details>
<p class="quietly spaced"><a href="${paths.path('/rights/file')}" download>Download as a file</a> (YAML) for <code>portico roles push</code>.</p>`;
  const page = createFramedPage(request, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page, ...(problem !== undefined && { status: 400 }) };
}

export function countPeople(users: readonly User[]): Html | string {
  const active = users.filter(({ disabled }) => !disabled).length;
  const disabled = users.length - active;
  return disabled > 0 ? html`${active}<small>and ${disabled} disabled</small>` : `${active}`;
}

/** `everything`, or the number of collections with permissions. */
function describeRole(rights: readonly Right[], role: string, environment: string): string {
  const rows = rights.filter(({ kind, path }) => kind === 'permission' && path[0] === role && path[1] === environment);
  const permissionOf = ({ value }: Right) => value as CollectionPermission;
  const rest = rows.find(({ path }) => path[2] === '*');
  const own = rows.filter((row) => row !== rest);
  const may = own.filter((row) => verbs.some((verb) => permissionOf(row)[verb])).length;
  const ownText = own.length === 0 ? '' : `${may} of ${own.length} collections with custom permissions`;
  if (!rest) return ownText || 'none yet';
  const heldVerbs = verbs.filter((verb) => permissionOf(rest)[verb]);
  const restText =
    heldVerbs.length === verbs.length ? 'everything' : heldVerbs.length === 0 ? 'nothing' : heldVerbs.join(', ');
  return ownText ? `${restText}; ${ownText}` : restText;
}

export async function createRole(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const name = (request.form.get('name') ?? '').trim();
  const from = request.form.get('from') ?? '';
  const rights = await parts.store.rights.read();
  const problem =
    findNameProblem(name) ??
    (namesOf(rights, 'role').includes(name) ? 'A role with this name already exists.' : undefined);
  if (problem) return rolesPage(request, parts, problem);
  const copied = rights.flatMap(({ kind, path: [role, ...rest], value }): ProposedRight[] =>
    kind === 'permission' && role === from ? [{ kind, path: [name, ...rest], value }] : [],
  );
  const about = { kind: 'role', path: [name] } as const;
  const proposal = propose(rights, about, [{ ...about, value: name }, ...copied]);
  const applied = await applyProposal(parts.store, proposal, request.access.caller.id);
  if (applied.state === 'done') return { to: `${rolePage(name)}?done=made` };
  const problemText =
    applied.state === 'refused' ? applied.problem : 'a role with this name was created in the meantime.';
  return refusal(request, parts, { under, problem: problemText, back: under });
}
