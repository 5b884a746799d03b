// One team: its members and its row scopes.
import type { PlainFilter } from '../../../core/filter.ts';
import { type Html, html } from '../../../http/html.ts';
import { describeFilter } from '../../../store/permissions/rights-words.ts';
import type { Right } from '../../../store/permissions/types.ts';
import type { User } from '../../../store/users/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { buttonTo } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { nameOf } from '../people/list.ts';
import { readModel } from '../rights/model.ts';
import {
  type Environments,
  personPage,
  readNamedTarget,
  rightOf,
  rolePage,
  scopePage,
  teamPage,
} from '../rights/places.ts';
import { propose } from '../rights/proposal.ts';
import { refusal, reviewProposal } from '../rights/review.ts';
import { environmentChoice } from '../roles/role.ts';

const under = '/teams';
const MEMBERS = 50;

export interface TeamTarget extends Environments {
  readonly rights: readonly Right[];
  readonly team: string;
}

export async function readTeamTarget(request: SignedInRequest, parts: Parts): Promise<TeamTarget> {
  const { name, ...target } = await readNamedTarget('team', request, parts);
  return { ...target, team: name };
}

/** The row scope in words; undefined without one. */
export function scopeText(filter: unknown): string | undefined {
  return filter === undefined ? undefined : `those where ${describeFilter(filter as PlainFilter)}`;
}

export async function showTeam(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await readTeamTarget(request, parts);
  const { team, environment, rights, suffix } = target;
  const { paths, store } = parts;
  const model = readModel(parts.engine, request.access.caller);
  const members = (await store.identity.listUsers()).filter((user) => user.team === team);
  const stored = rights.flatMap(({ kind, path }) =>
    kind === 'scope' && path[0] === team && path[1] === environment ? [path[2]!] : [],
  );
  const names = [...new Set([...model.collections, ...stored])]
    .filter((name) => name !== '*')
    .sort((a, b) => (a < b ? -1 : 1));
  const rest = rightOf(rights, 'scope', team, environment, '*');
  const row = (collection: string) => {
    const own = rightOf(rights, 'scope', team, environment, collection);
    const isRest = collection === '*';
    const isKnown = isRest || model.collections.includes(collection);
    const isUnclear = own !== undefined && model.findUnclear(collection, own as PlainFilter).length > 0;
    return [
      html`<a href="${paths.path(scopePage(team, collection))}${suffix}">${isRest ? 'Every other collection' : collection}</a>${!isKnown && html` <span class="badge unsure">not in the model</span>`}${isUnclear && html` <span class="badge unsure">ambiguous</span>`}`,
      scopeText(own) ?? html`<span class="quietly">${scopeText(isRest ? undefined : rest) ?? 'every record'}</span>`,
    ];
  };
  const content = html`<h1>${team}</h1>
${flash({ saved: 'Saved. It takes effect immediately.', made: 'Team created. It sees every record until it has a rule.' }, request.query)}
${environmentChoice(target, teamPage(team), parts)}
<section aria-labelledby="sees"><h2 class="plainly" id="sees">Visible records in ${environment}</h2>
${table({ caption: 'Collections', heads: ['Collection', 'Records'], rows: ['*', ...names].map(row) })}</section>
<section aria-labelledby="members"><h2 class="plainly" id="members">Members</h2>
${memberTable(members, parts)}</section>
<div class="leave">${members.length > 0 ? html`<p class="quietly">You can remove the team when it has no members. It cannot be renamed: create another team and move the people.</p>` : buttonTo(request, parts, { page: teamPage(team), action: 'remove', text: 'Remove team' })}</div>`;
  return { page: createFramedPage(request, parts, { title: team, under, content }) };
}

function memberTable(members: readonly User[], { paths }: Parts): Html {
  const [first] = members;
  if (!first)
    return empty('No members', html`Choose this team on the page of a <a href="${paths.path('/people')}">person</a>.`);
  return html`${table({
    caption: 'People in this team',
    heads: ['Person', 'Role', 'Level'],
    rows: members
      .slice(0, MEMBERS)
      .map((user) => [
        html`<a href="${paths.path(personPage(user.id))}">${nameOf(user)}</a><small>${user.email}</small>`,
        html`<a href="${paths.path(rolePage(user.role))}">${user.role}</a>`,
        user.level,
      ]),
  })}${members.length > MEMBERS && html`<p><a href="${paths.path(`/people?team=${encodeURIComponent(first.team)}`)}">All ${members.length}</a></p>`}`;
}

export async function changeTeam(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { rights, team } = await readTeamTarget(request, parts);
  const about = { kind: 'team', path: [team] } as const;
  const members = (await parts.store.identity.listUsers()).filter((user) => user.team === team);
  if (members.length === 0) return reviewProposal(request, parts, propose(rights, about, [about]), rights);
  const problem = `${members.length} ${members.length === 1 ? 'person is' : 'people are'} in this team. Move them to another team first.`;
  return refusal(request, parts, { under, problem, back: teamPage(team) });
}
