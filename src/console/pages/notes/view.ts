// Renders notes.
import { cleanHtml } from '../../../api/notes/content.ts';
import { type Html, html, markup } from '../../../http/html.ts';
import type { Note, NoteMessage } from '../../../store/notes/types.ts';
import type { MemberVisit, Parts } from '../../page-request.ts';
import { facts } from '../../ui/data.ts';
import { areaField, buttonTo, field, formOf } from '../../ui/form.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { toText } from './text.ts';

/** Maximum length of a message typed in the console, limited by the form size. Programs may write longer ones. */
export const typedMost = 20_000;

export const notePage = (id: number): string => `/notes/${id}`;

export const archivedBadge = html` <span class="badge unsure">Archived</span>`;

const messages = (count: number): string => (count === 1 ? '1 message' : `${count || 'no'} messages`);

export function noteRows(notes: readonly Note[], { access }: MemberVisit, { paths, clock }: Parts): Html {
  const isForeign = ({ team }: Note) => team !== access.caller.team && html` · ${team}`;
  return html`<ul class="rows notes">${notes.map(
    (note) =>
      html`<li><a href="${paths.path(notePage(note.id))}"><b>${note.title}${note.archivedAt !== null && archivedBadge}</b><span>${note.collection} ${note.recordId} · ${note.user.name}${isForeign(note)} · ${messages(note.messageCount)} · ${describeWait(clock.now() - note.updatedAt)} ago</span></a></li>`,
  )}</ul>`;
}

/** The form with the error, which the page expands with the submitted values. */
export interface NoteProblem {
  readonly form: 'message' | 'edit' | 'rename' | 'archive';
  readonly text: string;
  readonly messageId?: number;
  readonly sent: string;
}

export function threadContent(note: Note, visit: MemberVisit, parts: Parts, problem?: NoteProblem): Html {
  const { timezone, team } = visit.access.caller;
  const isArchived = note.archivedAt !== null;
  return html`<div class="heading"><h1>${note.title}</h1>${isArchived && archivedBadge}</div>
${facts([
  ['About', html`${note.collection} ${note.recordId}`],
  ['From', html`${note.user.name}<small>${showTime(note.createdAt, timezone)}</small>`],
  ['Team', note.team !== team && note.team],
  ['Archived', isArchived && showTime(note.archivedAt!, timezone)],
])}
${
  note.messages.length === 0
    ? html`<div class="empty spaced"><b>Nobody has written yet</b>${isArchived ? 'Bring the note back to write.' : 'The first message is yours.'}</div>`
    : html`<ol class="thread">${note.messages.map((message) => messageItem(message, note, visit, parts, problem))}</ol>`
}
${!isArchived && messageForm(note, visit, parts, problem)}
<div class="tools">${buttonTo(visit, parts, { page: notePage(note.id), action: isArchived ? 'unarchive' : 'archive', text: isArchived ? 'Bring it back' : 'Archive' })}
${renameForm(note, visit, parts, problem)}</div>
<p class="quietly spaced"><a href="${parts.paths.path('/notes')}">All notes</a></p>`;
}

function messageItem(message: NoteMessage, note: Note, visit: MemberVisit, parts: Parts, problem?: NoteProblem): Html {
  const { caller } = visit.access;
  const isOwn = message.user.id === caller.id;
  const mayEdit = isOwn || caller.permissionLevel === 'admin';
  const edited = message.editedAt !== null && html` · edited ${showTime(message.editedAt, caller.timezone)}`;
  return html`<li id="m${message.id}"${isOwn && html` class="own"`}><header><b>${message.user.name}</b><span>${showTime(message.createdAt, caller.timezone)}${edited}</span></header>
<div class="prose">${markup(cleanHtml(message.content))}</div>
${mayEdit && note.archivedAt === null && editForm(message, note, visit, parts, problem)}</li>`;
}

function editForm(message: NoteMessage, note: Note, visit: MemberVisit, parts: Parts, problem?: NoteProblem): Html {
  const mine = problem?.form === 'edit' && problem.messageId === message.id ? problem : undefined;
  const text = toText(message.content);
  const value = mine?.sent ?? text ?? message.content;
  if (mine === undefined && value.length > typedMost) {
    return html`<p class="quietly">It is too long to be edited here. The public API takes it.</p>`;
  }
  return html`<details class="more"${mine && html` open`}><summary>Edit<span class="unseen"> this message of ${message.user.name}</span></summary>
${formOf(visit, parts, notePage(note.id))}<input type="hidden" name="message" value="${message.id}"><input type="hidden" name="as" value="${text === undefined ? 'html' : 'text'}">
${areaField({
  id: `edit-${message.id}`,
  name: 'content',
  label: 'Message',
  value,
  most: typedMost,
  required: true,
  problem: mine?.text,
  hint:
    text === undefined
      ? 'A program wrote this with markup. It is shown as HTML, so that none of it is lost.'
      : undefined,
})}
<button class="plain slim" name="action" value="edit">Save the message</button></form></details>`;
}

function messageForm(note: Note, visit: MemberVisit, parts: Parts, problem?: NoteProblem): Html {
  const mine = problem?.form === 'message' ? problem : undefined;
  return html`${formOf(visit, parts, notePage(note.id))}<div class="write">${areaField({
    id: 'content',
    label: 'Write a message',
    value: mine?.sent ?? '',
    most: typedMost,
    required: true,
    hint: writingHint,
    problem: mine?.text,
  })}</div>
<button class="primary slim" name="action" value="message">Send</button></form>`;
}

export const writingHint = 'A blank line begins a paragraph, lines that begin with “- ” are a list.';

function renameForm(note: Note, visit: MemberVisit, parts: Parts, problem?: NoteProblem): Html {
  const mine = problem?.form === 'rename' ? problem : undefined;
  return html`<details class="more"${mine && html` open`}><summary>Rename</summary>
${formOf(visit, parts, notePage(note.id))}${field({
  id: 'title',
  label: 'Title',
  value: mine?.sent ?? note.title,
  required: true,
  problem: mine?.text,
})}
<button class="plain slim" name="action" value="rename">Save the title</button></form></details>`;
}
