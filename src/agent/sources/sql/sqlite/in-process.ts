// Runs reads in the process, each within limits: SQLite within the process blocks it and cannot be interrupted. A list
// that an index gives in its order stops after a page of rows, and is answered at once. SQLite's plan does not tell how
// many rows a condition rejects, so a statement that meets a limit stops there, and runs again in a child process.
import type { Clock } from '../../../../core/clock.ts';
import { defineFunction, type SqliteConnection } from '../../../../core/sqlite.ts';
import type { Prepared } from '../driver.ts';
import { isBoundedPlan } from './bounded-plan.ts';
import { ADD_BYTES, COUNT_ROW, MAX_ROWS, writeBoundedSql } from './bounded-sql.ts';
import { type BoundedStatement, stateOf } from './prepared-state.ts';

const MAX_VALUES = 100;
const MAX_VALUE_LENGTH = 10_000;
const MAX_COLUMNS = 200;
/** Reading and copying this much takes well under a millisecond. */
const MAX_BYTES = 100_000;
/** For rows that take long, because they are on disk, or because a condition compares large texts. */
const MAX_MILLISECONDS = 20;
/** Statements of one shape often have equally many rows to visit. */
const SKIPS_AFTER_LIMIT = 20;

interface InProcessReads {
  /** Returns undefined if the statement must run in a child. */
  run(prepared: Prepared, values: readonly unknown[]): unknown[][] | undefined;
}

/** `connection`: of the native driver. Its `busy_timeout` must be 0: a child waits for the lock of another process. */
export function createInProcessReads(connection: SqliteConnection, clock: Clock): InProcessReads {
  const limitMet = new Error('the statement met a limit of the process');
  let rows = 0;
  let bytes = 0;
  let until = 0;
  let isLate = false;
  defineFunction(connection, COUNT_ROW, () => {
    if (++rows > MAX_ROWS) throw limitMet;
    const now = clock.monotonic();
    if (now > until) {
      // The first time, another process may have had the processor.
      if (isLate) throw limitMet;
      isLate = true;
      until = now + MAX_MILLISECONDS;
    }
    return 1;
  });
  defineFunction(connection, ADD_BYTES, (more) => {
    bytes += more;
    if (bytes > MAX_BYTES) throw limitMet;
    return 1;
  });

  return {
    run(prepared, values) {
      if (values.length > MAX_VALUES || values.some(isLong)) return undefined;
      const state = stateOf(prepared);
      try {
        state.bounded ??= prepareBounded(connection, prepared);
        if (state.bounded === 'none') return undefined;
        if (state.bounded.skips > 0) {
          state.bounded.skips--;
          return undefined;
        }
        rows = 0;
        bytes = 0;
        isLate = false;
        until = clock.monotonic() + MAX_MILLISECONDS;
        return state.bounded.statement.all(values) as unknown[][];
      } catch (error) {
        if (error === limitMet) (state.bounded as BoundedStatement).skips = SKIPS_AFTER_LIMIT;
        else if (!isBusy(error)) throw error;
        return undefined;
      }
    },
  };
}

const isLong = (value: unknown): boolean =>
  (typeof value === 'string' || value instanceof Uint8Array) && value.length > MAX_VALUE_LENGTH;

/** Another process has the lock on the file. */
const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');

/** Values of these types are short. SQLite stores large ones in such a column only for programs other than Portico. */
const shortType =
  /^\s*(?:\w*int|integer|real|double|float|decimal|numeric|bool|boolean|date|datetime|timestamp|time)\b/i;

function prepareBounded(connection: SqliteConnection, { sql, bigIntegers }: Prepared): BoundedStatement | 'none' {
  const columns = connection.prepare(sql).columns();
  if (columns.length > MAX_COLUMNS) return 'none';
  const bounded = writeBoundedSql(
    sql,
    columns.map(({ column, type }) => column !== null && !shortType.test(type ?? '')),
  );
  if (!bounded || !isBoundedPlan(connection, bounded)) return 'none';
  return { statement: connection.prepare(bounded.sql).raw().safeIntegers(bigIntegers), skips: 0 };
}
