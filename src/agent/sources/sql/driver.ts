// The interface of a database driver. It runs SQL text, and cancellation stops the statement in the database.
import type { ReadOptions, TransactionOptions } from '../source.ts';
import type { Cut } from './statements/shape.ts';

/** A statement of one shape, cached by the source. The driver attaches its prepared statement to it. */
export interface Prepared {
  readonly sql: string;
  /** The operation and table, for observability. */
  readonly operation: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
  readonly table: string;
  /** A short name, unique within the source. */
  readonly name: string;
  uses: number;
  /**
   * PostgreSQL: decodes the values of each column as they arrive; the rows are then canonical. This frees the texts at
   * once. A page that several callers read at a time would otherwise hold both.
   */
  readonly decoders?: readonly (((value: unknown) => unknown) | undefined)[];
  /** SQLite: read integers as 64 bits. Set for writes, and for reads after a value exceeded what a double can hold. */
  readonly bigIntegers: boolean;
  /** SQLite: texts that a child process cuts. */
  readonly cut?: Cut;
  /** Private to the driver. */
  driverState?: unknown;
}

/** A column of a result, in the terms of the driver. */
export interface ResultColumn {
  readonly name: string;
  /** SQLite: the declared type; the others: the number of the type. */
  readonly type: string | number;
  /** PostgreSQL: the modifier of the type, such as a precision. */
  readonly modifier?: number;
  /** MariaDB and MySQL. */
  readonly length?: number;
  readonly decimals?: number;
  readonly flags?: number;
  readonly charset?: number;
}

export interface Driver {
  /** The columns of a SELECT, which it does not run to an end. At the start. */
  resultColumns(sql: string, values: readonly unknown[]): Promise<readonly ResultColumn[]>;
  /** Returns rows as objects; for catalogue statements at start. */
  catalogue(sql: string): Promise<Record<string, unknown>[]>;
  /**
   * Returns positional rows with the driver's values. Throws TIMED_OUT, CANCELLED, SOURCE_UNAVAILABLE, or the
   * database's own error. Synchronous results come without a promise.
   */
  run(prepared: Prepared, values: readonly unknown[], options: ReadOptions): Promise<unknown[][]> | unknown[][];
  /**
   * Runs the work between BEGIN and COMMIT. Rolls back if it fails, or with `discard`. An error of COMMIT is the
   * database's own, like those of statements.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>, options: TransactionOptions): Promise<T>;
  close(): Promise<void>;
}

export interface Connection {
  run(prepared: Prepared, values: readonly unknown[]): Promise<RunResult>;
}

interface RunResult {
  readonly rows: unknown[][];
  /** The number of records a statement without a result set matched. */
  readonly affected: number;
  readonly insertedId?: number | string;
}
