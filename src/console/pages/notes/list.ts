// The list of notes, filtered by its query. Notes about records that the reader may not see are dropped, so one page
// may need several storage queries.
import { html } from '../../../http/html.ts';
import type { Note, NoteWish } from '../../../store/notes/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { empty, pager } from '../../ui/data.ts';
import { checkField, field, filterForm, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { noteRows } from './view.ts';
import { findVisible, readableCollections } from './visible.ts';

export const under = '/notes';
const LISTED = 25;
/** Maximum number of storage queries per page. If most notes are dropped, the reader continues with the next page. */
const LOOKS = 6;

interface Wanted {
  readonly collection: string;
  readonly record: string;
  readonly text: string;
  readonly state: string;
  readonly mine: boolean;
  readonly after: number | undefined;
}

function readWanted({ query }: MemberVisit): Wanted {
  const said = (name: string, most: number) => (query.get(name) ?? '').replaceAll('\0', '').slice(0, most);
  const after = said('after', 20);
  return {
    collection: said('collection', 191),
    record: said('record', 400),
    text: said('text', 255).trim(),
    state: ['archived', 'all'].includes(said('state', 10)) ? said('state', 10) : 'open',
    mine: query.get('mine') === 'yes',
    after: /^\d{1,15}$/.test(after) ? Number(after) : undefined,
  };
}

export async function listNotes(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const wanted = readWanted(visit);
  const collections = readableCollections(parts.engine, visit.access);
  const { notes, next } = await lookFor(wanted, collections, visit, parts);
  const { collection, record, text, state, mine, after } = wanted;
  const isNarrowed = collection !== '' || record !== '' || text !== '' || mine || state !== 'open';
  const pageFrom = (from: number | undefined) => {
    const query = Object.entries({ collection, record, text, state, mine: mine ? 'yes' : '', after: from ?? '' });
    const kept = query.filter(([name, value]) => value !== '' && !(name === 'state' && value === 'open'));
    const sent = new URLSearchParams(kept.map(([name, value]): [string, string] => [name, `${value}`]));
    return `${parts.paths.path(under)}${sent.size > 0 ? `?${sent}` : ''}`;
  };
  const options = [['', 'All'] as const, ...collections.map((name) => [name, name] as const)];
  const fields = [
    selectField({ id: 'collection', label: 'Collection', value: collection, options }),
    field({ id: 'record', label: 'Record', value: record, type: 'search', most: 400 }),
    field({ id: 'text', label: 'In the title', value: text, type: 'search' }),
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
    checkField({ id: 'mine', name: 'mine', label: 'Mine alone', checked: mine }),
  ];
  const begin = `${parts.paths.path('/notes/new')}${about(collection, record)}`;
  const content = html`<div class="heading"><h1>Notes</h1>${collections.length > 0 && html`<a class="button primary" href="${begin}">New note</a>`}</div>
<p class="lead">What your team writes down about records.</p>
${filterForm(parts, under, fields)}
${notes.length > 0 ? noteRows(notes, visit, parts) : nothing(isNarrowed, next !== undefined, begin, collections)}
${html`<div class="spaced">${pager({
  ...(after !== undefined && { newest: pageFrom(undefined) }),
  ...(next !== undefined && { older: pageFrom(next) }),
})}</div>`}`;
  return { page: createFramed(visit, parts, { title: 'Notes', under, content }) };
}

function about(collection: string, record: string): string {
  const query = new URLSearchParams({ ...(collection && { collection }), ...(record && { record }) });
  return query.size > 0 ? `?${query}` : '';
}

function nothing(isNarrowed: boolean, hasOlder: boolean, begin: string, collections: readonly string[]) {
  if (collections.length === 0) {
    return empty('There is nothing to write about', 'No collection is open to you. An administrator can change that.');
  }
  if (hasOlder) return empty('None among the newest', 'There may be some among the older ones.');
  if (isNarrowed) return empty('No note fits', 'Look for less, or for archived ones too.');
  return empty(
    'No notes yet',
    html`Write down what others should know about a record: <a href="${begin}">the first note</a>.`,
  );
}

async function lookFor(
  { collection, record, text, state, mine, after }: Wanted,
  collections: readonly string[],
  { access }: MemberVisit,
  { store, engine }: Parts,
): Promise<{ readonly notes: readonly Note[]; readonly next: number | undefined }> {
  const { caller } = access;
  const among = collection === '' ? collections : collections.filter((name) => name === collection);
  if (among.length === 0) return { notes: [], next: undefined };
  const wish: NoteWish = {
    collections: among,
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
  for (let look = 0; look < LOOKS && found.length <= LISTED; look++) {
    const page = await store.notes.list({ ...wish, ...(from !== undefined && { after: from }) });
    found.push(...(await findVisible(engine, access, page.notes)));
    from = page.next;
    if (from === undefined) break;
  }
  if (found.length <= LISTED) return { notes: found, next: from };
  const notes = found.slice(0, LISTED);
  return { notes, next: notes.at(-1)!.createdAt };
}
