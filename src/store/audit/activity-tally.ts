// Counts the entries of a day by hour, for the start page of the console. The inner statement reads a limited number of
// rows along an index, so the time does not grow with the log.
import type { Database } from '../database/database.ts';
import { DETAILS } from './activity-row.ts';
import type { ActivitySearches, ActivityTally } from './activity-types.ts';

const HOUR_MS = 3_600_000;
const MAX_ROWS = 20_000;

interface Row {
  readonly hour: number | string;
  readonly type: ActivityTally['type'];
  readonly outcome: ActivityTally['outcome'];
  readonly dry: number | string;
  readonly decision: number | string;
  readonly count: number | string;
}

export async function tallyActivity(
  { knex, dialect }: Database,
  environmentOf: () => Promise<number>,
  { from, userId }: Parameters<ActivitySearches['tally']>[0],
): Promise<readonly ActivityTally[]> {
  // Integer division. MySQL's `/` returns decimals, and SQLite gets numbers of JavaScript as decimals if they are bound.
  const divided = dialect === 'mysql' ? 'DIV' : '/';
  const newest = knex('activity_logs as l')
    .leftJoin(`${DETAILS} as d`, 'd.log_id', 'l.id')
    .where({ 'l.environment_id': await environmentOf(), ...(userId !== undefined && { 'l.user_id': userId }) })
    .where('l.started_at', '>=', from)
    .orderBy('l.started_at', 'desc')
    .limit(MAX_ROWS)
    .select('l.type', 'l.outcome')
    .select(knex.raw(`(l.started_at - ${Math.trunc(from)}) ${divided} ${HOUR_MS} as hour`))
    .select(knex.raw('coalesce(d.dry_run, 0) as dry'))
    .select(knex.raw("case when l.action in ('approve', 'deny') then 1 else 0 end as decision"));
  const columns = ['hour', 'type', 'outcome', 'dry', 'decision'];
  const rows = (await knex(newest.as('newest')).groupBy(columns).select(columns).count({ count: '*' })) as Row[];
  return rows.map(({ hour, type, outcome, dry, decision, count }) => ({
    ...{ hour: Number(hour), type, outcome, count: Number(count) },
    ...{ dryRun: Number(dry) === 1, isDecision: Number(decision) === 1 },
  }));
}
