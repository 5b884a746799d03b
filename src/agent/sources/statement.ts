// Conditions and joins of statements, in the names of the database. A plan uses the same forms with more facts: its
// columns and relations are those of the model (plan/types.ts).
import type { ArithmeticOperator, DatePart, DifferenceUnit } from '../../core/filter/expression.ts';
import type { PeriodUnit } from '../../core/filter/measures.ts';
import type { Operator } from '../../core/filter.ts';
import type { Collation, ColumnType, PrimitiveType } from './column-types.ts';
import type { DescribedReference } from './described.ts';
import type { Decimal, Fraction } from './values/decimal.ts';

/** A column, with the facts that a statement needs. */
export interface SourceColumn {
  readonly name: string;
  /** The name in the database. */
  readonly column: string;
  readonly type: ColumnType;
  /** The type as the database writes it, such as `decimal(10,2)`. */
  readonly nativeType: string;
  readonly isKey: boolean;
  readonly nullable: boolean;
  readonly collation: Collation;
}

/** A to-one relation that statements join. */
export interface SourceRelation {
  /** Unique among the relations of its table. */
  readonly name: string;
  readonly to: { readonly table: string; readonly key: readonly SourceColumn[] };
  /** The joined columns: `from` on the table that has the relation, `to` on the joined one. */
  readonly on: readonly SourceKeyPair[];
  /** Only rows with this value in the column are joined. The column is on the side that `side` names. */
  readonly only?: { readonly side: 'from' | 'to'; readonly column: SourceColumn; readonly value: string | number };
  /** For several candidates: the lowest by these columns is joined. `where` of the join selects it. */
  readonly lowestBy?: readonly SourceColumn[];
}

export interface SourceKeyPair {
  readonly from: SourceColumn;
  readonly to: SourceColumn;
}

/** A column that is reached through to-one relations. One object for each id and table. In `GroupSelect.having`, also a figure. */
export interface Path {
  /** `relation:relation:column` */
  readonly id: string;
  /** The to-one relations that lead to the column. */
  readonly via: readonly SourceRelation[];
  /** The column itself. */
  readonly field: SourceColumn;
  /** The figure of this measure, by its index. `field` shows how it compares, and `via` is empty. */
  readonly measure?: number;
}

/**
 * A condition on a row. Every test is true or false, never SQL's "unknown". For a missing value, NotEqual, NotIn,
 * NotContains, Missing, Blank and `Equal null` are true; all other tests are false.
 */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: 'test'; readonly path: Path; readonly is: Operator; readonly value: unknown }
  | Comparison
  | Exists
  | { readonly op: 'always' }
  | { readonly op: 'never' }
  /** Planning and execution replace these. No source gets them. */
  | { readonly op: 'found'; readonly own: Path }
  | { readonly op: 'any'; readonly relation: { readonly name: string }; readonly of: Filter };

/**
 * Compares two values of a row. False if one of them is null. Their types were checked: both are Numbers, or of one
 * type and collation. Enums are only tested for equality.
 */
export interface Comparison<P extends Path = Path> {
  readonly op: 'compare';
  readonly is: 'Equal' | 'LessThan' | 'LessThanOrEqual';
  readonly left: Expression<P>;
  readonly right: Expression<P>;
}

/** A condition that the values of a row cannot decide. */
export type SubqueryFilter = Filter & { readonly op: 'some' | 'found' };

/** Another row has `keys` equal to `own`, without nulls, and satisfies the condition. */
export interface Exists {
  readonly op: 'some';
  readonly own: readonly Path[];
  readonly other: Condition & {
    readonly collection: { readonly name: string; readonly table: string };
    readonly keys: readonly Path[];
  };
  /** For two rows of one table: the other row sorts before this one by these columns, nulls first. */
  readonly after?: readonly Path[];
}

/** A condition on a row and the joins it needs. */
export interface Condition {
  /** The joins that the condition needs. */
  readonly joins: readonly Join[];
  /** The test of each row. */
  readonly where: Filter;
}

/**
 * A to-one relation that the statement joins, with LEFT JOIN semantics. Foreign rows that `where` rejects count as
 * missing. That is how row scope applies through relations.
 */
export interface Join extends Condition {
  /** The relations from the root to this one; this one is last. */
  readonly via: readonly SourceRelation[];
  /** The joins that `where` needs. Both refer to the foreign table; their paths are relative to it. */
  readonly joins: readonly Join[];
  /** Every row has its related record, so an inner join loses no row. */
  readonly isComplete?: true;
}

/** A path to sort by, with its direction. */
export interface Order {
  /** The column to sort by. */
  readonly path: Path;
  /** Whether the smallest value comes first. */
  readonly ascending: boolean;
}

/** A row is positional: the value of `Select.columns[i]` is at `i`. */
export type Row = unknown[];

/** A read statement with every name resolved. */
export interface Select {
  /** The name of the table. */
  readonly table: string;
  /** For the table of a query: the values of its parameters, in their order. Default: their default values. */
  readonly parameters?: readonly unknown[];
  /** The columns of a row, in this order. */
  readonly columns: readonly Path[];
  /** Parents before children. Every path of the statement has its join in this list. */
  readonly joins: readonly Join[];
  /** The condition that rows must satisfy. */
  readonly where: Filter;
  /** Nulls come first in ascending and last in descending order, on every database. */
  readonly order: readonly Order[];
  /**
   * Only rows that sort after one with these values, one for each clause of `order`. Only for sources with `readsAfter`;
   * for others, `where` has the condition.
   */
  readonly after?: readonly unknown[];
  /** The maximum number of rows; default: all. */
  readonly limit?: number;
  /** Rows to skip at the start of the order; default 0. */
  readonly skip?: number;
  /** Columns without nulls that identify a row of `table`. A source may find a late page by them. Default: none known. */
  readonly key?: readonly Path[];
  /**
   * Texts of these columns are only shown. A source may replace one with more UTF-16 code units than `characters` by a
   * CutText (values/cut-text.ts). Default: no columns.
   */
  readonly cut?: { readonly characters: number; readonly columns: readonly number[] };
  /** Within a transaction: locks the rows of `table` that are read until the transaction ends. */
  readonly lock?: boolean;
  /** Only rows that a row of another table references. */
  readonly referencedBy?: DescribedReference;
}

/** A statement that counts rows. */
export type CountSelect = Pick<Select, 'table' | 'parameters' | 'joins' | 'where'>;

export const operations = ['Count', 'Sum', 'Avg', 'Max', 'Min'] as const;
export type Operation = (typeof operations)[number];

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

/**
 * A value computed from a row. Types were checked: operands of arithmetic are Numbers, those of `difference` and
 * `coalesce` have one type. Null operands make it null, except for `coalesce`.
 */
export type Expression<P extends Path = Path> =
  | { readonly op: 'field'; readonly path: P }
  /** A canonical value. */
  | Constant
  | { readonly op: Exclude<ArithmeticOperator, 'dividedBy'>; readonly of: Operands<P> }
  /** Rounded half away from zero to this many decimals. A division by zero is null. */
  | { readonly op: 'dividedBy'; readonly of: Operands<P>; readonly decimals: number }
  | { readonly op: 'abs'; readonly of: Expression<P> }
  /** To a whole number, half away from zero. */
  | { readonly op: 'round'; readonly of: Expression<P> }
  /** From the first to the second, in whole calendar units or rounded to ten decimals; `offsets` for a Date. */
  | {
      readonly op: 'difference';
      readonly of: Operands<P>;
      readonly unit: DifferenceUnit;
      readonly offsets?: ZoneOffsets;
    }
  /** Of a field; `offsets` for a Date. */
  | { readonly op: 'part'; readonly of: Expression<P>; readonly unit: DatePart; readonly offsets?: ZoneOffsets }
  | { readonly op: 'coalesce'; readonly of: Operands<P> };

type Operands<P extends Path> = readonly [Expression<P>, Expression<P>];

export interface Constant {
  readonly op: 'constant';
  readonly type: PrimitiveType;
  readonly value: string | number | boolean;
}

export type MeasureOperation = Operation | 'CountDistinct' | 'Percentile';

/** A figure of a group of records. */
export interface Measure {
  readonly operation: MeasureOperation;
  /**
   * Absent: counts records. Counts count the values that are not null, the others ignore nulls. Sum, Avg and Percentile
   * take Numbers.
   */
  readonly of?: Expression;
  /** Only these records count. */
  readonly where?: Filter;
  /**
   * The figure is of these rows of the record, at which `of` starts; there is no `where` then. Only for groups that have
   * one record each. Measures with the same `related.id` are of the same rows.
   */
  readonly related?: RelatedRows;
  /** For Percentile: from 0 to 1, with at most 6 decimals. Values in between are interpolated. */
  readonly fraction?: Decimal;
}

/** A group is a value of the path, or the part of it that `by` defines. */
export interface GroupKey {
  /** Starts at the row, or at a related row. */
  readonly path: Path;
  readonly by?: GroupBy;
  readonly related?: RelatedRows;
}

/**
 * The rows of a to-many relation. For groups, a row counts once for each different combination of the groups that start at them;
 * without related rows, these groups are null.
 */
export interface RelatedRows extends Condition {
  /** Equal for groups that start at the same rows. */
  readonly id: string;
  readonly collection: { readonly name: string; readonly table: string };
  /** Columns of the row, and the columns of a related row that are equal to them, without nulls. */
  readonly own: readonly Path[];
  readonly keys: readonly Path[];
  /** Only rows that satisfy it have related rows. */
  readonly ownWhere: Filter;
}

/** For a Date, `offsets` determine the local time of each instant. A Dateonly needs no zone. */
export type GroupBy =
  /** The first day ('YYYY-MM-DD') or hour ('YYYY-MM-DDTHH:00') of the period. Weeks start on Monday. */
  | { readonly kind: 'bucket'; readonly unit: PeriodUnit; readonly offsets?: ZoneOffsets }
  /** A number: 0 to 23, 1 (Monday) to 7, 1 to 12. */
  | { readonly kind: 'part'; readonly unit: DatePart; readonly offsets?: ZoneOffsets }
  /** The number of bounds that are not above the value. Bounds are canonical Numbers, in ascending order. */
  | { readonly kind: 'ranges'; readonly bounds: readonly (number | string)[] };

/**
 * Figures for each group of records. Null forms a group too. Where the case of texts is ignored, the text with the
 * lowest bytes represents its group. Without groups the result is one row, even without records.
 */
export interface GroupSelect extends CountSelect {
  readonly measures: readonly Measure[];
  readonly groups: readonly GroupKey[];
  /** Nulls come first in ascending and last in descending order. A Percentile cannot be part of the order. */
  readonly order: readonly GroupOrder[];
  readonly limit?: number;
  /** Groups to skip at the start of the order; requires a limit. Default 0. */
  readonly skip?: number;
  /**
   * The source may return groups as one Tally if they have the same figures and the same values of these groups, which
   * are indexes of `groups`. The other values are null then. There is no order, and the limit is of tallies.
   */
  readonly merged?: readonly number[];
  /** The source leaves out groups that do not meet these. They exclude zero if they are about related rows. */
  readonly bounds?: readonly CountBound[];
  /**
   * Only groups whose record and figures of related rows satisfy it. A figure is compared or is missing. Only for groups that
   * have one record each, and for sources with `usesFigures`.
   */
  readonly having?: Filter;
  /** The tallies have no figures: the measures decide only the order and which groups there are. */
  readonly hidesFigures?: true;
  /** The result is one Tally with these figures of all groups. There is no order and no limit. */
  readonly totals?: readonly Total[];
}

/** A figure of groups. */
export interface Total {
  readonly operation: 'Count' | 'Sum' | 'Avg' | 'Max' | 'Min';
  /** The index of a Count, CountDistinct or Sum, whose figures it is about. Absent: a Count of the groups. */
  readonly measure?: number;
}

/** A condition on the number that a measure counts. */
export interface CountBound {
  /** The index of a Count or CountDistinct. */
  readonly measure: number;
  readonly is: 'Equal' | 'LessThan' | 'LessThanOrEqual' | 'GreaterThan' | 'GreaterThanOrEqual';
  /** Whole. */
  readonly value: number;
}

export interface GroupOrder {
  readonly by: 'measure' | 'group';
  readonly index: number;
  readonly ascending: boolean;
}

/** A number is an exact Fraction. Other values are canonical, and so are NaN and infinity. */
export type Figure = Fraction | string | boolean | null;

/** One group, or several merged ones: the values of its groups, and the figures of its measures. */
export interface Tally {
  readonly groups: readonly unknown[];
  readonly figures: readonly Figure[];
  /** The number of groups that were merged. Default 1. */
  readonly count?: number;
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

export interface WriteResult {
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
