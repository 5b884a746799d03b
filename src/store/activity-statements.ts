// The statements of the activity log on SQLite, made once for a connection.
import type { SqliteConnection } from '../core/sqlite.ts';
import { recordKeysOf } from './activity-keys.ts';
import {
  columns,
  RECORDS,
  type Row,
  recordColumns,
  TABLE,
  toWorkflowRow,
  valuesOf,
  WORKFLOWS,
  workflowColumns,
} from './activity-row.ts';
import type { Completed } from './activity-rows.ts';
import type { ActivityEntry } from './activity-types.ts';
import { versionNumbers } from './versions.ts';
import type { EntryWorkflow } from './workflow-types.ts';

/** Of a statement made once: a row then costs half of what it does alone. */
const ROWS_TOGETHER = 20;

export interface Statements {
  /** The id, and the numbers of the versions. */
  readonly mark: (row: Row, keys: readonly string[], workflow: EntryWorkflow | undefined) => readonly number[];
  readonly insertAll: (rows: readonly Row[], entries: readonly ActivityEntry[]) => void;
  readonly complete: (id: number, completed: Completed) => void;
}

export function prepare(connection: SqliteConnection): Statements {
  const places = `(${columns.map(() => '?').join(', ')})`;
  const insertSome = (rows: number) => {
    const all = new Array<string>(rows).fill(places);
    return connection.prepare(`insert into ${TABLE} (${columns.join(', ')}) values ${all.join(', ')}`);
  };
  const insert = insertSome(1);
  const mark = connection.prepare(`${insert.source} returning id, ${versionNumbers}`).raw();
  const insertTogether = insertSome(ROWS_TOGETHER);
  const intoRecords = `insert or ignore into ${RECORDS} (${recordColumns.join(', ')})`;
  const insertKey = connection.prepare(`${intoRecords} values (?, ?, ?, ?)`);
  const insertKeyOf = connection.prepare(
    `${intoRecords} select environment_id, ?, started_at, id from ${TABLE} where id = ?`,
  );
  const insertWorkflow = connection.prepare(
    `insert or replace into ${WORKFLOWS} (${workflowColumns.join(', ')}) values (?, ?, ?, ?, ?)`,
  );
  const complete = connection.prepare(
    `update ${TABLE} set outcome = ?, code = ?, duration_ms = ?, record_ids = coalesce(?, record_ids) where id = ?`,
  );
  const completeOne = (id: number, { outcome, code, durationMs, recordIds }: Completed) =>
    complete.run(outcome, code ?? null, durationMs, recordIds ? JSON.stringify(recordIds) : null, id);

  const insertKeys = ({ environment_id, started_at }: Row, id: number, keys: readonly string[]): void => {
    for (const key of keys) insertKey.run(environment_id, key, started_at, id);
  };
  const putWorkflow = (id: number, workflow: EntryWorkflow): void => {
    const row = toWorkflowRow(id, workflow);
    insertWorkflow.run(workflowColumns.map((column) => row[column]));
  };
  const markOne = (row: Row) => mark.get(valuesOf(row)) as [number, ...number[]];
  const markWithMore = connection.transaction(
    (row: Row, keys: readonly string[], workflow: EntryWorkflow | undefined) => {
      const marked = markOne(row);
      insertKeys(row, marked[0], keys);
      if (workflow) putWorkflow(marked[0], workflow);
      return marked;
    },
  );
  const insertEach = connection.transaction((rows: readonly Row[], entries: readonly ActivityEntry[]) => {
    let at = 0;
    const put = (some: readonly Row[], { lastInsertRowid }: { lastInsertRowid: number | bigint }): void => {
      // Ids of one statement follow one another.
      const first = Number(lastInsertRowid) - some.length + 1;
      some.forEach((row, n) => {
        const { recordIds, workflow } = entries[at + n]!;
        if (row.record_ids !== null) insertKeys(row, first + n, recordKeysOf(recordIds));
        if (workflow) putWorkflow(first + n, workflow);
      });
      at += some.length;
    };
    while (at + ROWS_TOGETHER <= rows.length) {
      const some = rows.slice(at, at + ROWS_TOGETHER);
      put(some, insertTogether.run(some.flatMap(valuesOf)));
    }
    for (const row of rows.slice(at)) put([row], insert.run(valuesOf(row)));
  });
  const completeWithMore = connection.transaction((id: number, completed: Completed) => {
    completeOne(id, completed);
    for (const key of recordKeysOf(completed.recordIds)) insertKeyOf.run(key, id);
    if (completed.workflow) putWorkflow(id, completed.workflow);
  });
  return {
    mark: (row, keys, workflow) =>
      keys.length === 0 && !workflow ? markOne(row) : markWithMore.immediate(row, keys, workflow),
    insertAll: (rows, entries) => insertEach.immediate(rows, entries),
    complete: (id, completed) =>
      void (completed.recordIds || completed.workflow ? completeWithMore.immediate : completeOne)(id, completed),
  };
}
