// What a data source must do. A source says what it holds (describe) and answers statements that are plain data
// (Select); what it cannot do, it says so in `operators`, and the planner does the rest.
//
// Values cross this border in one canonical form, whatever the driver gives:
//   String, Enum   string                      Number    number; a string of digits where a number would lose some
//   Uuid           lower-case string           Boolean   boolean
//   Date           'YYYY-MM-DDTHH:mm:ss.sssZ'  Dateonly  'YYYY-MM-DD'       Time  'HH:mm:ss[.ffffff]'
//                  ('...ss.ffffffZ' where the microseconds are not zero, so that a value always finds its own row again)
//   Json           the parsed value, which     Binary    Buffer             Point [x, y]
//                  remembers its text (json-text.ts)
//   [T]            array of T                  nothing   null, never undefined
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Operator } from '../../core/filter.ts';
import type { Relation } from '../model/types.ts';
import type { Filter, Order, Path } from '../query/types.ts';

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
/** The types of columns that are not lists or objects of others. */
export type PrimitiveType = (typeof primitiveTypes)[number];
/** A primitive, or an array of one (PostgreSQL). */
export type ColumnType = PrimitiveType | readonly [PrimitiveType];
/** What the values of a Json column are made of, where that is known: objects by their keys, lists, primitives. */
export type ColumnShape = PrimitiveType | readonly [ColumnShape] | { readonly [key: string]: ColumnShape };

/**
 * How the database compares texts of a column: `insensitive` ignores case (and, on MariaDB, accents). `backwards` is for
 * UUIDs that are ordered by their parts from the last to the first, as MariaDB does.
 */
export type Collation = 'binary' | 'insensitive' | 'backwards';

/** A column of a source: its type, and what can be asked of it. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** The database's own word for it, such as `decimal(10,2)`. */
  readonly nativeType: string;
  readonly nullable: boolean;
  /** Filled by the database alone: generated and identity-always columns. */
  readonly readOnly: boolean;
  /** The database gives a value when an insert has none. */
  readonly hasDefault: boolean;
  readonly enumValues?: readonly string[];
  /** Of a Json. */
  readonly shape?: ColumnShape;
  readonly collation: Collation;
  /** What the source can decide about this column by itself, with the meaning of sources/evaluate.ts. */
  readonly operators: ReadonlySet<Operator>;
  /**
   * The source can order by it (an Enum by its text). Statements may then also test it with Missing, Equal, GreaterThan
   * and LessThan, in agreement with that order, whether or not `operators` has them: cursors do.
   */
  readonly sortable: boolean;
}

/** Columns that hold the key of another table. */
export interface DescribedForeignKey {
  readonly columns: readonly string[];
  readonly table: string;
  readonly targetColumns: readonly string[];
}

/** A table or view of a source. */
export interface DescribedTable {
  /** As written in the database; unique within the source. */
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly columns: readonly DescribedColumn[];
  /** In key order; empty when there is none. */
  readonly primaryKey: readonly string[];
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly DescribedForeignKey[];
}

/** What a source holds, and what of it cannot be served. */
export interface Described {
  readonly tables: readonly DescribedTable[];
  /** What could not be served, and why; told once at start. */
  readonly skipped: readonly { readonly table: string; readonly column?: string; readonly reason: string }[];
}

/** A row is positional: the value of `Select.columns[i]` is at `i`. */
export type Row = unknown[];

/**
 * One to-one relation that the statement joins, with LEFT JOIN meaning. Rows of the foreign collection that `where`
 * refuses are as if they were not there: that is how row scope holds through relations.
 */
export interface Join {
  /** The relations from the root to this one, this one last. */
  readonly via: readonly Relation[];
  /** Over the foreign collection, its paths relative to it. */
  readonly where: Filter;
}

/** One statement that reads, with every name resolved. */
export interface Select {
  readonly table: string;
  readonly columns: readonly Path[];
  /** Parents before children; every path of the statement has its join here. */
  readonly joins: readonly Join[];
  readonly where: Filter;
  /** Nulls come first in ascending order, last in descending, on every database. */
  readonly order: readonly Order[];
  readonly limit?: number;
  readonly skip?: number;
}

/** What a source is asked to count. */
export type CountSelect = Pick<Select, 'table' | 'joins' | 'where'>;

export const operations = ['Count', 'Sum', 'Avg', 'Max', 'Min'] as const;
export type Operation = (typeof operations)[number];
export const bucketUnits = ['Year', 'Quarter', 'Month', 'Week', 'Day'] as const;
export type BucketUnit = (typeof bucketUnits)[number];

/** The offsets of a timezone from UTC, in seconds: one at first, and another from each change on. In order of time. */
export interface ZoneOffsets {
  /** IANA name; the same name has the same offsets for as long as the process lives. */
  readonly zone: string;
  readonly first: number;
  readonly changes: readonly OffsetChange[];
}

export interface OffsetChange {
  /** A canonical instant, on a whole second. */
  readonly from: string;
  readonly seconds: number;
}

/** A group is a value of the path, or, with a bucket, the day ('YYYY-MM-DD') that the value's period starts with. */
export interface GroupKey {
  readonly path: Path;
  readonly bucket?: Bucket;
}

export interface Bucket {
  /** Weeks start on Monday. */
  readonly unit: BucketUnit;
  /** Of a Date: which days its instants are in. Days of a Dateonly are in no zone. */
  readonly offsets?: ZoneOffsets;
}

/**
 * One number for each group of records. Null is a group like others; among texts whose case is ignored, the one that
 * comes first by its bytes stands for its group. Without groups there is one row, also when there is no record.
 */
export interface GroupSelect extends CountSelect {
  readonly operation: Operation;
  /** Absent for the Count of records; Count of a path counts the values that are not null. Sum and Avg are of Numbers. */
  readonly value?: Path;
  readonly groups: readonly GroupKey[];
  /** Total: it names the value and every group. Nulls come first in ascending order, last in descending. */
  readonly order: readonly GroupOrder[];
  readonly limit?: number;
}

export interface GroupOrder {
  /** A number is the place of a group. */
  readonly by: 'value' | number;
  readonly ascending: boolean;
}

/** Of one statement: what ends it, and how long it may take. */
export interface ReadOptions {
  /** Stops the statement in the database, not just the wait for it. */
  readonly signal?: StopSignal;
  /** TIMED_OUT after so long. */
  readonly timeoutMs: number;
  /** Told the text of each statement before it runs; no values in it. */
  readonly watch?: (text: string) => void;
}

/** A database, or anything that can answer as one, behind one interface. */
export interface Source {
  /** For messages and observations; holds no secret. */
  readonly name: string;
  describe(): Promise<Described>;
  read(select: Select, options: ReadOptions): Promise<Row[]>;
  count(select: CountSelect, options: ReadOptions): Promise<number>;
  /**
   * Rows of the value and then the groups. Sum and Avg of decimals and large integers are exact: Avg is rounded to 15
   * digits, or to 6 decimals where that is finer. Sums of binary fractions (double) are rounded to 15 digits. Where it
   * is absent, the records are read and counted here.
   */
  aggregate?(group: GroupSelect, options: ReadOptions): Promise<Row[]>;
  /** The statement as text, for explain and golden files; no values in it. */
  explain(select: Select | GroupSelect): string;
  /** A source without it is read-only. */
  readonly writing?: Writing;
  close(): Promise<void>;
}

/** How a source writes, where it does: everything of one call in one transaction. */
export interface Writing {
  /** Which statements give back rows; known once the source was described. The others only count. */
  readonly returning: {
    readonly insert: boolean;
    readonly update: boolean;
    readonly delete: boolean;
    /** Whether the checks of such a statement may join. */
    readonly joinedChecks: boolean;
  };
  /**
   * Everything that `work` does through the session, or nothing of it. What the database refuses comes as a Refusal
   * (sources/refusal.ts). `work` runs once, and waits for nothing but the session.
   */
  transaction<T>(work: (session: Session) => Promise<T>, options: TransactionOptions): Promise<T>;
}

export interface TransactionOptions extends ReadOptions {
  /** Takes everything back at the end, as if it had failed, and still answers. */
  readonly discard?: boolean;
}

export interface Session {
  read(select: Select): Promise<Row[]>;
  insert(insert: Insert): Promise<Written>;
  update(update: Update): Promise<Written>;
  delete(remove: Delete): Promise<Written>;
}

/** A condition on the root record, with the joins that it needs. */
export interface Condition {
  readonly joins: readonly Join[];
  readonly where: Filter;
}

/** Paths of a write are columns of the table itself, except in conditions. */
export interface Insert {
  readonly table: string;
  readonly columns: readonly Path[];
  /** At least one; exactly one when there are no columns. */
  readonly rows: readonly Row[];
  /** Only where the source returns. */
  readonly returning: readonly Path[];
  /** Told of each returned record, behind its columns, as it is after the statement. They must not look at the table again. */
  readonly checks: readonly Condition[];
}

export interface Update extends Condition {
  readonly table: string;
  /** Identifies a record. */
  readonly key: readonly Path[];
  readonly set: readonly (readonly [Path, unknown])[];
  readonly returning: readonly Path[];
  readonly checks: readonly Condition[];
}

export interface Delete extends Condition {
  readonly table: string;
  readonly key: readonly Path[];
  /** As the records were. */
  readonly returning: readonly Path[];
}

export interface Written {
  /** Records that the statement met, changed or not. */
  readonly count: number;
  /** As wide as `returning` and `checks` together; empty where the source does not return. */
  readonly rows: Row[];
  /** The key that the database gave to the only record of an insert, where it tells nothing else. */
  readonly insertedId?: number | string;
}
