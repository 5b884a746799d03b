// The environments in the storage; marks the one that this process serves.
import { html } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { table } from '../../ui/data.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { namesOf, rolePage, teamPage } from '../rights/places.ts';

export async function listEnvironments(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const rights = await parts.store.rights.read();
  const served = request.place.environment;
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
<p class="lead">Environments share teams and roles. Each has its own permissions and row scopes. This process serves ${served}.</p>
${table({
  caption: 'Environments',
  heads: ['Environment', 'Roles with permissions', 'Teams with row scopes'],
  rows: namesOf(rights, 'environment').map((name) => [
    html`${name}${name === served && html` <span class="badge">served here</span>`}`,
    html`${links(owners('permission', name), rolePage, name)}`,
    html`${links(owners('scope', name), teamPage, name)}`,
  ]),
})}
<p><a href="${paths.path('/collections')}">Collections of ${served}</a></p>
<p class="quietly">Add, rename and remove environments with <code>portico roles push</code>. Download the <a href="${paths.path('/rights/file')}" download>current file</a> (YAML).</p>`;
  return { page: createFramedPage(request, parts, { title: 'Environments', under: '/environments', content }) };
}
