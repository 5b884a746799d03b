// The first records of each to-many relation of a record, with a link to all of them.
import type { RelationDescription } from '../../../agent/requests.ts';
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { dataPage, recordPage } from '../../paths.ts';
import { table } from '../../ui/data.ts';
import { describeFor, isOffered } from './access.ts';
import { cell } from './cells.ts';
import { chooseColumns, columnChoices, fieldsFor, readRows } from './list/columns.ts';
import type { FoundRecord } from './read-record.ts';

const ROWS = 5;
const COLUMNS = 4;
/** Further relations are links only: each list costs a statement. */
const LISTS = 8;

export async function relatedSection(
  { described, id }: FoundRecord,
  request: SignedInRequest,
  parts: Parts,
): Promise<Html | false> {
  const { access } = request;
  const many = described.relations.filter(
    ({ kind, to, fields }) => kind === 'many' && !fields && access.can('browse', to),
  );
  if (many.length === 0 || !isOffered(parts, 'listRelated')) return false;
  const lists = await Promise.all(
    many.slice(0, LISTS).map((relation) => relatedList(described.name, id, relation, request, parts)),
  );
  const rest = many.slice(LISTS);
  return html`${lists}${rest.length > 0 && html`<h2 class="plainly">More related records</h2><p>${rest.map((relation) => html`<a href="${allPage(described.name, id, relation, parts)}">${relation.name}</a> `)}</p>`}`;
}

const allPage = (collection: string, id: string, { name, to }: RelationDescription, { paths }: Parts): string =>
  `${paths.path(dataPage(to))}?${new URLSearchParams({ of: collection, record: id, relation: name }).toString()}`;

async function relatedList(
  collection: string,
  id: string,
  relation: RelationDescription,
  request: SignedInRequest,
  parts: Parts,
): Promise<Html> {
  const { access, signal } = request;
  const { engine, paths } = parts;
  const all = allPage(collection, id, relation, parts);
  const heading = html`<h2 class="plainly">${relation.name}</h2>`;
  const described = describeFor(request, parts)(relation.to)!;
  // A column that leads back to this record says nothing.
  const back = described.relations.find(({ kind, to }) => kind === 'one' && to === collection)?.name;
  const choices = columnChoices(described, { access, engine, paths }).filter(({ id: column }) => column !== `${back}:`);
  const columns = chooseColumns(described, choices, []).slice(0, COLUMNS);
  try {
    const listed = { collection, id, relation: relation.name, fields: fieldsFor(described, columns), limit: ROWS };
    const answer = await engine.listRelated(access, listed, { signal });
    if (answer.rows.length === 0) return html`${heading}<p class="quietly">None.</p>`;
    const opens = access.can('read', relation.to);
    const rows = readRows(answer, described, columns).map(({ id: own, name, cells }) => [
      own !== undefined && opens ? html`<a href="${paths.path(recordPage(relation.to, own))}">${name}</a>` : cell(name),
      ...cells,
    ]);
    const heads = [described.displayField ?? described.key.join(', '), ...columns.map(({ label }) => label)];
    return html`${heading}${table({ caption: relation.name, heads, rows })}<p class="quietly"><a href="${all}">${answer.hasMore ? 'Show all, filter and sort' : 'Filter and sort'}<span class="unseen"> ${relation.name}</span></a></p>`;
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    return html`${heading}<p class="quietly">${error.message}</p>`;
  }
}
