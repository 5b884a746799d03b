// The collections of the model that this process serves.
import { html } from '../../../http/html.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { field, filterForm } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { readModel } from '../rights/model.ts';
import { collectionPage } from '../rights/places.ts';

const under = '/collections';
const PAGE = 100;

export async function listCollections(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { paths } = parts;
  const model = readModel(parts.engine, visit.access.caller);
  const text = (visit.query.get('find') ?? '').trim().slice(0, 191);
  const found = model.collections.filter((name) => name.toLowerCase().includes(text.toLowerCase()));
  const charts = model.charts();
  const rows = found.slice(0, PAGE).flatMap((name) => {
    const described = model.describe(name);
    if (!described) return [];
    const { kind, fields, relations } = described;
    return [
      [
        html`<a href="${paths.path(collectionPage(name))}">${name}</a>${kind === 'view' && html` <span class="badge">view</span>`}`,
        fields.length,
        relations.length,
        model.actions(name).length,
        model.charts(name).length,
      ],
    ];
  });
  const content = html`<h1>Collections</h1>
<p class="lead">What ${visit.place.environment} holds, as assistants are told of it. Who may do what is said by <a href="${paths.path('/roles')}">roles</a> and <a href="${paths.path('/teams')}">teams</a>.</p>
${(model.collections.length > 20 || text !== '') && filterForm(parts, under, [field({ id: 'find', label: 'Name', type: 'search', value: text, most: 191 })])}
${
  rows.length === 0
    ? empty(
        text === '' ? 'The database holds nothing that is shown' : 'No collection of that name',
        text === ''
          ? html`Look at the address in <code>SERVICE_DATABASE_URL</code>, and what <code>portico doctor</code> says.`
          : html`<a href="${paths.path(under)}">Show all</a>`,
      )
    : table({ caption: 'Collections', heads: ['Collection', 'Fields', 'Relations', 'Actions', 'Charts'], rows })
}
${found.length > PAGE && html`<p class="quietly">${PAGE} of ${found.length}: look for a name to see others.</p>`}
${charts.length > 0 && html`<p class="quietly">Charts of the whole: ${charts.join(', ')}.</p>`}`;
  return { page: createFramed(visit, parts, { title: 'Collections', under, content }) };
}
