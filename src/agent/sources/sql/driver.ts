// One database behind its driver: runs a statement that is already text, and really stops it when asked to.
import type { ReadOptions, TransactionOptions } from '../source.ts';

/** A statement of one shape, kept by the source; a driver keeps with it what it prepared. */
export interface Prepared {
  readonly sql: string;
  /** What it does, and where: for who watches. */
  readonly operation: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
  readonly table: string;
  /** A short name, unique within the source. */
  readonly name: string;
  uses: number;
  /**
   * PostgreSQL: what makes the values of each column canonical as they arrive, so that their texts are garbage at once; the
   * rows are canonical then. A page that several callers read at a time would otherwise keep both.
   */
  readonly decoders?: readonly (((value: unknown) => unknown) | undefined)[];
  /** SQLite: read integers as 64 bits, for one was met that a double cannot hold. */
  bigIntegers: boolean;
  /** The driver's own. */
  kept?: unknown;
}

export interface Driver {
  /** Rows as objects; for the catalogue, at start. */
  catalogue(sql: string): Promise<Record<string, unknown>[]>;
  /**
   * Rows by position, values as the driver gives them. TIMED_OUT, CANCELLED, SOURCE_UNAVAILABLE; any other error is the
   * database's own. An answer that was to be had at once comes without a promise.
   */
  run(prepared: Prepared, values: readonly unknown[], options: ReadOptions): Promise<unknown[][]> | unknown[][];
  /**
   * Runs the work between BEGIN and COMMIT; a failure of it, or `discard`, rolls back. An error that comes from COMMIT is
   * the database's own, as those of statements are.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>, options: TransactionOptions): Promise<T>;
  close(): Promise<void>;
}

export interface Connection {
  run(prepared: Prepared, values: readonly unknown[]): Promise<Ran>;
}

export interface Ran {
  readonly rows: unknown[][];
  /** Records that a statement which gives no rows has met. */
  readonly affected: number;
  readonly insertedId?: number | string;
}
