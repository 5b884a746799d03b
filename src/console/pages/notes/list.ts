// The list of notes, filtered by its query. Notes about records that the reader may not see are dropped, so one page
// may need several storage queries.
import { html } from '../../../http/html.ts';
import type { Note, NoteFilter } from '../../../store/notes/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, pager } from '../../ui/data.ts';
import { checkField, field, filterForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { noteRows } from './view.ts';
import { findVisible, readableCollections } from './visible.ts';

export const under = '/notes';
const LISTED = 25;
/** Maximum number of storage queries per page. If most notes are dropped, the reader continues with the next page. */
const MAX_QUERIES = 6;

interface ListFilter {
  readonly collection: string;
  readonly record: string;
  readonly text: string;
  readonly state: string;
  readonly mine: boolean;
  readonly after: number | undefined;
}

function readListFilter({ query }: SignedInRequest): ListFilter {
  const readText = (name: string, maxLength: number) =>
    (query.get(name) ?? '').replaceAll('\0', '').slice(0, maxLength);
  const after = readText('after', 20);
  return {
    collection: readText('collection', 191),
    record: readText('record', 400),
    text: readText('text', 255).trim(),
    state: ['archived', 'all'].includes(readText('state', 10)) ? readText('state', 10) : 'open',
    mine: query.get('mine') === 'yes',
    after: /^\d{1,15}$/.test(after) ? Number(after) : undefined,
  };
}

export async function listNotes(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const listFilter = readListFilter(request);
  const collections = readableCollections(parts.engine, request.access);
  const { notes, next } = await findNotes(listFilter, collections, request, parts);
  const { collection, record, text, state, mine, after } = listFilter;
  const isFiltered = collection !== '' || record !== '' || text !== '' || mine || state !== 'open';
  const pageFrom = (from: number | undefined) => {
    const query = Object.entries({ collection, record, text, state, mine: mine ? 'yes' : '', after: from ?? '' });
    const filters = query.filter(([name, value]) => value !== '' && !(name === 'state' && value === 'open'));
    const search = new URLSearchParams(filters.map(([name, value]): [string, string] => [name, `${value}`]));
    return `${parts.paths.path(under)}${search.size > 0 ? `?${search}` : ''}`;
  };
  const options = [['', 'All'] as const, ...collections.map((name) => [name, name] as const)];
  const fields = [
    selectField({ id: 'collection', label: 'Collection', value: collection, options }),
    field({ id: 'record', label: 'Record', value: record, type: 'search', maxLength: 400 }),
    field({ id: 'text', label: 'Title contains', value: text, type: 'search' }),
    selectField({
      id: 'state',
      label: 'State',
      value: state,
      options: [
        ['open', 'Open'],
        ['archived', 'Archived'],
        ['all', 'All'],
      ],
    }),
    checkField({ id: 'mine', name: 'mine', label: 'Only mine', checked: mine }),
  ];
  const begin = `${parts.paths.path('/notes/new')}${about(collection, record)}`;
  const content = html`<div class="heading"><h1>Notes</h1>${collections.length > 0 && html`<a class="button primary" href="${begin}">New note</a>`}</div>
<p class="lead">Notes of your team about records.</p>
${filterForm(parts, under, fields)}
${notes.length > 0 ? await noteRows(notes, request, parts) : emptyList(isFiltered, next !== undefined, begin, collections)}
${html`<div class="spaced">${pager({
  ...(after !== undefined && { newest: pageFrom(undefined) }),
  ...(next !== undefined && { older: pageFrom(next) }),
})}</div>`}`;
  return { page: createFramedPage(request, parts, { title: 'Notes', under, content }) };
}

function about(collection: string, record: string): string {
  const query = new URLSearchParams({ ...(collection && { collection }), ...(record && { record }) });
  return query.size > 0 ? `?${query}` : '';
}

function emptyList(isNarrowed: boolean, hasOlder: boolean, begin: string, collections: readonly string[]) {
  if (collections.length === 0) {
    return empty('No collections', 'You cannot see any collection. Ask an administrator for access.');
  }
  if (hasOlder) return empty('No results among the newest notes', 'Older notes may match.');
  if (isNarrowed) return empty('No results', 'Clear the filters, or include archived notes.');
  return empty(
    'No notes yet',
    html`Write down what your team should know about a record: <a href="${begin}">create the first note</a>.`,
  );
}

async function findNotes(
  { collection, record, text, state, mine, after }: ListFilter,
  collections: readonly string[],
  { access }: SignedInRequest,
  { store, engine }: Parts,
): Promise<{ readonly notes: readonly Note[]; readonly next: number | undefined }> {
  const { caller } = access;
  const readable = collection === '' ? collections : collections.filter((name) => name === collection);
  if (readable.length === 0) return { notes: [], next: undefined };
  const filter: NoteFilter = {
    collections: readable,
    ...(caller.permissionLevel !== 'admin' && { teamName: caller.team }),
    ...(record !== '' && { recordId: record }),
    ...(text !== '' && { title: text }),
    ...(state !== 'all' && { archived: state === 'archived' }),
    ...(mine && { userId: caller.id }),
    withMessages: false,
    limit: LISTED + 1,
  };
  const found: Note[] = [];
  let from = after;
  for (let query = 0; query < MAX_QUERIES && found.length <= LISTED; query++) {
    const page = await store.notes.list({ ...filter, ...(from !== undefined && { after: from }) });
    found.push(...(await findVisible(engine, access, page.notes)));
    from = page.next;
    if (from === undefined) break;
  }
  if (found.length <= LISTED) return { notes: found, next: from };
  const notes = found.slice(0, LISTED);
  return { notes, next: notes.at(-1)!.createdAt };
}
