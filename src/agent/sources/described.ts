// The tables of a source, as `describe` returns them.
import type { Operator } from '../../core/filter.ts';
import type { Collation, ColumnShape, ColumnType, PrimitiveType } from './column-types.ts';

/** A column of a source: its type and the operations it supports. */
export interface DescribedColumn {
  /** The name in the database. */
  readonly name: string;
  /** The comment of the database on the column. Default: no comment. */
  readonly comment?: string;
  /** The type of the values. */
  readonly type: ColumnType;
  /** The type as the database writes it, such as `decimal(10,2)`. */
  readonly nativeType: string;
  /** Whether values may be null. */
  readonly nullable: boolean;
  /** Only the database sets it: generated and identity-always columns. */
  readonly readOnly: boolean;
  /** The database fills in a value when an insert has none. */
  readonly hasDefault: boolean;
  /** The possible values of an Enum. */
  readonly enumValues?: readonly string[];
  /** For timestamps without zone: the IANA timezone the column is read in. Absent for instants. */
  readonly timezone?: string;
  /** Only for Json columns. */
  readonly shape?: ColumnShape;
  /** The comparison of texts in the database. */
  readonly collation: Collation;
  /** The operators the source decides itself for this column, with the semantics of evaluate.ts. */
  readonly operators: ReadonlySet<Operator>;
  /**
   * Whether the source can order by the column (an Enum by its text). Statements may then also test it with Missing,
   * Equal, GreaterThan and LessThan, consistent with that order, even if `operators` lacks them. Cursors do this.
   */
  readonly sortable: boolean;
  /** The column holds the value of a parameter: statements need a value for it, unless it has a default. */
  readonly parameter?: { readonly default?: unknown };
}

/** The columns that reference the key of another table. */
export interface DescribedForeignKey {
  /** The columns of this table, in the order of the key. */
  readonly columns: readonly string[];
  /** The table that they reference. */
  readonly table: string;
  /** The referenced columns, in the same order. */
  readonly targetColumns: readonly string[];
  /**
   * The database guarantees that every value, if not null, has its target. Default: rows without a target are possible,
   * such as after an import with the checks off.
   */
  readonly isValidated?: true;
}

/** An index of the database over whole columns. */
export interface DescribedIndex {
  /** In the order of the index, without what follows an expression. */
  readonly columns: readonly string[];
  /** Whether it also gives the order of its columns. False for a hash index, which finds only equal values. */
  readonly sorted: boolean;
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
  /** Whether it is a table or a view. */
  readonly kind: 'table' | 'view';
  /** The comment of the database on the table. Default: no comment. */
  readonly comment?: string;
  /** Why records of the table cannot be written, and the remedy. It completes "it cannot be written: ". */
  readonly readOnly?: string;
  /** The columns that are served, in the order of the database. */
  readonly columns: readonly DescribedColumn[];
  /** In key order; empty for a table without primary key. */
  readonly primaryKey: readonly string[];
  /** The columns of each unique key. */
  readonly uniqueKeys: readonly (readonly string[])[];
  /** The foreign keys of the table that lead to served tables. */
  readonly foreignKeys: readonly DescribedForeignKey[];
  /** The indexes of all rows, with those of the keys. Absent if the source cannot tell. */
  readonly indexes?: readonly DescribedIndex[];
  /** The foreign keys that reference this table. */
  readonly referencedBy?: readonly DescribedReference[];
  /** The write events that fire a trigger of the table. */
  readonly triggers?: readonly WriteEvent[];
  /** For a query: the names of the tables in its text. */
  readonly reads?: readonly string[];
}

/** The type of a parameter of a query. */
export type QueryParameterType = 'String' | 'Number' | 'Boolean' | 'Date' | 'Dateonly';

/** A query whose rows a source serves like a table (`Source.addQuery`). */
export interface NamedQuery {
  /** The name of the table that it becomes. */
  readonly name: string;
  /** One SELECT, with parameters as `:name`. */
  readonly sql: string;
  /** The parameters by name. `default` is a canonical value. */
  readonly parameters: Readonly<Record<string, { readonly type: QueryParameterType; readonly default?: unknown }>>;
  /** Types of columns that the database does not know. */
  readonly columns: Readonly<Record<string, PrimitiveType>>;
}

/** The tables of a source, and the parts that cannot be served. */
export interface Described {
  /** What `Source.version` returned just before the tables were read. Absent if the source has no versions. */
  readonly version?: string;
  /** The tables and views that are served. */
  readonly tables: readonly DescribedTable[];
  /** Tables and columns that are not served, with the reason. Logged once at start. */
  readonly skipped: readonly { readonly table: string; readonly column?: string; readonly reason: string }[];
  /** Served tables that need the operator's attention. Logged once at start. */
  readonly warnings?: readonly { readonly table: string; readonly problem: string }[];
}
