// One note: its thread and its actions. Visibility is checked to show the note, and again with current rights before
// every write.
import { addMessage, changeNote, editMessage, logNoteRead, type Writer } from '../../../api/notes/writing.ts';
import { fail, isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import type { Note } from '../../../store/notes/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { readNames } from '../../records/names.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { under } from './list.ts';
import { toHtml } from './text.ts';
import { type NoteProblem, notePage, threadContent } from './view.ts';
import { findVisible } from './visible.ts';

const LARGEST = 2_147_483_647;

const doneTexts: Readonly<Record<string, string>> = {
  created: 'Note created.',
  message: 'Message sent.',
  edit: 'Message saved.',
  rename: 'Title saved.',
  archive: 'Note archived. To find it, choose the state Archived in the list.',
  unarchive: 'Note unarchived.',
};

/** A missing note and a note that the user may not see return the same page. */
async function findNote(
  { id, access }: Pick<SignedInRequest, 'id' | 'access'>,
  { store, engine }: Parts,
): Promise<Note> {
  const noteId = /^[1-9]\d{0,9}$/.test(id) && Number(id) <= LARGEST ? Number(id) : undefined;
  const note = noteId === undefined ? undefined : await store.notes.find(noteId);
  const [visible] = note ? await findVisible(engine, access, [note]) : [];
  return visible ?? fail('NOT_FOUND', { path: `${under}/${id}` });
}

const consoleWriter = { clientId: 'console', clientName: 'Console' } as const;

export function writerOf(request: SignedInRequest, check: Writer['check'] = () => undefined): Writer {
  return { access: request.access, ...consoleWriter, check };
}

async function threadPage(note: Note, request: SignedInRequest, parts: Parts, problem?: NoteProblem): Promise<Answer> {
  const collection = note.collection ?? '';
  const names = await readNames(request, parts, [{ collection, id: note.recordId }]);
  const record = names.link(collection, note.recordId);
  const content = html`${!problem && flash(doneTexts, request.query)}${threadContent(note, record, request, parts, problem)}`;
  const title = problem ? `Error: ${note.title}` : note.title;
  return { page: createFramedPage(request, parts, { title, under, content }), ...(problem && { status: 400 }) };
}

export async function showNote(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const note = await findNote(request, parts);
  logNoteRead(parts, writerOf(request), note);
  return threadPage(note, request, parts);
}

interface ActionContext {
  readonly note: Note;
  readonly request: SignedInRequest;
  readonly parts: Parts;
  readonly writer: Writer;
}

/** One action of the page by button name, with the form that shows its error and the page to go to. */
interface ThreadAction {
  readonly form: NoteProblem['form'];
  readonly field: 'content' | 'title';
  readonly run: (context: ActionContext) => Promise<unknown>;
}

const readField = ({ form }: SignedInRequest, name: string): string => form.get(name) ?? '';

const archiveAction = (archived: boolean): ThreadAction => ({
  form: 'archive',
  field: 'title',
  run: ({ note, parts, writer }) => changeNote(parts, writer, note, { archived }),
});

const threadActions: Readonly<Record<string, ThreadAction>> = {
  message: {
    form: 'message',
    field: 'content',
    run: ({ note, request, parts, writer }) => addMessage(parts, writer, note, toHtml(readField(request, 'content'))),
  },
  edit: {
    form: 'edit',
    field: 'content',
    run: async ({ note, request, parts, writer }) => {
      const input = readField(request, 'content');
      const content = readField(request, 'as') === 'html' ? input : toHtml(input);
      const done = await editMessage(parts, writer, note, { id: Number(readField(request, 'message')), content });
      return done ?? fail('NOT_FOUND', { path: `message ${readField(request, 'message')}` });
    },
  },
  rename: {
    form: 'rename',
    field: 'title',
    run: ({ note, request, parts, writer }) => changeNote(parts, writer, note, { title: readField(request, 'title') }),
  },
  archive: archiveAction(true),
  unarchive: archiveAction(false),
};

export async function changeThread(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const note = await findNote(request, parts);
  const action = readField(request, 'action');
  const threadAction = Object.hasOwn(threadActions, action) ? threadActions[action] : undefined;
  if (!threadAction)
    return fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons on the page.' });
  const writer = writerOf(request, (access) => findNote({ id: request.id, access }, parts));
  try {
    await threadAction.run({ note, request, parts, writer });
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { form, field } = threadAction;
    const messageId = Number(readField(request, 'message'));
    return threadPage(note, request, parts, {
      form,
      text: sentence(error),
      messageId,
      input: readField(request, field),
    });
  }
  return { to: `${notePage(note.id)}?done=${action}` };
}

/** Capitalizes an error for display: `content: expected some text.` begins with a field name. */
export function sentence({ details }: { readonly details: { readonly problem: string } }): string {
  return details.problem.charAt(0).toUpperCase() + details.problem.slice(1);
}
