// Converts activity log entries to rows and back. Values that are too long to index have search keys.

import type { Knex } from 'knex';
import { hashToken } from '../../core/secret.ts';
import type { Tables } from '../migrations/first-tables.ts';
import type { ActivityEntry, LoggedEffect } from './activity-types.ts';
import type { EntryWorkflow } from './log-types.ts';

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

const MAX_KEY_LENGTH = 100;

/** The key in `activity_records`: the id, or its hash when it is long or contains NUL. */
export function recordKeyOf(recordId: string): string {
  // PostgreSQL text cannot contain NUL.
  const asIs = recordId.length <= MAX_KEY_LENGTH && !recordId.includes('\0');
  return asIs ? recordId : `sha256:${hashToken(recordId)}`;
}

export function recordKeysOf(recordIds: readonly string[] | undefined): readonly string[] {
  if (!recordIds || recordIds.length === 0) return [];
  return recordIds.length === 1 ? [recordKeyOf(recordIds[0]!)] : [...new Set(recordIds.map(recordKeyOf))];
}

/** Cached: there are few clients, and each calls often. */
const keyCache = new Map<string, number>();
const MAX_CACHED = 1000;

/** A 52-bit hash of a client name, ignoring case and surrounding spaces; never 0. */
export function clientKeyOf(name: string): number {
  const cached = keyCache.get(name);
  if (cached !== undefined) return cached;
  const folded = name.trim().normalize('NFC').toLowerCase();
  const key = Number.parseInt(Buffer.from(hashToken(folded), 'base64url').toString('hex').slice(0, 13), 16) || 1;
  if (keyCache.size >= MAX_CACHED) keyCache.clear();
  keyCache.set(name, key);
  return key;
}

/**
 * Details that only few entries have: additional written records, and the approval of a write. They have their own
 * table and add no cost to other calls.
 */
export const DETAILS = 'activity_details';

export type EntryDetails = Pick<ActivityEntry, 'effects' | 'approvalId' | 'dryRun'>;

export const detailTables: Tables = {
  activity_details(table) {
    table.bigInteger('log_id').primary();
    table.string('approval_id', 43);
    table.text('effects', 'mediumtext');
    table.smallint('dry_run');
    table.index(['approval_id']);
  },
};

interface DetailRow {
  readonly log_id: number;
  readonly approval_id: string | null;
  readonly effects: string | null;
  /** 1 for a dry run. */
  readonly dry_run: number | null;
}

export const detailColumns = ['log_id', 'approval_id', 'effects', 'dry_run'] as const;

/** Maximum number of ids per effect; `count` has the total. */
const MAX_IDS = 500;

export const hasDetails = ({ effects, approvalId, dryRun }: EntryDetails): boolean =>
  dryRun === true || approvalId !== undefined || (effects !== undefined && effects.length > 0);

export function toDetailRow(log_id: number, { effects, approvalId, dryRun }: EntryDetails): DetailRow {
  const short = effects?.map(({ ids, ...effect }) => ({ ...effect, ...(ids && { ids: ids.slice(0, MAX_IDS) }) }));
  return {
    ...{ log_id, approval_id: approvalId ?? null },
    effects: short && short.length > 0 ? JSON.stringify(short) : null,
    dry_run: dryRun ? 1 : null,
  };
}

function fromDetailRow({ approval_id, effects, dry_run }: Omit<DetailRow, 'log_id'>): EntryDetails {
  return {
    ...(approval_id !== null && { approvalId: approval_id }),
    ...(dry_run !== null && { dryRun: Boolean(dry_run) }),
    ...(effects !== null && { effects: JSON.parse(effects) as LoggedEffect[] }),
  };
}

/** Keeps stored values that the new row lacks: the intent has the approval, and the outcome has the effects. */
export async function insertDetails(trx: Knex.Transaction, rows: readonly DetailRow[]): Promise<void> {
  for (const row of rows) {
    const definedValues = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    await trx(DETAILS).insert(row).onConflict('log_id').merge(definedValues);
  }
}

/** Details by entry id. Entries without details are absent. */
export async function readDetails(on: Knex, ids: readonly number[]): Promise<ReadonlyMap<number, EntryDetails>> {
  const rows = await on(DETAILS).whereIn('log_id', ids).select<DetailRow[]>();
  return new Map(rows.map((row) => [Number(row.log_id), fromDetailRow(row)]));
}
