// One role: a matrix of collections and verbs. A row without its own entry follows `*` until a checkbox changes. It
// then becomes an entry that starts as a copy of `*`. This page saves no change: the ticked boxes become a proposal for
// the review page.
import { type Verb, verbs } from '../../../core/caller.ts';
import { type Html, html } from '../../../http/html.ts';
import type { CollectionPermission, Right } from '../../../store/permissions/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { empty } from '../../ui/data.ts';
import { buttonTo, field, filterForm, formOf } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { type ModelNames, readModel } from '../rights/model.ts';
import { askNamed, type Environments, factOf, permissionPage, personPage, rolePage } from '../rights/places.ts';
import { type Proposal, propose, type Wanted } from '../rights/proposal.ts';
import { refusal, reviewProposal } from '../rights/review.ts';

const under = '/roles';
/** Collections per page, because form size is limited. */
const ROWS = 40;

export const nothing = Object.freeze(
  Object.fromEntries(verbs.map((verb) => [verb, false])),
) as unknown as CollectionPermission;

export interface Asked extends Environments {
  readonly rights: readonly Right[];
  readonly role: string;
}

export async function askRole(visit: MemberVisit, parts: Parts): Promise<Asked> {
  const { name, ...asked } = await askNamed('role', visit, parts);
  return { ...asked, role: name };
}

/** Permission of the role in the environment: its own entry, or the `*` entry. */
export function permissionOf(
  { rights, role, environment }: Asked,
  collection: string,
): { readonly permission: CollectionPermission; readonly own: boolean } {
  const own = factOf(rights, 'permission', role, environment, collection) as CollectionPermission | undefined;
  const rest = factOf(rights, 'permission', role, environment, '*') as CollectionPermission | undefined;
  return { permission: own ?? rest ?? nothing, own: own !== undefined };
}

/** Collections of the model, plus stored entries for collections that the model does not have. */
export function collectionsOf({ rights, environment, role }: Asked, model: ModelNames): readonly string[] {
  const stored = rights.flatMap(({ kind, path }) =>
    kind === 'permission' && path[0] === role && path[1] === environment && path[2] !== '*' ? [path[2]!] : [],
  );
  return [...new Set([...model.collections, ...stored])].sort((a, b) => (a < b ? -1 : 1));
}

export async function showRole(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const asked = await askRole(visit, parts);
  const { role, environment, suffix } = asked;
  const { paths, store } = parts;
  const model = readModel(parts.engine, visit.access.caller);
  const text = (visit.query.get('find') ?? '').trim().slice(0, 191);
  const found = collectionsOf(asked, model).filter((name) => name.toLowerCase().includes(text.toLowerCase()));
  const page = Math.max(1, Number.parseInt(visit.query.get('page') ?? '1', 10) || 1);
  const shown = found.slice((page - 1) * ROWS, page * ROWS);
  const members = (await store.identity.listUsers()).filter((user) => user.role === role);
  const href = (number: number) =>
    `${paths.path(rolePage(role))}?${new URLSearchParams({ ...(suffix && { in: environment }), find: text, page: `${number}` })}`;
  const pages = Math.ceil(found.length / ROWS);
  const content = html`<p class="quietly"><a href="${paths.path(under)}">Roles</a></p><h1>${role}</h1>
${flash({ saved: 'Saved. It holds from the next call on.', made: 'The role is made. Tick what it may do.' }, visit.query)}
<p class="lead">${members.length === 0 ? 'Nobody has this role.' : html`Of ${members.slice(0, 8).map((user, at) => html`${at > 0 && ', '}<a href="${paths.path(personPage(user.id))}">${user.email}</a>`)}${members.length > 8 && html` and <a href="${paths.path(`/people?role=${encodeURIComponent(role)}`)}">${members.length - 8} more</a>`}.`}</p>
${environmentChoice(asked, rolePage(role), parts)}
${(found.length > ROWS || text !== '') && filterForm(parts, rolePage(role), [suffix !== '' && html`<input type="hidden" name="in" value="${environment}">`, field({ id: 'find', label: 'Collection', type: 'search', value: text })])}
${shown.length === 0 ? empty('No collection of that name', 'Look for another.') : matrix(visit, parts, asked, model, shown)}
${pages > 1 && html`<nav class="pager" aria-label="Pages">${page > 1 && html`<a href="${href(page - 1)}" rel="prev">Before</a>`}<span>Page ${page} of ${pages}</span>${page < pages && html`<a href="${href(page + 1)}" rel="next">After</a>`}</nav>`}
<div class="leave">${members.length > 0 ? html`<p class="quietly">The role can be removed when nobody has it.</p>` : buttonTo(visit, parts, { page: rolePage(role), action: 'remove', text: 'Remove the role', kind: 'plain' })}</div>`;
  return { page: createFramed(visit, parts, { title: role, under, content, wide: true }) };
}

export function environmentChoice(
  { all, environment, served }: Environments,
  page: string,
  { paths }: Parts,
): Html | false {
  if (all.length < 2) return false;
  return html`<nav class="pager" aria-label="Environments">${all.map((name) => html`<a href="${paths.path(page)}${name !== served && `?in=${encodeURIComponent(name)}`}"${name === environment && html` aria-current="true"`}>${name}</a>`)}</nav>`;
}

const heads: Readonly<Record<Verb, string>> = {
  browse: 'Browse',
  read: 'Read',
  edit: 'Edit',
  add: 'Add',
  delete: 'Delete',
  export: 'Export',
};

function matrix(visit: MemberVisit, parts: Parts, asked: Asked, model: ModelNames, shown: readonly string[]): Html {
  const { role, environment, rights, suffix } = asked;
  const { base } = propose(rights, { kind: 'permission', path: [role, environment] }, []);
  const line = (collection: string, at: number): Html => {
    const { permission, own } = permissionOf(asked, collection);
    const isRest = collection === '*';
    const known = isRest || model.collections.includes(collection);
    const name = isRest ? 'Every other collection' : collection;
    const marks = [
      !known && html`<span class="badge unsure">not in the model</span>`,
      own && !isRest && html`<span class="badge">own line</span>`,
      describeMore(permission),
    ];
    const boxes = verbs.map(
      (verb) =>
        html`<td><label><input type="checkbox" name="may" value="${at} ${verb}"${permission[verb] && html` checked`}><span>${heads[verb]}<span class="unseen"> ${name}</span></span></label></td>`,
    );
    return html`<tr${isRest && html` class="rest"`}><th scope="row"><a href="${parts.paths.path(permissionPage(role, collection))}${suffix}">${name}</a><input type="hidden" name="collection" value="${collection}"><input type="hidden" name="was" value="${ticksOf(permission)}"><small>${marks}</small></th>${boxes}</tr>`;
  };
  return html`${formOf(visit, parts, rolePage(role))}<input type="hidden" name="in" value="${environment}"><input type="hidden" name="base" value="${base}">
<table class="table matrix"><caption class="unseen">What ${role} may do in ${environment}</caption>
<thead><tr><th scope="col">Collection</th>${verbs.map((verb) => html`<th scope="col">${heads[verb]}</th>`)}</tr></thead>
<tbody>${['*', ...shown].map(line)}</tbody></table>
<button class="primary slim" name="action" value="review">Look at the changes</button></form>`;
}

/** Summary of the permission's settings outside the matrix. */
function describeMore({ fields = {}, actions = {}, approval = {}, cascades }: CollectionPermission): string | false {
  const count = (some: object, one: string, more: string) => {
    const { length } = Object.keys(some);
    return length === 0 ? [] : [`${length} ${length === 1 ? one : more}`];
  };
  const parts = [
    ...count(fields, 'field', 'fields'),
    ...count(actions, 'action', 'actions'),
    ...count(approval, 'approval', 'approvals'),
    ...(cascades ? ['no cascades'] : []),
  ];
  return parts.length > 0 && ` ${parts.join(', ')} said apart`;
}

export async function changeRole(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const asked = await askRole(visit, parts);
  const { rights, role } = asked;
  if (visit.form.get('action') === 'remove') {
    const about = { kind: 'role', path: [role] } as const;
    const members = (await parts.store.identity.listUsers()).filter((user) => user.role === role);
    if (members.length === 0) return reviewProposal(visit, parts, propose(rights, about, [about]), rights);
    const problem = `${members.length} ${members.length === 1 ? 'person has' : 'people have'} this role. Give them another first.`;
    return refusal(visit, parts, { under, problem, back: rolePage(role) });
  }
  return reviewProposal(visit, parts, readMatrix(visit.form, asked), rights);
}

const ticksOf = (permission: CollectionPermission): string => verbs.filter((verb) => permission[verb]).join(' ');

/** Proposal with the changed rows. `base` detects changes made since the page was loaded. */
function readMatrix(form: URLSearchParams, asked: Asked): Proposal {
  const { role, environment } = asked;
  const ticked = new Set(form.getAll('may'));
  const was = form.getAll('was');
  const wanted = form.getAll('collection').flatMap((collection, at): Wanted[] => {
    const { permission } = permissionOf(asked, collection);
    const may = Object.fromEntries(verbs.map((verb) => [verb, ticked.has(`${at} ${verb}`)]));
    if (ticksOf(may as unknown as CollectionPermission) === was[at]) return [];
    return [{ kind: 'permission', path: [role, environment, collection], value: { ...permission, ...may } }];
  });
  return {
    wanted,
    about: { kind: 'permission', path: [role, environment] },
    base: form.get('base') ?? '',
  };
}
