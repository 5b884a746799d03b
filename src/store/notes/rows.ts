// Converts notes and messages from rows.
import type { Knex } from 'knex';
import type { Note, NoteMessage, NoteUser } from './types.ts';

interface StoredUser {
  readonly user_id: number;
  /** Null for a deleted user. */
  readonly email: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
}

export interface StoredNote extends StoredUser {
  readonly id: number;
  readonly title: string;
  readonly collection: string | null;
  readonly record_id: string;
  readonly message_count: number;
  readonly created_at: number | string;
  readonly updated_at: number | string;
  readonly archived_at: number | string | null;
  readonly team: string;
  readonly environment: string;
}

export interface StoredMessage extends StoredUser {
  readonly id: number;
  readonly note_id: number;
  readonly content: string;
  readonly created_at: number | string;
  readonly edited_at: number | string | null;
}

export const person = ['users.email', 'users.first_name', 'users.last_name'];

export function selectMessages(knex: Knex, noteIds: readonly number[]): Knex.QueryBuilder {
  return knex('note_messages')
    .leftJoin('users', 'users.id', 'note_messages.user_id')
    .whereIn('note_messages.note_id', [...noteIds])
    .orderBy('note_messages.id')
    .select('note_messages.*', ...person);
}

const millis = (at: number | string | null): number | null => (at === null ? null : Number(at));

export function toNote(row: StoredNote, messages: readonly NoteMessage[]): Note {
  return {
    id: row.id,
    title: row.title,
    collection: row.collection,
    recordId: row.record_id,
    user: toUser(row),
    team: row.team,
    environment: row.environment,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    archivedAt: millis(row.archived_at),
    messageCount: row.message_count,
    messages,
  };
}

export function toMessage(row: StoredMessage): NoteMessage {
  return {
    id: row.id,
    content: row.content,
    user: toUser(row),
    createdAt: Number(row.created_at),
    editedAt: millis(row.edited_at),
  };
}

function toUser({ user_id, email, first_name, last_name }: StoredUser): NoteUser {
  const name = `${first_name ?? ''} ${last_name ?? ''}`.trim();
  return { id: user_id, name: name || (email ?? `user ${user_id}`), email: email ?? '' };
}
