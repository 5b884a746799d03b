// How runs are taken. What is due is read without a lock, and taken by an update that finds the run only as it was read: of any
// number of processes one finds it so. Where a workflow allows a number of runs at once they are counted, by one process
// after the other.
import type { Knex } from 'knex';
import type { Clock } from '../core/clock.ts';
import type { Database } from './database.ts';
import { dueFrom } from './due-runs.ts';
import { type StoredRun, selectRuns, storedColumns, toRun } from './run-rows.ts';
import type { Scripts, Statement } from './scripts.ts';
import type { Claim, RunStep, Runs } from './workflow-types.ts';

/** A run that its workflow's limit holds back is looked at again after this long, so that it does not hide those behind it. */
const HELD_BACK_MS = 1000;
/** How often it is looked again where others took all that was found. */
const LOOKS = 3;

export interface ClaimParts {
  readonly database: Database;
  readonly scripts: Scripts;
  readonly clock: Clock;
  readonly environment: () => Promise<number>;
  readonly stepsOf: (on: Knex, ids: readonly string[]) => Promise<ReadonlyMap<string, RunStep[]>>;
}

type Wish = Parameters<Runs['claim']>[0];
type Found = StoredRun & { readonly concurrency: number | null };

export function createClaims(parts: ClaimParts): Runs['claim'] {
  const { database, scripts, clock, environment, stepsOf } = parts;
  const { knex, dialect } = database;

  const find = ({ limit, ids }: Wish, environmentId: number): Promise<readonly Found[]> => {
    const from = dueFrom(environmentId, clock.now(), ids);
    const columns = [...storedColumns.map((column) => `r.${column}`), 'w.name', 'w.collection', 'w.concurrency'];
    const sql = `SELECT ${columns.join(', ')} ${from.sql} ORDER BY r.due_at LIMIT ?`;
    return scripts.read<Found>({ sql, values: [...from.values, limit] });
  };

  /** Each as it was read: whatever somebody else has done to it meanwhile moved one of these. */
  const take = async (found: readonly Found[], { owner, leaseMs }: Wish): Promise<Claim[]> => {
    // In one order, so that two who take the same wait for each other and not crosswise.
    const rows = [...found].sort((a, b) => (a.id < b.id ? -1 : 1));
    const now = clock.now();
    const touched = await scripts.runAll(
      rows.map(({ id, fence, state, position, step_id, updated_at }): Statement => {
        const sql = `UPDATE workflow_runs SET state = 'running', owner = ?, fence = fence + 1, due_at = ?, started_at = COALESCE(started_at, ?), updated_at = ?
WHERE id = ? AND due_at <= ? AND fence = ? AND state = ? AND position = ? AND COALESCE(step_id, '') = ? AND updated_at = ?`;
        const as = [id, now, fence, state, position, step_id ?? '', updated_at];
        return { sql, values: [owner, now + leaseMs, now, now, ...as] };
      }),
    );
    const mine = new Map(rows.filter((_, at) => touched[at] === 1).map((row) => [row.id, row]));
    const begun = [...mine.values()].filter(({ position }) => position > 0).map(({ id }) => id);
    const steps = begun.length > 0 ? await stepsOf(knex, begun) : new Map<string, RunStep[]>();
    return found.flatMap(({ id }): Claim[] => {
      const row = mine.get(id);
      if (!row) return [];
      const run = toRun({ ...row, state: 'running', started_at: row.started_at ?? now, updated_at: now });
      return [{ run, steps: steps.get(id) ?? [], owner, fence: row.fence + 1, isLimited: false }];
    });
  };

  /** Those of workflows with a limit. */
  const takeLimited = (wish: Wish, ids: readonly string[], environmentId: number): Promise<Claim[]> =>
    database.write(async (trx) => {
      const { owner, leaseMs } = wish;
      const now = clock.now();
      const query = trx('workflow_runs')
        .where({ environment_id: environmentId })
        .where('due_at', '<=', now)
        .whereIn('id', ids)
        .orderBy('due_at')
        .select<{ id: string; workflow_id: string }[]>('id', 'workflow_id');
      // What another process is just taking is not waited for.
      if (dialect !== 'sqlite') query.forUpdate().skipLocked();
      const found = await query;
      if (found.length === 0) return [];
      const { allowed, limited } = await withinLimits(trx, found, now);
      if (allowed.length === 0) return [];
      await trx('workflow_runs')
        .whereIn('id', allowed)
        .update({
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

  return async (wish) => {
    const environmentId = await environment();
    for (let look = 1; ; look++) {
      const found = await find(wish, environmentId);
      const limited = found.filter(({ concurrency }) => concurrency !== null);
      const free = limited.length === 0 ? found : found.filter(({ concurrency }) => concurrency === null);
      const taken = free.length === 0 ? [] : await take(free, wish);
      if (limited.length > 0) {
        const ids = limited.map(({ id }) => id);
        taken.push(...(await takeLimited(wish, ids, environmentId)));
      }
      // Others were quicker: what is behind those is not left to the next look.
      if (taken.length > 0 || free.length === 0 || wish.ids || look === LOOKS) return taken;
    }
  };

  /** Of runs of a workflow with a limit, as many as may work beside those that do. */
  async function withinLimits(
    trx: Knex,
    found: readonly { readonly id: string; readonly workflow_id: string }[],
    now: number,
  ): Promise<{ readonly allowed: readonly string[]; readonly limited: ReadonlyMap<string, number> }> {
    const limits = trx('workflows')
      .whereIn('id', [...new Set(found.map((run) => run.workflow_id))])
      .whereNotNull('concurrency')
      .orderBy('id')
      .select<{ id: string; concurrency: number }[]>('id', 'concurrency');
    // Whoever else counts runs of the workflow waits until these are taken.
    if (dialect !== 'sqlite') limits.forUpdate();
    const room = new Map<string, number>();
    for (const { id, concurrency } of await limits) {
      const [working] = await trx('workflow_runs')
        .where({ workflow_id: id, state: 'running' })
        .whereNotIn(
          'id',
          found.map((run) => run.id),
        )
        .count<{ count: number | string }[]>({ count: '*' });
      room.set(id, concurrency - Number(working?.count ?? 0));
    }
    const allowed: string[] = [];
    const back: string[] = [];
    for (const { id, workflow_id } of found) {
      const left = room.get(workflow_id);
      if (left !== undefined && left <= 0) back.push(id);
      else allowed.push(id);
      if (left !== undefined) room.set(workflow_id, left - 1);
    }
    if (back.length > 0)
      await trx('workflow_runs')
        .whereIn('id', back)
        .update({ due_at: now + HELD_BACK_MS });
    return { allowed, limited: room };
  }
}
