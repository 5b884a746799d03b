// The definitions that users pass to customize a collection, and their recorded form. Only types. Customization code
// uses the names from before any renaming, and may use removed fields.

import type { FieldMeaning, Meaning } from '../../core/caller/meanings.ts';
import type { PlainGroup, PlainMeasure } from '../../core/filter/measures.ts';
import type { Operator, PlainFilter, PlainSort } from '../../core/filter.ts';
import type { ActionDefinition } from '../actions/definitions.ts';
import type { ChartDefinition, ChartEntry, RecordChartContext } from '../charts/definitions.ts';
import type { ColumnShape, ColumnType, PrimitiveType } from '../sources/column-types.ts';
import type { QueryParameterType } from '../sources/described.ts';
import type { Source } from '../sources/source.ts';
import type { CodeRecord, CustomizationContext, MaybePromise } from './context.ts';
import type { FieldWriter, HookHandler, HookPosition, HookType, OverrideHandlers, OverrideVerb } from './hooks.ts';

/** Selects and renames the tables of a source that become collections (behaviour 2.2). */
export interface DataSourceOptions {
  /** Names in the source; default: all. */
  readonly include?: readonly string[];
  /** Names in the source that are not served. Default: no name. */
  readonly exclude?: readonly string[];
  /** Maps names in the source to names of collections. Default: collections have the names of the source. */
  readonly rename?: Readonly<Record<string, string>>;
  /** What the names of its collections start with, such as `crm.`. Default: no prefix. */
  readonly prefix?: string;
}

export type ComputedType = ColumnType | ColumnShape | 'File';
/** The form in which callers read binaries. Input accepts both forms. */
export type BinaryMode = 'datauri' | 'hex';

/** The definition of `addField`: a field computed from other fields (behaviour 2.5). */
export interface ComputedDefinition {
  /**
   * `File` is a `Binary`. An object of types by key, or a list of one, is a Json of that shape; other keys are dropped.
   */
  readonly columnType: ComputedType;
  /** At least one field, `relation:field` through to-one relations, or another added field. */
  readonly dependencies: readonly string[];
  /**
   * Called once per page, with each distinct combination of dependencies once. Returns one value for each record, in
   * order.
   */
  readonly getValues: (
    records: readonly CodeRecord[],
    context: CustomizationContext,
  ) => MaybePromise<readonly unknown[]>;
  /** Replaces a null or undefined value. Default: the value stays null. */
  readonly defaultValue?: unknown;
  /** The possible values; required for `Enum`. Default: no list. */
  readonly enumValues?: readonly string[];
}

/** The definition of `importField`: the path of a field of a related record. */
export interface ImportDefinition {
  /** `relation:field` through to-one relations. */
  readonly path: string;
  /**
   * Whether callers may only read the field. Default: false if the related record can be written in one transaction
   * with this one, otherwise true.
   */
  readonly readonly?: boolean;
}

/** The definition of `addMetric`: a figure of the records of a collection. */
export interface MetricDefinition<F extends string = string, W = PlainFilter> {
  /** The name of the collection. */
  readonly collection: string;
  /** How it is computed. Measures in place, not by name; `{ metric: name }` is another metric of the collection. */
  readonly measure: PlainMeasure<F, W>;
  /** The records that count. Default: all that the caller may see. */
  readonly filter?: W;
  /** What the figure is, on one line of at most 500 characters. Default: only its name is shown. */
  readonly description?: string;
}

/** A parameter of `addQuery`. */
export interface QueryParameter {
  /** The type of its values. */
  readonly type: QueryParameterType;
  /** The value if the caller sends none; may be null. Default: callers must send one. */
  readonly default?: string | number | boolean | null;
  /** What the value decides, on one line of at most 500 characters. Default: only its name is shown. */
  readonly description?: string;
}

/** The definition of `addQuery`: SQL whose rows are the records of a collection. */
export interface QueryDefinition<C extends string = string> {
  /** One SELECT, in the SQL of the database, with parameters as `:name`. Their values are bound, never part of the text. */
  readonly sql: string;
  /** The parameters by name, which are also fields of the collection. Default: none. */
  readonly parameters?: Readonly<Record<string, QueryParameter>>;
  /** Types of columns by name. SQLite needs those of computed texts and dates. Default: those of the database. */
  readonly columns?: Readonly<Record<string, PrimitiveType>>;
  /**
   * For a collection: the column that holds the key of one of its records. Callers see a row only if they may see that
   * record. Default: all rows, for callers without a row scope on a collection that the query reads.
   */
  readonly rowScope?: { readonly [N in C]?: string };
  /** Collections whose row scopes do not matter, although the query reads them. Default: none. */
  readonly ignoreRowScopes?: readonly C[];
  /** A collection of the database that runs the query. Default: that of `rowScope`, or the only SQL database. */
  readonly beside?: C;
  /** What a row is, on one line of at most 500 characters. Default: only the name is shown. */
  readonly description?: string;
}

/** The options of `setMinGroupSize`. */
export interface MinGroupSizeOptions<F extends string = string> {
  /** The fields that only aggregates show. Default: all fields, and then no record can be read. */
  readonly fields?: readonly F[];
  /**
   * What such aggregates may group by: fields, paths, and periods, parts or ranges in the form of `groups`. Filters may
   * name these fields and paths. Default: nothing, so only totals are shown.
   */
  readonly by?: readonly (F | PlainGroup)[];
}

/** The definition of `addSegment`: a filter, or a function that returns one. */
export type SegmentDefinition = PlainFilter | ((context: CustomizationContext) => MaybePromise<PlainFilter>);
/** The replacement in `replaceFieldOperator`: returns an equivalent filter. */
export type OperatorReplacer = (value: unknown, context: CustomizationContext) => MaybePromise<PlainFilter>;
/** The replacement in `replaceSearch`: returns the filter for a search text. */
export type SearchReplacer = (
  search: string,
  extended: boolean,
  context: CustomizationContext,
) => MaybePromise<PlainFilter>;

/** The foreign key of a to-one relation (behaviour 2.6). */
export interface ManyToOneOptions {
  /** The column of this collection that points to the foreign one. */
  readonly foreignKey: string;
  /** Default: the primary key of the foreign collection. */
  readonly foreignKeyTarget?: string;
}

/** The foreign key, in the other collection, of a relation to one or many records (behaviour 2.6). */
export interface OneToManyOptions {
  /** The column of the foreign collection that points to this one. */
  readonly originKey: string;
  /** Default: the primary key of this collection. */
  readonly originKeyTarget?: string;
}

/** Returns the external records of one record. */
export type ExternalLister = (
  record: CodeRecord,
  context: CustomizationContext,
) => MaybePromise<readonly Readonly<Record<string, unknown>>[]>;

/** The definition of `addExternalRelation`: records that code lists for a record (behaviour 2.6). */
export interface ExternalRelationDefinition {
  /** The fields of the records and their types. */
  readonly schema: Readonly<Record<string, ColumnType | 'File'>>;
  /** Called once for each distinct combination of key and dependencies, with limited concurrency. */
  readonly listRecords: ExternalLister;
  /**
   * Fields that `listRecords` needs besides the key: `relation:field` through to-one relations, and added fields.
   * Default: only the key.
   */
  readonly dependencies?: readonly string[];
}

/** A to-one relation to several collections; a type field selects the collection. */
export interface PolymorphicManyToOneOptions {
  /** Holds the key of the related record. */
  readonly foreignKey: string;
  /** Selects the collection of the related record. */
  readonly typeField: string;
  /**
   * Maps the values of the type field to collections. The key refers to the primary key unless `foreignKeyTarget` names
   * a column.
   */
  readonly targets: Readonly<Record<string, string | PolymorphicTarget>>;
}

/** One target collection of a polymorphic relation. */
export interface PolymorphicTarget<C extends string = string> {
  /** The name of the target collection. */
  readonly collection: C;
  /** Default: the primary key of the collection. */
  readonly foreignKeyTarget?: string;
  /** The name of the relation; default `<name>_<collection>`. */
  readonly name?: string;
}

/** The other side of a polymorphic relation: its foreign key, type field and type. */
export interface PolymorphicOneToManyOptions extends OneToManyOptions {
  /** A field of the foreign collection that selects the collection of its key. */
  readonly typeField: string;
  /** The value of the type field for this collection. */
  readonly type: string;
}

/** A required value of a column. */
interface RequiredValue {
  readonly field: string;
  readonly value: string;
}

/** The keys of a relation through a third collection (behaviour 2.6). */
export interface ManyToManyOptions {
  /** The column of the through collection that points to this collection. */
  readonly originKey: string;
  /** The column of the through collection that points to the foreign collection. */
  readonly foreignKey: string;
  /** Default: the primary key of this collection. */
  readonly originKeyTarget?: string;
  /** Default: the primary key of the foreign collection. */
  readonly foreignKeyTarget?: string;
}

/** One call of the customizer. */
export type Customization =
  | { readonly kind: 'renameField'; readonly name: string; readonly newName: string }
  | { readonly kind: 'removeField'; readonly name: string }
  | { readonly kind: 'meaning'; readonly meaning: Meaning }
  | { readonly kind: 'fieldMeaning'; readonly name: string; readonly meaning: FieldMeaning }
  | { readonly kind: 'nestedWrites'; readonly name: string }
  | { readonly kind: 'trustedKey'; readonly name: string }
  | {
      readonly kind: 'addField';
      readonly name: string;
      readonly definition: ComputedDefinition;
      /** True for a flattened column. */
      readonly isStored?: boolean;
    }
  | { readonly kind: 'external'; readonly name: string; readonly definition: ExternalRelationDefinition }
  | { readonly kind: 'importField'; readonly name: string; readonly definition: ImportDefinition }
  | { readonly kind: 'metric'; readonly name: string; readonly definition: MetricDefinition }
  | { readonly kind: 'addSegment'; readonly name: string; readonly definition: SegmentDefinition }
  | {
      readonly kind: 'toOne';
      readonly name: string;
      readonly foreign: string;
      readonly options: ManyToOneOptions;
      readonly only?: RequiredValue;
    }
  | {
      readonly kind: 'fromOther';
      readonly name: string;
      readonly foreign: string;
      readonly single: boolean;
      readonly options: OneToManyOptions;
      readonly only?: RequiredValue;
    }
  | {
      readonly kind: 'throughOther';
      readonly name: string;
      readonly foreign: string;
      readonly through: string;
      readonly options: ManyToManyOptions;
    }
  | {
      readonly kind: 'replaceOperator';
      readonly name: string;
      readonly operator: Operator;
      readonly replace: OperatorReplacer;
    }
  /** Without `operator`: every operator of the type that is not otherwise supported. */
  | { readonly kind: 'emulateOperator'; readonly name: string; readonly operator?: Operator }
  | { readonly kind: 'sort'; readonly name: string; readonly by: 'here' | 'nothing' | readonly PlainSort[] }
  | { readonly kind: 'nullable'; readonly name: string }
  | { readonly kind: 'filledByDatabase'; readonly name: string }
  | { readonly kind: 'binaryMode'; readonly name: string; readonly mode: BinaryMode }
  | { readonly kind: 'search'; readonly replace: SearchReplacer | null }
  | { readonly kind: 'action'; readonly name: string; readonly definition: ActionDefinition }
  | { readonly kind: 'chart'; readonly name: string; readonly definition: ChartDefinition<RecordChartContext> }
  | { readonly kind: 'flatten'; readonly flattening: Flattening }
  | { readonly kind: 'disableCount' }
  | { readonly kind: 'minGroupSize'; readonly size: number; readonly options: MinGroupSizeOptions }
  | { readonly kind: 'displayField'; readonly name: string }
  | {
      readonly kind: 'hook';
      readonly position: HookPosition;
      readonly type: HookType;
      readonly handler: HookHandler<never>;
    }
  | { readonly kind: 'validation'; readonly name: string; readonly operator: Operator; readonly value: unknown }
  /** Null makes the field read-only. */
  | { readonly kind: 'writing'; readonly name: string; readonly write: FieldWriter | null }
  | { readonly kind: 'override'; readonly verb: OverrideVerb; readonly handler: OverrideHandlers[OverrideVerb] };

/** The options of `flattenColumn`: the parts of an object column that become fields (behaviour 2.8). */
export interface FlattenColumnOptions {
  /** The column with the parts. */
  readonly columnName: string;
  /** Parts to add, as `street` or `geo:lat`; default: all. */
  readonly include?: readonly string[];
  /** Parts to leave out, in the same form. Default: no part. */
  readonly exclude?: readonly string[];
  /** The number of object levels that become fields. Default 1. */
  readonly level?: number;
  /** Default false: a write of a part updates the object that contains it. */
  readonly readonly?: boolean;
  /** The shape of the column: types by key. Default: the shape that the column declares; required without one. */
  readonly columnType?: ColumnShape;
}

/** The options of `flattenJsonColumn`: the shape of a JSON column (behaviour 2.8). */
export interface FlattenJsonColumnOptions {
  /** The JSON column with the parts. */
  readonly columnName: string;
  /** The shape of the column: types by key. */
  readonly columnType: ColumnShape;
  /** The number of object levels that become fields. Default 1. */
  readonly level?: number;
  /** Default false: a write of a part updates the object that contains it. */
  readonly readonly?: boolean;
  /** Default false: callers see the parts instead of the column. */
  readonly keepOriginalColumn?: boolean;
}

/** The options of `flattenRelation`: the fields of a related record that become fields (behaviour 2.8). */
export interface FlattenRelationOptions {
  /** The to-one relation to the record with the fields. */
  readonly relationName: string;
  /** Fields of the foreign collection; default: all. */
  readonly include?: readonly string[];
  /** Fields of the foreign collection to leave out. Default: no field. */
  readonly exclude?: readonly string[];
  /** Default false: fields that are writable in the foreign collection are writable through this one. */
  readonly readonly?: boolean;
}

/** The options of a flattening plugin. The build of the model resolves the fields. */
export type Flattening =
  | { readonly of: 'column'; readonly options: FlattenColumnOptions & { readonly keepOriginalColumn?: boolean } }
  | { readonly of: 'relation'; readonly options: FlattenRelationOptions };

export interface RecordedCall {
  readonly collection: string;
  /** `file:line` of the call. */
  readonly at: string;
  readonly what: Customization;
}

/** All recorded customizations, in the order of the calls. */
export interface RecordedCustomizations {
  readonly recorded: readonly RecordedCall[];
  readonly removed: readonly { readonly collection: string; readonly at: string }[];
  /** Charts of the whole agent. */
  readonly charts: readonly ChartEntry[];
}

/** A recorded query. */
export interface QueryEntry {
  readonly name: string;
  readonly definition: QueryDefinition;
  /** `file:line` of the call. */
  readonly at: string;
}

export interface Customizations {
  /** Queries whose rows become collections. */
  readonly queries: readonly QueryEntry[];
  /** The sources that code added. */
  readonly tables: ReadonlyMap<Source, { readonly options: DataSourceOptions; readonly at: string }>;
  /** Called once, with the names of all collections. */
  collect(collections: readonly string[]): Promise<RecordedCustomizations>;
}
