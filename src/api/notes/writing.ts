// Writes notes for the API and the console. Each write is logged first. Then the current rights are checked, and the
// write runs once. The writer must be able to see the note's record: the engine reads it with the writer's Access. A
// hidden record and a missing record return the same error.

import { packId } from '../../agent/encode/record-id.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError, fail, isAppError, toAppError } from '../../core/errors.ts';
import { markLogged } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';
import { outcomeOfCode } from '../../store/audit/activity-outcome.ts';
import type { ActivityEntry, Intent } from '../../store/audit/activity-types.ts';
import { recordIdMost, threadMost } from '../../store/notes/notes.ts';
import type { Note, NoteChange } from '../../store/notes/types.ts';
import type { Store } from '../../store/store.ts';
import { readContent, readTitle } from './content.ts';

export interface NoteParts {
  readonly store: Pick<Store, 'notes' | 'activity' | 'permissions'>;
  readonly engine: Pick<Engine, 'get' | 'describe'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

/** The user who writes, and the client. */
export interface Writer {
  readonly access: Access;
  readonly clientId: string;
  readonly clientName: string;
  /** Called with the current rights. If it throws or rejects, the write does not run. */
  readonly check: (access: Access) => unknown;
}

export interface NoteDraft {
  readonly title: string;
  readonly collection: string;
  readonly recordId: string;
  /** The first message. */
  readonly content?: string;
}

/** Returns the id. Throws INVALID_ARGUMENT or RECORD_NOT_FOUND. */
export async function createNote(parts: NoteParts, writer: Writer, draft: NoteDraft): Promise<number> {
  const title = readTitle(draft.title);
  const content = draft.content === undefined ? {} : { content: readContent(draft.content) };
  const { collection } = draft;
  return withMark(parts, writer, 'createNote', draft, async (access) => {
    const recordId = await findRecord(parts, access, collection, draft.recordId);
    const { id: userId, renderingId } = access.caller;
    return parts.store.notes.create({ title, collection, recordId, userId, renderingId, ...content });
  });
}

/** Returns false if the note no longer exists. */
export async function changeNote(parts: NoteParts, writer: Writer, note: Note, change: NoteChange): Promise<boolean> {
  const { title, archived } = change;
  const values = {
    ...(title !== undefined && { title: readTitle(title) }),
    ...(archived !== undefined && { archived }),
  };
  return withMark(parts, writer, 'updateNote', note, async () => {
    return (await parts.store.notes.change(note.id, values)) === true;
  });
}

/** Returns the message id, or undefined if the note no longer exists. */
export async function addMessage(
  parts: NoteParts,
  writer: Writer,
  note: Note,
  sent: string,
): Promise<number | undefined> {
  const content = readContent(sent);
  return withMark(parts, writer, 'createMessage', note, async ({ caller }) =>
    orFull(await parts.store.notes.addMessage(note.id, { userId: caller.id, content })),
  );
}

/** Allowed for the author and administrators. Returns undefined if the message does not exist. Throws DENIED. */
export async function editMessage(
  parts: NoteParts,
  writer: Writer,
  note: Note,
  message: { readonly id: number; readonly content: string },
): Promise<true | undefined> {
  const known = note.messages.find(({ id }) => id === message.id);
  if (!known) return undefined;
  const content = readContent(message.content);
  return withMark(parts, writer, 'updateMessage', note, async ({ caller }) => {
    if (known.user.id !== caller.id && caller.permissionLevel !== 'admin') {
      fail('DENIED', { problem: 'A message is changed by its author or an administrator.' });
    }
    return orFull(await parts.store.notes.editMessage(note.id, message.id, content));
  });
}

/** Logs that a note was read. */
export function noteReading(parts: NoteParts, writer: Omit<Writer, 'check'>, note: Note): void {
  const entry = { ...entryOf(parts, writer, 'openNote', note), type: 'read' as const };
  parts.store.activity.record({ ...entry, outcome: 'completed', durationMs: 0 });
}

function orFull<T>(written: T | 'full'): T {
  if (written !== 'full') return written as T;
  const problem = `a thread holds at most ${threadMost.messages} messages and ${threadMost.characters} characters. Begin another note.`;
  return fail('INVALID_ARGUMENT', { argument: 'content', problem });
}

/**
 * Returns the id in the engine's format. The error is the same for a missing collection and for one that the caller may
 * not browse or read.
 */
async function findRecord({ engine }: NoteParts, access: Access, collection: string, id: string): Promise<string> {
  const may = access.can('browse', collection) && access.can('read', collection);
  const key = may ? describeKey(engine, access, collection) : undefined;
  if (key === undefined)
    return fail('INVALID_ARGUMENT', { argument: 'collectionName', problem: 'there is no such collection.' });
  const { rows } = await engine.get(access, { collection, id, fields: key });
  const recordId = packId(rows[0] ?? []);
  if (recordId.length > recordIdMost) {
    fail('INVALID_ARGUMENT', { argument: 'recordId', problem: `at most ${recordIdMost} characters are kept.` });
  }
  return recordId;
}

function describeKey(engine: NoteParts['engine'], access: Access, collection: string): readonly string[] | undefined {
  try {
    return engine.describe(access, collection).key;
  } catch (error) {
    if (isAppError(error, 'UNKNOWN_COLLECTION')) return undefined;
    throw error;
  }
}

interface Subject {
  readonly collection: string | null;
  readonly recordId: string;
}

type Entry = Omit<ActivityEntry, 'outcome' | 'durationMs'>;

function entryOf(
  { clock }: NoteParts,
  { access, clientId, clientName }: Omit<Writer, 'check'>,
  action: string,
  { collection, recordId }: Subject,
): Entry {
  return {
    userId: access.caller.id,
    renderingId: access.caller.renderingId,
    clientId,
    clientName,
    action,
    type: 'write',
    ...(collection !== null && { collection }),
    recordIds: [recordId],
    startedAt: clock.now(),
  };
}

async function withMark<T>(
  parts: NoteParts,
  writer: Writer,
  action: string,
  subject: Subject,
  run: (access: Access) => Promise<T>,
): Promise<T> {
  const intent = await begin(parts, entryOf(parts, writer, action, subject));
  try {
    // A right revoked since the request arrived must block the write.
    const now = await parts.store.permissions.accessOf(writer.access.caller.id);
    if (!now) return fail('DENIED', { problem: 'The account is disabled or gone.' });
    await writer.check(now);
    const done = await run(now);
    await intent.complete({ outcome: 'completed' });
    return done;
  } catch (thrown) {
    await intent.complete(outcomeOfCode(toAppError(thrown, '').code));
    throw thrown;
  }
}

/** Every write is logged before it runs. */
async function begin({ store, observe }: NoteParts, entry: Entry): Promise<Intent> {
  try {
    return await store.activity.begin(entry);
  } catch (cause) {
    observe({ type: 'warning', message: 'A write was refused: the activity log cannot be written.', cause });
    if (isAppError(cause, 'PLATFORM_UNAVAILABLE')) throw cause;
    throw markLogged(new AppError('SOURCE_UNAVAILABLE', {}, cause));
  }
}
