// The customizer with generated typings: the same calls, with checked names, operators and values. Only types;
// customizer.ts is the implementation. Calls that are not listed in this file have the same types as there. The types
// are declared invariant in the schema: otherwise TypeScript 5.9 and 6.0 compare the paths of two schemas without end.

import type { FieldMeaning } from '../../core/caller/meanings.ts';
import type { Operator } from '../../core/filter.ts';
import type { ActionCode, ActionContext, ActionScope, DefinitionOf, FormValues } from '../actions/definitions.ts';
import type { ChartContext, ChartDefinition, MeasuresChart, RecordChartContext } from '../charts/definitions.ts';
import type { PrimitiveType } from '../sources/column-types.ts';
import type { CodeFilter, CustomizationContext, MaybePromise } from './context.ts';
import type { CollectionCustomizer, CollectionPlugin } from './customizer.ts';
import type {
  BinaryMode,
  ComputedType,
  ExternalRelationDefinition,
  ManyToManyOptions,
  ManyToOneOptions,
  MetricDefinition,
  OneToManyOptions,
  PolymorphicTarget,
} from './definitions.ts';
import type { HookContexts, HookHandler, HookPosition, OverrideHandlers, WriteContext } from './hooks.ts';
import type {
  CollectionName,
  ColumnName,
  ColumnValues,
  FieldName,
  FilterOf,
  OperatorAt,
  PatchOf,
  Path,
  Picked,
  RecordOf,
  SortOf,
  ValueAt,
} from './typed-schema.ts';

/** The customizer of a collection; the plain one without typings. */
export type CustomizerOf<S, C extends keyof S> = string extends keyof S ? CollectionCustomizer : TypedCustomizer<S, C>;

/**
 * A `CollectionCustomizer` with generated typings: the compiler checks names, paths, operators and values.
 */
export interface TypedCustomizer<in out S, in out C extends keyof S> extends MappedCalls<S, C> {}

/** Mapped from the class, because editors then show its docstrings. */
type MappedCalls<in out S, in out C extends keyof S> = {
  readonly [M in keyof CollectionCustomizer]: M extends keyof TypedMethods<S, C>
    ? TypedMethods<S, C>[M]
    : Chained<CollectionCustomizer[M], S, C>;
};

type Chained<F, S, C extends keyof S> = F extends (...given: infer G) => CollectionCustomizer
  ? (...given: G) => TypedCustomizer<S, C>
  : F;

/** A context with typed collections and records. */
type ContextOf<in out S, in out C extends keyof S, X = CustomizationContext> = {
  readonly [K in keyof X]: K extends keyof Members<S, C> ? Members<S, C>[K] : X[K];
};

interface Members<in out S, in out C extends keyof S> {
  collection<N extends CollectionName<S>>(name: N): TypedCollection<S, N>;
  readonly narrow: (filter: FilterOf<S, C>) => void;
  readonly data: readonly PatchOf<S, C>[];
  readonly patch: PatchOf<S, C>;
  readonly records: readonly Partial<RecordOf<S, C>>[];
  readonly record: Partial<RecordOf<S, C>>;
  getRecord<P extends Path<S, C>>(fields: readonly P[]): Promise<Picked<S, C, P>>;
}

/** A table, because TypeScript 5.9 does not terminate when it compares contexts built in the signature of `addHook`. */
type TypedContexts<S, C extends keyof S> = {
  readonly [P in HookPosition]: {
    readonly [T in keyof HookContexts[P]]: ContextOf<S, C, HookContexts[P][T]>;
  };
};

/** The context of a chart of the whole agent. */
type AgentChartContext<S> = string extends keyof S
  ? ChartContext
  : Omit<ChartContext, 'collection'> & Pick<Members<S, keyof S>, 'collection'>;

/** The definition of a chart of the whole agent. */
export type AgentChart<S> =
  | ChartDefinition<AgentChartContext<S>>
  | (MeasuresChart & { readonly collection: CollectionName<S> });

/** The definition of a metric of the collection `C`. */
export type MetricOf<S, C extends keyof S> = { readonly collection: C } & (string extends keyof S
  ? Omit<MetricDefinition, 'collection'>
  : Omit<MetricDefinition<Path<S, C>, FilterOf<S, C>>, 'collection'>);

/** Direct access to a collection, without hooks or row scope. */
interface TypedCollection<in out S, in out C extends keyof S> {
  list<P extends Path<S, C>>(filter: TypedFilter<S, C>, projection: readonly P[]): Promise<Picked<S, C, P>[]>;
  count(filter?: TypedFilter<S, C>): Promise<number>;
}
type TypedFilter<S, C extends keyof S> = Omit<CodeFilter, 'conditionTree'> & {
  readonly conditionTree?: FilterOf<S, C>;
};

type ComputedValue<T> = T extends 'File'
  ? Buffer
  : T extends PrimitiveType
    ? T extends 'Number'
      ? number | string
      : ColumnValues[T]
    : T extends readonly unknown[]
      ? readonly unknown[]
      : object;

interface TypedComputed<in out S, in out C extends keyof S, P extends string, T extends ComputedType> {
  readonly columnType: T;
  readonly dependencies: readonly P[];
  readonly getValues: (
    records: readonly Picked<S, C, P>[],
    context: ContextOf<S, C>,
  ) => MaybePromise<readonly (ComputedValue<T> | null | undefined)[]>;
  readonly defaultValue?: ComputedValue<T>;
  readonly enumValues?: readonly string[];
}

interface RecordReaders<in out S, in out C extends keyof S> {
  getRecords<P extends Path<S, C>>(fields: readonly P[]): Promise<Picked<S, C, P>[]>;
  getRecord<P extends Path<S, C>>(fields: readonly P[]): Promise<Picked<S, C, P>>;
  getField<P extends Path<S, C>>(field: P): Promise<ValueAt<S, C, P>>;
}

/** `execute` reads typed records; the handlers of a form read untyped ones. */
interface TypedDefinition<in out S, in out C extends keyof S, Scope extends ActionScope, Values>
  extends Omit<DefinitionOf<Scope, Values>, 'execute'> {
  readonly execute: ActionCode<WithRecords<S, C, ActionContext<Scope, Values>>>;
}
type WithRecords<in out S, in out C extends keyof S, X> = {
  readonly [K in keyof X]: K extends keyof RecordReaders<S, C> ? RecordReaders<S, C>[K] : X[K];
};
type TypedAction<S, C extends keyof S, Values> = {
  readonly [Scope in ActionScope]: TypedDefinition<S, C, Scope, Values>;
}[ActionScope];

type RelationKeys<Options, Own extends string, Foreign extends string> = {
  readonly [K in keyof Options]: K extends 'foreignKey' | 'originKeyTarget' ? Own : Foreign;
};
type TypeOf<Foreign extends string> = { readonly typeField: Foreign; readonly type: string };
type JunctionKeys<Through extends string, Own extends string, Foreign extends string> = {
  readonly [K in keyof ManyToManyOptions]: K extends 'originKeyTarget'
    ? Own
    : K extends 'foreignKeyTarget'
      ? Foreign
      : Through;
};

/** Fields of related records, also by path. */
type WrittenOf<S, C extends keyof S> = PatchOf<S, C> & {
  readonly [P in Exclude<Path<S, C>, ColumnName<S, C>>]?: ValueAt<S, C, P>;
};

type Handler<S, C extends keyof S, F> = F extends (context: infer X) => infer R
  ? (context: ContextOf<S, C, X>) => R
  : never;

interface TypedMethods<in out S, in out C extends keyof S> {
  readonly name: C & string;
  renameField(name: FieldName<S, C>, newName: string): TypedCustomizer<S, C>;
  removeField(...names: readonly FieldName<S, C>[]): TypedCustomizer<S, C>;
  describeField(name: FieldName<S, C>, meaning: FieldMeaning): TypedCustomizer<S, C>;
  displayField(name: ColumnName<S, C>): TypedCustomizer<S, C>;
  addAction<Values = FormValues>(name: string, definition: TypedAction<S, C, NoInfer<Values>>): TypedCustomizer<S, C>;
  addChart(name: string, definition: ChartDefinition<ContextOf<S, C, RecordChartContext>>): TypedCustomizer<S, C>;
  addExternalRelation<const P extends Path<S, C> = never>(
    name: string,
    definition: {
      readonly schema: ExternalRelationDefinition['schema'];
      readonly dependencies?: readonly P[];
      readonly listRecords: (
        record: Picked<S, C, P> & Partial<RecordOf<S, C>>,
        context: ContextOf<S, C>,
      ) => ReturnType<ExternalRelationDefinition['listRecords']>;
    },
  ): TypedCustomizer<S, C>;
  replaceFieldBinaryMode(name: ColumnName<S, C>, mode: BinaryMode): TypedCustomizer<S, C>;
  addField<const P extends Path<S, C>, const T extends ComputedType>(
    name: string,
    definition: TypedComputed<S, C, P, T>,
  ): TypedCustomizer<S, C>;
  importField(
    name: string,
    definition: { readonly path: Path<S, C>; readonly readonly?: boolean },
  ): TypedCustomizer<S, C>;
  addSegment(
    name: string,
    definition: FilterOf<S, C> | ((context: ContextOf<S, C>) => MaybePromise<FilterOf<S, C>>),
  ): TypedCustomizer<S, C>;
  addManyToOneRelation<F extends CollectionName<S>>(
    name: string,
    foreign: F,
    options: RelationKeys<ManyToOneOptions, ColumnName<S, C>, ColumnName<S, F>>,
  ): TypedCustomizer<S, C>;
  addOneToManyRelation<F extends CollectionName<S>>(
    name: string,
    foreign: F,
    options: RelationKeys<OneToManyOptions, ColumnName<S, C>, ColumnName<S, F>>,
  ): TypedCustomizer<S, C>;
  addOneToOneRelation<F extends CollectionName<S>>(
    name: string,
    foreign: F,
    options: RelationKeys<OneToManyOptions, ColumnName<S, C>, ColumnName<S, F>>,
  ): TypedCustomizer<S, C>;
  addManyToManyRelation<F extends CollectionName<S>, Th extends CollectionName<S>>(
    name: string,
    foreign: F,
    through: Th,
    options: JunctionKeys<ColumnName<S, Th>, ColumnName<S, C>, ColumnName<S, F>>,
  ): TypedCustomizer<S, C>;
  addPolymorphicManyToOneRelation(
    name: string,
    options: {
      readonly foreignKey: ColumnName<S, C>;
      readonly typeField: ColumnName<S, C>;
      readonly targets: Readonly<Record<string, CollectionName<S> | PolymorphicTarget<CollectionName<S>>>>;
    },
  ): TypedCustomizer<S, C>;
  addPolymorphicOneToManyRelation<F extends CollectionName<S>>(
    name: string,
    foreign: F,
    options: RelationKeys<OneToManyOptions, ColumnName<S, C>, ColumnName<S, F>> & TypeOf<ColumnName<S, F>>,
  ): TypedCustomizer<S, C>;
  addPolymorphicOneToOneRelation<F extends CollectionName<S>>(
    name: string,
    foreign: F,
    options: RelationKeys<OneToManyOptions, ColumnName<S, C>, ColumnName<S, F>> & TypeOf<ColumnName<S, F>>,
  ): TypedCustomizer<S, C>;
  replaceFieldOperator<P extends ColumnName<S, C>>(
    name: P,
    operator: OperatorAt<S, C, P>,
    replace: (value: unknown, context: ContextOf<S, C>) => MaybePromise<FilterOf<S, C>>,
  ): TypedCustomizer<S, C>;
  emulateFieldOperator<P extends ColumnName<S, C>>(name: P, operator: OperatorAt<S, C, P>): TypedCustomizer<S, C>;
  emulateFieldFiltering(name: ColumnName<S, C>): TypedCustomizer<S, C>;
  replaceFieldSorting(name: ColumnName<S, C>, clauses: readonly SortOf<S, C>[]): TypedCustomizer<S, C>;
  emulateFieldSorting(name: ColumnName<S, C>): TypedCustomizer<S, C>;
  disableFieldSorting(name: ColumnName<S, C>): TypedCustomizer<S, C>;
  setFieldNullable(name: ColumnName<S, C>): TypedCustomizer<S, C>;
  setFieldFilledByDatabase(name: ColumnName<S, C>): TypedCustomizer<S, C>;
  addFieldValidation<P extends ColumnName<S, C>>(
    name: P,
    operator: OperatorAt<S, C, P> & Operator,
    value?: unknown,
  ): TypedCustomizer<S, C>;
  replaceFieldWriting<P extends ColumnName<S, C>>(
    name: P,
    definition:
      | ((
          value: ValueAt<S, C, P>,
          context: ContextOf<S, C, WriteContext>,
        ) => MaybePromise<WrittenOf<S, C> | null | undefined>)
      | null,
  ): TypedCustomizer<S, C>;
  allowNestedWrites(...relations: readonly FieldName<S, C>[]): TypedCustomizer<S, C>;
  trustForeignKey(...relations: readonly FieldName<S, C>[]): TypedCustomizer<S, C>;
  overrideCreate(handler: Handler<S, C, OverrideHandlers['create']>): TypedCustomizer<S, C>;
  overrideUpdate(handler: Handler<S, C, OverrideHandlers['update']>): TypedCustomizer<S, C>;
  overrideDelete(handler: Handler<S, C, OverrideHandlers['delete']>): TypedCustomizer<S, C>;
  replaceSearch(
    replace: (search: string, extended: boolean, context: ContextOf<S, C>) => MaybePromise<FilterOf<S, C>>,
  ): TypedCustomizer<S, C>;
  addHook<P extends HookPosition, T extends keyof HookContexts[P] & string>(
    position: P,
    type: T,
    handler: HookHandler<TypedContexts<S, C>[P][T & keyof TypedContexts<S, C>[P]]>,
  ): TypedCustomizer<S, C>;
  use(plugin: CollectionPlugin<undefined>): TypedCustomizer<S, C>;
  use<O>(plugin: CollectionPlugin<O>, options: O): TypedCustomizer<S, C>;
}
