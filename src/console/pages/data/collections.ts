// The collections that the viewer may browse, and the charts of the whole agent.
import { type Html, html } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { dataPage } from '../../paths.ts';
import { empty } from '../../ui/data.ts';
import { field, filterForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { isOffered, under } from './access.ts';
import { chartSection } from './charts.ts';

/** With more collections, a field finds one by its name. */
const MANY = 15;

export async function listCollections(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { access, query } = request;
  const all = isOffered(parts, 'list') ? parts.engine.index(access) : [];
  const wanted = (query.get('name') ?? '').trim().slice(0, 191);
  const found = all.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  const rows = found.map(
    ({ name, description, kind, fields }) =>
      html`<li><a href="${parts.paths.path(dataPage(name))}"><b>${name}</b><span>${description ?? `${kind === 'view' ? 'View, ' : ''}${fields} ${fields === 1 ? 'field' : 'fields'}`}</span></a></li>`,
  );
  const content = html`<h1>Data</h1>
<p class="lead">The records that you may see, as your assistant sees them.</p>
${all.length > MANY && filterForm(parts, under, [field({ id: 'name', label: 'Name contains', type: 'search', value: wanted })])}
${found.length > 0 ? html`<ul class="rows">${rows}</ul>` : nothing(all.length > 0)}
${await chartSection(undefined, request, parts)}`;
  return { page: createFramedPage(request, parts, { title: 'Data', under, content, wide: true }) };
}

const nothing = (isNarrowed: boolean): Html =>
  isNarrowed
    ? empty('No collection has this name', 'Clear the field to see all collections.')
    : empty('No collections', 'You cannot see any collection. Ask an administrator for access.');
