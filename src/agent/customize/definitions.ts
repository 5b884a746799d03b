// What users write to customize a collection, and what is kept of it until the model is built. Types alone.
//
// Customization code names fields as they were before any renaming, and may name removed ones.

import type { Caller } from '../../core/caller.ts';
import type { Operator, PlainFilter, PlainSort } from '../../core/filter.ts';
import type { ActionDefinition } from '../actions/definitions.ts';
import type { AiProvider } from '../ai/definitions.ts';
import type { ChartDefinition, ChartEntry, RecordChartContext } from '../charts/definitions.ts';
import type { ColumnShape, ColumnType, Source } from '../sources/source.ts';
import type {
  FieldWriter,
  HookAggregation,
  HookHandler,
  HookPosition,
  HookType,
  OverrideHandlers,
  OverrideVerb,
} from './hooks.ts';

export type MaybePromise<T> = T | Promise<T>;

/** A record as code sees it: inside names, relations nested, null for a relation without a record. */
export type CodeRecord = Readonly<Record<string, unknown>>;

/** What every function of customization code is given. */
export interface CustomizationContext {
  readonly caller: Caller;
  /** IANA name: of the call, or of the caller. */
  readonly timezone: string;
  /**
   * The inside door to a collection, removed ones too: inside names, no hooks and no row scope. What comes out of it may
   * be more than the caller may see. UNKNOWN_COLLECTION.
   */
  collection(name: string): InsideCollection;
  /** What `addAi` added, or null. Its questions end when the call is cancelled. */
  readonly ai: AiProvider | null;
}

/** Rules, replaced fields and overrides hold here too. Writes by a filter need a condition, a search or a segment. */
export interface InsideCollection {
  /** All records that match, in the order of the key; TOO_MANY_ROWS past the limit of rows that are read at once. */
  list(filter: InsideFilter, projection: readonly string[]): Promise<Record<string, unknown>[]>;
  count(filter?: InsideFilter): Promise<number>;
  /** One for each group, the largest value first; `limit` groups, as many as a page may have when absent. */
  aggregate(
    filter: InsideFilter,
    aggregation: HookAggregation | Omit<HookAggregation, 'groups'>,
    limit?: number,
  ): Promise<{ readonly value: unknown; readonly group: CodeRecord }[]>;
  /** The records as they are stored, in the order of the data: all or none. */
  create(data: readonly CodeRecord[]): Promise<Record<string, unknown>[]>;
  /** How many records were meant, changed or not: all or none. */
  update(filter: InsideFilter, patch: CodeRecord): Promise<number>;
  delete(filter: InsideFilter): Promise<number>;
  /** Points the records `ids` of a to-many relation to the record `id`; how many. */
  associate(id: InsideId, relation: string, ids: readonly InsideId[]): Promise<number>;
  /** Makes them point to nothing. */
  dissociate(id: InsideId, relation: string, ids: readonly InsideId[]): Promise<number>;
}

/** The value of a key, its values where it has several columns, or those packed into one text. */
export type InsideId = string | number | readonly (string | number)[];

/** A filter as operator's code writes and receives it (spec 2.7). */
export interface InsideFilter {
  readonly conditionTree?: PlainFilter;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly segment?: string;
}

/** Which tables of a source become collections, and under which names (spec 2.2). */
export interface DataSourceOptions {
  /** Names in the source; everything when absent. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** From the name in the source to the name of the collection. */
  readonly rename?: Readonly<Record<string, string>>;
}

export type ComputedType = ColumnType | ColumnShape | 'File';
/** How callers are shown binaries; both forms are read. */
export type BinaryMode = 'datauri' | 'hex';

/** What `addField` is given: a field whose values are worked out of others (spec 2.5). */
export interface ComputedDefinition {
  /** `File` is a `Binary`; an object of types by key, or a list of one, is a Json of that shape: other keys are left out. */
  readonly columnType: ComputedType;
  /** At least one; `relation:field` through to-one relations, other added fields too. */
  readonly dependencies: readonly string[];
  /** Called once for a page, with each combination of dependencies once; gives one value for each record, in order. */
  readonly getValues: (
    records: readonly CodeRecord[],
    context: CustomizationContext,
  ) => MaybePromise<readonly unknown[]>;
  /** In place of a value that is null or undefined. */
  readonly defaultValue?: unknown;
  /** For `Enum`, and needed there. */
  readonly enumValues?: readonly string[];
}

/** What `importField` is given: the path of a field of a related record. */
export interface ImportDefinition {
  /** `relation:field` through to-one relations. */
  readonly path: string;
  readonly readonly?: boolean;
}

/** What `addSegment` is given: a filter, or a function that gives one. */
export type SegmentDefinition = PlainFilter | ((context: CustomizationContext) => MaybePromise<PlainFilter>);
/** What `replaceFieldOperator` is given: another filter that says the same. */
export type OperatorReplacer = (value: unknown, context: CustomizationContext) => MaybePromise<PlainFilter>;
/** What `replaceSearch` is given: the filter that a search text means. */
export type SearchReplacer = (
  search: string,
  extended: boolean,
  context: CustomizationContext,
) => MaybePromise<PlainFilter>;

/** The key of a relation to one record (spec 2.6). */
export interface ManyToOneOptions {
  readonly foreignKey: string;
  /** The key of the foreign collection when absent. */
  readonly foreignKeyTarget?: string;
}

/** The key, in the other collection, of a relation to one or many records there (spec 2.6). */
export interface OneToManyOptions {
  readonly originKey: string;
  /** The key of this collection when absent. */
  readonly originKeyTarget?: string;
}

/** Gives the records that belong to one record. */
export type ExternalLister = (
  record: CodeRecord,
  context: CustomizationContext,
) => MaybePromise<readonly Readonly<Record<string, unknown>>[]>;

/** What `addExternalRelation` is given: records that code lists for a record (spec 2.6). */
export interface ExternalRelationDefinition {
  /** The fields of the records and their types. */
  readonly schema: Readonly<Record<string, ColumnType | 'File'>>;
  /** Called once for each combination of the key and the dependencies, a few at a time. */
  readonly listRecords: ExternalLister;
  /** What `listRecords` is given besides the key; `relation:field` through to-one relations, added fields too. */
  readonly dependencies?: readonly string[];
}

/** A relation to one record of several collections: a field names which. */
export interface PolymorphicManyToOneOptions {
  /** Holds the key of the record that it is about. */
  readonly foreignKey: string;
  /** Says of which collection that is. */
  readonly typeField: string;
  /** From what the type field holds to the collection, whose key is meant unless another column is named. */
  readonly targets: Readonly<Record<string, string | PolymorphicTarget>>;
}

/** One of the collections that a polymorphic relation leads to. */
export interface PolymorphicTarget<C extends string = string> {
  readonly collection: C;
  /** The key of the collection when absent. */
  readonly foreignKeyTarget?: string;
  /** Of the relation; `<name>_<collection>` when absent. */
  readonly name?: string;
}

/** The other side of such a relation: the key there, and what its type field says for this collection. */
export interface PolymorphicOneToManyOptions extends OneToManyOptions {
  /** Of the foreign collection: says which collection its key is about. */
  readonly typeField: string;
  /** What the type field holds for this collection. */
  readonly type: string;
}

/** What a column must hold. */
export interface OnlyWhere {
  readonly field: string;
  readonly value: string;
}

/** The keys of a relation through a third collection (spec 2.6). */
export interface ManyToManyOptions {
  /** Of the collection between: what points to this collection, and to the foreign one. */
  readonly originKey: string;
  readonly foreignKey: string;
  /** The key of this collection when absent. */
  readonly originKeyTarget?: string;
  /** The key of the foreign collection when absent. */
  readonly foreignKeyTarget?: string;
}

/** One call of the customizer. */
export type Customization =
  | { readonly kind: 'renameField'; readonly name: string; readonly newName: string }
  | { readonly kind: 'removeField'; readonly name: string }
  | { readonly kind: 'addField'; readonly name: string; readonly definition: ComputedDefinition }
  | { readonly kind: 'external'; readonly name: string; readonly definition: ExternalRelationDefinition }
  | { readonly kind: 'importField'; readonly name: string; readonly definition: ImportDefinition }
  | { readonly kind: 'addSegment'; readonly name: string; readonly definition: SegmentDefinition }
  | {
      readonly kind: 'toOne';
      readonly name: string;
      readonly foreign: string;
      readonly options: ManyToOneOptions;
      readonly only?: OnlyWhere;
    }
  | {
      readonly kind: 'fromOther';
      readonly name: string;
      readonly foreign: string;
      readonly single: boolean;
      readonly options: OneToManyOptions;
      readonly only?: OnlyWhere;
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
  /** Every operator of the type that nothing else answers, when none is named. */
  | { readonly kind: 'emulateOperator'; readonly name: string; readonly operator?: Operator }
  | { readonly kind: 'sort'; readonly name: string; readonly by: 'here' | 'nothing' | readonly PlainSort[] }
  | { readonly kind: 'nullable'; readonly name: string }
  | { readonly kind: 'binaryMode'; readonly name: string; readonly mode: BinaryMode }
  | { readonly kind: 'search'; readonly replace: SearchReplacer | null }
  | { readonly kind: 'action'; readonly name: string; readonly definition: ActionDefinition }
  | { readonly kind: 'chart'; readonly name: string; readonly definition: ChartDefinition<RecordChartContext> }
  | { readonly kind: 'flatten'; readonly flattening: Flattening }
  | { readonly kind: 'disableCount' }
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

/** What `flattenColumn` is given: which parts of a column of objects become fields (spec 2.8). */
export interface FlattenColumnOptions {
  readonly columnName: string;
  /** Parts to add, as `street` or `geo:lat`; all when absent. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** How many levels of objects become fields; default 1. */
  readonly level?: number;
  /** Default false: a part is written into the object that it is of. */
  readonly readonly?: boolean;
  /** What the column holds: types by key. Needed where the column does not say so itself. */
  readonly columnType?: ColumnShape;
}

/** What `flattenJsonColumn` is given: what the JSON of a column holds (spec 2.8). */
export interface FlattenJsonColumnOptions {
  readonly columnName: string;
  /** What the column holds: types by key. */
  readonly columnType: ColumnShape;
  readonly level?: number;
  readonly readonly?: boolean;
  /** Default false: callers see the parts and not the column. */
  readonly keepOriginalColumn?: boolean;
}

/** What `flattenRelation` is given: which fields of a related record become fields (spec 2.8). */
export interface FlattenRelationOptions {
  readonly relationName: string;
  /** Fields of the foreign collection; all when absent. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Default false: what can be written there can be written here. */
  readonly readonly?: boolean;
}

/** What a plugin flattens; the fields are found when the model is built. */
export type Flattening =
  | { readonly of: 'column'; readonly options: FlattenColumnOptions & { readonly keepOriginalColumn?: boolean } }
  | { readonly of: 'relation'; readonly options: FlattenRelationOptions };

export interface Recorded {
  readonly collection: string;
  /** `file:line` of the call. */
  readonly at: string;
  readonly what: Customization;
}

/** Everything that was said of collections, in the order in which it was said. */
export interface Said {
  readonly recorded: readonly Recorded[];
  readonly removed: readonly { readonly collection: string; readonly at: string }[];
  /** Of the whole agent. */
  readonly charts: readonly ChartEntry[];
}

export interface Customizations {
  /** Of the sources that were added by code. */
  readonly tables: ReadonlyMap<Source, { readonly options: DataSourceOptions; readonly at: string }>;
  /** Asked once, with the names of all collections. */
  say(collections: readonly string[]): Promise<Said>;
}
