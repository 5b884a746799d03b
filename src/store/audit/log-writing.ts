// Tracks whether the activity log can be written. Writes require it, and the readiness check reports it.
import { AppError } from '../../core/errors.ts';
import type { Database } from '../database/database.ts';
import { columns, type Row, TABLE } from './activity-row.ts';
import type { ActivityRows } from './activity-rows.ts';

export interface WatchedRows {
  readonly rows: ActivityRows;
  /** SOURCE_UNAVAILABLE after a failed write to the log, until a write succeeds again. */
  needWriting(): Promise<void>;
}

/** Inserts a copy of the last entry, which writes all indexes, and deletes it in the same transaction. */
const probe = ({ write, insert }: Database): Promise<void> =>
  write(async (trx) => {
    const last = await trx(TABLE)
      .orderBy('id', 'desc')
      .first<Row | undefined>(...columns);
    if (!last) return;
    const id = await insert(trx, TABLE, { ...last });
    await trx(TABLE).where({ id }).delete();
  });

export function watchWriting(rows: ActivityRows, database: Database): WatchedRows {
  let hasFailed = false;
  const watched =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        const answer = await write(...args);
        hasFailed = false;
        return answer;
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    };
  return {
    rows: {
      insert: watched(rows.insert),
      insertAll: watched(rows.insertAll),
      complete: watched(rows.complete),
      completeMark: watched(rows.completeMark),
      list: rows.list,
    },
    async needWriting() {
      if (!hasFailed) return;
      try {
        await probe(database);
        hasFailed = false;
      } catch (cause) {
        throw new AppError('SOURCE_UNAVAILABLE', {}, cause);
      }
    },
  };
}
