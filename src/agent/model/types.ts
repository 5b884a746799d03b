// The Model: built once at start, frozen, linked by reference. A restart builds another and swaps one pointer.
import type { Operator, PlainSort } from '../../core/filter.ts';
import type {
  BinaryMode,
  ComputedDefinition,
  ExternalLister,
  OperatorReplacer,
  SearchReplacer,
  SegmentDefinition,
} from '../customize/definitions.ts';
import type { FieldWriter, Hooks, Overrides } from '../customize/hooks.ts';
import type { Collation, ColumnShape, ColumnType, Source } from '../sources/source.ts';

export interface Model {
  /** What callers may ask for, by published name, in a stable order. */
  readonly collections: ReadonlyMap<string, Collection>;
  /** What customization code may ask for: those that were removed too. */
  readonly inside: ReadonlyMap<string, Collection>;
}

export interface Collection {
  readonly name: string;
  readonly source: Source;
  readonly table: string;
  readonly kind: 'table' | 'view';
  /** The primary key; where the table has none, the shortest not-null unique key; else empty. */
  readonly key: readonly Column[];
  readonly uniqueKeys: readonly (readonly Column[])[];
  /** What callers see, by published name: columns in the order of the table, then what was added, then relations. */
  readonly fields: ReadonlyMap<string, Field>;
  /** What customization code sees, by the names from before renaming: removed fields too. */
  readonly inside: ReadonlyMap<string, Field>;
  /** Whether callers may ask for it. */
  readonly published: boolean;
  /** Code gives its records, for one record of another collection at a time: who sees that relation sees them. */
  readonly isGiven?: true;
  readonly rules: Rules;
}

/** What customization code says about a whole collection. */
export interface Rules {
  readonly segments: ReadonlyMap<string, Segment>;
  readonly search: 'columns' | 'none' | SearchRule;
  readonly countable: boolean;
  readonly hooks: Hooks;
  readonly overrides: Overrides;
}

export interface Segment {
  readonly definition: SegmentDefinition;
  readonly at: string;
}

export interface SearchRule {
  readonly replace: SearchReplacer;
  readonly at: string;
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
  /** Of a Json. */
  readonly shape?: ColumnShape;
  /** How callers are shown a Binary; by its length when absent. */
  readonly binary?: BinaryMode;
  readonly collation: Collation;
  /** Every operator that may be used on the field, and who answers it: solved to a fixpoint at start. */
  readonly operators: ReadonlyMap<Operator, Answer>;
  readonly sortable: boolean;
  /** Ordered after reading, or by other fields (inside names); by the source when absent. */
  readonly order?: 'here' | readonly PlainSort[];
  /** Added by code: no source knows the column, its values are made after reading. */
  readonly made?: Made;
  /** Imported: the value, the operators and the order are those of the field at the end. */
  readonly route?: Route;
  /** What is written in place of its values. */
  readonly writing?: FieldWriting;
  /** What its values must satisfy. */
  readonly rules?: readonly FieldRule[];
  /** The database alone fills it. */
  readonly isGenerated?: boolean;
}

export interface FieldWriting {
  /** Null for a field that code made read-only. */
  readonly write: FieldWriter | null;
  readonly at: string;
}

export interface FieldRule {
  readonly operator: Operator;
  /** As it was written. */
  readonly value: unknown;
  readonly at: string;
  /** How the operator is decided here, whatever the source can do. */
  readonly answer: Answer;
}

/** To-one relations, then the column. */
export interface Route {
  readonly via: readonly Relation[];
  readonly field: Column;
}

/** How the values of an added field come to be. */
export interface Made {
  readonly needs: readonly Need[];
  readonly definition: ComputedDefinition;
  /** Where it was added: `file:line`. */
  readonly at: string;
  /** Its values are lists of records. */
  readonly external?: External;
}

/** Records that code gives for one record. */
export interface External {
  /** For messages. */
  readonly what: string;
  readonly at: string;
  readonly list: ExternalLister;
  /** Of these records: what they are listed as, one record's at a time. */
  readonly collection: Collection;
  /** Theirs, in the order of the schema. */
  readonly columns: readonly Column[];
}

/** A dependency of an added field: as it was written, and where it leads. */
export interface Need extends Route {
  /** The relations as they were written; the first of `via`. */
  readonly hops: readonly string[];
  readonly leaf: string;
}

/** What an operator wants as its value. */
export type Takes =
  | 'nothing'
  | 'value'
  | 'value or null'
  | 'values'
  | 'text'
  | 'pattern'
  | 'expression'
  | 'length'
  | 'days'
  | 'hours';

/**
 * An operator of one column: what it takes, and who answers it: the source, the engine after reading, other operators of
 * the same column, or a filter that code gives.
 */
export interface Answer {
  readonly takes: Takes;
  readonly by: 'native' | 'here' | Rewrite | Replacement;
}

export interface Replacement {
  readonly replace: OperatorReplacer;
  readonly at: string;
}

export interface Rewrite {
  /** The meaning depends on the time at which it is asked. */
  readonly dated: boolean;
  readonly say: (value: unknown, moment: Moment) => Said;
}

/** A condition on one column. */
export type Said =
  | { readonly op: 'and' | 'or'; readonly of: readonly Said[] }
  | { readonly op: 'not'; readonly of: Said }
  | { readonly op: 'test'; readonly is: Operator; readonly value: unknown };

/** When and where a question is asked: what relative dates are counted from. */
export interface Moment {
  /** IANA name. */
  readonly zone: string;
  now(): Edge;
  /** The start of the current unit, moved by `shift` units; weeks start on Monday. */
  startOf(unit: 'day' | 'week' | 'month' | 'quarter' | 'year', shift?: number): Edge;
  hoursAgo(hours: number): Edge;
}

/** A point in time, as a Date and as a Dateonly column hold it. */
export interface Edge {
  readonly instant: string;
  readonly day: string;
}

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
  /** The foreign collection holds the foreign key, or another one does that stands between the two. */
  readonly inverse: boolean;
  /** How the other end is read: in the same statement; by its key, where it is of another data source; or by asking code. */
  readonly reach: 'join' | 'fetch' | 'call';
  /** A foreign key of the database says so: what is not null points to a record. */
  readonly enforced: boolean;
  /** Many to many: `on` is empty then. */
  readonly through?: Through;
  /** One column says which collection a key is about: nothing else relates. */
  readonly only?: Only;
  /** Code gives the records, and `on` is empty: all of them as the value of one column. */
  readonly given?: Column;
}

/** Only records that hold the value in the column relate. */
export interface Only {
  /** On the collection that has the relation, or on the foreign one. */
  readonly side: 'from' | 'to';
  readonly column: Column;
  readonly value: string | number;
}

/** The collection that holds one record for each pair of related records. */
export interface Through {
  readonly collection: Collection;
  /** From the collection that has the relation to this one. */
  readonly origin: readonly KeyPair[];
  /** From this one to the foreign collection. */
  readonly foreign: readonly KeyPair[];
}
