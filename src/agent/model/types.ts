// The types of the Model. A model is built at the start, frozen, and linked by references. A restart builds a new one
// and swaps one pointer.

import type { FieldMeaning, Meaning } from '../../core/caller/meanings.ts';
import type { PlainGroup } from '../../core/filter/measures.ts';
import type { Operator, PlainSort } from '../../core/filter.ts';
import type {
  BinaryMode,
  ComputedDefinition,
  ExternalLister,
  MetricDefinition,
  OperatorReplacer,
  QueryEntry,
  SearchReplacer,
  SegmentDefinition,
} from '../customize/definitions.ts';
import type { FieldWriter, Hooks, Overrides } from '../customize/hooks.ts';
import type { Collation, ColumnShape, ColumnType } from '../sources/column-types.ts';
import type { DescribedReference, WriteEvent } from '../sources/described.ts';
import type { Source } from '../sources/source.ts';

export interface Model {
  /** The collections of callers, by published name, in a stable order. */
  readonly collections: ReadonlyMap<string, Collection>;
  /** The collections of customization code, including removed ones. */
  readonly internalCollections: ReadonlyMap<string, Collection>;
}

export interface Collection {
  readonly name: string;
  readonly source: Source;
  readonly table: string;
  readonly kind: 'table' | 'view';
  readonly meaning?: Meaning;
  /** The part from code. */
  readonly codeMeaning?: Meaning;
  /** The reason why no caller can write records. Code may still write them (`rules.overrides`). */
  readonly readOnly?: string;
  /** The primary key. Without one, the shortest unique key whose columns are not nullable; otherwise empty. */
  readonly key: readonly Column[];
  readonly uniqueKeys: readonly (readonly Column[])[];
  /** The indexes of the database, with those of the keys. Undefined if the source cannot tell. */
  readonly indexes: readonly Index[] | undefined;
  /** The fields of callers, by published name: columns in table order, then added fields, then relations. */
  readonly fields: ReadonlyMap<string, Field>;
  /** The fields of customization code, by original name, including removed fields. */
  readonly internalFields: ReadonlyMap<string, Field>;
  /** True if callers may use it. */
  readonly isPublished: boolean;
  /** Foreign keys through which the database itself updates or deletes records after writes to this collection. */
  readonly referencedBy: readonly Incoming[];
  /** The write events with a trigger on the table. */
  readonly triggers: readonly WriteEvent[];
  /** Code returns the records for one record of another collection. Callers who see that relation see them. */
  readonly isExternal?: true;
  /** The records are the rows of a query. */
  readonly query?: Query;
  readonly rules: Rules;
}

/** A query of `addQuery`. */
export interface Query {
  /** In the order of the source. */
  readonly parameters: readonly Column[];
  /** A row is visible to callers who may see all these related records. */
  readonly rowScope: readonly Relation[];
  /** Further collections that it reads. Callers with a row scope on one of them do not see the query. */
  readonly unscoped: readonly string[];
  readonly entry: QueryEntry;
}

interface Index {
  readonly columns: readonly Column[];
  /** False if it finds equal values only, without order. */
  readonly sorted: boolean;
}

/** Customizations of a whole collection. */
export interface Rules {
  readonly segments: ReadonlyMap<string, Segment>;
  readonly metrics: ReadonlyMap<string, Metric>;
  readonly search: 'columns' | 'none' | SearchRule;
  readonly countable: boolean;
  /** Fields that only aggregates of enough records show. */
  readonly minGroupSize?: MinGroupSize | undefined;
  /** The field that code chose as the name of a record, by its original name. */
  readonly displayField?: { readonly name: string; readonly at: string } | undefined;
  readonly hooks: Hooks;
  readonly overrides: Overrides;
}

export interface Segment {
  readonly definition: SegmentDefinition;
  readonly at: string;
}

export interface MinGroupSize {
  readonly size: number;
  /** The published names of the fields. Undefined: all fields, and no record can be read. */
  readonly fields: ReadonlySet<string> | undefined;
  /** In the names of code. */
  readonly by: readonly (string | PlainGroup)[];
  readonly at: string;
}

/** A figure that code defines. Like a segment, it may use hidden fields; row scopes apply. */
export interface Metric {
  readonly definition: MetricDefinition;
  readonly at: string;
}

interface SearchRule {
  readonly replace: SearchReplacer;
  readonly at: string;
}

/** A foreign key that points to the collection, with its ON DELETE and ON UPDATE rules. */
export interface Incoming {
  /** Null if the referencing table, or a column of the key, is not part of the model. */
  readonly from: ReferencingCollection | null;
  readonly reference: DescribedReference;
}

/** The collection that holds a foreign key. */
export interface ReferencingCollection {
  readonly collection: Collection;
  /** The relation to the referenced collection, under a name that no caller can use. */
  readonly relation: Relation;
  /** The columns that SET NULL and SET DEFAULT change on a delete. */
  readonly setColumns: readonly Column[];
}

export type Field = Column | Relation;

export interface Column {
  readonly kind: 'column';
  readonly name: string;
  /** The name in the database. */
  readonly column: string;
  readonly type: ColumnType;
  readonly nativeType: string;
  readonly nullable: boolean;
  readonly readOnly: boolean;
  readonly required: boolean;
  readonly isKey: boolean;
  readonly meaning?: FieldMeaning;
  /** The part from code. */
  readonly codeMeaning?: FieldMeaning;
  readonly enumValues?: readonly string[];
  /** For a timestamp without a zone: the timezone of its values. */
  readonly timezone?: string;
  /** For a Json. */
  readonly shape?: ColumnShape;
  /** For a Binary: the form of its values for callers. */
  readonly binary?: BinaryMode;
  readonly collation: Collation;
  /** The operators of the field and how each is evaluated, computed at the start. */
  readonly operators: ReadonlyMap<Operator, OperatorSupport>;
  readonly sortable: boolean;
  /** Sorted in memory (`here`), or by other fields (original names); by the source when absent. */
  readonly order?: 'here' | readonly PlainSort[];
  /** For a field added by code: how its values are computed after reading. The source does not have the column. */
  readonly computedFrom?: ComputedFrom;
  /** For an imported field: its path. Value, operators and order are those of the field at the end. */
  readonly route?: Route;
  /** Replaces writes of the field. */
  readonly writing?: FieldWriting;
  /** The validations of its values. */
  readonly rules?: readonly FieldRule[];
  /** Only the database sets it. */
  readonly isGenerated?: boolean;
  /** The column holds the value of a parameter of the query. */
  readonly parameter?: { readonly default?: unknown };
}

export interface FieldWriting {
  /** Null for a field that code made read-only. */
  readonly write: FieldWriter | null;
  readonly at: string;
}

export interface FieldRule {
  readonly operator: Operator;
  /** As the user wrote it. */
  readonly value: unknown;
  readonly at: string;
  /** The in-memory evaluation of the operator, independent of the source. */
  readonly answer: OperatorSupport;
}

/** To-one relations, then the column. */
export interface Route {
  readonly via: readonly Relation[];
  readonly field: Column;
}

/** How the values of an added field are computed. */
export interface ComputedFrom {
  readonly dependencies: readonly Dependency[];
  readonly definition: ComputedDefinition;
  /** `file:line` of the call. */
  readonly at: string;
  /** The values are lists of records. */
  readonly external?: External;
  /** The values are parts of stored ones. Values that do not fit the type are shown as null, without an error. */
  readonly isStored?: boolean;
}

/** Records that code returns for one record. */
export interface External {
  /** For error messages. */
  readonly what: string;
  readonly at: string;
  readonly list: ExternalLister;
  /** The collection that lists these records, for one record at a time. */
  readonly collection: Collection;
  /** Its columns, in the order of the schema. */
  readonly columns: readonly Column[];
}

/** A dependency of an added field: the path as written, and its resolved route. */
export interface Dependency extends Route {
  /** The relation names as written; the first of `via`. */
  readonly relationNames: readonly string[];
  readonly leaf: string;
}

/** The kind of operand of an operator. */
export type OperandKind =
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
 * An operator of one column: its operand, and how it is evaluated. This is the source, the engine in memory, other
 * operators of the same column, or a filter from code.
 */
export interface OperatorSupport {
  readonly takes: OperandKind;
  readonly evaluatedBy: 'native' | 'here' | Rewrite | Replacement;
}

export interface Replacement {
  readonly replace: OperatorReplacer;
  readonly at: string;
}

export interface Rewrite {
  /** The meaning depends on the time of the request. */
  readonly dated: boolean;
  readonly toCondition: (value: unknown, moment: Moment) => ColumnCondition;
}

/** A condition on one column. */
export type ColumnCondition =
  | { readonly op: 'and' | 'or'; readonly of: readonly ColumnCondition[] }
  | { readonly op: 'not'; readonly of: ColumnCondition }
  | { readonly op: 'test'; readonly is: Operator; readonly value: unknown };

/** The timezone and time of a request, as the base of relative dates. */
export interface Moment {
  /** IANA name. */
  readonly zone: string;
  now(): DateBound;
  /** The start of the current unit, shifted by `shift` units; weeks start on Monday. */
  startOf(unit: 'day' | 'week' | 'month' | 'quarter' | 'year', shift?: number): DateBound;
  hoursAgo(hours: number): DateBound;
}

/** A point in time, in the form of a Date column and of a Dateonly column. */
export interface DateBound {
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
  readonly meaning?: Meaning;
  /** The part from code. */
  readonly codeMeaning?: Meaning;
  readonly to: Collection;
  /** One pair for each column of the key. */
  readonly on: readonly KeyPair[];
  /** The foreign key is in the foreign collection or in a through collection. */
  readonly inverse: boolean;
  /** How related records are read: by a join, by a second query for another data source, or from code. */
  readonly reach: 'join' | 'fetch' | 'call';
  /** A foreign key of the database enforces it, so every non-null value points to a record. */
  readonly enforced: boolean;
  /** Many to many; `on` is empty then. */
  readonly through?: Through;
  /** Polymorphic: the type field and the value that a related record requires. */
  readonly only?: TypeCondition;
  /** For a to-one relation with several candidates: it leads to the lowest by these columns. */
  readonly lowestBy?: readonly Column[];
  /** The long name, which callers may still use. */
  readonly formerly?: string;
  /** For records from code: the column with all of them; `on` is empty. */
  readonly recordsColumn?: Column;
  /** Every record has its related record: the key is never null, and none is without its target. */
  readonly isComplete?: true;
  /** Assistants may write the related record together with this one (`allowNestedWrites`). */
  readonly isWritten?: true;
}

/** Only records with this value in the column are related. */
export interface TypeCondition {
  /** On the collection that has the relation (`from`), or on the foreign one (`to`). */
  readonly side: 'from' | 'to';
  readonly column: Column;
  readonly value: string | number;
}

/** The through collection, with one record for each pair of related records. */
export interface Through {
  readonly collection: Collection;
  /** From the collection that has the relation to the through collection. */
  readonly origin: readonly KeyPair[];
  /** From the through collection to the foreign collection. */
  readonly foreign: readonly KeyPair[];
}
