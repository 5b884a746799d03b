// The two statements of the activity log, on a storage like Portico's: the mark before a write, and its completion.
import Database from 'better-sqlite3';

export interface Audit {
  begin(collection: string): number | bigint;
  complete(mark: number | bigint, recordIds: readonly string[]): void;
}

export function openAudit(path: string): Audit {
  const database = new Database(path);
  database.pragma('journal_mode = wal');
  database.pragma('synchronous = normal');
  const insert = database.prepare(
    `insert into activity_logs (user_id, rendering_id, client_id, client_name, action, type, collection, record_ids,
      outcome, code, started_at, duration_ms) values (1, 1, 'bench', 'Benchmark', 'write', 'write', ?, null, 'unknown', null, ?, 0)`,
  );
  const update = database.prepare(
    'update activity_logs set outcome = ?, code = null, duration_ms = ?, record_ids = ? where id = ?',
  );
  return {
    begin: (collection) => insert.run(collection, Date.now()).lastInsertRowid,
    complete: (mark, recordIds) => void update.run('completed', 1, JSON.stringify(recordIds), mark),
  };
}
