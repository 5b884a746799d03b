// Workflow runs. Each step of a run is one conditional update by its holder, identified by an owner and a fence. Every
// claim raises the fence, and an executor with an expired lease can no longer write. `active_key` is a unique hash of
// workflow and record while the run is active: of several simultaneous calls, in all processes, one creates the run.
// Values of records and people's answers are encrypted; names, ids and counts are not.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { decrypt, encrypt, hashToken, randomId, sign } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/duplicates.ts';
import { createPreparedStatements } from '../database/prepared-statements.ts';
import type { Statement } from '../database/statement-groups.ts';
import { createEnvironmentReader, type EnvironmentInfoReader } from '../permissions/roles.ts';
import { findDueRuns } from './due-runs.ts';
import { createClaims } from './run-claims.ts';
import { type StoredRun, type StoredStep, selectRuns, toRun, toStep } from './run-rows.ts';
import { createRunWrites, ending, setsOf } from './run-writes.ts';
import { deleteStartRules } from './start-rules.ts';
import type { CreatedRun, NewRun, RunStep, Runs } from './types.ts';

/** How long an idempotency key of a trigger is valid. */
const KEY_MS = 24 * 3600_000;
const MAX_LISTED = 100;

export function createRuns(
  database: Database,
  getEnvironment: EnvironmentInfoReader,
  clock: Clock,
  getSecret: () => string,
): Runs {
  const { knex, dialect } = database;
  let own: string | undefined;
  // The secret of a process does not change. The first use may read its file.
  const secret = () => {
    own ??= sign('workflow runs', getSecret());
    return own;
  };
  const seal = (value: unknown): string | null =>
    value === undefined ? null : encrypt(JSON.stringify(value), secret());
  const open = (sealed: string): unknown => JSON.parse(decrypt(sealed, secret()));
  const environment = createEnvironmentReader(knex, getEnvironment);

  const stepsOf = async (on: Knex, ids: readonly string[]): Promise<ReadonlyMap<string, RunStep[]>> => {
    const found = new Map(ids.map((id) => [id, [] as RunStep[]]));
    if (ids.length === 0) return found;
    const rows = await on('workflow_run_steps').whereIn('run_id', ids).orderBy(['run_id', 'position']);
    for (const row of rows as StoredStep[]) found.get(row.run_id)!.push(toStep(row, open));
    return found;
  };

  const statements = createPreparedStatements(database);
  const claimRuns = createClaims({ database, statements, clock, environment, stepsOf });

  const runs: Runs = {
    async create(run) {
      const environmentId = await environment();
      for (let attempt = 1; ; attempt++) {
        const row = newRow(run, environmentId, clock.now());
        try {
          await statements.run(insertOf(row));
          return { state: 'created', runId: row.id };
        } catch (error) {
          if (!isDuplicate(error) || attempt === 5) throw error;
        }
        const existing = await findExistingRun(knex, row);
        // The blocking run has just ended.
        if (existing) return existing;
      }
    },
    async find(id) {
      const row = (await selectRuns(knex, await environment())
        .where('r.id', id)
        .first()) as StoredRun | undefined;
      return row && toRun(row);
    },
    async steps(id) {
      return (await stepsOf(knex, [id])).get(id)!;
    },
    async active(workflowId, recordIds) {
      const keys = new Map(recordIds.map((id) => [activeKey(workflowId, id), id]));
      const found: string[] = await knex('workflow_runs')
        .whereIn('active_key', [...keys.keys()])
        .pluck('active_key');
      return found.map((key) => keys.get(key)!);
    },
    async list({ renderingId, workflowId, recordId, userId, state, after, limit }) {
      const query = selectRuns(knex, await environment())
        .orderBy([
          { column: 'r.created_at', order: 'desc' },
          { column: 'r.id', order: 'desc' },
        ])
        .limit(Math.min(Math.max(1, limit), MAX_LISTED + 1));
      if (renderingId !== undefined) query.where('r.rendering_id', renderingId);
      if (workflowId !== undefined) query.where('r.workflow_id', workflowId);
      if (recordId !== undefined) query.where('r.record_id', recordId);
      if (userId !== undefined) query.where('r.user_id', userId);
      if (state !== undefined) query.where('r.state', state);
      if (after !== undefined) {
        const afterRow = () => knex('workflow_runs').where({ id: after });
        query.where((older) =>
          older
            .where('r.created_at', '<', afterRow().select('created_at'))
            .orWhere((same) => same.where('r.created_at', afterRow().select('created_at')).where('r.id', '<', after)),
        );
      }
      return ((await query) as StoredRun[]).map(toRun);
    },

    async due(request) {
      return findDueRuns(statements, await environment(), clock.now(), request);
    },
    claim: claimRuns,
    ...createRunWrites({ statements, clock, seal }),
    async wake(workflowId) {
      const waiting = { workflow_id: workflowId, state: 'queued' };
      const now = clock.now();
      // Runs that a claim has postponed come first. `+ 0` prevents an index scan over all past runs.
      const first = await knex('workflow_runs')
        .where(waiting)
        .orderByRaw('CASE WHEN due_at > ? THEN 0 ELSE 1 END, created_at + 0, id', [now])
        .first<{ id: string } | undefined>('id');
      if (!first) return undefined;
      // Ignores the current due time: a claim that still saw the limit reached may be about to postpone the run. The
      // update waits for that claim.
      await database.retry(() =>
        knex('workflow_runs')
          .where({ ...waiting, id: first.id })
          .update({ due_at: now }),
      );
      return first.id;
    },

    async answer(id, { position, by, value }) {
      const environmentId = await environment();
      return database.write(async (trx) => {
        const now = clock.now();
        const waiting = { id, environment_id: environmentId, state: 'awaiting-input', position };
        const touched = await trx('workflow_runs')
          .where(waiting)
          .whereNull('cancelled_by')
          .where('answer_by', '>', now)
          .update({ state: 'queued', reason: null, due_at: now, answer_by: null, updated_at: now });
        if (touched === 0) return false;
        await trx('workflow_run_steps')
          .where({ run_id: id, position })
          .update({ answered_by: by, answer: seal(value ?? null) });
        return true;
      });
    },
    async cancel(id, by) {
      const environmentId = await environment();
      const now = clock.now();
      // The first user to cancel is recorded, even if the request is repeated.
      const cancelled = { cancelled_by: { sql: 'COALESCE(cancelled_by, ?)', values: [by] }, updated_at: now };
      const update = (values: Parameters<typeof setsOf>[0], states: string): Promise<boolean> => {
        const set = setsOf({ ...values, ...cancelled });
        const sql = `UPDATE workflow_runs SET ${set.sql} WHERE id = ? AND environment_id = ? AND state IN (${states})`;
        return statements.run({ sql, values: [...set.values, id, environmentId] });
      };
      const cancelWaiting = () => update({ ...ending(now), state: 'cancelled' }, "'queued', 'awaiting-input'");
      // A run that was released between the two updates is cancelled by the third.
      return (await cancelWaiting()) || (await update({}, "'running'")) || (await cancelWaiting());
    },

    async takeCallbacks(limit, untilMs) {
      const environmentId = await environment();
      const due = (on: Knex) =>
        on('workflow_runs').where({ environment_id: environmentId }).where('callback_at', '<=', clock.now());
      // Called often, usually without a result: only open a transaction when there is one.
      if (!(await due(knex).first('id'))) return [];
      return database.write(async (trx) => {
        const now = clock.now();
        const query = due(trx).orderBy('callback_at').limit(limit).select<{ id: string }[]>('id');
        if (dialect !== 'sqlite') query.forUpdate().skipLocked();
        const ids = (await query).map(({ id }) => id);
        if (ids.length === 0) return [];
        await trx('workflow_runs')
          .whereIn('id', ids)
          .update({ callback_at: now + untilMs, callback_attempts: trx.raw('callback_attempts + 1') });
        const rows = (await selectRuns(trx, environmentId)
          .whereIn('r.id', ids)
          .select('w.callback_url')) as (StoredRun & { callback_url: string | null; callback_attempts: number })[];
        const callbacks = rows.flatMap((row) =>
          row.callback_url === null
            ? []
            : [{ run: toRun(row), url: row.callback_url, attempts: row.callback_attempts }],
        );
        // These callbacks are no longer configured.
        const withoutCallback = rows.filter(({ callback_url }) => callback_url === null).map(({ id }) => id);
        if (withoutCallback.length > 0)
          await trx('workflow_runs')
            .whereIn('id', withoutCallback)
            .update({ callback_at: null, callback_problem: null });
        return callbacks;
      });
    },
    async settleCallback(runId, retryDelay, problem) {
      const callback_at = retryDelay === null ? null : clock.now() + retryDelay;
      const values = { callback_at, callback_problem: problem };
      await database.retry(() => knex('workflow_runs').where({ id: runId }).update(values));
    },
    async sweep() {
      const now = clock.now();
      // Earlier sweeps have deleted older keys.
      await database.retry(async () =>
        knex('workflow_runs')
          .where({ environment_id: await environment() })
          .where('created_at', '<=', now - KEY_MS)
          .whereNotNull('request_key')
          // Their key is unique forever, and a start may be repeated long after a crash.
          .whereNotIn('origin', ['schedule', 'change'])
          .update({ request_key: null, request_hash: null }),
      );
    },
  };
  return runs;
}

interface NewRow {
  readonly id: string;
  readonly active_key: string;
  readonly request_key: string | null;
  readonly request_hash: string | null;
}

function newRow(run: NewRun, environmentId: number, now: number): NewRow & Readonly<Record<string, unknown>> {
  const { workflow, recordId, userId, idempotencyKey, idempotencyOf } = run;
  return {
    id: randomId(),
    environment_id: environmentId,
    workflow_id: workflow.id,
    version: workflow.version,
    rendering_id: workflow.renderingId,
    record_id: recordId,
    user_id: userId,
    origin: run.origin,
    origin_name: run.originName.slice(0, 191),
    state: 'queued',
    position: 0,
    collections: run.collections ? JSON.stringify(run.collections) : null,
    chain: run.chain && run.chain.length > 0 ? JSON.stringify(run.chain) : null,
    active_key: activeKey(workflow.id, recordId),
    request_key: idempotencyKey === undefined ? null : hashToken(JSON.stringify([workflow.id, userId, idempotencyKey])),
    request_hash: idempotencyKey === undefined ? null : hashToken(idempotencyOf ?? recordId),
    due_at: now,
    fence: 0,
    callback_attempts: 0,
    created_at: now,
    updated_at: now,
  };
}

const activeKey = (workflowId: string, recordId: string): string => hashToken(JSON.stringify([workflowId, recordId]));

async function findExistingRun(on: Knex, row: NewRow): Promise<CreatedRun | undefined> {
  const { request_key, request_hash, active_key } = row;
  if (request_key !== null) {
    const same = await on('workflow_runs')
      .where({ request_key })
      .first<{ id: string; request_hash: string } | undefined>('id', 'request_hash');
    if (same) return same.request_hash === request_hash ? { state: 'repeated', runId: same.id } : { state: 'mismatch' };
  }
  const active = await on('workflow_runs').where({ active_key }).first<{ id: string } | undefined>('id');
  return active && { state: 'ongoing', runId: active.id };
}

function insertOf(row: ReturnType<typeof newRow>): Statement {
  const columns = Object.keys(row);
  const sql = `INSERT INTO workflow_runs (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
  return { sql, values: Object.values(row) as Statement['values'], merge: 'rows' };
}

/**
 * Runs within a transaction that holds the lock of the workflow. A run at a step is refused, because its executor could
 * not store the outcome of a change that it has made.
 */
export async function deleteWorkflow(
  trx: Knex.Transaction,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  const runs = () => trx('workflow_runs').where({ workflow_id: id });
  await trx('workflow_run_steps')
    .whereIn('run_id', runs().whereNot({ state: 'running' }).select('id'))
    .delete();
  await runs().whereNot({ state: 'running' }).delete();
  if (await runs().first('id')) {
    const problem = `a run of '${name}' is in progress. Cancel it or wait until it ends, then try again.`;
    fail('INVALID_ARGUMENT', { argument: 'id', problem });
  }
  await deleteStartRules(trx, trx('workflows').where({ id }).select('id'));
  await trx('workflow_versions').where({ workflow_id: id }).delete();
  await trx('workflows').where({ id }).delete();
}

/** Runs within a transaction that deletes the environment. */
export async function removeWorkflows(trx: Knex.Transaction, environmentId: number): Promise<void> {
  const [workflows, runs] = ['workflows', 'workflow_runs'].map((table) =>
    trx(table).where({ environment_id: environmentId }),
  ) as [Knex.QueryBuilder, Knex.QueryBuilder];
  await trx('workflow_run_steps').whereIn('run_id', runs.clone().select('id')).delete();
  await trx('workflow_versions').whereIn('workflow_id', workflows.clone().select('id')).delete();
  await deleteStartRules(trx, workflows.clone().select('id'));
  await runs.delete();
  await workflows.delete();
}
