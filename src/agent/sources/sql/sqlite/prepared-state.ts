// What the driver keeps with a prepared statement of the source.
import type { SqliteConnection } from '../../../../core/sqlite.ts';
import type { Prepared } from '../driver.ts';

interface PreparedState {
  /** The statement itself. */
  whole?: SqliteStatement;
  /** The statement with limits, for the process; `none` if limits cannot bound its work. Set on the first read. */
  bounded?: BoundedStatement | 'none';
}

type SqliteStatement = ReturnType<SqliteConnection['prepare']>;

export interface BoundedStatement {
  readonly statement: SqliteStatement;
  /** The reads that go to a child directly, after one met a limit. */
  skips: number;
}

export function stateOf(prepared: Prepared): PreparedState {
  prepared.driverState ??= {};
  return prepared.driverState as PreparedState;
}

/** The statement with all its rows, by position. */
export function prepareWhole(connection: SqliteConnection, prepared: Prepared): SqliteStatement {
  const state = stateOf(prepared);
  state.whole ??= connection.prepare(prepared.sql).raw().safeIntegers(prepared.bigIntegers);
  return state.whole;
}
