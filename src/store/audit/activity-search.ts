// Reads the activity log: with filters, newest first, and by id for clients that copy it. A page is one statement along
// an index of its filter. Names of users and teams are queried separately, because a join could make the planner choose
// another index.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import type { Database } from '../database/database.ts';
import { clientKeyOf, fromRow, plainly, recordKeyOf, type StoredEntry } from './activity-row.ts';
import { readRelatedRows } from './activity-rows.ts';
import { tallyActivity } from './activity-tally.ts';
import type { ActivityFilter, ActivitySearch, ActivitySearches, LoggedActivity } from './activity-types.ts';
import { indexFor } from './log-index.ts';
import {
  filterTimes,
  indexPrefix,
  MAX_PAGE,
  orderNewest,
  readUsers,
  scanIds,
  stableBefore,
  withoutUndefined,
} from './log-order.ts';

export function createActivitySearch(
  database: Database,
  getEnvironment: () => Promise<{ readonly environmentId: number }>,
  clock: Pick<Clock, 'now'>,
): ActivitySearches {
  const { knex, dialect } = database;
  const environmentOf = async (): Promise<number> => (await getEnvironment()).environmentId;

  const select = (environment_id: number): Knex.QueryBuilder =>
    knex('activity_logs as l').where({ 'l.environment_id': environment_id }).select('l.*');

  /** Ids in list order, from index columns only: skipped entries are not read. */
  async function findPage(environmentId: number, { limit, after, ...filters }: ActivitySearch) {
    const conditions = knex.queryBuilder();
    const renderings = await filter(knex, conditions, environmentId, filters);
    if (!renderings) return undefined;
    const { name: index, lead } = indexFor(filters, renderings);
    const table = dialect === 'mysql' ? `activity_logs as l force index (${index})` : 'activity_logs as l';
    const query = conditions.from(knex.raw(table)).select('l.id').limit(limit);
    // A rendering belongs to one environment, and its indexes begin with the rendering.
    const first = lead === 'rendering_id' ? renderings[0]! : environmentId;
    indexPrefix(query, dialect, `l.${lead}`, first);
    filterTimes(query, 'l.started_at', filters.times);
    orderNewest(query, { at: 'l.started_at', id: 'l.id' }, after);
    return () => query;
  }

  /** The same for one record, along `activity_records`. */
  async function findRecord(environmentId: number, recordId: string, { limit, after, ...filters }: ActivitySearch) {
    const query = knex('activity_records as r')
      .join('activity_logs as l', 'l.id', 'r.log_id')
      .select('l.id')
      .limit(limit);
    if (!(await filter(knex, query, environmentId, filters))) return undefined;
    query.where({ 'r.environment_id': environmentId, 'r.record_key': recordKeyOf(recordId) });
    filterTimes(query, 'r.started_at', filters.times);
    orderNewest(query, { at: 'r.started_at', id: 'r.log_id' }, after);
    return () => query;
  }

  async function name(environmentId: number, rows: readonly StoredEntry[]): Promise<readonly LoggedActivity[]> {
    if (rows.length === 0) return [];
    const [users, renderings, { workflows, details }] = await Promise.all([
      readUsers(
        knex,
        rows.map(({ user_id }) => user_id),
      ),
      readRenderings(knex, environmentId),
      readRelatedRows(knex, rows),
    ]);
    return rows.map((row) => ({
      ...fromRow(row, workflows.get(Number(row.id)), details.get(Number(row.id))),
      user: users.get(row.user_id),
      team: renderings.get(row.rendering_id),
    }));
  }

  return {
    async search(search) {
      const environmentId = await environmentOf();
      const page = { ...search, limit: Math.min(Math.max(1, search.limit), MAX_PAGE) };
      const { recordId } = search;
      const found =
        recordId === undefined ? await findPage(environmentId, page) : await findRecord(environmentId, recordId, page);
      if (!found) return [];
      const query = knex(found().as('page')).join('activity_logs as l', 'l.id', 'page.id').select('l.*');
      return name(environmentId, await query.orderBy('l.started_at', 'desc').orderBy('l.id', 'desc'));
    },
    async find(id, userId) {
      const environmentId = await environmentOf();
      const query = select(environmentId).where({ 'l.id': id });
      if (userId !== undefined) query.where({ 'l.user_id': userId });
      return (await name(environmentId, await query))[0];
    },
    async walk({ since: from, until, ...filters }) {
      const environmentId = await environmentOf();
      const read = async (first: number, last: number) => {
        const query = select(environmentId).whereBetween('l.id', [first, last]).orderBy('l.id');
        if (!(await filter(knex, query, environmentId, filters))) return [];
        filterTimes(query, 'l.started_at', filters.times);
        if (filters.recordId !== undefined) {
          query.join('activity_records as r', (on) => {
            on.on('r.log_id', 'l.id').on('r.started_at', 'l.started_at').on('r.environment_id', 'l.environment_id');
          });
          query.where({ 'r.record_key': recordKeyOf(filters.recordId) });
        }
        return name(environmentId, await query);
      };
      return scanIds({ from, until, read, table: knex('activity_logs') });
    },
    tally: (filter) => tallyActivity(database, environmentOf, filter),
    async newestId() {
      const before = stableBefore(dialect, clock.now());
      const newest = await knex('activity_logs').max<{ id: number | null }[]>({ id: 'id' });
      const id = Number(newest[0]?.id ?? 0);
      if (before === Number.MAX_SAFE_INTEGER || id === 0) return id;
      const fresh = await knex('activity_logs')
        .where('id', '>', id - FRESH_IDS)
        .whereRaw('started_at + duration_ms > ?', [before])
        .min<{ id: number | null }[]>({ id: 'id' });
      return fresh[0]?.id == null ? id : Number(fresh[0].id) - 1;
    },
  };
}

/**
 * The renderings of the requested team; empty without a team filter. Null when the team is unknown and no entry can
 * match.
 */
async function filter(
  knex: Knex,
  query: Knex.QueryBuilder,
  environmentId: number,
  wanted: ActivityFilter,
): Promise<readonly number[] | null> {
  query.where(
    withoutUndefined<string | number>({
      'l.user_id': wanted.userId,
      'l.collection': wanted.collection === undefined ? undefined : plainly(wanted.collection),
      'l.action': wanted.action,
      'l.type': wanted.type,
      'l.outcome': wanted.outcome,
      'l.client_key': wanted.clientName === undefined ? undefined : clientKeyOf(wanted.clientName),
    }),
  );
  // Repeats the condition of the partial index: SQLite does not derive it from a bound value.
  if (wanted.type === 'write') query.whereRaw("l.type <> 'read'");
  if (wanted.outcome && wanted.outcome !== 'completed') query.whereRaw("l.outcome <> 'completed'");
  if (wanted.team === undefined) return [];
  const renderings = await readRenderings(knex, environmentId);
  const ids = [...renderings].filter(([, team]) => team === wanted.team).map(([id]) => id);
  // Usually there is one. A comparison with one value lets the index return rows in list order.
  if (ids.length === 1) query.where('l.rendering_id', ids[0]!);
  else query.whereIn('l.rendering_id', ids);
  return ids.length > 0 ? ids : null;
}

/** More ids than are written during one transaction. */
const FRESH_IDS = 100_000;

/** Team names by rendering, including deleted ones. */
async function readRenderings(on: Knex, environment_id: number): Promise<ReadonlyMap<number, string>> {
  const past = on('past_renderings').where({ environment_id }).select<{ id: number; team: string }[]>('id', 'team');
  const present = on('renderings')
    .join('teams', 'teams.id', 'renderings.team_id')
    .where({ environment_id })
    .select<{ id: number; team: string }[]>('renderings.id', 'teams.name as team');
  return new Map([...(await past), ...(await present)].map(({ id, team }) => [id, team]));
}
