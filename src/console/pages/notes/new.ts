// Form for a new note. The query can name the record, so other pages can link to this one.
import { createNote } from '../../../api/notes/writing.ts';
import { type AppError, isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { readNames } from '../../records/names.ts';
import { empty } from '../../ui/data.ts';
import { areaField, field, openForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { under } from './list.ts';
import { toHtml } from './text.ts';
import { sentence, writerOf } from './thread.ts';
import { MAX_TYPED_LENGTH, notePage, writingHint } from './view.ts';
import { readableCollections } from './visible.ts';

type Name = 'collection' | 'record' | 'title' | 'content';
type Draft = Readonly<Record<Name, string>>;

export async function showNewNote(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { query } = request;
  const draft = {
    collection: query.get('collection') ?? '',
    record: query.get('record') ?? '',
    title: '',
    content: '',
  };
  return newPage(draft, request, parts);
}

async function newPage(draft: Draft, request: SignedInRequest, parts: Parts, problem?: Problem): Promise<Answer> {
  const collections = readableCollections(parts.engine, request.access);
  const of = (name: Name) => ({ value: draft[name], problem: problem?.at === name ? problem.text : undefined });
  const options = [['', 'Choose one'] as const, ...collections.map((name) => [name, name] as const)];
  const { collection, record } = draft;
  const hint =
    'The record ID. Separate the parts of a composite key with |. Or press New note on the page of a record.';
  const names = record === '' ? undefined : await readNames(request, parts, [{ collection, id: record }]);
  const about = names?.isKnown(collection, record)
    ? html`<p>About ${names.link(collection, record)} of ${collection}</p><input type="hidden" name="collection" value="${collection}"><input type="hidden" name="record" value="${record}">`
    : html`<div class="two">${selectField({ id: 'collection', label: 'Collection', options, required: true, ...of('collection') })}
${field({ id: 'record', label: 'Record', maxLength: 400, required: true, hint, ...of('record') })}</div>`;
  const form = html`${openForm(request, parts, '/notes/new')}
${about}
${field({ id: 'title', label: 'Title', required: true, ...of('title') })}
<div class="write">${areaField({ id: 'content', label: 'Message', maxLength: MAX_TYPED_LENGTH, hint: writingHint, ...of('content') })}</div>
<button class="primary slim" name="action" value="create">Create note</button></form>`;
  const content = html`<h1>New note</h1>
<p class="lead">Visible to teammates who can see the record.</p>
${collections.length > 0 ? form : empty('No collections', 'You cannot see any collection. Ask an administrator for access.')}
<p class="quietly spaced"><a href="${parts.paths.path(under)}">All notes</a></p>`;
  const page = createFramedPage(request, parts, { title: problem ? 'Error: New note' : 'New note', under, content });
  return { page, ...(problem && { status: 400 }) };
}

export async function saveNewNote(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const readField = (name: Name) => request.form.get(name) ?? '';
  const draft = {
    collection: readField('collection'),
    record: readField('record').trim(),
    title: readField('title'),
    content: readField('content'),
  };
  const content = draft.content.trim() === '' ? {} : { content: toHtml(draft.content) };
  const { collection, record: recordId, title } = draft;
  try {
    const id = await createNote(parts, writerOf(request), { collection, recordId, title, ...content });
    return { to: `${notePage(id)}?done=created` };
  } catch (error) {
    const problem = isAppError(error) ? problemOf(error) : undefined;
    if (!problem) throw error;
    return newPage(draft, request, parts, problem);
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
    return { at: 'record', text: 'The record does not exist, or you cannot see it.' };
  if (isAppError(error, 'INVALID_VALUE')) return { at: 'record', text: `Expected ${error.details.expected}.` };
  if (!isAppError(error, 'INVALID_ARGUMENT')) return undefined;
  return { at: fields[error.details.argument] ?? 'record', text: sentence(error) };
}
