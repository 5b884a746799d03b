// The schemas of notes (behaviour api 2.1 to 2.3).
import { z } from 'zod';
import type { Note, NoteMessage } from '../../store/notes/types.ts';
import {
  collectionSchema,
  environmentSchema,
  showTime,
  showUser,
  teamSchema,
  timeSchema,
  userSchema,
} from '../schemas.ts';
import { MAX_CONTENT_LENGTH, MAX_TITLE_LENGTH } from './content.ts';

const messageFields = {
  object: z.literal('note-message'),
  content: z.string().describe('HTML'),
  createdAt: timeSchema,
  user: userSchema,
};
const messageSchema = z.strictObject(messageFields).meta({ id: 'NoteMessage' });
const threadMessageSchema = z
  .strictObject({
    ...messageFields,
    id: z.int(),
    editedAt: timeSchema.optional().describe('Absent if the message was never edited'),
  })
  .meta({ id: 'NoteThreadMessage' });

const noteFields = {
  object: z.literal('note'),
  id: z.int(),
  title: z.string(),
  recordId: z.string().min(1),
  createdAt: timeSchema,
  updatedAt: timeSchema.describe('The last change of the note or of one of its messages'),
  archivedAt: timeSchema.optional().describe('Absent if the note is not archived'),
  user: userSchema,
  environment: environmentSchema,
  team: teamSchema,
  collection: collectionSchema.optional(),
};
const noteSchema = z.strictObject({ ...noteFields, messages: z.array(messageSchema) }).meta({ id: 'Note' });

/** A single note. Its messages have ids, which you need to edit them. */
export const threadSchema = z
  .strictObject({ ...noteFields, messages: z.array(threadMessageSchema) })
  .meta({ id: 'NoteThread' });

export const listSchema = z
  .strictObject({
    hasMore: z.boolean(),
    nextCursor: z.string().optional().describe('Present if hasMore is true: the `cursor` of the next page'),
    parameters: z
      .looseObject({ projectName: z.string(), environmentName: z.string(), limit: z.int() })
      .describe('Also every filter of the request'),
    data: z.array(noteSchema),
  })
  .meta({ id: 'NoteList' });

const title = z.string().min(1).max(MAX_TITLE_LENGTH).describe('A single line');
const content = z
  .string()
  .min(1)
  .max(MAX_CONTENT_LENGTH)
  .describe('HTML; scripts and other active content are removed');

export const newNoteSchema = z
  .strictObject({
    title,
    collectionName: z.string().min(1).max(191),
    recordId: z.string().min(1).max(400).describe('For a composite key: its parts, separated by |'),
    content: content.optional().describe('HTML of the first message'),
  })
  .meta({ id: 'NewNote' });
export const noteChangeSchema = z
  .strictObject({ title: title.optional(), archived: z.boolean().optional() })
  .refine((change) => Object.keys(change).length > 0, { error: 'Send title, archived or both' })
  .meta({ id: 'NoteChange', minProperties: 1 });
export const newMessageSchema = z.strictObject({ content }).meta({ id: 'NewNoteMessage' });

const showMessage = ({ content, createdAt, user }: NoteMessage): z.infer<typeof messageSchema> => ({
  object: 'note-message',
  content,
  createdAt: showTime(createdAt),
  user: showUser(user),
});

function showFields(note: Note): Omit<z.infer<typeof noteSchema>, 'messages'> {
  return {
    object: 'note',
    id: note.id,
    title: note.title,
    recordId: note.recordId,
    createdAt: showTime(note.createdAt),
    updatedAt: showTime(note.updatedAt),
    ...(note.archivedAt !== null && { archivedAt: showTime(note.archivedAt) }),
    user: showUser(note.user),
    environment: { object: 'environment', name: note.environment },
    team: { object: 'team', name: note.team },
    ...(note.collection !== null && { collection: { object: 'collection', name: note.collection } }),
  };
}

export function showNote(note: Note): z.infer<typeof noteSchema> {
  return { ...showFields(note), messages: note.messages.map(showMessage) };
}

export function showThread(note: Note): z.infer<typeof threadSchema> {
  const messages = note.messages.map((message) => ({
    ...showMessage(message),
    id: message.id,
    ...(message.editedAt !== null && { editedAt: showTime(message.editedAt) }),
  }));
  return { ...showFields(note), messages };
}
