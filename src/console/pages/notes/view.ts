// Renders notes.
import { cleanHtml } from '../../../api/notes/content.ts';
import { type Html, html, trustedHtml } from '../../../http/html.ts';
import type { Note, NoteMessage } from '../../../store/notes/types.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { readNames } from '../../records/names.ts';
import { facts } from '../../ui/data.ts';
import { areaField, buttonTo, field, openForm } from '../../ui/form.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { toText } from './text.ts';

/** Maximum length of a message typed in the console, limited by the form size. Programs may write longer ones. */
export const MAX_TYPED_LENGTH = 20_000;

export const notePage = (id: number): string => `/notes/${id}`;

const archivedBadge = html` <span class="badge unsure">Archived</span>`;

const messages = (count: number): string => (count === 1 ? '1 message' : `${count || 'no'} messages`);

export async function noteRows(notes: readonly Note[], request: SignedInRequest, parts: Parts): Promise<Html> {
  const { access } = request;
  const { paths, clock } = parts;
  const refs = notes.flatMap(({ collection, recordId }) => (collection === null ? [] : [{ collection, id: recordId }]));
  const names = await readNames(request, parts, refs);
  const isForeign = ({ team }: Note) => team !== access.caller.team && html` · ${team}`;
  return html`<ul class="rows notes">${notes.map(
    (note) =>
      html`<li><a href="${paths.path(notePage(note.id))}"><b>${note.title}${note.archivedAt !== null && archivedBadge}</b><span>${note.collection === null ? note.recordId : `${names.name(note.collection, note.recordId)} of ${note.collection}`} · ${note.user.name}${isForeign(note)} · ${messages(note.messageCount)} · ${describeWait(clock.now() - note.updatedAt)} ago</span></a></li>`,
  )}</ul>`;
}

/** The form with the error, which the page expands with the submitted values. */
export interface NoteProblem {
  readonly form: 'message' | 'edit' | 'rename' | 'archive';
  readonly text: string;
  readonly messageId?: number;
  readonly input: string;
}

export function threadContent(
  note: Note,
  record: Html,
  request: SignedInRequest,
  parts: Parts,
  problem?: NoteProblem,
): Html {
  const { timezone, team } = request.access.caller;
  const isArchived = note.archivedAt !== null;
  return html`<div class="heading"><h1>${note.title}</h1>${isArchived && archivedBadge}</div>
${facts([
  ['About', html`${note.collection} ${record}`],
  ['From', html`${note.user.name}<small>${showTime(note.createdAt, timezone)}</small>`],
  ['Team', note.team !== team && note.team],
  ['Archived', isArchived && showTime(note.archivedAt, timezone)],
])}
${
  note.messages.length === 0
    ? html`<div class="empty spaced"><b>No messages yet</b>${isArchived ? 'Unarchive the note to write a message.' : 'Write the first message.'}</div>`
    : html`<ol class="thread">${note.messages.map((message) => messageItem(message, note, request, parts, problem))}</ol>`
}
${!isArchived && messageForm(note, request, parts, problem)}
<div class="tools">${buttonTo(request, parts, { page: notePage(note.id), action: isArchived ? 'unarchive' : 'archive', text: isArchived ? 'Unarchive' : 'Archive' })}
${renameForm(note, request, parts, problem)}</div>
<p class="quietly spaced"><a href="${parts.paths.path('/notes')}">All notes</a></p>`;
}

function messageItem(
  message: NoteMessage,
  note: Note,
  request: SignedInRequest,
  parts: Parts,
  problem?: NoteProblem,
): Html {
  const { caller } = request.access;
  const isOwn = message.user.id === caller.id;
  const mayEdit = isOwn || caller.permissionLevel === 'admin';
  const edited = message.editedAt !== null && html` · edited ${showTime(message.editedAt, caller.timezone)}`;
  return html`<li id="m${message.id}"${isOwn && html` class="own"`}><header><b>${message.user.name}</b><span>${showTime(message.createdAt, caller.timezone)}${edited}</span></header>
<div class="prose">${trustedHtml(cleanHtml(message.content))}</div>
${mayEdit && note.archivedAt === null && editForm(message, note, request, parts, problem)}</li>`;
}

function editForm(
  message: NoteMessage,
  note: Note,
  request: SignedInRequest,
  parts: Parts,
  problem?: NoteProblem,
): Html {
  const formProblem = problem?.form === 'edit' && problem.messageId === message.id ? problem : undefined;
  const text = toText(message.content);
  const value = formProblem?.input ?? text ?? message.content;
  if (formProblem === undefined && value.length > MAX_TYPED_LENGTH) {
    return html`<p class="quietly">The message is too long for this form. Edit it with the public API.</p>`;
  }
  return html`<details class="more"${formProblem && html` open`}><summary>Edit<span class="unseen"> this message of ${message.user.name}</span></summary>
${openForm(request, parts, notePage(note.id))}<input type="hidden" name="message" value="${message.id}"><input type="hidden" name="as" value="${text === undefined ? 'html' : 'text'}">
${areaField({
  id: `edit-${message.id}`,
  name: 'content',
  label: 'Message',
  value,
  maxLength: MAX_TYPED_LENGTH,
  required: true,
  problem: formProblem?.text,
  hint: text === undefined ? 'A program wrote this message as HTML. Edit the HTML to keep its markup.' : undefined,
})}
<button class="plain slim" name="action" value="edit">Save message</button></form></details>`;
}

function messageForm(note: Note, request: SignedInRequest, parts: Parts, problem?: NoteProblem): Html {
  const formProblem = problem?.form === 'message' ? problem : undefined;
  return html`${openForm(request, parts, notePage(note.id))}<div class="write">${areaField({
    id: 'content',
    label: 'Write a message',
    value: formProblem?.input ?? '',
    maxLength: MAX_TYPED_LENGTH,
    required: true,
    hint: writingHint,
    problem: formProblem?.text,
  })}</div>
<button class="primary slim" name="action" value="message">Send</button></form>`;
}

export const writingHint = 'A blank line starts a paragraph. Lines that start with “- ” form a list.';

function renameForm(note: Note, request: SignedInRequest, parts: Parts, problem?: NoteProblem): Html {
  const formProblem = problem?.form === 'rename' ? problem : undefined;
  return html`<details class="more"${formProblem && html` open`}><summary>Rename</summary>
${openForm(request, parts, notePage(note.id))}${field({
  id: 'title',
  label: 'Title',
  value: formProblem?.input ?? note.title,
  required: true,
  problem: formProblem?.text,
})}
<button class="plain slim" name="action" value="rename">Save title</button></form></details>`;
}
