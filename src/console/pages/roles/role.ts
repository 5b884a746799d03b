// One role: a matrix of collections and verbs. A row without its own entry follows `*` until a checkbox changes. It
// then becomes an entry that starts as a copy of `*`. This page saves no change: the ticked boxes become a proposal for
// the review page.
import { type Verb, verbs } from '../../../core/caller.ts';
import { type Html, html } from '../../../http/html.ts';
import type { CollectionPermission, Right } from '../../../store/permissions/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty } from '../../ui/data.ts';
import { buttonTo, field, filterForm, openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { type ModelNames, readModel } from '../rights/model.ts';
import { type Environments, permissionPage, personPage, readNamedTarget, rightOf, rolePage } from '../rights/places.ts';
import { type Proposal, type ProposedRight, propose } from '../rights/proposal.ts';
import { refusal, reviewProposal } from '../rights/review.ts';

const under = '/roles';
/** Collections per page, because form size is limited. */
const ROWS = 40;

const noRights = Object.freeze(
  Object.fromEntries(verbs.map((verb) => [verb, false])),
) as unknown as CollectionPermission;

export interface RoleTarget extends Environments {
  readonly rights: readonly Right[];
  readonly role: string;
}

export async function readRoleTarget(request: SignedInRequest, parts: Parts): Promise<RoleTarget> {
  const { name, ...target } = await readNamedTarget('role', request, parts);
  return { ...target, role: name };
}

/** Permission of the role in the environment: its own entry, or the `*` entry. */
export function permissionOf(
  { rights, role, environment }: RoleTarget,
  collection: string,
): { readonly permission: CollectionPermission; readonly own: boolean } {
  const own = rightOf(rights, 'permission', role, environment, collection) as CollectionPermission | undefined;
  const rest = rightOf(rights, 'permission', role, environment, '*') as CollectionPermission | undefined;
  return { permission: own ?? rest ?? noRights, own: own !== undefined };
}

/** Collections of the model, plus stored entries for collections that the model does not have. */
export function collectionsOf({ rights, environment, role }: RoleTarget, model: ModelNames): readonly string[] {
  const stored = rights.flatMap(({ kind, path }) =>
    kind === 'permission' && path[0] === role && path[1] === environment && path[2] !== '*' ? [path[2]!] : [],
  );
  return [...new Set([...model.collections, ...stored])].sort((a, b) => (a < b ? -1 : 1));
}

export async function showRole(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await readRoleTarget(request, parts);
  const { role, environment, suffix } = target;
  const { paths, store } = parts;
  const model = readModel(parts.engine, request.access.caller);
  const text = (request.query.get('find') ?? '').trim().slice(0, 191);
  const found = collectionsOf(target, model).filter((name) => name.toLowerCase().includes(text.toLowerCase()));
  const page = Math.max(1, Number.parseInt(request.query.get('page') ?? '1', 10) || 1);
  const shown = found.slice((page - 1) * ROWS, page * ROWS);
  const members = (await store.identity.listUsers()).filter((user) => user.role === role);
  const href = (number: number) =>
    `${paths.path(rolePage(role))}?${new URLSearchParams({ ...(suffix && { in: environment }), find: text, page: `${number}` })}`;
  const pages = Math.ceil(found.length / ROWS);
  const content = html`<h1>${role}</h1>
${flash({ saved: 'Saved. It takes effect immediately.', made: 'Role created. Choose its permissions.' }, request.query)}
<p class="lead">${members.length === 0 ? 'No one has this role.' : html`Members: ${members.slice(0, 8).map((user, at) => html`${at > 0 && ', '}<a href="${paths.path(personPage(user.id))}">${user.email}</a>`)}${members.length > 8 && html` and <a href="${paths.path(`/people?role=${encodeURIComponent(role)}`)}">${members.length - 8} more</a>`}.`}</p>
${environmentChoice(target, rolePage(role), parts)}
${(found.length > ROWS || text !== '') && filterForm(parts, rolePage(role), [suffix !== '' && html`<input type="hidden" name="in" value="${environment}">`, field({ id: 'find', label: 'Collection', type: 'search', value: text })])}
${shown.length === 0 ? empty('No results', 'Clear the filter.') : matrix(request, parts, target, model, shown)}
${pages > 1 && html`<nav class="pager" aria-label="Pages">${page > 1 && html`<a href="${href(page - 1)}" rel="prev">Previous</a>`}<span>Page ${page} of ${pages}</span>${page < pages && html`<a href="${href(page + 1)}" rel="next">Next</a>`}</nav>`}
<div class="leave">${members.length > 0 ? html`<p class="quietly">You can remove the role when no one has it.</p>` : buttonTo(request, parts, { page: rolePage(role), action: 'remove', text: 'Remove role', kind: 'plain' })}</div>`;
  return { page: createFramedPage(request, parts, { title: role, under, content, wide: true }) };
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

function matrix(
  request: SignedInRequest,
  parts: Parts,
  target: RoleTarget,
  model: ModelNames,
  shown: readonly string[],
): Html {
  const { role, environment, rights, suffix } = target;
  const { base } = propose(rights, { kind: 'permission', path: [role, environment] }, []);
  const line = (collection: string, at: number): Html => {
    const { permission, own } = permissionOf(target, collection);
    const isRest = collection === '*';
    const isKnown = isRest || model.collections.includes(collection);
    const name = isRest ? 'Every other collection' : collection;
    const marks = [
      !isKnown && html`<span class="badge unsure">not in the model</span>`,
      own && !isRest && html`<span class="badge">custom</span>`,
      describeMore(permission),
    ];
    const boxes = verbs.map(
      (verb) =>
        html`<td><label><input type="checkbox" name="may" value="${at} ${verb}"${permission[verb] && html` checked`}><span>${heads[verb]}<span class="unseen"> ${name}</span></span></label></td>`,
    );
    return html`<tr${isRest && html` class="rest"`}><th scope="row"><a href="${parts.paths.path(permissionPage(role, collection))}${suffix}">${name}</a><input type="hidden" name="collection" value="${collection}"><input type="hidden" name="was" value="${ticksOf(permission)}"><small>${marks}</small></th>${boxes}</tr>`;
  };
  return html`${openForm(request, parts, rolePage(role))}<input type="hidden" name="in" value="${environment}"><input type="hidden" name="base" value="${base}">
<table class="table matrix"><caption class="unseen">Permissions of ${role} in ${environment}</caption>
<thead><tr><th scope="col">Collection</th>${verbs.map((verb) => html`<th scope="col">${heads[verb]}</th>`)}</tr></thead>
<tbody>${['*', ...shown].map(line)}</tbody></table>
<button class="primary slim" name="action" value="review">Review changes</button></form>`;
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
  return parts.length > 0 && ` ${parts.join(', ')} set separately`;
}

export async function changeRole(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await readRoleTarget(request, parts);
  const { rights, role } = target;
  if (request.form.get('action') === 'remove') {
    const about = { kind: 'role', path: [role] } as const;
    const members = (await parts.store.identity.listUsers()).filter((user) => user.role === role);
    if (members.length === 0) return reviewProposal(request, parts, propose(rights, about, [about]), rights);
    const problem = `${members.length} ${members.length === 1 ? 'person has' : 'people have'} this role. Assign another role first.`;
    return refusal(request, parts, { under, problem, back: rolePage(role) });
  }
  return reviewProposal(request, parts, readMatrix(request.form, target), rights);
}

const ticksOf = (permission: CollectionPermission): string => verbs.filter((verb) => permission[verb]).join(' ');

/** Proposal with the changed rows. `base` detects changes made since the page was loaded. */
function readMatrix(form: URLSearchParams, target: RoleTarget): Proposal {
  const { role, environment } = target;
  const ticked = new Set(form.getAll('may'));
  const was = form.getAll('was');
  const proposed = form.getAll('collection').flatMap((collection, at): ProposedRight[] => {
    const { permission } = permissionOf(target, collection);
    const may = Object.fromEntries(verbs.map((verb) => [verb, ticked.has(`${at} ${verb}`)]));
    if (ticksOf(may as unknown as CollectionPermission) === was[at]) return [];
    return [{ kind: 'permission', path: [role, environment, collection], value: { ...permission, ...may } }];
  });
  return {
    wanted: proposed,
    about: { kind: 'permission', path: [role, environment] },
    base: form.get('base') ?? '',
  };
}
