// The list of teams: members, and the number of collections with a row scope.
import { html } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { table } from '../../ui/data.ts';
import { field, openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { namesOf, rightOf, teamPage } from '../rights/places.ts';
import { applyProposal, findNameProblem, propose } from '../rights/proposal.ts';
import { refusal } from '../rights/review.ts';
import { countPeople } from '../roles/list.ts';

const under = '/teams';
const title = 'Teams';

export const listTeams = (request: SignedInRequest, parts: Parts): Promise<Answer> => teamsPage(request, parts);

async function teamsPage(request: SignedInRequest, parts: Parts, problem?: string): Promise<Answer> {
  const { store, paths } = parts;
  const [rights, users] = await Promise.all([store.rights.read(), store.identity.listUsers()]);
  const { environment } = request.place;
  const scopeSummary = (team: string): string => {
    const rest = rightOf(rights, 'scope', team, environment, '*') !== undefined;
    const own = rights.filter(
      ({ kind, path }) => kind === 'scope' && path[0] === team && path[1] === environment && path[2] !== '*',
    ).length;
    const ownText = `${own} ${own === 1 ? 'collection' : 'collections'}`;
    if (rest) return own === 0 ? 'part of every collection' : `part of every collection, ${ownText} by custom rules`;
    return own === 0 ? 'every record' : `part of ${ownText}, every record of the others`;
  };
  const content = html`<h1>${title}</h1>
${flash({ saved: 'Saved. It takes effect immediately.' }, request.query)}
<p class="lead">Teams decide which records people see. <a href="${paths.path('/roles')}">Roles</a> decide what they can do.</p>
${table({
  caption: 'Teams',
  heads: ['Team', 'People', `Sees in ${environment}`],
  rows: namesOf(rights, 'team').map((team) => [
    html`<a href="${paths.path(teamPage(team))}">${team}</a>`,
    countPeople(users.filter((user) => user.team === team)),
    scopeSummary(team),
  ]),
})}
<details class="more"${problem !== undefined && html` open`}><summary>New team</summary>
${openForm(request, parts, under)}
${field({ id: 'name', label: 'Name', value: request.form.get('name') ?? '', maxLength: 191, required: true, problem, hint: 'The name cannot be changed later: create another team and move the people. A new team sees every record until it has a rule.' })}
<button class="primary slim" name="action" value="make">Create</button></form></details>`;
  const page = createFramedPage(request, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page, ...(problem !== undefined && { status: 400 }) };
}

export async function createTeam(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const name = (request.form.get('name') ?? '').trim();
  const rights = await parts.store.rights.read();
  const problem =
    findNameProblem(name) ??
    (namesOf(rights, 'team').includes(name) ? 'A team with this name already exists.' : undefined);
  if (problem) return teamsPage(request, parts, problem);
  const about = { kind: 'team', path: [name] } as const;
  const proposal = propose(rights, about, [{ ...about, value: name }]);
  const applied = await applyProposal(parts.store, proposal, request.access.caller.id);
  if (applied.state === 'done') return { to: `${teamPage(name)}?done=made` };
  const problemText =
    applied.state === 'refused' ? applied.problem : 'a team with this name was created in the meantime.';
  return refusal(request, parts, { under, problem: problemText, back: under });
}
