// The SQLite statements of the activity log, prepared once for each connection.
import type { SqliteConnection } from '../../core/sqlite.ts';
import { versionNumbers } from '../versions.ts';
import {
  columns,
  DETAILS,
  detailColumns,
  type EntryDetails,
  hasDetails,
  RECORDS,
  type Row,
  recordColumns,
  recordKeysOf,
  TABLE,
  toDetailRow,
  toWorkflowRow,
  valuesOf,
  WORKFLOWS,
  workflowColumns,
} from './activity-row.ts';
import type { ActivityEntry, Intent } from './activity-types.ts';
import type { EntryWorkflow } from './log-types.ts';

/** Rows in one prepared INSERT. A row then costs half as much as with an INSERT of its own. */
const ROWS_PER_STATEMENT = 20;

/** Values that only few entries have. */
export type More = EntryDetails & Pick<ActivityEntry, 'workflow'>;

export interface Statements {
  /** Returns the id and the version numbers. Needs a transaction if it has keys or more. */
  readonly mark: (row: Row, keys: readonly string[], more: More) => readonly number[];
  readonly insertAll: (rows: readonly Row[], entries: readonly ActivityEntry[]) => void;
  /** Needs a transaction if it has record ids or more. */
  readonly complete: (id: number, completed: Completed) => void;
}

/** Whether the entry has rows in other tables. */
export const hasMore = ({ recordIds, workflow, ...details }: More & Pick<ActivityEntry, 'recordIds'>): boolean =>
  workflow !== undefined || hasDetails(details) || (recordIds !== undefined && recordIds.length > 0);

export function prepare(connection: SqliteConnection): Statements {
  const placeholders = `(${columns.map(() => '?').join(', ')})`;
  const insertSome = (rows: number) => {
    const all = new Array<string>(rows).fill(placeholders);
    return connection.prepare(`insert into ${TABLE} (${columns.join(', ')}) values ${all.join(', ')}`);
  };
  const insert = insertSome(1);
  const mark = connection.prepare(`${insert.source} returning id, ${versionNumbers}`).raw();
  const insertBatch = insertSome(ROWS_PER_STATEMENT);
  const intoRecords = `insert or ignore into ${RECORDS} (${recordColumns.join(', ')})`;
  const insertKey = connection.prepare(`${intoRecords} values (?, ?, ?, ?)`);
  const insertKeyOf = connection.prepare(
    `${intoRecords} select environment_id, ?, started_at, id from ${TABLE} where id = ?`,
  );
  const insertWorkflow = connection.prepare(
    `insert or replace into ${WORKFLOWS} (${workflowColumns.join(', ')}) values (?, ?, ?, ?, ?)`,
  );
  const insertDetails = connection.prepare(
    `insert into ${DETAILS} (${detailColumns.join(', ')}) values (?, ?, ?, ?) on conflict (log_id) do update set
      approval_id = coalesce(excluded.approval_id, approval_id), effects = coalesce(excluded.effects, effects),
      dry_run = coalesce(excluded.dry_run, dry_run)`,
  );
  const complete = connection.prepare(
    `update ${TABLE} set outcome = ?, code = ?, duration_ms = ?, record_ids = coalesce(?, record_ids) where id = ?`,
  );
  const insertKeys = ({ environment_id, started_at }: Row, id: number, keys: readonly string[]): void => {
    for (const key of keys) insertKey.run(environment_id, key, started_at, id);
  };
  const insertWorkflowOf = (id: number, workflow: EntryWorkflow): void => {
    const row = toWorkflowRow(id, workflow);
    insertWorkflow.run(workflowColumns.map((column) => row[column]));
  };
  const insertMore = (id: number, more: More): void => {
    if (more.workflow) insertWorkflowOf(id, more.workflow);
    if (!hasDetails(more)) return;
    const row = toDetailRow(id, more);
    insertDetails.run(detailColumns.map((column) => row[column]));
  };
  // `get` would stop after the first row. Errors at the end of the statement, such as a full disk, appear only in the
  // last step.
  const markOne = (row: Row) => mark.all(valuesOf(row))[0] as [number, ...number[]];
  const insertEach = connection.transaction((rows: readonly Row[], entries: readonly ActivityEntry[]) => {
    let at = 0;
    const put = (some: readonly Row[], { lastInsertRowid }: { lastInsertRowid: number | bigint }): void => {
      // The ids of one statement are consecutive.
      const first = Number(lastInsertRowid) - some.length + 1;
      some.forEach((row, n) => {
        const entry = entries[at + n]!;
        if (row.record_ids !== null) insertKeys(row, first + n, recordKeysOf(entry.recordIds));
        insertMore(first + n, entry);
      });
      at += some.length;
    };
    while (at + ROWS_PER_STATEMENT <= rows.length) {
      const some = rows.slice(at, at + ROWS_PER_STATEMENT);
      put(some, insertBatch.run(some.flatMap(valuesOf)));
    }
    for (const row of rows.slice(at)) put([row], insert.run(valuesOf(row)));
  });
  return {
    mark(row, keys, more) {
      const marked = markOne(row);
      insertKeys(row, marked[0], keys);
      insertMore(marked[0], more);
      return marked;
    },
    insertAll: (rows, entries) => insertEach.immediate(rows, entries),
    complete(id, completed) {
      const { outcome, code, durationMs, recordIds } = completed;
      complete.run(outcome, code ?? null, durationMs, recordIds ? JSON.stringify(recordIds) : null, id);
      for (const key of recordKeysOf(recordIds)) insertKeyOf.run(key, id);
      insertMore(id, completed);
    },
  };
}

export type Completed = Parameters<Intent['complete']>[0] & Pick<ActivityEntry, 'durationMs'>;
