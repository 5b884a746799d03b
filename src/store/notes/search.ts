// Finds a page of notes. Each index holds the columns of one or two filters, followed by `created_at`, the sort order
// (notes.ts). A page is therefore a contiguous range of an index. Ranges of other times fit no such index. The search
// first checks whether such a range has few notes. If so, it sorts those; if not, it scans in order, because matches
// are frequent.
import type { Knex } from 'knex';
import { indexPrefix } from '../audit/log-order.ts';
import type { Database } from '../database/database.ts';
import { fold } from '../users/identity.ts';
import { person, type StoredNote } from './rows.ts';
import type { NoteFilter, TimeRange } from './types.ts';

/** An index-only scan of this many notes takes a few milliseconds. */
const FEW = 6000;

const columns = ['id', 'title', 'collection', 'record_id', 'message_count', 'created_at', 'updated_at', 'archived_at'];

type NoteSearch = NoteFilter & { readonly id?: number };

/** Ids in place of names: the planner needs known values to choose the right index. */
interface ResolvedSearch extends Omit<NoteSearch, 'userEmail' | 'teamName'> {
  readonly teamId?: number;
  /** All of them must match. */
  readonly userIds: readonly number[];
}

/** Returns one row more than the limit, to detect a further page. */
export async function readNotes(
  database: Database,
  environmentId: number,
  search: NoteSearch,
  /** Largest number of notes in a range that counts as few. */
  maxRows = FEW,
): Promise<readonly StoredNote[]> {
  const resolved = await resolveSearch(database, environmentId, search);
  if (!resolved) return [];
  const few = await findFew(database, environmentId, resolved, maxRows);
  return showPage(database, few ? few() : walk(database, environmentId, resolved), resolved.limit + 1);
}

/** Undefined when no note can match: an unknown user or team, or an archive time for open notes. */
async function resolveSearch(
  database: Database,
  environmentId: number,
  search: NoteSearch,
): Promise<ResolvedSearch | undefined> {
  const { userEmail, teamName, ...rest } = search;
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

/**
 * The notes of a range that has few. Undefined when no requested range has few. Undefined also for one record, which
 * has few notes anyway.
 */
async function findFew(
  database: Database,
  environmentId: number,
  search: ResolvedSearch,
  maxRows: number,
): Promise<(() => Knex.QueryBuilder) | undefined> {
  if (search.recordId !== undefined) return undefined;
  const { knex } = database;
  const ranges = rangesOf(search);
  for (const column of ['updated_at', 'archived_at'] as const) {
    const range = ranges[column];
    if (!range) continue;
    const within = (notes: Knex.QueryBuilder) =>
      between(notes.where('environment_id', environmentId), column, range).orderBy(column);
    const [beyond] = await within(knex('notes')).offset(maxRows).limit(1).pluck<number[]>('created_at');
    if (beyond !== undefined) continue;
    // Wrapped in a function: returning the query itself from an async function would execute it.
    return () => {
      const some = restrict(within(knex('notes').select('environment_id', 'created_at')), database, search);
      // The limit makes MariaDB evaluate the subquery separately. It is twice `most`, because rows may be added between
      // the two statements.
      return knex(some.limit(2 * maxRows).as('notes'));
    };
  }
  return undefined;
}

/** Scans in the sort order. */
function walk(database: Database, environmentId: number, search: ResolvedSearch): Knex.QueryBuilder {
  const found = database.knex('notes');
  indexPrefix(found, database.dialect, 'environment_id', environmentId);
  return restrict(found, database, search);
}

/**
 * Selects the page from the notes table first, using only indexed columns. With a join, MariaDB sorts all rows. For a
 * column outside the index it would read every skipped note.
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
      // A deleted team leaves its name in the note.
      knex.raw('coalesce(teams.name, notes.team_name) as team'),
    )
    .orderBy('notes.created_at', 'desc');
}

function restrict(found: Knex.QueryBuilder, { dialect }: Database, search: ResolvedSearch): Knex.QueryBuilder {
  const same = (column: string, text: string) => {
    found.where(column, text);
    // MySQL and MariaDB ignore trailing spaces in comparisons.
    if (dialect === 'mysql') found.whereRaw('octet_length(??) = ?', [column, Buffer.byteLength(text)]);
  };
  const { id, userIds, teamId, collection, collections, recordId, title, archived, archivedAt } = search;
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
  for (const [column, range] of Object.entries(rangesOf(search))) between(found, column, range);
  return found;
}

function between(found: Knex.QueryBuilder, column: string, { from, to }: TimeRange): Knex.QueryBuilder {
  if (from !== undefined) found.where(column, '>=', from);
  if (to !== undefined) found.where(column, '<=', to);
  return found;
}

type Ranges = { readonly [column in 'created_at' | 'updated_at' | 'archived_at']?: TimeRange };

/**
 * A note cannot be changed or archived before it is created. Upper bounds of those times therefore also bound
 * `created_at`, the order of the index.
 */
function rangesOf({ createdAt, updatedAt, archivedAt, after }: ResolvedSearch): Ranges {
  const ends = [createdAt?.to, updatedAt?.to, archivedAt?.to, after === undefined ? undefined : after - 1];
  const definedEnds = ends.filter((end) => end !== undefined);
  return {
    created_at: {
      ...(createdAt?.from !== undefined && { from: createdAt.from }),
      ...(definedEnds.length > 0 && { to: Math.min(...definedEnds) }),
    },
    ...(updatedAt && { updated_at: updatedAt }),
    ...(archivedAt && { archived_at: archivedAt }),
  };
}
