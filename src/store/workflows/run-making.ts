// Creates the row of a run, and finds the active run that blocks it.
import type { Knex } from 'knex';
import { hashToken, randomId } from '../../core/secret.ts';
import type { CreatedRun, NewRun } from './types.ts';

interface NewRow {
  readonly id: string;
  readonly active_key: string;
  readonly request_key: string | null;
  readonly request_hash: string | null;
}

export function newRow(run: NewRun, environmentId: number, now: number): NewRow & Readonly<Record<string, unknown>> {
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
    active_key: hashToken(JSON.stringify([workflow.id, recordId])),
    request_key: idempotencyKey === undefined ? null : hashToken(JSON.stringify([workflow.id, userId, idempotencyKey])),
    request_hash: idempotencyKey === undefined ? null : hashToken(idempotencyOf ?? recordId),
    due_at: now,
    fence: 0,
    callback_attempts: 0,
    created_at: now,
    updated_at: now,
  };
}

export async function findKnown(on: Knex, row: NewRow): Promise<CreatedRun | undefined> {
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
