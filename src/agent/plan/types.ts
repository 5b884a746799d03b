// The phases of a read, as data: PlainFilter (from the caller) -> Filter (resolved and lowered) -> Query -> ReadPlan.
import type { Operator } from '../../core/filter.ts';
import type { BinaryMode } from '../customize/definitions.ts';
import type { Collection, Column, ComputedFrom, Relation } from '../model/types.ts';

import type { RowFilter, RowOrder } from '../sources/decide.ts';
import type { Source } from '../sources/source.ts';
import type * as statement from '../sources/statement.ts';

/** A resolved field: the to-one relations to follow, then the column. Interned per collection: one object per id. */
export interface Path extends statement.Path {
  readonly via: readonly Relation[];
  readonly field: Column;
}

/** A condition on a record (`Filter` of sources/statement.ts), with the parts that planning and execution replace. */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: 'test'; readonly path: Path; readonly is: Operator; readonly value: unknown }
  | Comparison
  | Exists
  /** `own` is among the keys that the lookup reads first, usually from another source. False for null. */
  | { readonly op: 'found'; readonly own: Path; readonly lookup: Lookup }
  | RelationExists
  | { readonly op: 'always' }
  | { readonly op: 'never' };

/** `Comparison` of sources/statement.ts. Its paths are those of the model. */
export interface Comparison extends statement.Comparison<Path> {
  /** The source does not compare two values. */
  readonly isResidual?: true;
}

/** A collection of the same source has a record with `keys` equal to `own`, without nulls. */
interface Exists {
  readonly op: 'some';
  readonly own: readonly Path[];
  readonly other: Subselect;
  /** For two records of one collection: the other record sorts before this one by these columns, nulls first. */
  readonly after?: readonly Path[];
}

/**
 * At least one record of a to-many relation satisfies `of`, a condition on the foreign collection. `via` leads to the
 * collection that has the relation. Planning replaces this by `some` or `found`.
 */
export interface RelationExists {
  readonly op: 'any';
  readonly via: readonly Relation[];
  readonly relation: Relation;
  readonly of: Filter;
  /** Whether the caller's row scope applies to the foreign collection and to the collection of a many-to-many link. */
  readonly scoped: boolean;
}

/** A condition on a record and the joins it needs. */
export interface Condition {
  readonly joins: readonly Join[];
  readonly where: Filter;
}

export interface Join extends Condition {
  readonly via: readonly Relation[];
}

export interface Select extends statement.Select {
  readonly columns: readonly Path[];
  readonly joins: readonly Join[];
  readonly where: Filter;
  readonly order: readonly Order[];
  readonly key?: readonly Path[];
}

export interface GroupSelect extends statement.GroupSelect {
  readonly joins: readonly Join[];
  readonly where: Filter;
  readonly measures: readonly Measure[];
  readonly groups: readonly GroupKey[];
  readonly having?: Filter;
}

export interface Measure extends statement.Measure {
  readonly of?: Expression;
  readonly where?: Filter;
  readonly related?: RelatedRows;
}

/** `Expression` of sources/statement.ts. Its paths are those of the model. */
export type Expression = statement.Expression<Path>;

export interface GroupKey extends statement.GroupKey {
  readonly path: Path;
  readonly related?: RelatedRows;
}

interface RelatedRows extends statement.RelatedRows, Condition {
  readonly collection: Collection;
  readonly own: readonly Path[];
  readonly keys: readonly Path[];
  readonly ownWhere: Filter;
  readonly joins: readonly Join[];
  readonly where: Filter;
}

/** The records of a collection that satisfy a condition. */
interface Subselect extends Condition {
  readonly collection: Collection;
  readonly keys: readonly Path[];
}

/** A query that runs before the statement that needs it. Its result is the first column of every row. */
export interface Lookup {
  readonly query: Query;
  readonly plan: ReadPlan;
  /** For error messages: the requested relations and the collection that they start at. */
  readonly of: { readonly collection: string; readonly name: string };
}

/** A path to sort by, with its direction. */
export interface Order extends statement.Order {
  readonly path: Path;
  /** Customization code sorts by it in place of another field. The caller does not see it. */
  readonly hidden?: boolean;
}

/** A column as the caller requested it. */
export interface RequestedField {
  /** The requested name, with `:` for `@@@`. It can differ from `path`: `relation:key` reads the own foreign key. */
  readonly name: string;
  readonly path: Path;
  /** The path of the name, if `path` is the own foreign key in its place. */
  readonly named?: Path;
  /** The relations in the name, in order. `leaf` is its last part. */
  readonly through: readonly PathSegment[];
  readonly leaf: string;
}

export interface PathSegment {
  readonly name: string;
  /** A column that is null exactly if the related record is missing. */
  readonly present: Path;
}

export interface Query {
  readonly collection: Collection;
  readonly select: readonly RequestedField[];
  readonly where: Filter;
  /** The values of a cursor, one for each clause of `order`: only records after it. */
  readonly after?: readonly unknown[];
  /** A total order: it ends with the key of the collection. */
  readonly order: readonly Order[];
  /** Page size; null reads all records. One extra record is read, to detect a further page. */
  readonly limit: number | null;
  readonly skip: number;
  /** Whether the response may have a cursor. */
  readonly cursor: boolean;
  /** Longer texts of the first `fields` of `select` may be cut: the caller only shows them. Default: no text. */
  readonly cut?: { readonly characters: number; readonly fields: number };
}

/** Plain data: the statement (`select`, or null if no record can match) and how its rows become records. */
export interface ReadPlan {
  readonly source: Source;
  readonly select: Select | null;
  /** Lookups that run before the statement. */
  readonly lookups: readonly Lookup[];
  /** Steps after the statement, in order, for what the database cannot decide. Empty for most reads. */
  readonly steps: readonly Step[];
  /** Fetches and computations for output only. They skip the extra row that is read beyond the page. */
  readonly outputSteps: readonly (FetchStep | ComputeStep)[];
  /** Number of slots of a row after the steps. */
  readonly width: number;
  /** The slot of each requested column. */
  readonly columns: readonly Slot[];
  /** The slots of the values of the order. Empty if the response may not have a cursor. */
  readonly keys: readonly Slot[];
  /** Slots with binary values, to encode for JSON. */
  readonly binary: readonly BinarySlot[];
  readonly shape: Shape;
}

export type Step = RowLimitStep | FetchStep | ComputeStep | SubqueryStep | FilterStep | SortStep | SliceStep;

/** Throws if the statement returned more rows than the engine reads at once. `field` is the reason for reading them. */
export interface RowLimitStep {
  readonly kind: 'bound';
  readonly collection: string;
  readonly field: string;
  readonly column: Column;
  /** Advice for the error, in place of the default one about fields. */
  readonly advice?: string;
}

/** Reads columns of related records in another source, by their keys. */
export interface FetchStep {
  readonly kind: 'fetch';
  readonly via: readonly Relation[];
  /** The slot of the key. */
  readonly from: Slot;
  /** For a polymorphic relation: the slot with the type of the related record. */
  readonly type?: Slot;
  readonly query: Query;
  /** Returns the key, then the columns. Execution adds the keys to its statement. */
  readonly plan: ReadPlan;
  readonly into: readonly Slot[];
}

/** Computes the values of an added field from other values of the row. */
export interface ComputeStep {
  readonly kind: 'compute';
  readonly path: Path;
  readonly computedFrom: ComputedFrom;
  /** The arguments of the code, and the slots that they use. */
  readonly shape: Shape;
  readonly from: readonly Slot[];
  /** A slot that is null if the related record is missing: the field is then null too. Null for own fields. */
  readonly guard: Slot | null;
  readonly into: Slot;
}

/** Asks the database which of the rows in memory satisfy a condition that their values cannot decide. */
export interface SubqueryStep {
  readonly kind: 'ask';
  readonly of: SubqueryFilter;
  /** Returns the keys of the records that satisfy it. Execution adds the keys of the rows to its statement. */
  readonly plan: ReadPlan;
  readonly key: readonly Path[];
  /** The slots of the key. */
  readonly from: readonly Slot[];
  readonly into: Slot;
}

/** A condition that only the database of the records, or another source, can decide. */
export type SubqueryFilter = Filter & { readonly op: 'some' | 'found' };

/** Keeps the rows that satisfy a condition. */
interface FilterStep extends RowFilter {
  readonly kind: 'keep';
  readonly where: Filter;
}

/** A stable sort: equal rows keep the order of the database. */
interface SortStep extends RowOrder {
  readonly kind: 'sort';
  readonly by: readonly { readonly slot: Slot; readonly order: Order }[];
}

interface SliceStep {
  readonly kind: 'slice';
  readonly skip: number;
  readonly limit: number;
}

export interface BinarySlot {
  readonly slot: Slot;
  readonly mode: BinaryMode;
}

/** The slot of each value of a record. */
export interface Shape {
  readonly leaves: readonly (readonly [name: string, slot: Slot])[];
  /** A relation is null when its `present` slot is. */
  readonly nested: readonly (readonly [name: string, present: Slot, shape: Shape])[];
}

/** A position in a row. Rows have no names. */
export type Slot = number;
