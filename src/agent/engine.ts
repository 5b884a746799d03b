// The public interface of the engine. Every operation takes an `Access` first, which carries the caller's permissions.

import type { Access } from '../core/caller.ts';
import { type Actions, createActions } from './actions/actions.ts';
import type { ActionEntry } from './actions/definitions.ts';
import { createActionEngine } from './actions/engine-access.ts';
import type { AiProvider } from './ai/definitions.ts';
import { findMissingIndexes, type KeptFilter, type MissingIndexes } from './artifacts/missing-indexes.ts';
import { describeStructure, requireCustomizer, type Structure } from './artifacts/structure.ts';
import { type Charts, createCharts } from './charts/charts.ts';
import type { Customizations } from './customize/definitions.ts';
import type { EngineCatalogue, EngineParts } from './customize/engine-parts.ts';
import { definitionsOf } from './customize/recording.ts';
import type { WorkflowEntry } from './customize/workflow-entry.ts';
import { createMoment } from './lower/dates.ts';
import { buildModel } from './model/build.ts';
import { checkDistinct, checkReserved, chooseTables, readCurrentTables } from './model/chosen-tables.ts';
import { addQueries } from './model/queries.ts';
import type { Model } from './model/types.ts';
import { aggregate } from './operations/aggregate.ts';
import { momentOf, type Operations } from './operations/call.ts';
import { type ExplainRequests, explain } from './operations/explain.ts';
import { createUnscopedCollection } from './operations/internal.ts';
import { inverseOf } from './operations/inverse.ts';
import { associate, dissociate } from './operations/link.ts';
import { count, describe, index, list } from './operations/list.ts';
import { aggregateRelated, countRelated, get, listRelated } from './operations/related.ts';
import { checkMetrics, checkMinGroupSizes, checkSegments } from './operations/segments.ts';
import { foreignKeyValues, setRelation } from './operations/set-relation.ts';
import { createStoredChecks, type StoredFilters, type StoredMeaningChecks } from './operations/stored-filters.ts';
import { create, remove, update } from './operations/write.ts';
import type {
  AggregateAnswer,
  AggregateRelatedRequest,
  AggregateRequest,
  CallOptions,
  CollectionDescription,
  CollectionSummary,
  CountRelatedRequest,
  CountRequest,
  CreateRequest,
  DeleteRequest,
  ForeignKeyRequest,
  GetRequest,
  InverseRelation,
  InverseRequest,
  LinkRequest,
  ListAnswer,
  ListRelatedRequest,
  ListRequest,
  SetRelationRequest,
  UpdateRequest,
  WriteAnswer,
  WriteOptions,
} from './requests.ts';
import { type CallerNames, createCallerNames } from './resolve/caller-names.ts';
import { createHealthCheck, type SourceHealth } from './sources/health.ts';
import type { Source } from './sources/source.ts';
import { compileRules } from './write/validation.ts';

/** The operations of a built model. Each takes an `Access`: the caller and their permissions. */
export interface Engine {
  /**
   * The records that match, as rows. UNKNOWN_COLLECTION, UNKNOWN_FIELD and INVALID_VALUE name the mistake.
   * INVALID_CURSOR for a cursor of another request.
   *
   * @example
   * const { rows, hasMore } = await engine.list(access, {
   *   collection: 'customers',
   *   fields: ['email', 'manager:name'],
   *   filter: { field: 'country', operator: 'Equal', value: 'NO' },
   *   sort: [{ field: 'email' }],
   *   limit: 20,
   * });
   */
  list(access: Access, request: ListRequest, options?: CallOptions): Promise<ListAnswer>;
  /**
   * The number of records that match. NOT_COUNTABLE if counting is disabled; otherwise errors are those of `list`.
   *
   * @example
   * const customers = await engine.count(access, { collection: 'customers', search: 'ada' });
   */
  count(access: Access, request: CountRequest, options?: CallOptions): Promise<number>;
  /**
   * One record, as a list of one. RECORD_NOT_FOUND, also for a record outside the caller's row scope; FORBIDDEN without
   * permission to read.
   *
   * @example
   * const [customer] = (await engine.get(access, { collection: 'customers', id: 7 })).records();
   */
  get(access: Access, request: GetRequest, options?: CallOptions): Promise<ListAnswer>;
  /**
   * One value for each group of records, or a single value without groups.
   *
   * @example
   * const { rows } = await engine.aggregate(access, {
   *   collection: 'orders',
   *   operation: 'Sum',
   *   field: 'total',
   *   groups: [{ field: 'placed_at', bucket: 'Month' }],
   *   order: 'groups',
   *   limit: 12,
   * });
   */
  aggregate(access: Access, request: AggregateRequest, options?: CallOptions): Promise<AggregateAnswer>;
  /**
   * The records that a to-many relation leads to from one record. RECORD_NOT_FOUND if the caller may not see that
   * record. Fields, filter and the other options refer to the foreign collection.
   *
   * @example
   * const { rows } = await engine.listRelated(access, {
   *   collection: 'customers',
   *   id: 7,
   *   relation: 'orders',
   *   fields: ['total'],
   *   limit: 20,
   * });
   */
  listRelated(access: Access, request: ListRelatedRequest, options?: CallOptions): Promise<ListAnswer>;
  /**
   * The number of records that a to-many relation leads to from one record. Errors are those of `listRelated`.
   *
   * @example
   * const orders = await engine.countRelated(access, { collection: 'customers', id: 7, relation: 'orders' });
   */
  countRelated(access: Access, request: CountRelatedRequest, options?: CallOptions): Promise<number>;
  /**
   * Aggregates the records that a to-many relation leads to from one record. Errors are those of `listRelated`.
   *
   * @example
   * const { rows } = await engine.aggregateRelated(access, {
   *   collection: 'customers',
   *   id: 7,
   *   relation: 'orders',
   *   operation: 'Avg',
   *   field: 'total',
   *   limit: 1,
   * });
   */
  aggregateRelated(access: Access, request: AggregateRelatedRequest, options?: CallOptions): Promise<AggregateAnswer>;
  /**
   * The collections that the caller may see, by name.
   *
   * @example
   * const names = engine.index(access).map(({ name }) => name);
   */
  index(access: Access): readonly CollectionSummary[];
  /**
   * The fields, relations, segments and rights that the caller has in a collection. UNKNOWN_COLLECTION, both for a
   * missing collection and for one that the caller may not see.
   *
   * @example
   * const required = engine.describe(access, 'orders').fields.filter((field) => field.required);
   */
  describe(access: Access, collection: string): CollectionDescription;
  /**
   * Finds the name that was meant in the caller's input, such as `Customers` for `customers`. Undefined if several
   * names are possible.
   *
   * @example
   * const collection = engine.names(access).collection('Customers');
   */
  names(access: Access): CallerNames;
  /**
   * Creates all records or fails. INVALID_RECORD lists every problem.
   *
   * @example
   * const { ids } = await engine.create(access, {
   *   collection: 'customers',
   *   records: [{ email: 'ada@example.com', first_name: 'Ada' }],
   * });
   */
  create(access: Access, request: CreateRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Updates all records or fails. RECORD_NOT_FOUND names the missing ids.
   *
   * @example
   * const { count } = await engine.update(access, { collection: 'orders', ids: [7, 8], values: { status: 'paid' } });
   */
  update(access: Access, request: UpdateRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Deletes all records or fails. Always requires ids.
   *
   * @example
   * const { changes } = await engine.delete(access, { collection: 'orders', ids: [7] }, { preview: true });
   */
  delete(access: Access, request: DeleteRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Points the records `ids` of a to-many relation to the record `id`, and returns them. Many to many: creates the
   * missing pairs, and returns those rows of the through collection.
   *
   * @example
   * await engine.associate(access, { collection: 'customers', id: 7, relation: 'orders', ids: [1, 2] });
   */
  associate(access: Access, request: LinkRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Sets the foreign key of the records `ids` to null. RECORD_NOT_FOUND names those that did not point to `id`. Many to
   * many: deletes the pairs. No other row is deleted.
   *
   * @example
   * await engine.dissociate(access, { collection: 'customers', id: 7, relation: 'orders', ids: [2] });
   */
  dissociate(access: Access, request: LinkRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Points a to-one relation of the record `id` to the record `to`, or clears it with null. Either side may hold the
   * foreign key; the answer contains the record that holds it. The same transaction releases the previous record.
   *
   * @example
   * await engine.setRelation(access, { collection: 'orders', id: 1, relation: 'customer', to: 7 });
   */
  setRelation(access: Access, request: SetRelationRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * The values by field that a record of the collection needs to point to the record `to`, or to no record, for a
   * write. RECORD_NOT_FOUND; INVALID_ARGUMENT if the other side holds the key.
   *
   * @example
   * const values = await engine.foreignKeyValues(access, { collection: 'orders', relation: 'customer', to: 7 });
   * await engine.create(access, { collection: 'orders', records: [{ ...values, total: 10 }] });
   */
  foreignKeyValues(
    access: Access,
    request: ForeignKeyRequest,
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>>;
  /**
   * For a to-many relation: the collection and relation to aggregate the related records by. INVALID_ARGUMENT.
   *
   * @example
   * const { collection, home } = engine.inverseOf(access, { collection: 'customers', relation: 'orders' });
   */
  inverseOf(access: Access, request: InverseRequest): InverseRelation;
  /**
   * The plan of an operation (default `list`) and its SQL as text, without values. A write is executed and rolled back.
   *
   * @example
   * const plan = await engine.explain(access, { collection: 'orders', limit: 20 });
   */
  explain(access: Access, request: ListRequest): Promise<string>;
  /**
   * The same for another operation.
   *
   * @example
   * const sql = await engine.explain(access, { collection: 'orders', ids: [7], values: { status: 'paid' } }, 'update');
   */
  explain<O extends keyof ExplainRequests>(access: Access, request: ExplainRequests[O], operation: O): Promise<string>;
  /**
   * The current schema of the data sources, for authors of customizations. DENIED for other callers.
   *
   * @example
   * const { sources } = await engine.structure(access);
   */
  structure(access: Access): Promise<Structure>;
  /**
   * The indexes that relations, sorts and segments in code, and the given filters, lack, and the large tables that a
   * search reads. DENIED for callers who may not customize.
   *
   * @example
   * const { missing } = await engine.missingIndexes(access, []);
   * for (const { statement } of missing) console.log(statement);
   */
  missingIndexes(access: Access, kept: readonly KeptFilter[]): Promise<MissingIndexes>;
  /**
   * Whether each data source answers at the moment, in the order in which they were added.
   *
   * @example
   * const down = (await engine.health()).filter(({ isAvailable }) => !isAvailable).map(({ name }) => name);
   */
  health(): Promise<readonly SourceHealth[]>;
  /** The actions of collections: their forms, and their execution. */
  readonly actions: Actions;
  /** The charts of the agent and of records. */
  readonly charts: Charts;
  /** Checks of filters that were stored earlier, such as row scopes and segments. */
  readonly storedFilters: StoredFilters;
  /** Checks of what administrators say about collections in the console. */
  readonly storedMeanings: StoredMeaningChecks;
  /** The text passed to `addInstructions`, or null. */
  readonly instructions: string | null;
  /** The provider passed to `addAi`, or null. */
  readonly ai: AiProvider | null;
  /** The workflows passed to `addWorkflow`, unchanged. */
  readonly workflows: readonly WorkflowEntry[];
  /** Reads the tables of the sources again. Null for an engine that is built only once. */
  readonly catalogue: EngineCatalogue | null;
  /** Identity of the build: a new object after each restart, as a key for caches. */
  readonly build: object;
  /**
   * Closes the data sources. Wait for the running calls first.
   *
   * @example
   * await engine.close();
   */
  close(): Promise<void>;
}

export type { CallerNames };

export interface EngineOptions extends Omit<EngineParts, 'schemaSeconds'> {
  readonly sources: readonly Source[];
  /** Customizations from code, recorded by an agent (agent.ts). */
  readonly customizations?: Customizations;
  readonly actions?: readonly ActionEntry[];
  /** `context.ai` of customization code; null when absent. */
  readonly ai?: AiProvider | null;
  readonly instructions?: string | null;
  readonly workflows?: readonly WorkflowEntry[];
}

/** An engine with its model. */
export interface BuiltEngine {
  readonly engine: Engine;
  readonly model: Model;
  /** The versions of the tables that were read, of the sources that have one. */
  readonly versions: ReadonlyMap<Source, string>;
}

export async function createEngine(options: EngineOptions): Promise<Engine> {
  return (await buildEngine(options)).engine;
}

/**
 * Reads the schema of the sources and builds the model. CONFIGURATION for two collections of the same name, for
 * customizations of missing names, and for invalid actions.
 */
export async function buildEngine(options: EngineOptions): Promise<BuiltEngine> {
  const { sources, observe, clock, limits, customizations } = options;
  const { tables: chosen, versions } = await chooseTables(sources, observe, customizations?.tables);
  const tables = await addQueries(chosen, sources, customizations?.queries ?? []);
  checkDistinct(tables, options);
  const recorded = await (customizations ?? noCustomizations).collect(tables.map(({ name }) => name));
  checkReserved(tables, recorded, options);
  const model = buildModel(tables, recorded, observe);
  const moment = createMoment(clock.now(), 'UTC');
  const rules = compileRules(model, moment);
  checkSegments(model, moment);
  checkMetrics(model, moment);
  checkMinGroupSizes(model, moment);
  const ops: Operations = {
    model,
    clock,
    limits,
    observe,
    warned: new WeakSet(),
    rules,
    unscopedCollection: createUnscopedCollection,
    ai: options.ai ?? null,
  };
  const actions = createActions([...(options.actions ?? []), ...definitionsOf(recorded, 'action')], {
    engine: createActionEngine(ops, options.isUser),
    useUnsafeActionEndpoint: options.useUnsafeActionEndpoint ?? false,
  });
  const charts = createCharts(ops, [...recorded.charts, ...definitionsOf(recorded, 'chart')]);
  const engine: Engine = {
    list: (access, request, options) => list(ops, access, request, options),
    count: (access, request, options) => count(ops, access, request, options),
    get: (access, request, options) => get(ops, access, request, options),
    aggregate: (access, request, options) => aggregate(ops, access, request, options),
    listRelated: (access, request, options) => listRelated(ops, access, request, options),
    countRelated: (access, request, options) => countRelated(ops, access, request, options),
    aggregateRelated: (access, request, options) => aggregateRelated(ops, access, request, options),
    index: (access) => index(ops, access),
    describe: (access, collection) => describe(ops, access, collection),
    names: (access) =>
      createCallerNames(model, access, momentOf(ops, access, {}), (request) => inverseOf(ops, access, request)),
    create: (access, request, options) => create(ops, access, request, options),
    update: (access, request, options) => update(ops, access, request, options),
    delete: (access, request, options) => remove(ops, access, request, options),
    associate: (access, request, options) => associate(ops, access, request, options),
    dissociate: (access, request, options) => dissociate(ops, access, request, options),
    setRelation: (access, request, options) => setRelation(ops, access, request, options),
    foreignKeyValues: (access, request, options) => foreignKeyValues(ops, access, request, options),
    inverseOf: (access, request) => inverseOf(ops, access, request),
    explain: <O extends keyof ExplainRequests>(access: Access, request: ExplainRequests[O], operation?: O) =>
      explain(ops, access, operation ?? ('list' as O), request),
    structure: (access) => describeStructure(() => readCurrentTables(sources, customizations?.tables), access),
    missingIndexes: async (access, kept) => {
      requireCustomizer(access);
      return findMissingIndexes(model, kept);
    },
    health: createHealthCheck(sources, clock),
    actions,
    charts,
    ...createStoredChecks(ops),
    ai: ops.ai,
    instructions: options.instructions ?? null,
    workflows: options.workflows ?? [],
    catalogue: null,
    build: Object.freeze({}),
    close: async () => {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
  return { engine, model, versions };
}

const noCustomizations: Pick<Customizations, 'collect'> = {
  collect: async () => ({ recorded: [], removed: [], charts: [] }),
};
