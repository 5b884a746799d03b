// The Model: built once at start, frozen, linked by reference. A restart builds another and swaps one pointer.
import type { Operator } from '../../core/filter.ts';
import type { Collation, ColumnType, Source } from '../sources/source.ts';

export interface Model {
  /** By published name, in a stable order. */
  readonly collections: ReadonlyMap<string, Collection>;
}

export interface Collection {
  readonly name: string;
  readonly source: Source;
  readonly table: string;
  readonly kind: 'table' | 'view';
  /** The primary key; where the table has none, the shortest not-null unique key; else empty. */
  readonly key: readonly Column[];
  readonly uniqueKeys: readonly (readonly Column[])[];
  /** Columns in the order of the table, then relations. */
  readonly fields: ReadonlyMap<string, Field>;
}

export type Field = Column | Relation;

export interface Column {
  readonly kind: 'column';
  readonly name: string;
  /** As written in the database. */
  readonly column: string;
  readonly type: ColumnType;
  readonly nativeType: string;
  readonly nullable: boolean;
  readonly readOnly: boolean;
  readonly required: boolean;
  readonly isKey: boolean;
  readonly enumValues?: readonly string[];
  readonly collation: Collation;
  /** Every operator that may be used on the field, and who answers it: solved to a fixpoint at start. */
  readonly operators: ReadonlyMap<Operator, Answer>;
  readonly sortable: boolean;
}

/**
 * `native`: the source decides. `rewrite`: said with other operators of the same column, by the row of that name in
 * model/operators.ts.
 */
export type Answer = 'native' | 'rewrite';

export interface KeyPair {
  /** On the collection that has the relation. */
  readonly from: Column;
  /** On the foreign collection. */
  readonly to: Column;
}

export interface Relation {
  readonly kind: 'one' | 'many';
  readonly name: string;
  readonly to: Collection;
  /** One pair, or one for each column of a composite key. */
  readonly on: readonly KeyPair[];
}
