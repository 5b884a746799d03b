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
import { outcomeOfCode } from '../../store/audit/activity.ts';
import type { ActivityEntry, Intent } from '../../store/audit/activity-types.ts';
import { MAX_RECORD_ID_LENGTH, threadLimits } from '../../store/notes/notes.ts';
import type { Note, NoteChange } from '../../store/notes/types.ts';
import type { Store } from '../../store/store.ts';
import { parseContent, parseTitle } from './content.ts';

interface NoteParts {
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

interface NoteDraft {
  readonly title: string;
  readonly collection: string;
  readonly recordId: string;
  /** The first message. */
  readonly content?: string;
}

/** Returns the id. Throws INVALID_ARGUMENT or RECORD_NOT_FOUND. */
export async function createNote(parts: NoteParts, writer: Writer, draft: NoteDraft): Promise<number> {
  const title = parseTitle(draft.title);
  const content = draft.content === undefined ? {} : { content: parseContent(draft.content) };
  const { collection } = draft;
  return runLogged(parts, writer, 'createNote', draft, async (access) => {
    const recordId = await findRecord(parts, access, collection, draft.recordId);
    const { id: userId, renderingId } = access.caller;
    return parts.store.notes.create({ title, collection, recordId, userId, renderingId, ...content });
  });
}

/** Returns false if the note no longer exists. */
export async function changeNote(parts: NoteParts, writer: Writer, note: Note, change: NoteChange): Promise<boolean> {
  const { title, archived } = change;
  const values = {
    ...(title !== undefined && { title: parseTitle(title) }),
    ...(archived !== undefined && { archived }),
  };
  return runLogged(parts, writer, 'updateNote', note, async () => {
    return (await parts.store.notes.change(note.id, values)) === true;
  });
}

/** Returns the message id, or undefined if the note no longer exists. */
export async function addMessage(
  parts: NoteParts,
  writer: Writer,
  note: Note,
  input: string,
): Promise<number | undefined> {
  const content = parseContent(input);
  return runLogged(parts, writer, 'createMessage', note, async ({ caller }) =>
    requireSpace(await parts.store.notes.addMessage(note.id, { userId: caller.id, content })),
  );
}

/** Allowed for the author and administrators. Returns undefined if the message does not exist. Throws DENIED. */
export async function editMessage(
  parts: NoteParts,
  writer: Writer,
  note: Note,
  message: { readonly id: number; readonly content: string },
): Promise<true | undefined> {
  const existing = note.messages.find(({ id }) => id === message.id);
  if (!existing) return undefined;
  const content = parseContent(message.content);
  return runLogged(parts, writer, 'updateMessage', note, async ({ caller }) => {
    if (existing.user.id !== caller.id && caller.permissionLevel !== 'admin') {
      fail('DENIED', { problem: 'Only the author of a message or an administrator can edit it.' });
    }
    return requireSpace(await parts.store.notes.editMessage(note.id, message.id, content));
  });
}

/** Logs that a note was read. */
export function logNoteRead(parts: NoteParts, writer: Omit<Writer, 'check'>, note: Note): void {
  const entry = { ...entryOf(parts, writer, 'openNote', note), type: 'read' as const };
  parts.store.activity.record({ ...entry, outcome: 'completed', durationMs: 0 });
}

function requireSpace<T>(written: T | 'full'): T {
  if (written !== 'full') return written as T;
  const problem = `a thread can have at most ${threadLimits.messages} messages and ${threadLimits.characters} characters. Create another note.`;
  return fail('INVALID_ARGUMENT', { argument: 'content', problem });
}

/**
 * Returns the id in the engine's format. The error is the same for a missing collection and for one that the caller may
 * not browse or read.
 */
async function findRecord({ engine }: NoteParts, access: Access, collection: string, id: string): Promise<string> {
  const isVisible = access.can('browse', collection) && access.can('read', collection);
  const key = isVisible ? describeKey(engine, access, collection) : undefined;
  if (key === undefined)
    return fail('INVALID_ARGUMENT', { argument: 'collectionName', problem: 'unknown collection.' });
  const { rows } = await engine.get(access, { collection, id, fields: key });
  const recordId = packId(rows[0] ?? []);
  if (recordId.length > MAX_RECORD_ID_LENGTH) {
    fail('INVALID_ARGUMENT', { argument: 'recordId', problem: `expected at most ${MAX_RECORD_ID_LENGTH} characters.` });
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

async function runLogged<T>(
  parts: NoteParts,
  writer: Writer,
  action: string,
  subject: Subject,
  run: (access: Access) => Promise<T>,
): Promise<T> {
  const intent = await begin(parts, entryOf(parts, writer, action, subject));
  try {
    // A right revoked since the request arrived must block the write.
    const currentAccess = await parts.store.permissions.accessOf(writer.access.caller.id);
    if (!currentAccess) return fail('DENIED', { problem: 'The account is disabled or gone.' });
    await writer.check(currentAccess);
    const done = await run(currentAccess);
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
