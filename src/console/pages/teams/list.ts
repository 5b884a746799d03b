// The list of teams: members, and the number of collections with a row scope.
import { html } from '../../../http/html.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { table } from '../../ui/data.ts';
import { field, formOf } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { factOf, namesOf, teamPage } from '../rights/places.ts';
import { applyProposal, findNameProblem, propose } from '../rights/proposal.ts';
import { refusal } from '../rights/review.ts';
import { countPeople } from '../roles/list.ts';

const under = '/teams';
const title = 'Teams';

export const listTeams = (visit: MemberVisit, parts: Parts): Promise<Answer> => teamsPage(visit, parts);

async function teamsPage(visit: MemberVisit, parts: Parts, problem?: string): Promise<Answer> {
  const { store, paths } = parts;
  const [rights, users] = await Promise.all([store.rights.read(), store.identity.listUsers()]);
  const { environment } = visit.place;
  const seen = (team: string): string => {
    const rest = factOf(rights, 'scope', team, environment, '*') !== undefined;
    const own = rights.filter(
      ({ kind, path }) => kind === 'scope' && path[0] === team && path[1] === environment && path[2] !== '*',
    ).length;
    const ownText = `${own} ${own === 1 ? 'collection' : 'collections'}`;
    if (rest) return own === 0 ? 'a part of everything' : `a part of everything, ${ownText} by a rule of their own`;
    return own === 0 ? 'every record' : `a part of ${ownText}, every record of the others`;
  };
  const content = html`<h1>${title}</h1>
${flash({ saved: 'Saved. It holds from the next call on.' }, visit.query)}
<p class="lead">Which records people see of a collection. What they may do with them is said by their <a href="${paths.path('/roles')}">role</a>.</p>
${table({
  caption: 'Teams',
  heads: ['Team', 'People', `Sees in ${environment}`],
  rows: namesOf(rights, 'team').map((team) => [
    html`<a href="${paths.path(teamPage(team))}">${team}</a>`,
    countPeople(users.filter((user) => user.team === team)),
    seen(team),
  ]),
})}
<details class="more"${problem !== undefined && html` open`}><summary>Make a team</summary>
${formOf(visit, parts, under)}
${field({ id: 'name', label: 'Name', value: visit.form.get('name') ?? '', most: 191, required: true, problem, hint: 'It cannot be changed later: make another and move the people. A new team sees every record until it has a rule.' })}
<button class="primary slim" name="action" value="make">Make it</button></form></details>`;
  const page = createFramed(visit, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page, ...(problem !== undefined && { status: 400 }) };
}

export async function makeTeam(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const name = (visit.form.get('name') ?? '').trim();
  const rights = await parts.store.rights.read();
  const problem =
    findNameProblem(name) ?? (namesOf(rights, 'team').includes(name) ? 'There is a team of that name.' : undefined);
  if (problem) return teamsPage(visit, parts, problem);
  const about = { kind: 'team', path: [name] } as const;
  const proposal = propose(rights, about, [{ ...about, value: name }]);
  const applied = await applyProposal(parts.store, proposal, visit.access.caller.id);
  if (applied.state === 'done') return { to: `${teamPage(name)}?done=made` };
  const said = applied.state === 'refused' ? applied.problem : 'a team of that name was made meanwhile.';
  return refusal(visit, parts, { under, problem: said, back: under });
}
