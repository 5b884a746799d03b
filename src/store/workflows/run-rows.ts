// Rows of runs and steps, and their conversion.
import type { Knex } from 'knex';
import type { AwaitReason, Run, RunOrigin, RunState, RunStep, RunStepState } from './types.ts';

type Time = number | string;

export interface StoredRun {
  readonly id: string;
  readonly workflow_id: string;
  readonly name: string;
  readonly collection: string;
  readonly version: number;
  readonly rendering_id: number;
  readonly record_id: string;
  readonly user_id: number;
  readonly origin: RunOrigin;
  readonly origin_name: string;
  readonly state: RunState;
  readonly reason: AwaitReason | null;
  readonly step_id: string | null;
  readonly position: number;
  readonly collections: string | null;
  readonly chain: string | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly answer_by: Time | null;
  readonly fence: number;
  readonly lost_leases: number;
  readonly cancelled_by: number | null;
  readonly callback_at: Time | null;
  readonly callback_problem: string | null;
  readonly created_at: Time;
  readonly started_at: Time | null;
  readonly updated_at: Time;
  readonly finished_at: Time | null;
}

/** Columns of the runs table. They are listed by name, because prepared statements must not depend on later columns. */
export const storedColumns = [
  ...['id', 'workflow_id', 'version', 'rendering_id', 'record_id', 'user_id', 'origin', 'origin_name', 'state'],
  ...[
    'reason',
    'step_id',
    'position',
    'code',
    'message',
    'answer_by',
    'fence',
    'cancelled_by',
    'collections',
    'lost_leases',
    'callback_at',
    'callback_problem',
    'chain',
  ],
  ...['created_at', 'started_at', 'updated_at', 'finished_at'],
] as const;

export interface StoredStep {
  readonly run_id: string;
  readonly position: number;
  readonly step_id: string;
  readonly state: RunStepState;
  readonly started_at: Time;
  readonly finished_at: Time | null;
  readonly answered_by: number | null;
  readonly outcome: string;
  readonly sealed: string | null;
  readonly answer: string | null;
}

/** Runs of this environment, with the workflow's name and collection. */
export const selectRuns = (on: Knex, environmentId: number) =>
  on('workflow_runs as r')
    .join('workflows as w', 'w.id', 'r.workflow_id')
    .where('r.environment_id', environmentId)
    .select<StoredRun[]>('r.*', 'w.name', 'w.collection');

const timeOf = (time: Time | null): number | null => (time === null ? null : Number(time));

export function toRun(row: StoredRun): Run {
  return {
    id: row.id,
    workflowId: row.workflow_id,
    name: row.name,
    collection: row.collection,
    version: row.version,
    renderingId: row.rendering_id,
    recordId: row.record_id,
    userId: row.user_id,
    origin: row.origin,
    originName: row.origin_name,
    state: row.state,
    reason: row.reason,
    stepId: row.step_id,
    position: row.position,
    collections: row.collections === null ? null : (JSON.parse(row.collections) as string[]),
    chain: row.chain === null ? [] : (JSON.parse(row.chain) as string[]),
    lostLeases: row.lost_leases,
    failure: row.code === null ? null : { code: row.code, message: row.message ?? '' },
    callbackFailure:
      row.callback_problem === null ? null : { problem: row.callback_problem, retryAt: timeOf(row.callback_at) },
    answerBy: timeOf(row.answer_by),
    cancelAsked: row.cancelled_by !== null,
    createdAt: Number(row.created_at),
    startedAt: timeOf(row.started_at),
    updatedAt: Number(row.updated_at),
    finishedAt: timeOf(row.finished_at),
  };
}

export function toStep(row: StoredStep, open: (sealed: string) => unknown): RunStep {
  return {
    position: row.position,
    stepId: row.step_id,
    state: row.state,
    startedAt: Number(row.started_at),
    finishedAt: timeOf(row.finished_at),
    answeredBy: row.answered_by,
    outcome: JSON.parse(row.outcome) as RunStep['outcome'],
    data: row.sealed === null ? undefined : open(row.sealed),
    answer: row.answer === null ? undefined : open(row.answer),
  };
}
