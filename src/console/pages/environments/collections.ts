// The collections of the model that this process serves.
import { html } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { field, filterForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { readModel } from '../rights/model.ts';
import { collectionPage } from '../rights/places.ts';

const under = '/collections';
const PAGE = 100;

export async function listCollections(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { paths } = parts;
  const model = readModel(parts.engine, request.access.caller);
  const text = (request.query.get('find') ?? '').trim().slice(0, 191);
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
<p class="lead">Collections of ${request.place.environment}, as assistants see them. Permissions are set in <a href="${paths.path('/roles')}">Roles</a> and <a href="${paths.path('/teams')}">Teams</a>.</p>
${(model.collections.length > 20 || text !== '') && filterForm(parts, under, [field({ id: 'find', label: 'Name', type: 'search', value: text, maxLength: 191 })])}
${
  rows.length === 0
    ? empty(
        text === '' ? 'No collections' : 'No results',
        text === ''
          ? html`Check the address in <code>SERVICE_DATABASE_URL</code> and the output of <code>portico doctor</code>.`
          : html`<a href="${paths.path(under)}">Clear the filter</a>`,
      )
    : table({ caption: 'Collections', heads: ['Collection', 'Fields', 'Relations', 'Actions', 'Charts'], rows })
}
${found.length > PAGE && html`<p class="quietly">${PAGE} of ${found.length} shown. Search for a name to find others.</p>`}
${charts.length > 0 && html`<p class="quietly">Global charts: ${charts.join(', ')}.</p>`}`;
  return { page: createFramedPage(request, parts, { title: 'Collections', under, content }) };
}
