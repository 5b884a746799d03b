// The public interface of the engine. Every operation takes an `Access` first, which carries the caller's permissions.

import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { type Actions, createActions } from './actions/actions.ts';
import type { ActionEntry } from './actions/definitions.ts';
import { createActionDoor } from './actions/engine-access.ts';
import type { AiProvider } from './ai/definitions.ts';
import { describeStructure, type Structure } from './artifacts/structure.ts';
import { type Charts, createCharts } from './charts/charts.ts';
import type { Customizations, Said } from './customize/definitions.ts';
import type { WorkflowEntry } from './customize/workflow-entry.ts';
import { createMoment } from './lower/dates.ts';
import { buildModel, type ChosenTable, chooseTables, lookAtTables } from './model/build.ts';
import type { Model } from './model/types.ts';
import { aggregate } from './operations/aggregate.ts';
import type { Operations } from './operations/call.ts';
import { type Explained, explain } from './operations/explain.ts';
import { insideCollection } from './operations/internal.ts';
import { wayBack } from './operations/inverse.ts';
import { associate, dissociate } from './operations/link.ts';
import { count, describe, index, list } from './operations/list.ts';
import { aggregateRelated, countRelated, get, listRelated } from './operations/related.ts';
import { checkSegments } from './operations/segments.ts';
import { point, pointers } from './operations/set-relation.ts';
import { createStoredFilters, type StoredFilters } from './operations/stored-filters.ts';
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
  EngineLimits,
  GetRequest,
  LinkRequest,
  ListAnswer,
  ListRelatedRequest,
  ListRequest,
  PointersRequest,
  PointRequest,
  UpdateRequest,
  WayBack,
  WayBackRequest,
  WriteAnswer,
  WriteOptions,
} from './requests.ts';
import { type CallerNames, callerNames } from './resolve/caller-names.ts';
import type { Source } from './sources/source.ts';
import { compileRules } from './write/validation.ts';

/** The operations of a built model. Each takes an `Access`: the caller and their permissions. */
export interface Engine {
  list(access: Access, request: ListRequest, options?: CallOptions): Promise<ListAnswer>;
  count(access: Access, request: CountRequest, options?: CallOptions): Promise<number>;
  /**
   * One record, as a list of one. RECORD_NOT_FOUND, also for a record outside the caller's row scope; FORBIDDEN without
   * permission to read.
   */
  get(access: Access, request: GetRequest, options?: CallOptions): Promise<ListAnswer>;
  /** One value for each group of records, or a single value without groups. */
  aggregate(access: Access, request: AggregateRequest, options?: CallOptions): Promise<AggregateAnswer>;
  /**
   * The records that a to-many relation leads to from one record. RECORD_NOT_FOUND if the caller may not see that
   * record. Fields, filter and the other options refer to the foreign collection.
   */
  listRelated(access: Access, request: ListRelatedRequest, options?: CallOptions): Promise<ListAnswer>;
  countRelated(access: Access, request: CountRelatedRequest, options?: CallOptions): Promise<number>;
  aggregateRelated(access: Access, request: AggregateRelatedRequest, options?: CallOptions): Promise<AggregateAnswer>;
  /** The collections that the caller may see, by name. */
  index(access: Access): readonly CollectionSummary[];
  /** UNKNOWN_COLLECTION, both for a missing collection and for one that the caller may not see. */
  describe(access: Access, collection: string): CollectionDescription;
  /** Resolves names in the caller's input that have only one possible meaning. */
  names(access: Access): CallerNames;
  /** Creates all records or fails. INVALID_RECORD lists every problem. */
  create(access: Access, request: CreateRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /** Updates all records or fails. RECORD_NOT_FOUND names the missing ids. */
  update(access: Access, request: UpdateRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /** Deletes all records or fails. Always requires ids. */
  delete(access: Access, request: DeleteRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Points the records `ids` of a to-many relation to the record `id`, and returns them. Many to many: creates the
   * missing pairs, and returns those rows of the through collection.
   */
  associate(access: Access, request: LinkRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Sets the foreign key of the records `ids` to null. RECORD_NOT_FOUND names those that did not point to `id`. Many to
   * many: deletes the pairs. No other row is deleted.
   */
  dissociate(access: Access, request: LinkRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Points a to-one relation of the record `id` to the record `to`, or clears it with null. Either side may hold the
   * foreign key; the answer contains the record that holds it. The same transaction releases the previous record.
   */
  point(access: Access, request: PointRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * The values by field that a record of the collection needs to point to the record `to`, or to no record, for a
   * write. RECORD_NOT_FOUND; INVALID_ARGUMENT if the other side holds the key.
   */
  pointers(access: Access, request: PointersRequest, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** For a to-many relation: the collection and relation to aggregate the related records by. INVALID_ARGUMENT. */
  wayBack(access: Access, request: WayBackRequest): WayBack;
  /**
   * The plan of an operation (default `list`) and its SQL as text, without values. A write is executed and rolled back.
   */
  explain(access: Access, request: ListRequest): Promise<string>;
  explain<O extends keyof Explained>(access: Access, request: Explained[O], operation: O): Promise<string>;
  /** The current schema of the data sources, for authors of customizations. DENIED for other callers. */
  structure(access: Access): Promise<Structure>;
  readonly actions: Actions;
  readonly charts: Charts;
  readonly storedFilters: StoredFilters;
  /** The provider passed to `addAi`, or null. */
  readonly ai: AiProvider | null;
  /** The workflows passed to `addWorkflow`, unchanged. */
  readonly workflows: readonly WorkflowEntry[];
  /** Identity of the build: a new object after each restart, as a key for caches. */
  readonly build: object;
  close(): Promise<void>;
}

export type { CallerNames };

export interface EngineOptions {
  readonly sources: readonly Source[];
  readonly observe: Observe;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  /** Customizations from code, recorded by an agent (agent.ts). */
  readonly customizations?: Customizations;
  readonly actions?: readonly ActionEntry[];
  /** `context.ai` of customization code; null when absent. */
  readonly ai?: AiProvider | null;
  readonly workflows?: readonly WorkflowEntry[];
  /** Action URLs without the position of the action; default false. */
  readonly useUnsafeActionEndpoint?: boolean;
  /** Collection names that are taken by URLs of the HTTP API; empty when absent. */
  readonly reservedNames?: ReadonlySet<string>;
  /** A setting names the database, not the user's code. Only the error message changes. */
  readonly isOfSettings?: boolean;
  /** Checks that a text is the e-mail address of a user. When absent, any text passes. */
  readonly isUser?: (email: string) => Promise<boolean>;
}

/** CONFIGURATION for a collection that callers could not reach because the HTTP API uses its name in URLs. */
function checkReserved(
  tables: readonly ChosenTable[],
  { removed }: Said,
  { reservedNames: reserved = new Set(), isOfSettings }: Pick<EngineOptions, 'reservedNames' | 'isOfSettings'>,
): void {
  for (const { name, table, at } of tables) {
    if (!reserved.has(name) || removed.some(({ collection }) => collection === name)) continue;
    const why = `A collection cannot be called '${name}': addresses of the HTTP API begin with it.`;
    const rename = `addDataSource(factory, { rename: { '${table.name}': '...' } })`;
    const cure = isOfSettings
      ? `Leave it out with agent.removeCollection('${name}') in portico.config.mjs, export default (agent) => { ... }; to serve it, make a view of another name in the database, or add the database in code: ${rename}.`
      : `Rename it: ${rename}.${at ? ` (${at})` : ''}`;
    fail('CONFIGURATION', { problem: `${why} ${cure}` });
  }
}

/** An engine with its model. */
export interface BuiltEngine {
  readonly engine: Engine;
  readonly model: Model;
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
  const tables = await chooseTables(sources, observe, customizations?.tables);
  const said = await (customizations ?? nothingSaid).say(tables.map(({ name }) => name));
  checkReserved(tables, said, options);
  const model = buildModel(tables, said, observe);
  const moment = createMoment(clock.now(), 'UTC');
  const rules = compileRules(model, moment);
  checkSegments(model, moment);
  const ops: Operations = {
    model,
    clock,
    limits,
    observe,
    told: new WeakSet(),
    rules,
    inside: insideCollection,
    ai: options.ai ?? null,
  };
  const added = said.recorded.flatMap(({ collection, at, what }) =>
    what.kind === 'action' ? [{ collection, name: what.name, at, definition: what.definition }] : [],
  );
  const actions = createActions([...(options.actions ?? []), ...added], {
    door: createActionDoor(ops, options.isUser),
    useUnsafeActionEndpoint: options.useUnsafeActionEndpoint ?? false,
  });
  const charts = createCharts(ops, [
    ...said.charts,
    ...said.recorded.flatMap(({ collection, at, what }) =>
      what.kind === 'chart' ? [{ collection, name: what.name, at, definition: what.definition }] : [],
    ),
  ]);
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
    names: (access) => callerNames(model, access),
    create: (access, request, options) => create(ops, access, request, options),
    update: (access, request, options) => update(ops, access, request, options),
    delete: (access, request, options) => remove(ops, access, request, options),
    associate: (access, request, options) => associate(ops, access, request, options),
    dissociate: (access, request, options) => dissociate(ops, access, request, options),
    point: (access, request, options) => point(ops, access, request, options),
    pointers: (access, request, options) => pointers(ops, access, request, options),
    wayBack: (access, request) => wayBack(ops, access, request),
    explain: <O extends keyof Explained>(access: Access, request: Explained[O], operation?: O) =>
      explain(ops, access, operation ?? ('list' as O), request),
    structure: (access) => describeStructure(() => lookAtTables(sources, customizations?.tables), access),
    actions,
    charts,
    storedFilters: createStoredFilters(ops),
    ai: ops.ai,
    workflows: options.workflows ?? [],
    build: Object.freeze({}),
    close: async () => {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
  return { engine, model };
}

const nothingSaid: Pick<Customizations, 'say'> = { say: async () => ({ recorded: [], removed: [], charts: [] }) };
