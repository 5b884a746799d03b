// The interface of a data source. A source lists its tables (`describe`) and answers statements that are plain data
// (Select). The `operators` of a column are those the source can decide itself; the planner does the rest.
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Described, DescribedTable, NamedQuery } from './described.ts';
import type { CountSelect, Delete, GroupSelect, Insert, Row, Select, Tally, Update, WriteResult } from './statement.ts';

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

/** Thrown by `aggregate` instead of a figure with digits that the database would have rounded. */
export const inexactHere = new Error('the database cannot calculate this exactly');

/** A database, or anything else that answers statements like one. */
export interface Source {
  /** For messages and observations; contains no secrets. */
  readonly name: string;
  /** A name that anybody may read, for health checks. When absent, they show the position of the source. */
  readonly label?: string;
  /** The tables, their columns and keys. Called once by each start and restart. */
  describe(): Promise<Described>;
  /** The current tables, without changing what is served. When absent, the tables of `describe` are current. */
  look?(): Promise<Described>;
  /**
   * A text that differs after any change of the tables, cheap to read. The server compares it with that of `describe`,
   * every few seconds. When absent, new tables are found only by a restart.
   */
  version?(): Promise<string>;
  /**
   * Serves the rows of a query like those of a table. Called after `describe`. An error's message completes "the query
   * cannot be served: ". When absent, the source runs no queries.
   */
  addQuery?(query: NamedQuery): Promise<DescribedTable>;
  /** The rows that the statement selects, in its order. */
  read(select: Select, options: ReadOptions): Promise<Row[]>;
  /** Whether `read` knows `Select.after`. Default: the condition of a cursor is part of `Select.where`. */
  readonly readsAfter?: true;
  /** Whether conditions may compare two values (`op: 'compare'`). Default: the engine compares them after reading. */
  readonly compares?: true;
  /** The number of rows that the statement selects. */
  count(select: CountSelect, options: ReadOptions): Promise<number>;
  /**
   * The figures of each group, in order. Figures of decimals and large integers are exact. Sums of doubles are rounded
   * to 15 digits. Throws `inexactHere` if the database cannot calculate exactly. Then, and without this method, the
   * engine reads the records and calculates itself.
   */
  aggregate?(group: GroupSelect, options: ReadOptions): Promise<Tally[]>;
  /** Whether `aggregate` knows `totals` and `having` of a GroupSelect. Default: the engine reads the groups. */
  readonly usesFigures?: true;
  /** The text of the statement, for explain and golden files. It contains no values. */
  explain(select: Select | GroupSelect): string;
  /** Absent for read-only sources. */
  readonly writing?: Writing;
  /** Absent for a source without indexes. */
  readonly indexing?: Indexing;
  /** Closes the connections, after the last statement has ended. */
  close(): Promise<void>;
}

/** The texts of indexes and the sizes of tables, for `portico doctor --indexes`. */
export interface Indexing {
  /** The statement that creates the index. Undefined if the database cannot index whole values of a column. */
  createIndex(
    table: string,
    columns: readonly { readonly column: string; readonly nativeType: string }[],
  ): string | undefined;
  /** The number of rows by the catalogue of the database. Undefined if it has no estimate. */
  estimateRows(table: string): Promise<number | undefined>;
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
