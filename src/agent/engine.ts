// The engine as the rooms above it see it. Every operation takes an Access first: there is no other way in.
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { PlainFilter, PlainSort } from '../core/filter.ts';
import type { Observe } from '../core/observe.ts';
import { createActionDoor } from './action-door.ts';
import type { ActionEntry, ReportProgress } from './actions/definitions.ts';
import { type Actions, createActions } from './actions.ts';
import type { AiProvider } from './ai/definitions.ts';
import { type Charts, createCharts } from './charts.ts';
import type { Customizations } from './customize/definitions.ts';
import { type Explained, explain } from './explain.ts';
import { insideCollection } from './inside.ts';
import { buildModel, chooseTables } from './model/build.ts';
import type { Model } from './model/types.ts';
import { count, describe, index, list, type Operations } from './operations.ts';
import { aggregate } from './operations-aggregate.ts';
import { associate, dissociate } from './operations-link.ts';
import { point, pointers } from './operations-point.ts';
import { aggregateRelated, countRelated, get, listRelated } from './operations-related.ts';
import { create, remove, update } from './operations-write.ts';
import { createMoment } from './query/dates.ts';
import { compileRules } from './query/write-rules.ts';
import type { RecordId } from './record-id.ts';
import type { BucketUnit, Operation, Source } from './sources/source.ts';
import { describeStructure, type Structure } from './structure.ts';
import { wayBack } from './way-back.ts';
import type { WorkflowEntry } from './workflow-entry.ts';

/** What can be asked of a model once it is built. Every operation needs an `Access`: whose rights count. */
export interface Engine {
  list(access: Access, request: ListRequest, options?: CallOptions): Promise<ListAnswer>;
  count(access: Access, request: CountRequest, options?: CallOptions): Promise<number>;
  /** One record, as a list of one. RECORD_NOT_FOUND, also where the caller may not see it; FORBIDDEN without the right to read. */
  get(access: Access, request: GetRequest, options?: CallOptions): Promise<ListAnswer>;
  /** One number for each group of records; one in all without groups. */
  aggregate(access: Access, request: AggregateRequest, options?: CallOptions): Promise<AggregateAnswer>;
  /**
   * The records that a to-many relation leads to from one record, which the caller must see: RECORD_NOT_FOUND. Fields, filter
   * and the rest are about the collection that the relation leads to.
   */
  listRelated(access: Access, request: ListRelatedRequest, options?: CallOptions): Promise<ListAnswer>;
  countRelated(access: Access, request: CountRelatedRequest, options?: CallOptions): Promise<number>;
  aggregateRelated(access: Access, request: AggregateRelatedRequest, options?: CallOptions): Promise<AggregateAnswer>;
  /** The collections that the caller may see, by name. */
  index(access: Access): readonly CollectionSummary[];
  /** UNKNOWN_COLLECTION for one that does not exist or that the caller may not see: the two are not told apart. */
  describe(access: Access, collection: string): CollectionDescription;
  /** All records or none; INVALID_RECORD tells everything that is wrong with them. */
  create(access: Access, request: CreateRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /** All records or none; RECORD_NOT_FOUND names the ids that are missing. */
  update(access: Access, request: UpdateRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /** All records or none, and never without ids. */
  delete(access: Access, request: DeleteRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Points the records `ids` of a to-many relation to the record `id`; the answer is about them. Many to many: makes the
   * pairs that are not there yet, and the answer is about those, records of the collection between.
   */
  associate(access: Access, request: LinkRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Makes the records `ids` point to nothing; RECORD_NOT_FOUND names those that did not point to `id`. Deletes nothing but,
   * many to many, the pairs.
   */
  dissociate(access: Access, request: LinkRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * Makes a relation to one of the record `id` lead to the record `to`, or nowhere, on whichever side the key is held: the
   * answer is about the record that holds it. What led there before is released in the same transaction.
   */
  point(access: Access, request: PointRequest, options?: WriteOptions): Promise<WriteAnswer>;
  /**
   * What a record of the collection holds to point to the record `to`, or nowhere: values by field, for a write.
   * RECORD_NOT_FOUND; INVALID_ARGUMENT where the other side holds the key.
   */
  pointers(access: Access, request: PointersRequest, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** For a relation to many: where what belongs to each record of the collection is aggregated. INVALID_ARGUMENT. */
  wayBack(access: Access, request: WayBackRequest): WayBack;
  /**
   * What an operation, a list unless another is named, would do: its plan with the SQL, as text, with no values in it. A
   * write is done and taken back for it.
   */
  explain(access: Access, request: ListRequest): Promise<string>;
  explain<O extends keyof Explained>(access: Access, request: Explained[O], operation: O): Promise<string>;
  /** What the data sources hold, for who writes customizations; DENIED for others. */
  structure(access: Access): Structure;
  readonly actions: Actions;
  readonly charts: Charts;
  /** What `addAi` added, or null. */
  readonly ai: AiProvider | null;
  /** What `addWorkflow` added, as it was given. */
  readonly workflows: readonly WorkflowEntry[];
  /** Stands for what the engine was built of: another object after a restart, so that what was worked out can be kept by it. */
  readonly build: object;
  close(): Promise<void>;
}

export interface EngineLimits {
  /** The most records that one list may give. */
  readonly pageSizeLimit: number;
  /** A statement that takes longer is stopped. */
  readonly queryTimeoutMs: number;
  /** The most rows that are read at once where the database cannot decide which are meant; 100,000 when absent. */
  readonly rowsLimit?: number;
}

export interface EngineOptions {
  readonly sources: readonly Source[];
  readonly observe: Observe;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  /** What code says of the collections; made by an agent (agent.ts). */
  readonly customizations?: Customizations;
  readonly actions?: readonly ActionEntry[];
  /** What customization code may ask; nothing when absent. */
  readonly ai?: AiProvider | null;
  readonly workflows?: readonly WorkflowEntry[];
  /** Action addresses without the position of the action; default false. */
  readonly useUnsafeActionEndpoint?: boolean;
}

/** An engine with what it was built from. */
export interface BuiltEngine {
  readonly engine: Engine;
  readonly model: Model;
}

export async function createEngine(options: EngineOptions): Promise<Engine> {
  return (await buildEngine(options)).engine;
}

/**
 * Asks the sources what they hold and builds the model. CONFIGURATION when two publish one name, when code asks for what
 * is not there, or when an action cannot be used as it is defined.
 */
export async function buildEngine(options: EngineOptions): Promise<BuiltEngine> {
  const { sources, observe, clock, limits, customizations } = options;
  const tables = await chooseTables(sources, observe, customizations?.tables);
  const said = await (customizations ?? nothingSaid).say(tables.map(({ name }) => name));
  const model = buildModel(tables, said);
  const rules = compileRules(model, createMoment(clock.now(), 'UTC'));
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
    door: createActionDoor(ops),
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
    structure: (access) => describeStructure(tables, access),
    actions,
    charts,
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

export interface CallOptions {
  /** Stops the statement in the database. */
  readonly signal?: StopSignal;
  /** Told how far an action or a write of many records is. */
  readonly progress?: ReportProgress;
}

export interface CountRequest {
  readonly collection: string;
  readonly filter?: PlainFilter | null;
  readonly search?: string;
  /** Searches the to-one relations as well. */
  readonly searchExtended?: boolean;
  /** One of those that describe lists. */
  readonly segment?: string;
  /** IANA name; the caller's when absent. */
  readonly timezone?: string;
}

export interface ListRequest extends CountRequest {
  /** Columns, or `relation:column` through to-one relations; every visible column of the collection when absent. */
  readonly fields?: readonly string[];
  readonly sort?: readonly PlainSort[];
  /** 1 to the configured limit. */
  readonly limit: number;
  /** Ignored with a cursor. */
  readonly skip?: number;
  /** What an earlier answer of the same request gave. */
  readonly cursor?: string;
}

export interface GetRequest {
  readonly collection: string;
  readonly id: RecordId;
  /** As of a list. */
  readonly fields?: readonly string[];
  readonly timezone?: string;
}

export interface ListAnswer {
  /** As asked for. */
  readonly columns: readonly string[];
  /** Positional, as wide as `columns`, in canonical values (sources/source.ts) made ready for JSON. */
  readonly rows: readonly (readonly unknown[])[];
  readonly hasMore: boolean;
  /** The cursor that goes on after row `index`; only for a collection with a key. */
  cursorAfter(index: number): string | undefined;
  /** The same rows as objects, relations nested; null for a missing relation. */
  records(): Record<string, unknown>[];
}

export interface AggregateRequest extends CountRequest {
  readonly operation: Operation;
  /** What is added up or compared: a Number for Sum and Avg. Count of a field counts its values that are not null. */
  readonly field?: string;
  readonly groups?: readonly PlainGroup[];
  /** Of the groups: 1 to the configured limit. */
  readonly limit: number;
  /** `value`, the default: the largest first, then by groups. `groups`: ascending, which for dates is oldest first. */
  readonly order?: 'value' | 'groups';
}

/** One record, and a to-many relation of its collection. */
export interface Parent {
  readonly collection: string;
  readonly id: RecordId;
  readonly relation: string;
}

export type ListRelatedRequest = Omit<ListRequest, 'collection'> & Parent;
export type CountRelatedRequest = Omit<CountRequest, 'collection'> & Parent;
export type AggregateRelatedRequest = Omit<AggregateRequest, 'collection'> & Parent;

export interface PlainGroup {
  /** A field, or `relation:field`. */
  readonly field: string;
  /** Of a Date or a Dateonly: groups by the period of the request's timezone. */
  readonly bucket?: BucketUnit;
}

export interface AggregateAnswer {
  /** The groups as asked for, a bucket as `month(field)`; then the value, as `count` or `sum(field)`. */
  readonly columns: readonly string[];
  /** A bucket is the day that its period starts with, 'YYYY-MM-DD'. */
  readonly rows: readonly (readonly unknown[])[];
  readonly hasMore: boolean;
}

export interface WriteOptions extends CallOptions {
  /** Does everything, tells what it came to, and takes it back: nothing is written. */
  readonly preview?: boolean;
  /** With a preview: the answer has `found` as well. */
  readonly found?: boolean;
}

export interface CreateRequest {
  readonly collection: string;
  /** Values by field; at most 500 records. A field that is left out takes the default of the database. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** In which instants without an offset are read. IANA name; the caller's when absent. */
  readonly timezone?: string;
}

export interface UpdateRequest {
  readonly collection: string;
  /** Either these, at most 500, or a filter that at most 500 records match. */
  readonly ids?: readonly RecordId[];
  readonly filter?: PlainFilter;
  readonly values: Readonly<Record<string, unknown>>;
  readonly timezone?: string;
}

export interface DeleteRequest {
  readonly collection: string;
  /** 1 to 500. */
  readonly ids: readonly RecordId[];
}

export interface LinkRequest {
  readonly collection: string;
  readonly id: RecordId;
  /** Of that collection, made of a foreign key of the other. */
  readonly relation: string;
  /** Records of the other collection. */
  readonly ids: readonly RecordId[];
}

export interface PointersRequest {
  readonly collection: string;
  /** Of that collection, to one record. */
  readonly relation: string;
  readonly to: RecordId | null;
}

export interface PointRequest extends PointersRequest {
  readonly id: RecordId;
}

export interface WayBackRequest {
  readonly collection: string;
  /** Of that collection, to many records. */
  readonly relation: string;
}

export interface WayBack {
  /** The foreign collection; many to many, the one between. */
  readonly collection: string;
  /** Its relation to one that leads back. */
  readonly home: string;
  /** Many to many: its relation to the foreign collection. */
  readonly foreign?: string;
}

export interface WriteAnswer {
  /** Records touched, changed or not. */
  readonly count: number;
  /** Packed (record-id.ts), in the order asked for; empty for a preview, and where the caller does not see the key. */
  readonly ids: readonly string[];
  /** Every visible column as it is stored now, or was, for a delete; empty for a preview. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** For a preview: one for each record. */
  readonly changes?: readonly RecordChange[];
  /** For a preview, where asked for: the records that are there already, every visible stored column as it is. */
  readonly found?: readonly Readonly<Record<string, unknown>>[];
}

export interface RecordChange {
  /** Null for a record that would be created. */
  readonly id: string | null;
  /** The fields that would change. */
  readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
}

export interface CollectionSummary {
  readonly name: string;
  readonly kind: 'table' | 'view';
  /** Number of visible columns. */
  readonly fields: number;
  /** Names of visible relations. */
  readonly relations: readonly string[];
  readonly writable: boolean;
}

export interface CollectionDescription {
  readonly name: string;
  readonly kind: 'table' | 'view';
  /** Empty when there is none, or when the caller does not see all of it. */
  readonly key: readonly string[];
  readonly fields: readonly FieldDescription[];
  readonly relations: readonly RelationDescription[];
  /** Names that a list may take as its segment. */
  readonly segments: readonly string[];
  readonly searchable: boolean;
  readonly countable: boolean;
  readonly permissions: { readonly add: boolean; readonly edit: boolean; readonly delete: boolean };
}

export interface FieldDescription {
  readonly name: string;
  /** `String`, `[String]` for an array, or `{ city: String }` for a Json whose shape is known. */
  readonly type: string;
  readonly nullable: boolean;
  readonly readOnly: boolean;
  /** A create must give it. */
  readonly required: boolean;
  readonly isKey: boolean;
  readonly sortable: boolean;
  readonly enumValues?: readonly string[];
  /** In the order of core/filter.ts. */
  readonly operators: readonly string[];
}

export interface RelationDescription {
  readonly name: string;
  readonly kind: 'one' | 'many';
  readonly to: string;
  /** Many to many: the collection that holds the pairs; associate writes there. Absent where callers may not ask for it. */
  readonly through?: string;
  /** Polymorphic: what a field must hold, here of a relation to one, else of the foreign collection. */
  readonly only?: { readonly field: string; readonly value: string | number };
  /** Where code gives the records, which are no collection: their fields and types. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Own columns of the relation; the key of the foreign collection is what they hold. */
  readonly columns: readonly string[];
}
