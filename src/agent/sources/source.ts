// The interface of a data source. A source lists its tables (`describe`) and answers statements that are plain data
// (Select). The `operators` of a column are those the source can decide itself; the planner does the rest.
//
// Values use one canonical form, independent of the driver:
//   String, Enum   string                      Number    number; a string of digits where a number would lose some,
//                                             and 'NaN', 'Infinity', '-Infinity'
//   Uuid           lower-case string           Boolean   boolean
//   Date           'YYYY-MM-DDTHH:mm:ss.sssZ'  Dateonly  'YYYY-MM-DD'       Time  'HH:mm:ss[.ffffff]'
//                  ('...ss.ffffffZ' where the microseconds are not zero: a value must match its own row again)
//   Json           the parsed value, which     Binary    Buffer             Point [x, y]
//                  keeps its text (lossless-json.ts)
//   [T]            array of T                  no value  null, never undefined
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Operator } from '../../core/filter.ts';
import type { Relation } from '../model/types.ts';
import type { Filter, Order, Path } from '../plan/types.ts';

export const primitiveTypes = [
  'String',
  'Number',
  'Boolean',
  'Date',
  'Dateonly',
  'Time',
  'Enum',
  'Json',
  'Uuid',
  'Binary',
  'Point',
] as const;
/** The column types that are neither lists nor objects. */
export type PrimitiveType = (typeof primitiveTypes)[number];
/** A primitive, or an array of one (PostgreSQL). */
export type ColumnType = PrimitiveType | readonly [PrimitiveType];
/** The shape of the values in a Json column, where known: an object by its keys, a list, or a primitive. */
export type ColumnShape = PrimitiveType | readonly [ColumnShape] | { readonly [key: string]: ColumnShape };

/**
 * How the database compares texts of a column. `insensitive` ignores case (and accents on MariaDB). `backwards` is for
 * UUIDs ordered by their groups from last to first, as MariaDB does. `interval` and `network` are for PostgreSQL types
 * ordered by their meaning instead of their text.
 */
export type Collation = 'binary' | 'insensitive' | 'backwards' | 'interval' | 'network';

/** A column of a source: its type and the operations it supports. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** The type as the database writes it, such as `decimal(10,2)`. */
  readonly nativeType: string;
  readonly nullable: boolean;
  /** Only the database sets it: generated and identity-always columns. */
  readonly readOnly: boolean;
  /** The database fills in a value when an insert has none. */
  readonly hasDefault: boolean;
  readonly enumValues?: readonly string[];
  /** For timestamps without zone: the IANA timezone the column is read in. Absent for instants. */
  readonly timezone?: string;
  /** Only for Json columns. */
  readonly shape?: ColumnShape;
  readonly collation: Collation;
  /** The operators the source decides itself for this column, with the semantics of evaluate.ts. */
  readonly operators: ReadonlySet<Operator>;
  /**
   * Whether the source can order by the column (an Enum by its text). Statements may then also test it with Missing,
   * Equal, GreaterThan and LessThan, consistent with that order, even if `operators` lacks them. Cursors do this.
   */
  readonly sortable: boolean;
}

/** The columns that reference the key of another table. */
export interface DescribedForeignKey {
  readonly columns: readonly string[];
  readonly table: string;
  readonly targetColumns: readonly string[];
}

/** The action of the database on referencing records when their key is deleted or changed. `none`: it refuses. */
export type ReferentialAction = 'cascade' | 'set null' | 'set default' | 'none';
export type WriteEvent = 'insert' | 'update' | 'delete';

/** A foreign key as the database enforces it, whether or not the referencing table is served. */
export interface DescribedReference {
  /** The referencing table; null if it is not served. */
  readonly table: string | null;
  /** The schema and name of the referencing table in the database. */
  readonly place: { readonly schema?: string; readonly name: string };
  readonly columns: readonly string[];
  readonly targetColumns: readonly string[];
  readonly onDelete: ReferentialAction;
  readonly onUpdate: ReferentialAction;
  /** The columns that a delete sets. Default: all of `columns`. */
  readonly setColumns?: readonly string[];
}

/** A table or view of a source. */
export interface DescribedTable {
  /** As in the database; unique within the source. */
  readonly name: string;
  readonly kind: 'table' | 'view';
  /** Why records of the table cannot be written, and the remedy. It completes "it cannot be written: ". */
  readonly readOnly?: string;
  readonly columns: readonly DescribedColumn[];
  /** In key order; empty for a table without primary key. */
  readonly primaryKey: readonly string[];
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly DescribedForeignKey[];
  /** The foreign keys that reference this table. */
  readonly referencedBy?: readonly DescribedReference[];
  /** The write events that fire a trigger of the table. */
  readonly triggers?: readonly WriteEvent[];
}

/** The tables of a source, and the parts that cannot be served. */
export interface Described {
  readonly tables: readonly DescribedTable[];
  /** Tables and columns that are not served, with the reason. Logged once at start. */
  readonly skipped: readonly { readonly table: string; readonly column?: string; readonly reason: string }[];
  /** Served tables that need the operator's attention. Logged once at start. */
  readonly warnings?: readonly { readonly table: string; readonly problem: string }[];
}

/** A row is positional: the value of `Select.columns[i]` is at `i`. */
export type Row = unknown[];

/**
 * A to-one relation that the statement joins, with LEFT JOIN semantics. Foreign rows that `where` rejects count as
 * missing. That is how row scope applies through relations.
 */
export interface Join extends Condition {
  /** The relations from the root to this one; this one is last. */
  readonly via: readonly Relation[];
  /** The joins that `where` needs. Both refer to the foreign collection; their paths are relative to it. */
  readonly joins: readonly Join[];
}

/** A read statement with every name resolved. */
export interface Select {
  readonly table: string;
  readonly columns: readonly Path[];
  /** Parents before children. Every path of the statement has its join in this list. */
  readonly joins: readonly Join[];
  readonly where: Filter;
  /** Nulls come first in ascending and last in descending order, on every database. */
  readonly order: readonly Order[];
  readonly limit?: number;
  readonly skip?: number;
  /** Within a transaction: locks the rows of `table` that are read until the transaction ends. */
  readonly lock?: boolean;
  /** Only rows that a row of another table references. */
  readonly heldBy?: DescribedReference;
}

/** A statement that counts rows. */
export type CountSelect = Pick<Select, 'table' | 'joins' | 'where'>;

export const operations = ['Count', 'Sum', 'Avg', 'Max', 'Min'] as const;
export type Operation = (typeof operations)[number];
export const bucketUnits = ['Year', 'Quarter', 'Month', 'Week', 'Day'] as const;
export type BucketUnit = (typeof bucketUnits)[number];

/** The offsets of a timezone from UTC, in seconds: the first one, then one for each change, in order of time. */
export interface ZoneOffsets {
  /** IANA name. A name has the same offsets for the lifetime of the process. */
  readonly zone: string;
  readonly first: number;
  readonly changes: readonly OffsetChange[];
}

export interface OffsetChange {
  /** A canonical instant, on a whole second. */
  readonly from: string;
  readonly seconds: number;
}

/** A group is a value of the path. With a bucket it is the first day ('YYYY-MM-DD') of the value's period. */
export interface GroupKey {
  readonly path: Path;
  readonly bucket?: Bucket;
}

export interface Bucket {
  /** Weeks start on Monday. */
  readonly unit: BucketUnit;
  /** For a Date: determines the day of each instant. A Dateonly needs no zone. */
  readonly offsets?: ZoneOffsets;
}

/**
 * One number for each group of records. Null forms a group too. Where the case of texts is ignored, the text with the
 * lowest bytes represents its group. Without groups the result is one row, even without records.
 */
export interface GroupSelect extends CountSelect {
  readonly operation: Operation;
  /** Absent when counting records. Count of a path counts the values that are not null. Sum and Avg take Numbers. */
  readonly value?: Path;
  readonly groups: readonly GroupKey[];
  /** A total order: it names the value and every group. Nulls come first in ascending and last in descending order. */
  readonly order: readonly GroupOrder[];
  readonly limit?: number;
  /** Groups to skip at the start of the order; requires a limit. Default 0. */
  readonly skip?: number;
}

export interface GroupOrder {
  /** A number is the index of a group. */
  readonly by: 'value' | number;
  readonly ascending: boolean;
}

/** Cancellation and limits of one statement. */
export interface ReadOptions {
  /** Aborting it stops the statement in the database, not only the wait for it. */
  readonly signal?: StopSignal;
  /** The statement fails with TIMED_OUT after this many milliseconds. */
  readonly timeoutMs: number;
  /**
   * The user of the statement, and the most statements of that user the source runs at once. Unlimited when absent.
   */
  readonly share?: { readonly user: number; readonly most: number };
  /** Called with the text of each statement before it runs. The text contains no values. */
  readonly watch?: (text: string) => void;
}

/** A database, or anything else that answers statements like one. */
export interface Source {
  /** For messages and observations; contains no secrets. */
  readonly name: string;
  describe(): Promise<Described>;
  /** The current tables, without changing what is served. When absent, the tables of `describe` are current. */
  look?(): Promise<Described>;
  read(select: Select, options: ReadOptions): Promise<Row[]>;
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
  insert(insert: Insert): Promise<Written>;
  update(update: Update): Promise<Written>;
  delete(remove: Delete): Promise<Written>;
}

/** A condition on a record and the joins it needs. */
export interface Condition {
  readonly joins: readonly Join[];
  readonly where: Filter;
}

/** The paths of a write are columns of the table itself, except in conditions. */
export interface Insert {
  readonly table: string;
  readonly columns: readonly Path[];
  /** At least one; exactly one when there are no columns. */
  readonly rows: readonly Row[];
  /** Only where the source returns rows. */
  readonly returning: readonly Path[];
  /**
   * Evaluated for each returned record after the statement; the results follow its columns. Checks must not read the
   * written table again.
   */
  readonly checks: readonly Condition[];
}

export interface Update extends Condition {
  readonly table: string;
  /** The columns that identify a record. */
  readonly key: readonly Path[];
  readonly set: readonly (readonly [Path, unknown])[];
  readonly returning: readonly Path[];
  readonly checks: readonly Condition[];
}

export interface Delete extends Condition {
  readonly table: string;
  readonly key: readonly Path[];
  /** The columns of the deleted records, as they were before. */
  readonly returning: readonly Path[];
}

export interface Written {
  /** Records that matched the statement, changed or not. */
  readonly count: number;
  /**
   * Each row has the columns of `returning`, then one for each of `checks`. Empty where the source does not return
   * rows.
   */
  readonly rows: Row[];
  /** The generated key of a single inserted record, where the database does not return rows. */
  readonly insertedId?: number | string;
}
