// Details that only few activity entries have: additional written records, and the approval of a write. They have their
// own table and add no cost to other calls.
import type { Knex } from 'knex';
import type { Tables } from '../migrations/first-tables.ts';
import type { ActivityEntry, LoggedEffect } from './activity-types.ts';

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
const MOST_IDS = 500;

export const hasDetails = ({ effects, approvalId, dryRun }: EntryDetails): boolean =>
  dryRun === true || approvalId !== undefined || (effects !== undefined && effects.length > 0);

export function toDetailRow(log_id: number, { effects, approvalId, dryRun }: EntryDetails): DetailRow {
  const short = effects?.map(({ ids, ...effect }) => ({ ...effect, ...(ids && { ids: ids.slice(0, MOST_IDS) }) }));
  return {
    ...{ log_id, approval_id: approvalId ?? null },
    effects: short && short.length > 0 ? JSON.stringify(short) : null,
    dry_run: dryRun ? 1 : null,
  };
}

export function fromDetailRow({ approval_id, effects, dry_run }: Omit<DetailRow, 'log_id'>): EntryDetails {
  return {
    ...(approval_id !== null && { approvalId: approval_id }),
    ...(dry_run !== null && { dryRun: Boolean(dry_run) }),
    ...(effects !== null && { effects: JSON.parse(effects) as LoggedEffect[] }),
  };
}

/** Keeps stored values that are absent in the new row: the mark has the approval, the outcome has the effects. */
export async function putDetails(trx: Knex.Transaction, rows: readonly DetailRow[]): Promise<void> {
  for (const row of rows) {
    const given = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    await trx(DETAILS).insert(row).onConflict('log_id').merge(given);
  }
}

/** Details by entry id, for the entries that have some. */
export async function readDetails(on: Knex, ids: readonly number[]): Promise<ReadonlyMap<number, EntryDetails>> {
  const rows = await on(DETAILS).whereIn('log_id', ids).select<DetailRow[]>();
  return new Map(rows.map((row) => [Number(row.log_id), fromDetailRow(row)]));
}
