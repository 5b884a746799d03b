// The statements of the activity log on SQLite, made once for a connection.
import type { SqliteConnection } from '../core/sqlite.ts';
import { recordKeysOf } from './activity-keys.ts';
import { columns, RECORDS, type Row, recordColumns, TABLE, valuesOf } from './activity-row.ts';
import type { Completed } from './activity-rows.ts';
import type { ActivityEntry } from './store.ts';
import { versionNumbers } from './versions.ts';

/** Of a statement made once: a row then costs half of what it does alone. */
const ROWS_TOGETHER = 20;

export interface Statements {
  /** The id, and the numbers of the versions. */
  readonly mark: (row: Row, keys: readonly string[]) => readonly number[];
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
  const complete = connection.prepare(
    `update ${TABLE} set outcome = ?, code = ?, duration_ms = ?, record_ids = coalesce(?, record_ids) where id = ?`,
  );
  const completeOne = (id: number, { outcome, code, durationMs, recordIds }: Completed) =>
    complete.run(outcome, code ?? null, durationMs, recordIds ? JSON.stringify(recordIds) : null, id);

  const insertKeys = ({ environment_id, started_at }: Row, id: number, keys: readonly string[]): void => {
    for (const key of keys) insertKey.run(environment_id, key, started_at, id);
  };
  const markOne = (row: Row) => mark.get(valuesOf(row)) as [number, ...number[]];
  const markWithKeys = connection.transaction((row: Row, keys: readonly string[]) => {
    const marked = markOne(row);
    insertKeys(row, marked[0], keys);
    return marked;
  });
  const insertEach = connection.transaction((rows: readonly Row[], entries: readonly ActivityEntry[]) => {
    let at = 0;
    const put = (some: readonly Row[], { lastInsertRowid }: { lastInsertRowid: number | bigint }): void => {
      // Ids of one statement follow one another.
      const first = Number(lastInsertRowid) - some.length + 1;
      some.forEach((row, n) => {
        if (row.record_ids !== null) insertKeys(row, first + n, recordKeysOf(entries[at + n]!.recordIds));
      });
      at += some.length;
    };
    while (at + ROWS_TOGETHER <= rows.length) {
      const some = rows.slice(at, at + ROWS_TOGETHER);
      put(some, insertTogether.run(some.flatMap(valuesOf)));
    }
    for (const row of rows.slice(at)) put([row], insert.run(valuesOf(row)));
  });
  const completeWithKeys = connection.transaction((id: number, completed: Completed) => {
    completeOne(id, completed);
    for (const key of recordKeysOf(completed.recordIds)) insertKeyOf.run(key, id);
  });
  return {
    mark: (row, keys) => (keys.length === 0 ? markOne(row) : markWithKeys.immediate(row, keys)),
    insertAll: (rows, entries) => insertEach.immediate(rows, entries),
    complete: (id, completed) => void (completed.recordIds ? completeWithKeys.immediate : completeOne)(id, completed),
  };
}
