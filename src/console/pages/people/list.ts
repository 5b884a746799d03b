// All members of the project, with search and paging. The storage returns the whole list, and this page filters it.
import { permissionLevels } from '../../../core/caller.ts';
import { type Html, html } from '../../../http/html.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { field, filterForm, type Option, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { namesOf, personPage, rolePage, teamPage } from '../rights/places.ts';

export const under = '/people';
const PAGE = 50;

type State = 'active' | 'invited' | 'disabled';

/** Without password sign-in, missing passwords do not mean a pending invitation. */
export function stateOf(
  { disabled, hasPassword, hasIdentity }: User,
  { loginMethods }: Pick<Parts, 'loginMethods'>,
): State {
  if (disabled) return 'disabled';
  return hasPassword || hasIdentity || !loginMethods.passwords ? 'active' : 'invited';
}

export const nameOf = ({ firstName, lastName, email }: User): string => `${firstName} ${lastName}`.trim() || email;

export const stateBadge = (state: State): Html =>
  html`<span class="badge${state === 'active' ? '' : state === 'invited' ? ' unsure' : ' off'}">${state}</span>`;

const filterNames = ['find', 'team', 'role', 'level', 'state'] as const;

export async function listPeople(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { store, paths } = parts;
  const [users, rights] = await Promise.all([store.identity.listUsers(), store.rights.read()]);
  const filters = Object.fromEntries(
    filterNames.map((name) => [name, (request.query.get(name) ?? '').trim().slice(0, 254)]),
  ) as Record<(typeof filterNames)[number], string>;
  const found = users.filter(
    (user) =>
      `${user.email} ${user.firstName} ${user.lastName}`.toLowerCase().includes(filters.find.toLowerCase()) &&
      (['team', 'role', 'level'] as const).every((key) => filters[key] === '' || user[key] === filters[key]) &&
      (filters.state === '' || stateOf(user, parts) === filters.state),
  );
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const page = Math.min(pages, Math.max(1, Number.parseInt(request.query.get('page') ?? '1', 10) || 1));
  const href = (number: number) => `${paths.path(under)}?${new URLSearchParams({ ...filters, page: `${number}` })}`;
  const choose = (id: 'team' | 'role' | 'level' | 'state', label: string, values: readonly string[]) =>
    selectField({ id, label, value: filters[id], options: [['', 'any'], ...values.map((one): Option => [one, one])] });
  const content = html`<div class="headed"><h1>People</h1><a class="button primary" href="${paths.path('/people/new')}">Invite a person</a></div>
<p class="lead">${users.length === 1 ? 'One person belongs' : `${users.length} people belong`} to ${request.place.project}.</p>
${flash({ deleted: 'Deleted. Logs and notes keep a number instead of the name.' }, request.query)}
${filterForm(parts, under, [
  field({ id: 'find', label: 'Name or e-mail', type: 'search', value: filters.find, maxLength: 254 }),
  choose('team', 'Team', namesOf(rights, 'team')),
  choose('role', 'Role', namesOf(rights, 'role')),
  choose('level', 'Level', permissionLevels),
  choose('state', 'State', ['active', 'invited', 'disabled']),
])}
${
  found.length === 0
    ? empty('No results', html`<a href="${paths.path(under)}">Clear the filters</a>`)
    : table({
        caption: 'People',
        heads: ['Person', 'State', 'Team', 'Role', 'Level'],
        rows: found
          .slice((page - 1) * PAGE, page * PAGE)
          .map((user) => [
            html`<a href="${paths.path(personPage(user.id))}">${nameOf(user)}</a><small>${user.email}</small>`,
            stateBadge(stateOf(user, parts)),
            html`<a href="${paths.path(teamPage(user.team))}">${user.team}</a>`,
            html`<a href="${paths.path(rolePage(user.role))}">${user.role}</a>`,
            user.level,
          ]),
      })
}
${pages > 1 && html`<nav class="pager" aria-label="Pages">${page > 1 && html`<a href="${href(page - 1)}" rel="prev">Previous</a>`}<span>Page ${page} of ${pages}</span>${page < pages && html`<a href="${href(page + 1)}" rel="next">Next</a>`}</nav>`}`;
  return { page: createFramedPage(request, parts, { title: 'People', under, content, wide: true }) };
}
