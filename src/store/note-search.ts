// How a page of notes is found. An index holds the columns of a filter, or of two, and then `created_at`, which is the order
// (notes.ts), so that a page is the end of a stretch of it. Ranges of other times fit no such index. Whether such a range has few
// notes is asked first: where it has, the page is found among those; where it has many, the next ones along the order are near.
import type { Knex } from 'knex';
import type { Database } from './database.ts';
import { fold } from './identity.ts';
import { leadBy } from './log-order.ts';
import { person, type StoredNote } from './note-rows.ts';
import type { NoteWish, TimeRange } from './note-types.ts';

/** So many are looked at in a few milliseconds, by an index that holds what is asked of them. */
const FEW = 6000;

const columns = ['id', 'title', 'collection', 'record_id', 'message_count', 'created_at', 'updated_at', 'archived_at'];

type Wanted = NoteWish & { readonly id?: number };

/** With ids in place of names: a planner that does not know a value cannot tell which index is the right one. */
interface Sought extends Omit<Wanted, 'userEmail' | 'teamName'> {
  readonly teamId?: number;
  /** All of them must hold. */
  readonly userIds: readonly number[];
}

/** One more than the limit, so that it is known whether there is another page. */
export async function readNotes(
  database: Database,
  environmentId: number,
  wanted: Wanted,
  /** How many notes of a range are few. */
  most = FEW,
): Promise<readonly StoredNote[]> {
  const sought = await seek(database, environmentId, wanted);
  if (!sought) return [];
  const few = await findFew(database, environmentId, sought, most);
  return showPage(database, few ? few() : walk(database, environmentId, sought), sought.limit + 1);
}

/** Undefined where nothing can be found: somebody or a team is named that is none, or what is open is asked when it was archived. */
async function seek(database: Database, environmentId: number, wanted: Wanted): Promise<Sought | undefined> {
  const { userEmail, teamName, ...rest } = wanted;
  if (rest.archived === false && rest.archivedAt) return undefined;
  const [user, team] = await Promise.all([
    userEmail === undefined
      ? undefined
      : database
          .knex('users')
          .where({ email: fold(userEmail) })
          .first<Found>('id'),
    teamName === undefined ? undefined : selectTeam(database, environmentId, teamName).first<Found>('id'),
  ]);
  if ((userEmail !== undefined && !user) || (teamName !== undefined && !team)) return undefined;
  const userIds = [rest.userId, user?.id].filter((id) => id !== undefined);
  return { ...rest, userIds, ...(team && { teamId: team.id }) };
}

type Found = { readonly id: number } | undefined;

function selectTeam({ knex, dialect }: Database, environmentId: number, team: string): Knex.QueryBuilder {
  const found = knex('teams')
    .where({ name: team })
    .where('project_id', knex('environments').where({ id: environmentId }).select('project_id'));
  if (dialect === 'mysql') found.whereRaw('octet_length(name) = ?', [Buffer.byteLength(team)]);
  return found;
}

/** The notes of a range that has few. Undefined where none is asked for that has, and where a record is, which has few itself. */
async function findFew(
  database: Database,
  environmentId: number,
  sought: Sought,
  most: number,
): Promise<(() => Knex.QueryBuilder) | undefined> {
  if (sought.recordId !== undefined) return undefined;
  const { knex } = database;
  const ranges = rangesOf(sought);
  for (const column of ['updated_at', 'archived_at'] as const) {
    const range = ranges[column];
    if (!range) continue;
    const within = (notes: Knex.QueryBuilder) =>
      between(notes.where('environment_id', environmentId), column, range).orderBy(column);
    const [beyond] = await within(knex('notes')).offset(most).limit(1).pluck<number[]>('created_at');
    if (beyond !== undefined) continue;
    // A statement that is answered by itself would be run.
    return () => {
      const some = restrict(within(knex('notes').select('environment_id', 'created_at')), database, sought);
      // With a limit MariaDB keeps it apart. What comes in between the two statements must fit as well.
      return knex(some.limit(2 * most).as('notes'));
    };
  }
  return undefined;
}

/** Along the order. */
function walk(database: Database, environmentId: number, sought: Sought): Knex.QueryBuilder {
  const found = database.knex('notes');
  leadBy(found, database.dialect, 'environment_id', environmentId);
  return restrict(found, database, sought);
}

/**
 * The page is found among the notes alone, and by what indexes hold: with a join beside the order, MariaDB sorts all of them, and
 * for a column that the index has not it would look at every note that it passes over.
 */
function showPage({ knex }: Database, found: Knex.QueryBuilder, limit: number): Knex.QueryBuilder {
  const page = found.select('environment_id', 'created_at').orderBy('created_at', 'desc').limit(limit);
  return knex(page.as('page'))
    .join('notes', { 'notes.environment_id': 'page.environment_id', 'notes.created_at': 'page.created_at' })
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
    .orderBy('notes.created_at', 'desc');
}

function restrict(found: Knex.QueryBuilder, { dialect }: Database, sought: Sought): Knex.QueryBuilder {
  const same = (column: string, text: string) => {
    found.where(column, text);
    // MySQL and MariaDB pass over blanks at the end of a text.
    if (dialect === 'mysql') found.whereRaw('octet_length(??) = ?', [column, Buffer.byteLength(text)]);
  };
  const { id, userIds, teamId, collection, collections, recordId, title, archived, archivedAt } = sought;
  if (id !== undefined) found.where('id', id);
  for (const userId of userIds) found.where('user_id', userId);
  if (teamId !== undefined) found.where('team_id', teamId);
  if (collection !== undefined) same('collection', collection);
  if (collections) found.whereIn('collection', [...collections]);
  if (recordId !== undefined) same('record_id', recordId);
  if (title !== undefined) {
    found.whereRaw(`lower(title) like lower(?) escape '!'`, [`%${title.replace(/[!%_]/g, '!$&')}%`]);
  }
  if (archived !== undefined || archivedAt) found.where('is_archived', archived === false ? 0 : 1);
  for (const [column, range] of Object.entries(rangesOf(sought))) between(found, column, range);
  return found;
}

function between(found: Knex.QueryBuilder, column: string, { from, to }: TimeRange): Knex.QueryBuilder {
  if (from !== undefined) found.where(column, '>=', from);
  if (to !== undefined) found.where(column, '<=', to);
  return found;
}

type Ranges = { readonly [column in 'created_at' | 'updated_at' | 'archived_at']?: TimeRange };

/** A note is neither changed nor archived before it is created: what is asked of those bounds where its index is read. */
function rangesOf({ createdAt, updatedAt, archivedAt, after }: Sought): Ranges {
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
