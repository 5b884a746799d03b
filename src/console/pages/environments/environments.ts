// The environments in the storage; marks the one that this process serves.
import { html } from '../../../http/html.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { table } from '../../ui/data.ts';
import { createFramed } from '../../ui/frame.ts';
import { namesOf, rolePage, teamPage } from '../rights/places.ts';

export async function listEnvironments(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const rights = await parts.store.rights.read();
  const served = visit.place.environment;
  const { paths } = parts;
  const owners = (kind: 'permission' | 'scope', environment: string) =>
    [
      ...new Set(
        rights.filter((right) => right.kind === kind && right.path[1] === environment).map(({ path }) => path[0]!),
      ),
    ].sort();
  const links = (names: readonly string[], page: (name: string) => string, environment: string) =>
    names.length === 0
      ? html`<span class="quietly">none</span>`
      : names.map(
          (name, at) =>
            html`${at > 0 && ', '}<a href="${paths.path(page(name))}${environment !== served && `?in=${encodeURIComponent(environment)}`}">${name}</a>`,
        );
  const content = html`<h1>Environments</h1>
<p class="lead">The same teams and roles, with permissions and rules about records of their own. A process serves one: this one serves ${served}.</p>
${table({
  caption: 'Environments',
  heads: ['Environment', 'Roles that may do something', 'Teams that see a part'],
  rows: namesOf(rights, 'environment').map((name) => [
    html`${name}${name === served && html` <span class="badge">served here</span>`}`,
    html`${links(owners('permission', name), rolePage, name)}`,
    html`${links(owners('scope', name), teamPage, name)}`,
  ]),
})}
<p><a href="${paths.path('/collections')}">Collections of ${served}</a></p>
<p class="quietly">Environments are added, renamed and removed with <code>portico roles push</code>; the <a href="${paths.path('/rights/file')}" download>file of what is so now</a> (YAML).</p>`;
  return { page: createFramed(visit, parts, { title: 'Environments', under: '/environments', content }) };
}
