// The records of a collection, or those that a relation of one record leads to: a table with a filter, pages by cursor,
// and links to the records.
import type { CollectionDescription, ListAnswer, ListRequest } from '../../../agent/requests.ts';
import { type AppError, isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { dataPage, parseCount, recordPage } from '../../paths.ts';
import { readNames } from '../../records/names.ts';
import { empty } from '../../ui/data.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { analysisPage } from '../playground/tool-view.ts';
import { collectionLink, describeFor, isOffered, logRead, requireCollection, requireParent, under } from './access.ts';
import { actionPage, actionsFor } from './actions.ts';
import { chooseColumns, columnChoices, fieldsFor, type ListColumn, readRows } from './list/columns.ts';
import { type ColumnChoice, columnChooser, filterForms } from './list/forms.ts';
import { meaningSection } from './list/meanings.ts';
import { bulkRights, countRecords, selectCell, selectHead, selectionForm } from './list/selection.ts';
import { meaningPage } from './meanings/places.ts';
import { createPage, mayCreate } from './rights.ts';
import { conditionsOf, type ListState, listPage, readState } from './state.ts';

const LISTED = 25;
/** A count that takes longer is left out, because the page waits for it. */
const COUNT_MS = 150;

interface Found {
  readonly answer: ListAnswer | undefined;
  readonly count: number | undefined;
  readonly failure: AppError | undefined;
}

export async function listRecords(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const described = requireCollection(request, parts);
  const { access } = request;
  const isAdmin = access.caller.permissionLevel === 'admin';
  const describe = describeFor(request, parts);
  const choices = columnChoices(described, { access, engine: parts.engine, paths: parts.paths });
  const wanted = readState(request.query, described.name, describe);
  const known = wanted.columns.filter((id) => choices.some((choice) => choice.id === id));
  const state = { ...wanted, columns: known };
  const columns = chooseColumns(described, choices, state.columns);
  const found = state.problem === undefined ? await read(state, described, columns, request, parts) : undefined;
  const { collection, parent } = state;
  const parentNames = parent && (await readNames(request, parts, [parent]));
  const { failure } = found ?? {};
  const problem = state.problem ?? failure?.message;
  const content = html`<div class="head"><h1>${collection}${parent && html` <small>${parent.relation} of ${parentNames!.name(parent.collection, parent.id)}</small>`}</h1><div class="deeds">${!parent && parts.playground && isOffered(parts, 'aggregate') && html`<a class="button plain" href="${parts.paths.path(analysisPage(collection))}">Analyse</a>`}${mayCreate(request, parts, described) && html`<a class="button primary" href="${parts.paths.path(createPage(collection))}">New record</a>`}</div></div>
${described.description !== undefined && html`<p class="lead">${described.description}</p>`}
${flash({ deleted: 'Deleted.' }, request.query)}${bulkFlash(request.query)}
${filterForms({ state, described, describe, parts, problem, makesSegments: isAdmin })}
${columnChooser(state, toChoices(choices, columns), parts)}
${!parent && meaningSection(described, isAdmin ? parts.paths.path(meaningPage(collection)) : undefined)}
${found?.answer && results(state, described, columns, found, request, parts)}
${globalActions(described, request, parts)}`;
  const title = problem === undefined ? collection : `Error: ${collection}`;
  const page = createFramedPage(request, parts, {
    ...{ title, under, content, wide: true },
    ...(parent && {
      between: [collectionLink(parent.collection, parts), parentNames!.link(parent.collection, parent.id)],
    }),
  });
  return { page, ...(problem !== undefined && { status: failure?.status ?? 400 }) };
}

const toChoices = (choices: readonly ListColumn[], shown: readonly ListColumn[]): readonly ColumnChoice[] =>
  choices.map(({ id, label }) => ({ id, label, isShown: shown.some((column) => column.id === id) }));

async function read(
  state: ListState,
  described: CollectionDescription,
  columns: readonly ListColumn[],
  request: SignedInRequest,
  parts: Parts,
): Promise<Found> {
  const { engine, clock } = parts;
  const { access, signal } = request;
  const { collection, parent, sort, cursor } = state;
  const conditions = conditionsOf(state, described);
  const listed: ListRequest = {
    ...{ collection, ...conditions, fields: fieldsFor(described, columns), limit: LISTED },
    ...(sort && { sort: [sort] }),
    ...(cursor !== '' && { cursor }),
  };
  const startedAt = clock.now();
  const log = (failure?: unknown) =>
    logRead(request, parts, {
      startedAt,
      failure,
      ...(parent
        ? { action: 'listRelated', collection: parent.collection, recordIds: [parent.id] }
        : { action: 'list', collection }),
    });
  const options = { signal, cutsPages: true };
  const counting = { signal, timeoutMs: COUNT_MS };
  try {
    const related = requireParent(state, request, parts);
    const [answer, count] = await Promise.all([
      related ? engine.listRelated(access, { ...listed, ...related }, options) : engine.list(access, listed, options),
      described.countable
        ? (related
            ? engine.countRelated(access, { ...conditions, ...related }, counting)
            : engine.count(access, { collection, ...conditions }, counting)
          ).catch(() => undefined)
        : undefined,
    ]);
    log();
    return { answer, count, failure: undefined };
  } catch (error) {
    log(error);
    if (!isAppError(error) || error.status >= 500 || error.code === 'NOT_FOUND') throw error;
    return { answer: undefined, count: undefined, failure: error };
  }
}

function results(
  state: ListState,
  described: CollectionDescription,
  columns: readonly ListColumn[],
  { answer, count }: Found,
  request: SignedInRequest,
  parts: Parts,
): Html {
  const { access } = request;
  const { paths } = parts;
  const { collection } = state;
  const { hasMore, cursorAfter, rows } = answer!;
  if (rows.length === 0) {
    const isNarrowed = state.filter ?? (state.segment || state.search || state.cursor);
    return isNarrowed
      ? empty('No records match', html`<a href="${paths.path(dataPage(collection))}">Show all records</a>`)
      : empty('No records', 'This collection is empty, or your team cannot see its records.');
  }
  const opens = access.can('read', collection);
  const rights = bulkRights(described, request, parts);
  const lines = readRows(answer!, described, columns).map(
    ({ id, name, cells }) =>
      html`<tr>${rights && selectCell(id, name)}<th scope="row">${id !== undefined && opens ? html`<a href="${paths.path(recordPage(collection, id))}">${name}</a>` : name}</th>${cells.map((cell, at) => html`<td${columns[at]!.isNumber && html` class="number"`}>${cell}</td>`)}</tr>`,
  );
  const nameColumn = {
    label: described.displayField ?? described.key.join(', '),
    sort: described.displayField ?? described.key[0],
  };
  const heads = [nameColumn, ...columns].map((column) => sortHead(column, state, paths));
  const table = html`<div class="scroll" role="region" aria-label="Records of ${collection}" tabindex="0"><table class="table records"><caption class="unseen">Records of ${collection}</caption>
<thead><tr>${rights && selectHead}${heads}</tr></thead><tbody>${lines}</tbody></table></div>`;
  const form = { state, table, shown: rows.length, count, isLast: !hasMore };
  return html`${rights ? selectionForm({ ...form, rights }, request, parts) : table}
${pages(state, hasMore ? cursorAfter(rows.length - 1) : undefined, count, paths)}`;
}

/** The result of a change of several records, after its redirect. */
function bulkFlash(query: URLSearchParams): Html | false {
  if (query.get('done') === 'none') return html`<p class="alert" role="alert">Select at least one record.</p>`;
  const count = parseCount(query.get('count'));
  if (count === undefined) return false;
  return flash(
    { 'all-changed': `${countRecords(count)} changed.`, 'all-deleted': `${countRecords(count)} deleted.` },
    query,
  );
}

function sortHead(
  {
    label,
    sort,
    isNumber,
  }: { readonly label: string; readonly sort?: string | undefined; readonly isNumber?: boolean },
  state: ListState,
  paths: Parts['paths'],
): Html {
  const number = isNumber && html` class="number"`;
  if (sort === undefined) return html`<th scope="col"${number}>${label}</th>`;
  const isCurrent = state.sort?.field === sort;
  const isAscending = isCurrent && state.sort?.ascending !== false;
  const order = isCurrent && html` aria-sort="${isAscending ? 'ascending' : 'descending'}"`;
  const link = paths.path(listPage(state, { sort: { field: sort, ascending: !isAscending } }));
  return html`<th scope="col"${number}${order}><a href="${link}">${label}${isCurrent && html`<span aria-hidden="true"> ${isAscending ? '↑' : '↓'}</span>`}</a></th>`;
}

function pages(state: ListState, next: string | undefined, count: number | undefined, paths: Parts['paths']): Html {
  const { cursor, trail } = state;
  const previous = cursor !== '' && listPage(state, { cursor: trail.at(-1) ?? '', trail: trail.slice(0, -1) });
  const following =
    next !== undefined && listPage(state, { cursor: next, trail: cursor === '' ? [] : [...trail, cursor] });
  return html`<nav class="pager" aria-label="Pages">${count !== undefined && html`<span>${countRecords(count)}</span>`}
${trail.length > 0 && html`<a href="${paths.path(listPage(state))}">First</a>`}${previous !== false && html`<a href="${paths.path(previous)}" rel="prev">Previous</a>`}${following !== false && html`<a href="${paths.path(following)}" rel="next">Next</a>`}</nav>`;
}

function globalActions({ name }: CollectionDescription, request: SignedInRequest, parts: Parts): Html | false {
  const actions = actionsFor(name, request, parts).filter(({ scope }) => scope === 'Global');
  return (
    actions.length > 0 &&
    html`<h2 class="plainly">Actions</h2><div class="deeds">${actions.map((action) => html`<a class="button plain slim" href="${parts.paths.path(actionPage(name, action.name))}">${action.name}</a>`)}</div>`
  );
}
