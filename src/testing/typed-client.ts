// Types of the agent test client. `S` is the interface of generated typings. With it, the compiler checks the names of
// collections, fields, filters and records. Without it, any name is accepted.
import type { FormFile } from '../agent/actions/definitions.ts';
import type { FieldType } from '../agent/actions/field-types.ts';
import type {
  AnySchema,
  CollectionName,
  FilterOf,
  PatchOf,
  Path,
  Picked,
  RecordOf,
  SortOf,
} from '../agent/customize/typed-schema.ts';
import type { RecordId } from '../agent/encode/record-id.ts';
import type { PlainFilter, PlainSort } from '../core/filter.ts';
import type { ActionOutcome } from './action-results.ts';
import type { ChartReaders, RecordChartReaders } from './charts.ts';
import type { PlainRecord } from './documents.ts';
import type { PermissionOverride } from './rights.ts';

type IsAny<S> = string extends keyof S ? true : false;
type Whole<S, C extends keyof S> = IsAny<S> extends true ? PlainRecord : RecordOf<S, C>;
type Patch<S, C extends keyof S> = IsAny<S> extends true ? PlainRecord : PatchOf<S, C>;
type PathIn<S, C extends keyof S> = IsAny<S> extends true ? string : Path<S, C>;
type Found<S, C extends keyof S, P extends string> = IsAny<S> extends true ? PlainRecord : Picked<S, C, P>;
type ManyOf<S, C extends keyof S> = S[C] extends { readonly many: infer X } ? X : never;
type OneOf<S, C extends keyof S> = S[C] extends { readonly one: infer X } ? X : never;
type RelationName<S, C extends keyof S> =
  IsAny<S> extends true ? string : (keyof ManyOf<S, C> | keyof OneOf<S, C>) & string;
type ForeignOf<S, C extends keyof S, R> =
  IsAny<S> extends true
    ? CollectionName<S>
    : (R extends keyof ManyOf<S, C> ? ManyOf<S, C>[R] : R extends keyof OneOf<S, C> ? OneOf<S, C>[R] : never) &
        CollectionName<S>;

/** One record, or several: `[1, 2]` selects two records, `[[1, 2]]` selects one with a two-column key. */
export type RecordIds = string | number | readonly RecordId[];

/** Selects records. */
export interface SelectOptions<S, C extends keyof S> {
  /** Conditions in the format of hooks and segments. */
  readonly filters?: IsAny<S> extends true ? PlainFilter : FilterOf<S, C>;
  readonly search?: string;
  /** Also searches the records of to-one relations. */
  readonly searchExtended?: boolean;
  readonly segment?: string;
}

/** Selects records, with order and fields. */
export interface ListOptions<S, C extends keyof S, P extends string = PathIn<S, C>> extends SelectOptions<S, C> {
  /** Paths such as `name` or `customer:city`. Default: all columns, and those of to-one relations. */
  readonly fields?: readonly P[];
  readonly sort?: IsAny<S> extends true ? PlainSort | readonly PlainSort[] : SortOf<S, C> | readonly SortOf<S, C>[];
  /** `size`: default 15, at most 1,000. `number`: from 1. */
  readonly page?: { readonly size?: number; readonly number?: number };
}

/** Options of a CSV export. */
export interface CsvOptions<S, C extends keyof S> extends ListOptions<S, C> {
  /** Titles of the first row. Default: the names of the fields. */
  readonly header?: readonly string[];
  readonly filename?: string;
}

interface Listed<S, C extends keyof S> {
  list(options?: Omit<ListOptions<S, C>, 'fields'>): Promise<Whole<S, C>[]>;
  list<P extends PathIn<S, C>>(
    options: ListOptions<S, C, P> & { readonly fields: readonly P[] },
  ): Promise<Found<S, C, P>[]>;
  /** Number of records; null if counting is disabled for the collection. */
  count(options?: SelectOptions<S, C>): Promise<number | null>;
  /** The content of the CSV file. */
  exportCsv(options?: CsvOptions<S, C>): Promise<string>;
}

/** Reads the records of a segment. */
export type SegmentClient<S, C extends keyof S> = Listed<S, C>;

/** A collection of the agent. `S` is the interface of generated typings, `C` the name of the collection. */
export interface CollectionClient<S, C extends keyof S> extends Listed<S, C>, RecordChartReaders {
  search(text: string, options?: Omit<ListOptions<S, C>, 'search' | 'fields'>): Promise<Whole<S, C>[]>;
  /** Throws AgentHttpError with status 404 when the record does not exist or is not visible to the user. */
  get(id: RecordId): Promise<Whole<S, C>>;
  get<P extends PathIn<S, C>>(id: RecordId, options: { readonly fields: readonly P[] }): Promise<Found<S, C, P>>;
  /** Returns the created record. To-one relations take the id of a record, a record with its key, or null. */
  create(values: Patch<S, C>): Promise<Whole<S, C>>;
  update(id: RecordId, values: Patch<S, C>): Promise<Whole<S, C>>;
  delete(ids: RecordIds): Promise<void>;
  capabilities(): Promise<Capabilities>;
  segment(name: string): SegmentClient<S, C>;
  relation<R extends RelationName<S, C>>(name: R, id: RecordId): RelationClient<S, ForeignOf<S, C, R>>;
  /** Loads the form of an action. Omit `target` for a global action. */
  action(name: string, target?: ActionTarget): Promise<ActionFormClient>;
}

/** The related records of a record. `C` is the collection at the other end. */
export interface RelationClient<S, C extends keyof S> extends Listed<S, C> {
  /** For to-many relations. */
  associate(ids: RecordIds): Promise<void>;
  /** Removes the records from the relation without deleting them. */
  dissociate(ids: RecordIds): Promise<void>;
  /** Deletes the records themselves. */
  delete(ids: RecordIds): Promise<void>;
  /** For to-one relations: the record to point to, or null to clear it. */
  set(id: RecordId | null): Promise<void>;
}

/** The fields of a collection and their filter operators, as the agent reports them to frontends. */
export interface Capabilities {
  readonly name: string;
  readonly fields: readonly {
    readonly name: string;
    readonly type: unknown;
    /** Names on the wire, such as `greater_than`. Absent for relations. */
    readonly operators?: readonly string[];
    readonly isGroupable?: boolean;
  }[];
  readonly aggregationCapabilities?: unknown;
}

/** The records of an action. Global actions have no target. */
export type ActionTarget = { readonly recordId: RecordId } | { readonly recordIds: RecordIds };

/** A form of an action. Filling a field that others depend on reloads the form from the agent. */
export interface ActionFormClient {
  /** The fields that exist with the current values. */
  readonly fields: readonly ActionFieldClient[];
  /** Throws UnknownActionFieldError if the form does not currently have the field. */
  getField(name: string): ActionFieldClient;
  /** Pages, rows, separators and HTML blocks. Empty when the form is a plain list. */
  getLayout(): readonly LayoutElement[];
  /** Fills fields sequentially. The keys are names of fields. */
  fill(values: Readonly<Record<string, unknown>>): Promise<void>;
  /** Options of a field with a dynamic search. */
  search(field: string, text: string): Promise<readonly FieldOption[]>;
  /**
   * Returns error results of the action as outcomes. Throws ActionFormValidationError for invalid values, and
   * ActionRequiresApprovalError if the action requires approval.
   */
  execute(): Promise<ActionOutcome>;
}

/** An option of a field. */
export interface FieldOption {
  readonly value: unknown;
  readonly label: string;
}

/** A field of a form. Its properties show the current state of the form. */
export interface ActionFieldClient {
  readonly name: string;
  readonly label: string;
  readonly type: FieldType;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
  readonly description: string | undefined;
  readonly enumValues: readonly string[] | undefined;
  readonly options: readonly FieldOption[] | undefined;
  /** Collection of the record, for fields of type Collection. */
  readonly collectionName: string | undefined;
  /** Name in the HTTP API, such as `dropdown`. */
  readonly widget: string | undefined;
  /** Sets the value and updates the fields that depend on it. A file is an object with name, media type and content. */
  fill(value: unknown): Promise<void>;
  search(text: string): Promise<readonly FieldOption[]>;
}

/** A file to fill a field with. */
export type GivenFile = Omit<FormFile, 'content'> & { readonly content: Uint8Array | string };

export type LayoutElement = Readonly<Record<string, unknown>> & { readonly component: string };

/** Durations of a benchmark. */
export interface Timing {
  readonly times: number;
  /** Milliseconds. */
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly least: number;
  readonly most: number;
}

/** Calls an agent like a frontend, as the user of a sandbox. Created by `createAgentTestClient`. */
export interface AgentTestClient<S extends object = AnySchema> extends ChartReaders {
  collection<C extends CollectionName<S>>(name: C): CollectionClient<S, C>;
  /**
   * Sets the permissions of the user for all later calls. Everything not listed is allowed; `{}` restores all
   * permissions.
   */
  overridePermissions(overrides: { readonly [C in CollectionName<S> | '*']?: PermissionOverride }): Promise<void>;
  /** Measures `run`, executed several times sequentially; 10 times by default. */
  benchmark(run: () => unknown, options?: { readonly times?: number }): Promise<Timing>;
  /** Disconnects from the sandbox. The sandbox and its state remain. */
  close(): Promise<void>;
}
