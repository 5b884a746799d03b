// One note: its thread and its actions. Visibility is checked to show the note, and again with current rights before
// every write.
import { addMessage, changeNote, editMessage, noteReading, type Writer } from '../../../api/notes/writing.ts';
import { fail, isAppError } from '../../../core/errors.ts';
import { html } from '../../../http/html.ts';
import type { Note } from '../../../store/notes/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { under } from './list.ts';
import { toHtml } from './text.ts';
import { type NoteProblem, notePage, threadContent } from './view.ts';
import { findVisible } from './visible.ts';

const LARGEST = 2_147_483_647;

const doneTexts: Readonly<Record<string, string>> = {
  created: 'The note is there.',
  message: 'Your message is there.',
  edit: 'The message is saved.',
  rename: 'The title is saved.',
  archive: 'It is archived: the list shows it among the archived ones.',
  unarchive: 'It is back among the open ones.',
};

/** A missing note and a note that the user may not see return the same page. */
async function findNote({ id, access }: Pick<MemberVisit, 'id' | 'access'>, { store, engine }: Parts): Promise<Note> {
  const wanted = /^[1-9]\d{0,9}$/.test(id) && Number(id) <= LARGEST ? Number(id) : undefined;
  const note = wanted === undefined ? undefined : await store.notes.find(wanted);
  const [seen] = note ? await findVisible(engine, access, [note]) : [];
  return seen ?? fail('NOT_FOUND', { path: `${under}/${id}` });
}

const consoleWriter = { clientId: 'console', clientName: 'Console' } as const;

export function writerOf(visit: MemberVisit, check: Writer['check'] = () => undefined): Writer {
  return { access: visit.access, ...consoleWriter, check };
}

function threadPage(note: Note, visit: MemberVisit, parts: Parts, problem?: NoteProblem): Answer {
  const content = html`${!problem && flash(doneTexts, visit.query)}${threadContent(note, visit, parts, problem)}`;
  const title = problem ? `Error: ${note.title}` : note.title;
  return { page: createFramed(visit, parts, { title, under, content }), ...(problem && { status: 400 }) };
}

export async function showNote(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const note = await findNote(visit, parts);
  noteReading(parts, writerOf(visit), note);
  return threadPage(note, visit, parts);
}

interface Doing {
  readonly note: Note;
  readonly visit: MemberVisit;
  readonly parts: Parts;
  readonly writer: Writer;
}

/** One action of the page by button name, with the form that shows its error and the page to go to. */
interface Deed {
  readonly form: NoteProblem['form'];
  readonly field: 'content' | 'title';
  readonly run: (doing: Doing) => Promise<unknown>;
}

const said = ({ form }: MemberVisit, name: string): string => form.get(name) ?? '';

const archiving = (archived: boolean): Deed => ({
  form: 'archive',
  field: 'title',
  run: ({ note, parts, writer }) => changeNote(parts, writer, note, { archived }),
});

const deeds: Readonly<Record<string, Deed>> = {
  message: {
    form: 'message',
    field: 'content',
    run: ({ note, visit, parts, writer }) => addMessage(parts, writer, note, toHtml(said(visit, 'content'))),
  },
  edit: {
    form: 'edit',
    field: 'content',
    run: async ({ note, visit, parts, writer }) => {
      const sent = said(visit, 'content');
      const content = said(visit, 'as') === 'html' ? sent : toHtml(sent);
      const done = await editMessage(parts, writer, note, { id: Number(said(visit, 'message')), content });
      return done ?? fail('NOT_FOUND', { path: `message ${said(visit, 'message')}` });
    },
  },
  rename: {
    form: 'rename',
    field: 'title',
    run: ({ note, visit, parts, writer }) => changeNote(parts, writer, note, { title: said(visit, 'title') }),
  },
  archive: archiving(true),
  unarchive: archiving(false),
};

export async function changeThread(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const note = await findNote(visit, parts);
  const action = said(visit, 'action');
  const deed = Object.hasOwn(deeds, action) ? deeds[action] : undefined;
  if (!deed) return fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons of the page.' });
  const writer = writerOf(visit, (access) => findNote({ id: visit.id, access }, parts));
  try {
    await deed.run({ note, visit, parts, writer });
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { form, field } = deed;
    const messageId = Number(said(visit, 'message'));
    return threadPage(note, visit, parts, { form, text: sentence(error), messageId, sent: said(visit, field) });
  }
  return { to: `${notePage(note.id)}?done=${action}` };
}

/** Capitalizes an error for display: `content: there is no text in it.` begins with a field name. */
export function sentence({ details }: { readonly details: { readonly problem: string } }): string {
  return details.problem.charAt(0).toUpperCase() + details.problem.slice(1);
}
