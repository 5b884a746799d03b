// Notes and their threads. The list is newest first by id. For an index to serve every filter in that order, creation
// times must increase with the ids. Creations in one environment therefore wait for each other, and each takes a later
// time. `created_at` is the sort order, the page cursor, and the column of date filters. Paging by dates is complete
// too, because no two notes share a time.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../migrations/first-tables.ts';
import { createEnvironmentReader, type EnvironmentInfoReader } from '../permissions/roles.ts';
import { type StoredMessage, type StoredNote, selectMessages, toMessage, toNote } from './rows.ts';
import { readNotes } from './search.ts';
import type { NewNote, Note, NoteMessage, Notes } from './types.ts';

/** Limits of a thread: a page of the API carries the threads of up to 100 notes. */
export const threadLimits = { messages: 500, characters: 500_000 };

const name = 191;
/** Maximum length of a packed id: the space that every database has in an index beside the other columns. */
export const MAX_RECORD_ID_LENGTH = 400;

export const noteTables: Tables = {
  notes(table) {
    table.increments('id');
    table.integer('environment_id').unsigned().notNullable().references('environments.id');
    // No foreign keys: notes outlive their team and their user.
    table.integer('team_id').unsigned().notNullable();
    table.string('team_name', name).notNullable();
    table.integer('user_id').unsigned().notNullable();
    table.string('collection', name);
    table.string('record_id', MAX_RECORD_ID_LENGTH).notNullable();
    table.string('title', 255).notNullable();
    table.integer('message_count').notNullable();
    table.integer('characters').notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('updated_at').notNullable();
    table.bigInteger('archived_at');
    table.unique(['environment_id', 'created_at']);
    table.index(['environment_id', 'user_id', 'created_at']);
    table.index(['environment_id', 'team_id', 'created_at']);
    table.index(['environment_id', 'collection', 'created_at']);
    table.index(['environment_id', 'record_id', 'created_at']);
    table.index(['environment_id', 'updated_at', 'created_at']);
    table.index(['environment_id', 'archived_at', 'created_at']);
  },
  note_messages(table) {
    table.increments('id');
    table.integer('note_id').unsigned().notNullable().references('notes.id');
    table.integer('user_id').unsigned().notNullable();
    table.text('content', 'mediumtext').notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('edited_at');
    table.index(['note_id', 'id']);
  },
};

export function createNotes(database: Database, getEnvironment: EnvironmentInfoReader, clock: Clock): Notes {
  const { knex } = database;
  const environment = createEnvironmentReader(knex, getEnvironment);

  const messagesOf = async (ids: readonly number[]): Promise<ReadonlyMap<number, NoteMessage[]>> => {
    const threads = new Map(ids.map((id) => [id, [] as NoteMessage[]]));
    if (ids.length === 0) return threads;
    for (const row of (await selectMessages(knex, ids)) as StoredMessage[]) {
      threads.get(row.note_id)?.push(toMessage(row));
    }
    return threads;
  };

  const withThreads = async (rows: readonly StoredNote[]): Promise<Note[]> => {
    const threads = await messagesOf(rows.map(({ id }) => id));
    return rows.map((row) => toNote(row, threads.get(row.id) ?? []));
  };

  /** Locks the note for other writers. Undefined when there is no such note. */
  const write = async <T>(
    id: number,
    run: (trx: Knex.Transaction, row: Locked) => Promise<T>,
  ): Promise<T | undefined> => {
    const where = { id, environment_id: await environment() };
    return database.write(async (trx) => {
      const row = await trx('notes')
        .where(where)
        .forUpdate()
        .first<Locked | undefined>('id', 'title', 'message_count', 'characters', 'updated_at', 'archived_at');
      return row && run(trx, row);
    });
  };

  /** Increases even within one millisecond: a reader who asks for later changes must not miss one. */
  const nextTime = ({ updated_at }: Locked): number => Math.max(clock.now(), Number(updated_at) + 1);
  const update = (trx: Knex.Transaction, { id }: Locked, values: object) => trx('notes').where({ id }).update(values);

  return {
    async list(filter) {
      const environmentId = await environment();
      const rows = await readNotes(database, environmentId, filter);
      const page = rows.slice(0, filter.limit);
      const last = rows.length > filter.limit ? page.at(-1) : undefined;
      const notes = filter.withMessages === false ? page.map((row) => toNote(row, [])) : await withThreads(page);
      return { notes, ...(last && { next: Number(last.created_at) }) };
    },
    async find(id) {
      const rows = await readNotes(database, await environment(), { id, limit: 1 });
      return (await withThreads(rows))[0];
    },
    async create(note) {
      const environmentId = await environment();
      return database.write((trx) => insertNote(database, trx, environmentId, clock.now(), note));
    },
    change: (id, { title, archived }) =>
      write(id, async (trx, row) => {
        const at = nextTime(row);
        const values = {
          ...(title !== undefined && title !== row.title && { title }),
          ...(archived === true && row.archived_at === null && { archived_at: at }),
          ...(archived === false && row.archived_at !== null && { archived_at: null }),
        };
        if (Object.keys(values).length > 0) await update(trx, row, { ...values, updated_at: at });
        return true as const;
      }),
    addMessage: (noteId, { userId, content }) =>
      write(noteId, async (trx, row) => {
        const message_count = row.message_count + 1;
        const characters = row.characters + content.length;
        if (message_count > threadLimits.messages || characters > threadLimits.characters) return 'full';
        const now = nextTime(row);
        const id = await insertMessage(database, trx, { noteId, userId, content, now });
        await update(trx, row, { message_count, characters, updated_at: now });
        return id;
      }),
    editMessage: (noteId, id, content) =>
      write(noteId, async (trx, row) => {
        const message = await trx('note_messages')
          .where({ id, note_id: noteId })
          .first<{ content: string } | undefined>('content');
        if (!message) return undefined;
        if (message.content === content) return true;
        const characters = row.characters + content.length - message.content.length;
        if (characters > threadLimits.characters) return 'full';
        const now = nextTime(row);
        await trx('note_messages').where({ id }).update({ content, edited_at: now });
        await update(trx, row, { characters, updated_at: now });
        return true;
      }),
  };
}

interface Locked {
  readonly id: number;
  readonly title: string;
  readonly message_count: number;
  readonly characters: number;
  readonly updated_at: number | string;
  readonly archived_at: number | string | null;
}

async function insertNote(
  database: Database,
  trx: Knex.Transaction,
  environmentId: number,
  now: number,
  note: NewNote,
): Promise<number> {
  const { title, collection, recordId, userId, renderingId, content } = note;
  // Creations run one at a time: times increase with ids and become visible in that order.
  const existingEnvironment = trx('environments').where({ id: environmentId }).first('id');
  await (database.dialect === 'postgres' ? existingEnvironment.forNoKeyUpdate() : existingEnvironment.forUpdate());
  const newest = await trx('notes')
    .where({ environment_id: environmentId })
    .orderBy('created_at', 'desc')
    .first<{ created_at: number | string } | undefined>('created_at');
  const createdAt = Math.max(now, Number(newest?.created_at ?? 0) + 1);
  const team = await trx('renderings')
    .join('teams', 'teams.id', 'renderings.team_id')
    .where('renderings.id', renderingId)
    .first<{ id: number; name: string }>('teams.id', 'teams.name');
  const id = await database.insert(trx, 'notes', {
    environment_id: environmentId,
    team_id: team.id,
    team_name: team.name,
    user_id: userId,
    collection,
    record_id: recordId,
    title,
    message_count: content === undefined ? 0 : 1,
    characters: content?.length ?? 0,
    created_at: createdAt,
    updated_at: createdAt,
    archived_at: null,
  });
  if (content !== undefined) await insertMessage(database, trx, { noteId: id, userId, content, now: createdAt });
  return id;
}

function insertMessage(
  database: Database,
  trx: Knex.Transaction,
  message: { readonly noteId: number; readonly userId: number; readonly content: string; readonly now: number },
): Promise<number> {
  const { noteId, userId, content, now } = message;
  return database.insert(trx, 'note_messages', {
    note_id: noteId,
    user_id: userId,
    content,
    created_at: now,
    edited_at: null,
  });
}

/** Runs within a transaction that deletes the environment. */
export async function removeNotes(trx: Knex.Transaction, environmentId: number): Promise<void> {
  const notes = trx('notes').where({ environment_id: environmentId });
  await trx('note_messages').whereIn('note_id', notes.clone().select('id')).delete();
  await notes.delete();
}
