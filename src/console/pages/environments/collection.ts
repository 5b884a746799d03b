// One collection: its fields, the permissions of each role, the row scope of each team, and the resulting rights of one
// person.
import { verbs } from '../../../core/caller.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { CollectionPermission, Right } from '../../../store/permissions/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, facts, table } from '../../ui/data.ts';
import { filterForm, type Option, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { nameOf } from '../people/list.ts';
import { type ModelNames, readModel } from '../rights/model.ts';
import { collectionPage, namesOf, permissionPage, rightOf, scopePage } from '../rights/places.ts';
import { scopeText } from '../teams/team.ts';
import { describeRights } from './person-rights.ts';

const under = '/collections';

export async function showCollection(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { paths, store } = parts;
  const model = readModel(parts.engine, request.access.caller);
  const name = request.params.name!;
  const described = model.describe(name);
  if (!described) return fail('NOT_FOUND', { path: paths.path(under) });
  const rights = await store.rights.read();
  const { environment } = request.place;
  const yes = (is: boolean, text: string) => is && html`<span class="badge">${text}</span> `;
  const content = html`<h1>${name}</h1>
${facts([
  ['Kind', described.kind],
  ['Key', described.key.join(', ') || 'none'],
  ['Segments', described.segments.join(', ')],
  ['Actions', actionList(model, name)],
  ['Charts', model.charts(name).join(', ')],
])}
<section aria-labelledby="who"><h2 class="plainly" id="who">Permissions in ${environment}</h2>
${roleTable(rights, environment, name, parts)}
${scopeTable(rights, environment, name, parts)}</section>
${await personSection(request, parts, name, model)}
<section aria-labelledby="fields"><h2 class="plainly" id="fields">Fields and relations</h2>
${table({
  caption: 'Fields',
  heads: ['Field', 'Type', 'Attributes'],
  rows: described.fields.map((field) => [
    field.name,
    html`<code>${field.type}</code>${field.enumValues && html`<small>${field.enumValues.join(', ')}</small>`}`,
    html`${yes(field.isKey, 'key')}${yes(field.required, 'required')}${yes(field.readOnly, 'read only')}`,
  ]),
})}
${
  described.relations.length > 0 &&
  table({
    caption: 'Relations',
    heads: ['Relation', 'To'],
    rows: described.relations.map(({ name, kind, to }) => [
      name,
      html`${model.collections.includes(to) ? html`<a href="${paths.path(collectionPage(to))}">${to}</a>` : to} (${kind})`,
    ]),
  })
}</section>`;
  return { page: createFramedPage(request, parts, { title: name, under, content }) };
}

const actionList = (model: ModelNames, name: string): string =>
  model
    .actions(name)
    .map((action) => action.name)
    .join(', ');

function roleTable(rights: readonly Right[], environment: string, collection: string, { paths }: Parts): Html {
  const tick = (is: boolean, verb: string) =>
    is
      ? html`<span class="granted">✓<span class="unseen"> may ${verb}</span></span>`
      : html`<span class="unseen">no</span>`;
  const rows = namesOf(rights, 'role').map((role) => {
    const own = rightOf(rights, 'permission', role, environment, collection);
    const permission = (own ?? rightOf(rights, 'permission', role, environment, '*')) as
      | CollectionPermission
      | undefined;
    return [
      html`<a href="${paths.path(permissionPage(role, collection))}">${role}</a>${own !== undefined && html`<small>custom permissions</small>`}`,
      ...verbs.map((verb) => tick(permission?.[verb] === true, verb)),
    ];
  });
  return table({ caption: 'Roles', heads: ['Role', ...verbs], rows });
}

function scopeTable(rights: readonly Right[], environment: string, collection: string, { paths }: Parts): Html {
  const rows = namesOf(rights, 'team').map((team) => {
    const own = rightOf(rights, 'scope', team, environment, collection);
    const text = scopeText(own) ?? scopeText(rightOf(rights, 'scope', team, environment, '*')) ?? 'every record';
    return [html`<a href="${paths.path(scopePage(team, collection))}">${team}</a>`, text];
  });
  return table({ caption: 'Teams', heads: ['Team', 'Visible records'], rows });
}

/** Maximum number of people in the selection. */
const PEOPLE = 500;

async function personSection(
  request: SignedInRequest,
  parts: Parts,
  collection: string,
  model: ModelNames,
): Promise<Html> {
  const users = (await parts.store.identity.listUsers()).filter(({ disabled }) => !disabled).slice(0, PEOPLE);
  const chosen = request.query.get('person') ?? '';
  const user = users.find(({ id }) => `${id}` === chosen);
  const access = user && (await parts.store.permissions.accessOf(user.id));
  const options = users.map((one): Option => [`${one.id}`, `${nameOf(one)} (${one.email})`]);
  return html`<section aria-labelledby="person-title"><h2 class="plainly" id="person-title">Permissions of one person</h2>
${filterForm(parts, collectionPage(collection), [selectField({ id: 'person', label: 'Person', value: chosen, options: [['', 'choose a person'], ...options] })], 'Show')}
${user && (access ? describeRights(access, nameOf(user), collection, model) : empty('No permissions', 'This person cannot sign in.'))}</section>`;
}
