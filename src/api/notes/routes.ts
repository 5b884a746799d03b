// Endpoints for notes. All of them need the Admin role (spec public-http-api 5, 2), so a list contains the notes of all
// teams. To create a note, the user must also see the record.
import { fail } from '../../core/errors.ts';
import type { Note } from '../../store/notes/types.ts';
import { type Answer, type Call, defineRoute, type RouteParts } from '../route.ts';
import { listNotes, listParameters } from './list.ts';
import { listSchema, newMessageSchema, newNoteSchema, noteChangeSchema, showThread, threadSchema } from './schemas.ts';
import { addMessage, changeNote, createNote, editMessage, noteReading, type Writer } from './writing.ts';

const place = '/v1/project/{projectName}/environment/{environmentName}/notes';
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

const LARGEST = 2_147_483_647;

/** Reads an id from the path. Throws INVALID_ARGUMENT. */
function readId(path: Call['path'], name: 'noteId' | 'messageId'): number {
  const sent = path[name] ?? '';
  if (/^[1-9]\d{0,9}$/.test(sent) && Number(sent) <= LARGEST) return Number(sent);
  if (/^\d+$/.test(sent)) return gone(name, sent);
  return fail('INVALID_ARGUMENT', { argument: name, problem: 'expected a whole number.' });
}

const gone = (name: string, id: number | string): never =>
  fail('NOT_FOUND', { path: `${name === 'noteId' ? 'note' : 'message'} ${id}` });

async function findNote(path: Call['path'], { store }: RouteParts): Promise<Note> {
  const id = readId(path, 'noteId');
  return (await store.notes.find(id)) ?? gone('noteId', id);
}

async function answer(status: number, id: number, { store }: RouteParts): Promise<Answer> {
  const note = (await store.notes.find(id)) ?? gone('noteId', id);
  return { status, body: showThread(note) };
}

export const noteRoutes = [
  defineRoute({
    method: 'GET',
    path: place,
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
    path: place,
    id: 'createNote',
    summary: 'Creates a note about a record that the user of the token sees',
    ...writing,
    body: newNoteSchema,
    status: 201,
    answers: threadSchema,
    async handle(call, parts) {
      const { title, collectionName: collection, recordId, content } = call.body;
      const draft = { title, collection, recordId, ...(content !== undefined && { content }) };
      return answer(201, await createNote(parts, writerOf(call), draft), parts);
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${place}/{noteId}`,
    id: 'getNote',
    summary: 'One note with its thread',
    ...reading,
    status: 200,
    answers: threadSchema,
    async handle(call, parts) {
      const note = await findNote(call.path, parts);
      noteReading(parts, writerOf(call), note);
      return { status: 200, body: showThread(note) };
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: `${place}/{noteId}`,
    id: 'updateNote',
    summary: 'Renames a note, archives it or brings it back',
    ...writing,
    body: noteChangeSchema,
    status: 200,
    answers: threadSchema,
    async handle(call, parts) {
      const note = await findNote(call.path, parts);
      const { title, archived } = call.body;
      const change = { ...(title !== undefined && { title }), ...(archived !== undefined && { archived }) };
      await changeNote(parts, writerOf(call), note, change);
      return answer(200, note.id, parts);
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${place}/{noteId}/messages`,
    id: 'createNoteMessage',
    summary: 'Adds a message to the thread of a note',
    ...writing,
    body: newMessageSchema,
    status: 201,
    answers: threadSchema,
    async handle(call, parts) {
      const note = await findNote(call.path, parts);
      await addMessage(parts, writerOf(call), note, call.body.content);
      return answer(201, note.id, parts);
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: `${place}/{noteId}/messages/{messageId}`,
    id: 'updateNoteMessage',
    summary: 'Edits a message, which its author or an administrator may',
    ...writing,
    body: newMessageSchema,
    status: 200,
    answers: threadSchema,
    async handle(call, parts) {
      const note = await findNote(call.path, parts);
      const id = readId(call.path, 'messageId');
      const done = await editMessage(parts, writerOf(call), note, { id, content: call.body.content });
      return done ? answer(200, note.id, parts) : gone('messageId', id);
    },
  }),
];
