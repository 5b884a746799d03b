// Form for a new note. The query can name the record, so other pages can link to this one.
import { createNote } from '../../../api/notes/writing.ts';
import { type AppError, isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { empty } from '../../ui/data.ts';
import { areaField, field, formOf, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { under } from './list.ts';
import { toHtml } from './text.ts';
import { sentence, writerOf } from './thread.ts';
import { notePage, typedMost, writingHint } from './view.ts';
import { readableCollections } from './visible.ts';

type Name = 'collection' | 'record' | 'title' | 'content';
type Draft = Readonly<Record<Name, string>>;

export async function showNewNote(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { query } = visit;
  const draft = {
    collection: query.get('collection') ?? '',
    record: query.get('record') ?? '',
    title: '',
    content: '',
  };
  return newPage(draft, visit, parts);
}

function newPage(draft: Draft, visit: MemberVisit, parts: Parts, problem?: Problem): Answer {
  const collections = readableCollections(parts.engine, visit.access);
  const of = (name: Name) => ({ value: draft[name], problem: problem?.at === name ? problem.text : undefined });
  const options = [['', 'Choose one'] as const, ...collections.map((name) => [name, name] as const)];
  const form = html`${formOf(visit, parts, '/notes/new')}
<div class="two">${selectField({ id: 'collection', label: 'Collection', options, required: true, ...of('collection') })}
${field({ id: 'record', label: 'Record', most: 400, required: true, hint: 'Its id; the parts of a composite one with | between them.', ...of('record') })}</div>
${field({ id: 'title', label: 'Title', required: true, ...of('title') })}
<div class="write">${areaField({ id: 'content', label: 'Message', most: typedMost, hint: writingHint, ...of('content') })}</div>
<button class="primary slim" name="action" value="create">Create the note</button></form>`;
  const content = html`<h1>New note</h1>
<p class="lead">Your team sees it, as far as it sees the record.</p>
${collections.length > 0 ? form : empty('There is nothing to write about', 'No collection is open to you. An administrator can change that.')}
<p class="quietly spaced"><a href="${parts.paths.path(under)}">All notes</a></p>`;
  const page = createFramed(visit, parts, { title: problem ? 'Error: New note' : 'New note', under, content });
  return { page, ...(problem && { status: 400 }) };
}

export async function makeNote(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const said = (name: Name) => visit.form.get(name) ?? '';
  const draft = {
    collection: said('collection'),
    record: said('record').trim(),
    title: said('title'),
    content: said('content'),
  };
  const content = draft.content.trim() === '' ? {} : { content: toHtml(draft.content) };
  const { collection, record: recordId, title } = draft;
  try {
    const id = await createNote(parts, writerOf(visit), { collection, recordId, title, ...content });
    return { to: `${notePage(id)}?done=created` };
  } catch (error) {
    const problem = isAppError(error) ? problemOf(error) : undefined;
    if (!problem) throw error;
    return newPage(draft, visit, parts, problem);
  }
}

interface Problem {
  readonly at: Name;
  readonly text: string;
}

const fields: Readonly<Record<string, Name>> = {
  collectionName: 'collection',
  recordId: 'record',
  title: 'title',
  content: 'content',
};

function problemOf(error: AppError): Problem | undefined {
  if (isAppError(error, 'RECORD_NOT_FOUND'))
    return { at: 'record', text: 'There is no such record, or you may not see it.' };
  if (isAppError(error, 'INVALID_VALUE')) return { at: 'record', text: `Expected ${error.details.expected}.` };
  if (!isAppError(error, 'INVALID_ARGUMENT')) return undefined;
  return { at: fields[error.details.argument] ?? 'record', text: sentence(error) };
}
