// Runs of workflows. Every step onwards is one conditional update, made by whoever holds the run: an owner and a fence, which
// every claim raises, so that an executor that was away too long writes nothing of a run that another has taken. `active_key`
// holds workflow and record for as long as the run is not over and is unique, so that of any number of calls in any number
// of processes one creates it. Values of records and answers of people are sealed; what is not is names, ids and counts.
import type { Knex } from 'knex';
import type { Clock } from '../core/clock.ts';
import { decrypt, encrypt, sign } from '../core/secret.ts';
import type { Database } from './database.ts';
import { findDueRuns } from './due-runs.ts';
import { isDuplicate } from './duplicates.ts';
import { createEnvironmentReader, type PlaceReader } from './roles.ts';
import { findKnown, newRow } from './run-making.ts';
import { type StoredRun, type StoredStep, selectRuns, toRun, toStep } from './run-rows.ts';
import type { Claim, Hold, RunStep, Runs } from './workflow-types.ts';

/** How long an idempotency key of a trigger is known. */
const KEY_MS = 24 * 3600_000;
/** A run that its workflow's limit holds back is looked at again after this long, so that it does not hide those behind it. */
const HELD_BACK_MS = 1000;
const MOST_LISTED = 100;

type Mark = Pick<Claim, 'run' | 'owner' | 'fence'>;

export function createRuns(database: Database, getPlace: PlaceReader, clock: Clock, getSecret: () => string): Runs {
  const { knex, dialect } = database;
  const secret = () => sign('workflow runs', getSecret());
  const seal = (value: unknown): string | null =>
    value === undefined ? null : encrypt(JSON.stringify(value), secret());
  const open = (sealed: string): unknown => JSON.parse(decrypt(sealed, secret()));
  const environment = createEnvironmentReader(knex, getPlace);

  const stepsOf = async (on: Knex, ids: readonly string[]): Promise<ReadonlyMap<string, RunStep[]>> => {
    const found = new Map(ids.map((id) => [id, [] as RunStep[]]));
    if (ids.length === 0) return found;
    const rows = await on('workflow_run_steps').whereIn('run_id', ids).orderBy(['run_id', 'position']);
    for (const row of rows as StoredStep[]) found.get(row.run_id)!.push(toStep(row, open));
    return found;
  };

  /** Updates the run while it is held. Undefined when it is not. */
  const held = async (
    trx: Knex,
    { run, owner, fence }: Mark,
    values: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly position: number; readonly cancel: boolean } | undefined> => {
    const touched = await trx('workflow_runs')
      .where({ id: run.id, owner, fence, state: 'running' })
      .update({ ...values, updated_at: clock.now() });
    if (touched === 0) return undefined;
    const row = await trx('workflow_runs')
      .where({ id: run.id })
      .first<Pick<StoredRun, 'position' | 'cancelled_by'>>('position', 'cancelled_by');
    return { position: row.position, cancel: row.cancelled_by !== null };
  };

  /** What a run that is over no longer has, and when its end is to be told. */
  const ending = (trx: Knex, now: number) => ({
    reason: null,
    step_id: null,
    active_key: null,
    due_at: null,
    answer_by: null,
    owner: null,
    finished_at: now,
    callback_at: trx.raw(
      "CASE WHEN origin = 'webhook' AND EXISTS (SELECT 1 FROM workflows w WHERE w.id = workflow_runs.workflow_id AND w.callback_url IS NOT NULL) THEN CAST(? AS DECIMAL(20)) ELSE NULL END",
      [now],
    ),
  });

  /** Tells of a step: of the mark at `position`, or in a row of its own where it left none. */
  const tell = async (
    trx: Knex,
    runId: string,
    at: { readonly marked: boolean; readonly position: number; readonly stepId: string },
    values: Readonly<Record<string, unknown>>,
  ): Promise<void> => {
    const key = { run_id: runId, position: at.position };
    if (at.marked) await trx('workflow_run_steps').where(key).update(values);
    else await trx('workflow_run_steps').insert({ ...key, step_id: at.stepId, started_at: clock.now(), ...values });
  };

  const settle = (
    claim: Mark,
    step: { readonly position?: number; readonly stepId: string },
    run: (trx: Knex) => Readonly<Record<string, unknown>>,
    values: Readonly<Record<string, unknown>>,
  ): Promise<Hold> =>
    database.write(async (trx) => {
      const marked = step.position !== undefined;
      const moved = { ...run(trx), ...(!marked && { position: trx.raw('position + 1') }) };
      const now = await held(trx, claim, moved);
      if (!now) return 'lost';
      const position = step.position ?? now.position;
      await tell(trx, claim.run.id, { marked, position, stepId: step.stepId }, values);
      return now.cancel ? 'cancel' : 'held';
    });

  const runs: Runs = {
    async create(run) {
      const environmentId = await environment();
      for (let attempt = 1; ; attempt++) {
        const row = newRow(run, environmentId, clock.now());
        try {
          await database.retry(() => knex('workflow_runs').insert(row));
          return { state: 'created', runId: row.id };
        } catch (error) {
          if (!isDuplicate(error) || attempt === 5) throw error;
        }
        const known = await findKnown(knex, row);
        // The one that was in the way has ended in this moment.
        if (known) return known;
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
    async list({ renderingId, workflowId, recordId, userId, state, after, limit }) {
      const query = selectRuns(knex, await environment())
        .orderBy([
          { column: 'r.created_at', order: 'desc' },
          { column: 'r.id', order: 'desc' },
        ])
        .limit(Math.min(Math.max(1, limit), MOST_LISTED + 1));
      if (renderingId !== undefined) query.where('r.rendering_id', renderingId);
      if (workflowId !== undefined) query.where('r.workflow_id', workflowId);
      if (recordId !== undefined) query.where('r.record_id', recordId);
      if (userId !== undefined) query.where('r.user_id', userId);
      if (state !== undefined) query.where('r.state', state);
      if (after !== undefined) {
        const place = () => knex('workflow_runs').where({ id: after });
        query.where((older) =>
          older
            .where('r.created_at', '<', place().select('created_at'))
            .orWhere((same) => same.where('r.created_at', place().select('created_at')).where('r.id', '<', after)),
        );
      }
      return ((await query) as StoredRun[]).map(toRun);
    },

    async due(wish) {
      return findDueRuns(knex, await environment(), clock.now(), wish);
    },
    async claim({ owner, leaseMs, limit, ids }) {
      const environmentId = await environment();
      return database.write(async (trx) => {
        const now = clock.now();
        const query = trx('workflow_runs')
          .where({ environment_id: environmentId })
          .where('due_at', '<=', now)
          .orderBy('due_at')
          .limit(limit)
          .select<{ id: string; workflow_id: string }[]>('id', 'workflow_id');
        if (ids) query.whereIn('id', ids);
        // What another process is just taking is not waited for.
        if (dialect !== 'sqlite') query.forUpdate().skipLocked();
        const found = await query;
        if (found.length === 0) return [];
        const allowed = await withinLimits(trx, found, now);
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
        return rows.map((row): Claim => ({ run: toRun(row), steps: steps.get(row.id)!, owner, fence: row.fence }));
      });
    },
    async renew(claim, leaseMs) {
      const now = await held(knex, claim, { due_at: clock.now() + leaseMs });
      return now ? (now.cancel ? 'cancel' : 'held') : 'lost';
    },
    begin: (claim, stepId, position) =>
      database.write(async (trx) => {
        const isNew = position === undefined;
        const now = await held(trx, claim, { ...(isNew && { position: trx.raw('position + 1') }), step_id: stepId });
        if (!now) return 'lost';
        if (now.cancel) {
          // Nothing was begun: the place is given back.
          if (isNew) await held(trx, claim, { position: now.position - 1 });
          return 'cancel';
        }
        if (!isNew) {
          await trx('workflow_run_steps').where({ run_id: claim.run.id, position }).update({ state: 'begun' });
          return position;
        }
        const step = { run_id: claim.run.id, position: now.position, step_id: stepId };
        await trx('workflow_run_steps').insert({ ...step, state: 'begun', started_at: clock.now(), outcome: '{}' });
        return now.position;
      }),
    finish: (claim, { state, outcome, data, next, ...step }) => {
      const now = clock.now();
      return settle(
        claim,
        step,
        (trx) => (next === null ? { ...ending(trx, now), state: 'succeeded' } : { step_id: next }),
        { state, outcome: JSON.stringify(outcome), sealed: seal(data), finished_at: now },
      );
    },
    wait: (claim, { reason, outcome, data, until, ...step }) =>
      settle(
        claim,
        step,
        () => ({
          state: 'awaiting-input',
          reason,
          step_id: step.stepId,
          owner: null,
          due_at: until,
          answer_by: until,
        }),
        { state: 'waiting', outcome: JSON.stringify(outcome), sealed: seal(data), answered_by: null, answer: null },
      ),
    fail: (claim, { position, code, message }) =>
      database.write(async (trx) => {
        const now = clock.now();
        const failure = { code: code.slice(0, 60), message: message.slice(0, 500) };
        if (
          !(await held(trx, claim, { ...ending(trx, now), step_id: claim.run.stepId, state: 'failed', ...failure }))
        ) {
          return false;
        }
        if (position !== undefined) {
          await trx('workflow_run_steps')
            .where({ run_id: claim.run.id, position })
            .update({ state: 'failed', finished_at: now });
        }
        return true;
      }),
    endCancelled: (claim) =>
      database.write(async (trx) => {
        const now = clock.now();
        return (await held(trx, claim, { ...ending(trx, now), state: 'cancelled' })) !== undefined;
      }),
    async release(claim) {
      const values = { state: 'queued', owner: null, due_at: clock.now() };
      return (await held(knex, claim, values)) !== undefined;
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
      return database.write(async (trx) => {
        const now = clock.now();
        const known = { id, environment_id: environmentId };
        // Who asked first is who is told of, whoever says it again.
        const cancelled_by = trx.raw('COALESCE(cancelled_by, ?)', [by]);
        const atOnce = await trx('workflow_runs')
          .where(known)
          .whereIn('state', ['queued', 'awaiting-input'])
          .update({ ...ending(trx, now), state: 'cancelled', cancelled_by, updated_at: now });
        if (atOnce > 0) return true;
        const asked = await trx('workflow_runs')
          .where({ ...known, state: 'running' })
          .update({ cancelled_by, updated_at: now });
        return asked > 0;
      });
    },

    async takeCallbacks(limit, untilMs) {
      const environmentId = await environment();
      const due = (on: Knex) =>
        on('workflow_runs').where({ environment_id: environmentId }).where('callback_at', '<=', clock.now());
      // Asked often, and mostly in vain: only what is there is worth a transaction.
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
        const told = rows.flatMap((row) =>
          row.callback_url === null
            ? []
            : [{ run: toRun(row), url: row.callback_url, attempts: row.callback_attempts }],
        );
        // Nobody asks to be told any more.
        const unasked = rows.filter(({ callback_url }) => callback_url === null).map(({ id }) => id);
        if (unasked.length > 0) await trx('workflow_runs').whereIn('id', unasked).update({ callback_at: null });
        return told;
      });
    },
    async settleCallback(runId, again) {
      const callback_at = again === null ? null : clock.now() + again;
      await database.retry(() => knex('workflow_runs').where({ id: runId }).update({ callback_at }));
    },
    async sweep() {
      const now = clock.now();
      // Older ones were forgotten by the sweeps of their day.
      await database.retry(async () =>
        knex('workflow_runs')
          .where({ environment_id: await environment() })
          .where('created_at', '<=', now - KEY_MS)
          .whereNotNull('request_key')
          .update({ request_key: null, request_hash: null }),
      );
    },
  };
  return runs;

  /** Of runs of a workflow with a limit, as many as may work beside those that do. */
  async function withinLimits(
    trx: Knex,
    found: readonly { readonly id: string; readonly workflow_id: string }[],
    now: number,
  ): Promise<string[]> {
    const limited = trx('workflows')
      .whereIn('id', [...new Set(found.map((run) => run.workflow_id))])
      .whereNotNull('concurrency')
      .orderBy('id')
      .select<{ id: string; concurrency: number }[]>('id', 'concurrency');
    // Whoever else counts runs of the workflow waits until these are taken.
    if (dialect !== 'sqlite') limited.forUpdate();
    const room = new Map<string, number>();
    for (const { id, concurrency } of await limited) {
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
    return allowed;
  }
}

/** Within a transaction that removes the environment. */
export async function removeWorkflows(trx: Knex.Transaction, environmentId: number): Promise<void> {
  const [workflows, runs] = ['workflows', 'workflow_runs'].map((table) =>
    trx(table).where({ environment_id: environmentId }),
  ) as [Knex.QueryBuilder, Knex.QueryBuilder];
  await trx('workflow_run_steps').whereIn('run_id', runs.clone().select('id')).delete();
  await trx('workflow_versions').whereIn('workflow_id', workflows.clone().select('id')).delete();
  await runs.delete();
  await workflows.delete();
}
