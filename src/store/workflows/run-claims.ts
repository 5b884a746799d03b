// Claims runs. Due runs are read without a lock and claimed by an update that matches only the state that was read: one
// of several processes succeeds. For workflows with a limit, one process at a time counts the active runs.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import type { Database, StoreDialect } from '../database/database.ts';
import type { PreparedStatements } from '../database/prepared-statements.ts';
import type { Statement } from '../database/statement-groups.ts';
import { dueFrom } from './due-runs.ts';
import { type StoredRun, selectRuns, storedColumns, toRun } from './run-rows.ts';
import type { Claim, RunStep, Runs } from './types.ts';

/**
 * Delay before a run that its workflow's limit holds back is due again. Until then it does not hide the runs after it.
 */
const LIMITED_DELAY_MS = 1000;
/** Attempts when other processes claimed all runs that were found. */
const MAX_ATTEMPTS = 3;

interface ClaimParts {
  readonly database: Database;
  readonly statements: PreparedStatements;
  readonly clock: Clock;
  readonly environment: () => Promise<number>;
  readonly stepsOf: (on: Knex, ids: readonly string[]) => Promise<ReadonlyMap<string, RunStep[]>>;
}

/** For a claimed run. Set before the state, because MySQL assigns from left to right. */
const nextLostLeases = "CASE WHEN state = 'running' THEN lost_leases + 1 ELSE 0 END";

type ClaimRequest = Parameters<Runs['claim']>[0];
type Found = StoredRun & { readonly concurrency: number | null };

export function createClaims(parts: ClaimParts): Runs['claim'] {
  const { database, statements, clock, environment, stepsOf } = parts;
  const { knex, dialect } = database;

  const find = ({ limit, ids }: ClaimRequest, environmentId: number): Promise<readonly Found[]> => {
    const from = dueFrom(environmentId, clock.now(), ids);
    const columns = [...storedColumns.map((column) => `r.${column}`), 'w.name', 'w.collection', 'w.concurrency'];
    const sql = `SELECT ${columns.join(', ')} ${from.sql} ORDER BY r.due_at LIMIT ?`;
    return statements.read<Found>({ sql, values: [...from.values, limit] });
  };

  /** Matches each run in the state that was read: any change by another process alters one of these columns. */
  const take = async (found: readonly Found[], { owner, leaseMs }: ClaimRequest): Promise<Claim[]> => {
    // In a fixed order, to avoid a deadlock between two processes.
    const rows = [...found].sort((a, b) => (a.id < b.id ? -1 : 1));
    const now = clock.now();
    const touched = await statements.runAll(
      rows.map(({ id, fence, state, position, step_id, updated_at }): Statement => {
        const sql = `UPDATE workflow_runs SET lost_leases = ${nextLostLeases}, state = 'running', owner = ?, fence = fence + 1, due_at = ?, started_at = COALESCE(started_at, ?), updated_at = ?
WHERE id = ? AND due_at <= ? AND fence = ? AND state = ? AND position = ? AND COALESCE(step_id, '') = ? AND updated_at = ?`;
        const as = [id, now, fence, state, position, step_id ?? '', updated_at];
        return { sql, values: [owner, now + leaseMs, now, now, ...as], merge: { by: 'id' } };
      }),
    );
    const claimed = new Map(rows.filter((_, at) => touched[at] === 1).map((row) => [row.id, row]));
    const begun = [...claimed.values()].filter(({ position }) => position > 0).map(({ id }) => id);
    const steps = begun.length > 0 ? await stepsOf(knex, begun) : new Map<string, RunStep[]>();
    return found.flatMap(({ id }): Claim[] => {
      const row = claimed.get(id);
      if (!row) return [];
      const lostLeases = row.state === 'running' ? row.lost_leases + 1 : 0;
      const run = toRun({
        ...row,
        state: 'running',
        lost_leases: lostLeases,
        started_at: row.started_at ?? now,
        updated_at: now,
      });
      return [{ run, steps: steps.get(id) ?? [], owner, fence: row.fence + 1, isLimited: false }];
    });
  };

  /** For workflows with a limit. */
  const takeWithinLimits = (request: ClaimRequest, ids: readonly string[], environmentId: number): Promise<Claim[]> =>
    database.write(async (trx) => {
      const { owner, leaseMs } = request;
      const now = clock.now();
      const query = trx('workflow_runs')
        .where({ environment_id: environmentId })
        .where('due_at', '<=', now)
        .whereIn('id', ids)
        .orderBy('due_at')
        .select<{ id: string; workflow_id: string }[]>('id', 'workflow_id');
      // Skips runs that another process is claiming.
      if (dialect !== 'sqlite') query.forUpdate().skipLocked();
      const found = await query;
      if (found.length === 0) return [];
      const { allowed, limited } = await withinLimits(trx, dialect, found, now);
      if (allowed.length === 0) return [];
      await trx('workflow_runs')
        .whereIn('id', allowed)
        .update({
          lost_leases: trx.raw(nextLostLeases),
          state: 'running',
          owner,
          fence: trx.raw('fence + 1'),
          due_at: now + leaseMs,
          started_at: trx.raw('COALESCE(started_at, ?)', [now]),
          updated_at: now,
        });
      const rows = (await selectRuns(trx, environmentId).whereIn('r.id', allowed)) as StoredRun[];
      const steps = await stepsOf(trx, allowed);
      return rows.map((row): Claim => {
        const isLimited = limited.has(row.workflow_id);
        return { run: toRun(row), steps: steps.get(row.id)!, owner, fence: row.fence, isLimited };
      });
    });

  return async (request) => {
    const environmentId = await environment();
    for (let attempt = 1; ; attempt++) {
      const found = await find(request, environmentId);
      const limited = found.filter(({ concurrency }) => concurrency !== null);
      const free = limited.length === 0 ? found : found.filter(({ concurrency }) => concurrency === null);
      const taken = free.length === 0 ? [] : await take(free, request);
      if (limited.length > 0) {
        const ids = limited.map(({ id }) => id);
        taken.push(...(await takeWithinLimits(request, ids, environmentId)));
      }
      // Other processes claimed all of them: look for further runs now.
      if (taken.length > 0 || free.length === 0 || request.ids || attempt === MAX_ATTEMPTS) return taken;
    }
  };
}

/** The runs that may start within the limit of their workflow. */
async function withinLimits(
  trx: Knex,
  dialect: StoreDialect,
  found: readonly { readonly id: string; readonly workflow_id: string }[],
  now: number,
): Promise<{ readonly allowed: readonly string[]; readonly limited: ReadonlyMap<string, number> }> {
  const limits = trx('workflows')
    .whereIn('id', [...new Set(found.map((run) => run.workflow_id))])
    .whereNotNull('concurrency')
    .orderBy('id')
    .select<{ id: string; concurrency: number }[]>('id', 'concurrency');
  // Other processes that count runs of the workflow wait for this claim.
  if (dialect !== 'sqlite') limits.forUpdate();
  const freePlaces = new Map<string, number>();
  for (const { id, concurrency } of await limits) {
    const [working] = await trx('workflow_runs')
      .where({ workflow_id: id, state: 'running' })
      .whereNotIn(
        'id',
        found.map((run) => run.id),
      )
      .count<{ count: number | string }[]>({ count: '*' });
    freePlaces.set(id, concurrency - Number(working?.count ?? 0));
  }
  const allowed: string[] = [];
  const back: string[] = [];
  for (const { id, workflow_id } of found) {
    const left = freePlaces.get(workflow_id);
    if (left !== undefined && left <= 0) back.push(id);
    else allowed.push(id);
    if (left !== undefined) freePlaces.set(workflow_id, left - 1);
  }
  if (back.length > 0)
    await trx('workflow_runs')
      .whereIn('id', back)
      .update({ due_at: now + LIMITED_DELAY_MS });
  return { allowed, limited: freePlaces };
}
