// Converts activity log entries to rows and back.

import type { EntryWorkflow } from '../workflows/types.ts';
import type { EntryDetails } from './activity-details.ts';
import { clientKeyOf } from './activity-keys.ts';
import type { ActivityEntry } from './activity-types.ts';

export const TABLE = 'activity_logs';
/** The records of each entry, to find entries by record. */
export const RECORDS = 'activity_records';

/** The run of each entry. Entries outside of runs have no row. */
export const WORKFLOWS = 'activity_workflows';

export const recordColumns = ['environment_id', 'record_key', 'started_at', 'log_id'] as const;

export const columns = [
  'environment_id',
  'user_id',
  'rendering_id',
  'client_id',
  'client_name',
  'client_key',
  'action',
  'type',
  'collection',
  'record_ids',
  'outcome',
  'code',
  'started_at',
  'duration_ms',
] as const satisfies readonly (keyof Row)[];

export const valuesOf = (row: Row): unknown[] => columns.map((column) => row[column]);

export interface StoredEntry extends Row {
  readonly id: number;
}

export interface Row {
  readonly environment_id: number;
  readonly user_id: number;
  readonly rendering_id: number;
  readonly client_id: string;
  readonly client_name: string;
  readonly client_key: number;
  readonly action: string;
  readonly type: ActivityEntry['type'];
  readonly collection: string | null;
  readonly record_ids: string | null;
  readonly outcome: ActivityEntry['outcome'];
  readonly code: string | null;
  readonly started_at: number;
  readonly duration_ms: number;
}

export const workflowColumns = ['log_id', 'run_id', 'name', 'step_name', 'option_name'] as const;

export interface WorkflowRow {
  readonly log_id: number;
  readonly run_id: string;
  readonly name: string;
  readonly step_name: string | null;
  readonly option_name: string | null;
}

export function toWorkflowRow(log_id: number, { runId, name, stepName, optionName }: EntryWorkflow): WorkflowRow {
  const short = (text: string | undefined) => (text === undefined ? null : plainly(text).slice(0, 191));
  return { log_id, run_id: runId, name: short(name)!, step_name: short(stepName), option_name: short(optionName) };
}

export function fromWorkflowRow({ run_id, name, step_name, option_name }: WorkflowRow): EntryWorkflow {
  return {
    name,
    runId: run_id,
    ...(step_name !== null && { stepName: step_name }),
    ...(option_name !== null && { optionName: option_name }),
  };
}

/**
 * Replaces NUL, which PostgreSQL text cannot contain. Names may come from callers, and one entry must not fail a batch.
 */
export const plainly = (name: string): string => (name.includes('\0') ? name.replaceAll('\0', '\ufffd') : name);

export function toRow(entry: ActivityEntry, environmentId: number): Row {
  return {
    environment_id: environmentId,
    user_id: entry.userId,
    rendering_id: entry.renderingId,
    client_id: entry.clientId,
    client_name: entry.clientName,
    client_key: clientKeyOf(entry.clientName),
    action: entry.action.slice(0, 100),
    type: entry.type,
    collection: entry.collection === undefined ? null : plainly(entry.collection).slice(0, 191),
    record_ids: entry.recordIds ? JSON.stringify(entry.recordIds) : null,
    outcome: entry.outcome,
    code: entry.code?.slice(0, 60) ?? null,
    started_at: entry.startedAt,
    duration_ms: entry.durationMs,
  };
}

export function fromRow(
  row: StoredEntry,
  workflow?: EntryWorkflow,
  details?: EntryDetails,
): ActivityEntry & { readonly id: number } {
  return {
    id: Number(row.id),
    userId: row.user_id,
    renderingId: row.rendering_id,
    clientId: row.client_id,
    clientName: row.client_name,
    action: row.action,
    type: row.type,
    ...(row.collection === null ? {} : { collection: row.collection }),
    ...(row.record_ids === null ? {} : { recordIds: JSON.parse(row.record_ids) as string[] }),
    outcome: row.outcome,
    ...(row.code === null ? {} : { code: row.code }),
    startedAt: Number(row.started_at),
    durationMs: row.duration_ms,
    ...(workflow && { workflow }),
    ...details,
  };
}
