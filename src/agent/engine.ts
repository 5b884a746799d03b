// The engine as the rooms above it see it. Every operation takes an Access first: there is no other way in.
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { PlainFilter, PlainSort } from '../core/filter.ts';
import type { Observe } from '../core/observe.ts';
import { createActionDoor } from './action-door.ts';
import type { ActionEntry } from './actions/definitions.ts';
import { type Actions, createActions } from './actions.ts';
import { buildModel } from './model/build.ts';
import { count, describe, explain, index, list } from './operations.ts';
import type { Source } from './sources/source.ts';

export interface Engine {
  list(access: Access, request: ListRequest, options?: CallOptions): Promise<ListAnswer>;
  count(access: Access, request: CountRequest, options?: CallOptions): Promise<number>;
  /** The collections that the caller may see, by name. */
  index(access: Access): readonly CollectionSummary[];
  /** UNKNOWN_COLLECTION for one that does not exist or that the caller may not see: the two are not told apart. */
  describe(access: Access, collection: string): CollectionDescription;
  /** The plan of a list with its SQL, as text; no values in it. */
  explain(access: Access, request: ListRequest): string;
  readonly actions: Actions;
  close(): Promise<void>;
}

export interface EngineLimits {
  /** The most records that one list may give. */
  readonly pageSizeLimit: number;
  /** A statement that takes longer is stopped. */
  readonly queryTimeoutMs: number;
}

export interface EngineOptions {
  readonly sources: readonly Source[];
  readonly observe: Observe;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  readonly actions?: readonly ActionEntry[];
  /** Action addresses without the position of the action; default false. */
  readonly useUnsafeActionEndpoint?: boolean;
}

/**
 * Asks the sources what they hold and builds the model. CONFIGURATION when two publish one name, or when an action
 * cannot be used as it is defined.
 */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { sources, observe, clock, limits } = options;
  const ops = { model: await buildModel(sources, observe), clock, limits };
  const actions = createActions(options.actions ?? [], {
    door: createActionDoor(ops),
    useUnsafeActionEndpoint: options.useUnsafeActionEndpoint ?? false,
  });
  return {
    list: (access, request, options) => list(ops, access, request, options),
    count: (access, request, options) => count(ops, access, request, options),
    index: (access) => index(ops, access),
    describe: (access, collection) => describe(ops, access, collection),
    explain: (access, request) => explain(ops, access, request),
    actions,
    close: async () => {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
}

export interface CallOptions {
  /** Stops the statement in the database. */
  readonly signal?: AbortSignal;
}

export interface CountRequest {
  readonly collection: string;
  readonly filter?: PlainFilter | null;
  readonly search?: string;
  /** Searches the to-one relations as well. */
  readonly searchExtended?: boolean;
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
  readonly permissions: { readonly add: boolean; readonly edit: boolean; readonly delete: boolean };
}

export interface FieldDescription {
  readonly name: string;
  /** `String`, or `[String]` for an array. */
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
  /** Own columns of the relation; the key of the foreign collection is what they hold. */
  readonly columns: readonly string[];
}
