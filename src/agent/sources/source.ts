// The interface of a data source. A source lists its tables (`describe`) and answers statements that are plain data
// (Select). The `operators` of a column are those the source can decide itself; the planner does the rest.
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Described } from './described.ts';
import type { CountSelect, Delete, GroupSelect, Insert, Row, Select, Update, WriteResult } from './statement.ts';

/** Cancellation and limits of one statement. */
export interface ReadOptions {
  /** Aborting it stops the statement in the database, not only the wait for it. Default: no signal. */
  readonly signal?: StopSignal;
  /** The statement fails with TIMED_OUT after this many milliseconds. */
  readonly timeoutMs: number;
  /** The user of the statement, and the most statements of that user the source runs at once. Default: no limit. */
  readonly share?: { readonly user: number; readonly most: number };
  /** Called with the text of each statement before it runs. The text contains no values. Default: no call. */
  readonly watch?: (text: string) => void;
}

/** A database, or anything else that answers statements like one. */
export interface Source {
  /** For messages and observations; contains no secrets. */
  readonly name: string;
  /** The tables, their columns and keys. Called once by each start and restart. */
  describe(): Promise<Described>;
  /** The current tables, without changing what is served. When absent, the tables of `describe` are current. */
  look?(): Promise<Described>;
  /** The rows that the statement selects, in its order. */
  read(select: Select, options: ReadOptions): Promise<Row[]>;
  /** The number of rows that the statement selects. */
  count(select: CountSelect, options: ReadOptions): Promise<number>;
  /**
   * Returns rows of the value followed by the groups. Sum and Avg of decimals and large integers are exact. Avg is
   * rounded to 15 digits, or to 6 decimals where that is finer. Sums of doubles are rounded to 15 digits. Without this
   * method, the engine reads and counts the records itself.
   */
  aggregate?(group: GroupSelect, options: ReadOptions): Promise<Row[]>;
  /** The text of the statement, for explain and golden files. It contains no values. */
  explain(select: Select | GroupSelect): string;
  /** Absent for read-only sources. */
  readonly writing?: Writing;
  /** Closes the connections, after the last statement has ended. */
  close(): Promise<void>;
}

/** How a source writes. All writes of one call share one transaction. */
export interface Writing {
  /** The kinds of statements that return rows; valid after `describe`. The other kinds only return a count. */
  readonly returning: {
    readonly insert: boolean;
    readonly update: boolean;
    readonly delete: boolean;
    /** Whether the checks of a write may contain joins. */
    readonly joinedChecks: boolean;
  };
  /**
   * Commits everything that `work` does through the session, or rolls all of it back. A write the database refuses
   * throws a Refusal (refusal.ts). `work` runs once and must await only the session.
   */
  transaction<T>(work: (session: Session) => Promise<T>, options: TransactionOptions): Promise<T>;
}

export interface TransactionOptions extends ReadOptions {
  /** Rolls back at the end as if the work had failed, but still returns its result. */
  readonly discard?: boolean;
}

export interface Session {
  read(select: Select): Promise<Row[]>;
  insert(insert: Insert): Promise<WriteResult>;
  update(update: Update): Promise<WriteResult>;
  delete(remove: Delete): Promise<WriteResult>;
}
