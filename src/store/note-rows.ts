// How notes are read. A page is one statement, whatever is asked for together: each filter is a condition on columns that an
// index has beside `created_at`, which is the order (notes.ts).
import type { Knex } from 'knex';
import type { Database } from './database.ts';
import { fold } from './identity.ts';
import type { Note, NoteMessage, NoteUser, NoteWish, TimeRange } from './note-types.ts';

interface StoredUser {
  readonly user_id: number;
  /** Null for somebody who is gone. */
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

const person = ['users.email', 'users.first_name', 'users.last_name'];
const columns = ['id', 'title', 'collection', 'record_id', 'message_count', 'created_at', 'updated_at', 'archived_at'];

/** One more than the limit, so that it is known whether there is another page. */
export function selectNotes(
  database: Database,
  environmentId: number,
  wish: NoteWish & { readonly id?: number },
): Knex.QueryBuilder {
  const { knex, dialect } = database;
  const found = knex('notes')
    .join('environments', 'environments.id', 'notes.environment_id')
    .leftJoin('teams', 'teams.id', 'notes.team_id')
    .leftJoin('users', 'users.id', 'notes.user_id')
    .select(
      ...columns.map((column) => `notes.${column}`),
      'notes.user_id',
      ...person,
      'environments.name as environment',
      // A team that is removed has left its name.
      knex.raw('coalesce(teams.name, notes.team_name) as team'),
    )
    .limit(wish.limit + 1);
  if (dialect === 'mysql') {
    // Where it is an equality, MariaDB reads the index from its end, and not from where `created_at` says.
    found.where('notes.environment_id', '>=', environmentId).where('notes.environment_id', '<=', environmentId);
    found.orderBy('notes.environment_id', 'desc');
  } else found.where('notes.environment_id', environmentId);
  found.orderBy('notes.created_at', 'desc');
  const same = (column: string, text: string) => {
    found.where(`notes.${column}`, text);
    // MySQL and MariaDB pass over blanks at the end of a text.
    if (dialect === 'mysql') found.whereRaw('octet_length(??) = ?', [`notes.${column}`, Buffer.byteLength(text)]);
  };
  const { id, userId, userEmail, teamName, collection, collections, recordId, title, archived } = wish;
  if (id !== undefined) found.where('notes.id', id);
  if (userId !== undefined) found.where('notes.user_id', userId);
  if (userEmail !== undefined) {
    found.where(
      'notes.user_id',
      knex('users')
        .where({ email: fold(userEmail) })
        .select('id'),
    );
  }
  if (teamName !== undefined) found.where('notes.team_id', selectTeam(database, environmentId, teamName));
  if (collection !== undefined) same('collection', collection);
  if (collections) found.whereIn('notes.collection', [...collections]);
  if (recordId !== undefined) same('record_id', recordId);
  if (title !== undefined) {
    found.whereRaw(`lower(notes.title) like lower(?) escape '!'`, [`%${title.replace(/[!%_]/g, '!$&')}%`]);
  }
  if (archived === true) found.whereNotNull('notes.archived_at');
  if (archived === false) found.whereNull('notes.archived_at');
  for (const [column, range] of Object.entries(rangesOf(wish))) {
    if (range.from !== undefined) found.where(`notes.${column}`, '>=', range.from);
    if (range.to !== undefined) found.where(`notes.${column}`, '<=', range.to);
  }
  return found;
}

function selectTeam({ knex, dialect }: Database, environmentId: number, team: string): Knex.QueryBuilder {
  const found = knex('teams')
    .where({ name: team })
    .where('project_id', knex('environments').where({ id: environmentId }).select('project_id'))
    .select('id');
  if (dialect === 'mysql') found.whereRaw('octet_length(name) = ?', [Buffer.byteLength(team)]);
  return found;
}

/** A note is neither changed nor archived before it is created: what is asked of those bounds where its index is read. */
function rangesOf({ createdAt, updatedAt, archivedAt, after }: NoteWish): Readonly<Record<string, TimeRange>> {
  const ends = [createdAt?.to, updatedAt?.to, archivedAt?.to, after === undefined ? undefined : after - 1];
  const known = ends.filter((end) => end !== undefined);
  return {
    created_at: {
      ...(createdAt?.from !== undefined && { from: createdAt.from }),
      ...(known.length > 0 && { to: Math.min(...known) }),
    },
    ...(updatedAt && { updated_at: updatedAt }),
    ...(archivedAt && { archived_at: archivedAt }),
  };
}

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
