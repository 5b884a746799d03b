// Endpoints for notes. All of them need the Admin role (behaviour api 5, 2), so a list contains the notes of all
// teams. To create a note, the user must also see the record.
import { fail } from '../../core/errors.ts';
import type { Note } from '../../store/notes/types.ts';
import { type Answer, type Call, defineRoute, type RouteParts } from '../route.ts';
import { listNotes, listParameters } from './list.ts';
import { listSchema, newMessageSchema, newNoteSchema, noteChangeSchema, showThread, threadSchema } from './schemas.ts';
import { addMessage, changeNote, createNote, editMessage, logNoteRead, type Writer } from './writing.ts';

const notesPath = '/v1/project/{projectName}/environment/{environmentName}/notes';
const reading = { scopes: ['notes:read'], admin: true } as const;
const writing = { scopes: ['notes:write'], admin: true } as const;

function writerOf({ access, token }: Pick<Call, 'access' | 'token'>): Writer {
  return {
    access,
    clientId: `token:${token.name}`,
    clientName: token.name,
    check({ caller }) {
      if (caller.permissionLevel === 'admin') return;
      fail('DENIED', { problem: 'The user of the token needs the Admin role on the project.' });
    },
  };
}

const MAX_ID = 2_147_483_647;

/** Reads an id from the path. Throws INVALID_ARGUMENT. */
function parseId(path: Call['path'], name: 'noteId' | 'messageId'): number {
  const text = path[name] ?? '';
  if (/^[1-9]\d{0,9}$/.test(text) && Number(text) <= MAX_ID) return Number(text);
  if (/^\d+$/.test(text)) return failNotFound(name, text);
  return fail('INVALID_ARGUMENT', { argument: name, problem: 'expected a whole number.' });
}

const failNotFound = (name: string, id: number | string): never =>
  fail('NOT_FOUND', { path: `${name === 'noteId' ? 'note' : 'message'} ${id}` });

async function findNote(path: Call['path'], { store }: RouteParts): Promise<Note> {
  const id = parseId(path, 'noteId');
  return (await store.notes.find(id)) ?? failNotFound('noteId', id);
}

async function respondWithNote(status: number, id: number, { store }: RouteParts): Promise<Answer> {
  const note = (await store.notes.find(id)) ?? failNotFound('noteId', id);
  return { status, body: showThread(note) };
}

export const noteRoutes = [
  defineRoute({
    method: 'GET',
    path: notesPath,
    id: 'listNotes',
    summary: 'Notes with their messages, newest first',
    ...reading,
    query: listParameters,
    status: 200,
    answers: listSchema,
    handle: listNotes,
  }),
  defineRoute({
    method: 'POST',
    path: notesPath,
    id: 'createNote',
    summary: 'Creates a note about a record that the user of the token can see',
    ...writing,
    body: newNoteSchema,
    status: 201,
    answers: threadSchema,
    async handle(call, parts) {
      const { title, collectionName: collection, recordId, content } = call.body;
      const draft = { title, collection, recordId, ...(content !== undefined && { content }) };
      return respondWithNote(201, await createNote(parts, writerOf(call), draft), parts);
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${notesPath}/{noteId}`,
    id: 'getNote',
    summary: 'One note with its thread',
    ...reading,
    status: 200,
    answers: threadSchema,
    async handle(call, parts) {
      const note = await findNote(call.path, parts);
      logNoteRead(parts, writerOf(call), note);
      return { status: 200, body: showThread(note) };
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: `${notesPath}/{noteId}`,
    id: 'updateNote',
    summary: 'Renames, archives or unarchives a note',
    ...writing,
    body: noteChangeSchema,
    status: 200,
    answers: threadSchema,
    async handle(call, parts) {
      const note = await findNote(call.path, parts);
      const { title, archived } = call.body;
      const change = { ...(title !== undefined && { title }), ...(archived !== undefined && { archived }) };
      await changeNote(parts, writerOf(call), note, change);
      return respondWithNote(200, note.id, parts);
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${notesPath}/{noteId}/messages`,
    id: 'createNoteMessage',
    summary: 'Adds a message to the thread of a note',
    ...writing,
    body: newMessageSchema,
    status: 201,
    answers: threadSchema,
    async handle(call, parts) {
      const note = await findNote(call.path, parts);
      await addMessage(parts, writerOf(call), note, call.body.content);
      return respondWithNote(201, note.id, parts);
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: `${notesPath}/{noteId}/messages/{messageId}`,
    id: 'updateNoteMessage',
    summary: 'Edits a message, as its author or an administrator',
    ...writing,
    body: newMessageSchema,
    status: 200,
    answers: threadSchema,
    async handle(call, parts) {
      const note = await findNote(call.path, parts);
      const id = parseId(call.path, 'messageId');
      const done = await editMessage(parts, writerOf(call), note, { id, content: call.body.content });
      return done ? respondWithNote(200, note.id, parts) : failNotFound('messageId', id);
    },
  }),
];
