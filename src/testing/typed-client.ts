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
type TargetOf<S, C extends keyof S, R> =
  IsAny<S> extends true
    ? CollectionName<S>
    : (R extends keyof ManyOf<S, C> ? ManyOf<S, C>[R] : R extends keyof OneOf<S, C> ? OneOf<S, C>[R] : never) &
        CollectionName<S>;

/** One record, or several: `[1, 2]` selects two records, `[[1, 2]]` selects one with a two-column key. */
export type RecordIds = string | number | readonly RecordId[];

/** Selects records. */
export interface SelectOptions<S, C extends keyof S> {
  /** Conditions in the format of hooks and segments. Default: no condition. */
  readonly filters?: IsAny<S> extends true ? PlainFilter : FilterOf<S, C>;
  /** The words that records must contain. Default: no search. */
  readonly search?: string;
  /** Also searches the records of to-one relations. Default false. */
  readonly searchExtended?: boolean;
  /** The name of a segment. Default: no segment. */
  readonly segment?: string;
}

/** Selects records, with order and fields. */
export interface ListOptions<S, C extends keyof S, P extends string = PathIn<S, C>> extends SelectOptions<S, C> {
  /** Paths such as `name` or `customer:city`. Default: all columns, and those of to-one relations. */
  readonly fields?: readonly P[];
  /** The order of the records. Default: the order of the key. */
  readonly sort?: IsAny<S> extends true ? PlainSort | readonly PlainSort[] : SortOf<S, C> | readonly SortOf<S, C>[];
  /** The size and the number of the page. Default: 15 records, the first page; at most 1,000 records. */
  readonly page?: { readonly size?: number; readonly number?: number };
}

/** Options of a CSV export. */
export interface CsvOptions<S, C extends keyof S> extends ListOptions<S, C> {
  /** Titles of the first row. Default: the names of the fields. */
  readonly header?: readonly string[];
  /** The name of the file. Default: the name of the collection. */
  readonly filename?: string;
}

interface Listed<S, C extends keyof S> {
  /** The records with all columns. Default: the first page, in the order of the key. */
  list(options?: Omit<ListOptions<S, C>, 'fields'>): Promise<Whole<S, C>[]>;
  /** The records with only these fields. */
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
  /** The records that contain the words of a text. */
  search(text: string, options?: Omit<ListOptions<S, C>, 'search' | 'fields'>): Promise<Whole<S, C>[]>;
  /** Throws AgentHttpError with status 404 when the record does not exist or is not visible to the user. */
  get(id: RecordId): Promise<Whole<S, C>>;
  /** The record with only these fields. */
  get<P extends PathIn<S, C>>(id: RecordId, options: { readonly fields: readonly P[] }): Promise<Found<S, C, P>>;
  /** Returns the created record. To-one relations take the id of a record, a record with its key, or null. */
  create(values: Patch<S, C>): Promise<Whole<S, C>>;
  /** Updates one record. Returns it as stored. */
  update(id: RecordId, values: Patch<S, C>): Promise<Whole<S, C>>;
  /** Deletes the records. */
  delete(ids: RecordIds): Promise<void>;
  /** The fields of the collection and their operators. */
  capabilities(): Promise<Capabilities>;
  /** The client of a segment of the collection. */
  segment(name: string): SegmentClient<S, C>;
  /** The client of the records that a relation leads to from one record. */
  relation<R extends RelationName<S, C>>(name: R, id: RecordId): RelationClient<S, TargetOf<S, C, R>>;
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
  /** The name of the collection. */
  readonly name: string;
  /** The fields and the operators of each. */
  readonly fields: readonly {
    readonly name: string;
    readonly type: unknown;
    /** Names on the wire, such as `greater_than`. Absent for relations. */
    readonly operators?: readonly string[];
    readonly isGroupable?: boolean;
  }[];
  /** The groups and operations of aggregates. */
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
  /** The value that the field takes. */
  readonly value: unknown;
  /** The text that users see. */
  readonly label: string;
}

/** A field of a form. Its properties show the current state of the form. */
export interface ActionFieldClient {
  /** The id of the field. */
  readonly name: string;
  /** The label that users see. */
  readonly label: string;
  /** The type of the value. */
  readonly type: FieldType;
  /** The current value; undefined or null for an empty field. */
  readonly value: unknown;
  /** Whether the form needs a value. */
  readonly isRequired: boolean;
  /** Whether only the action's code sets the value. */
  readonly isReadOnly: boolean;
  /** The text beside the field. */
  readonly description: string | undefined;
  /** The possible values of an Enum. */
  readonly enumValues: readonly string[] | undefined;
  /** The options of a widget with options. */
  readonly options: readonly FieldOption[] | undefined;
  /** Collection of the record, for fields of type Collection. */
  readonly collectionName: string | undefined;
  /** Name in the HTTP API, such as `dropdown`. */
  readonly widget: string | undefined;
  /** Sets the value and updates the fields that depend on it. A file is an object with name, media type and content. */
  fill(value: unknown): Promise<void>;
  /** The options that match a text, for a field with a dynamic search. */
  search(text: string): Promise<readonly FieldOption[]>;
}

/** A file to fill a field with. */
export type GivenFile = Omit<FormFile, 'content'> & { readonly content: Uint8Array | string };

export type LayoutElement = Readonly<Record<string, unknown>> & { readonly component: string };

/** Durations of a benchmark. */
export interface Timing {
  /** The number of runs. */
  readonly times: number;
  /** The average, in milliseconds. */
  readonly mean: number;
  /** The middle value, in milliseconds. */
  readonly median: number;
  /** The time that 95 % of the runs did not exceed, in milliseconds. */
  readonly p95: number;
  /** The shortest run, in milliseconds. */
  readonly least: number;
  /** The longest run, in milliseconds. */
  readonly most: number;
}

/** Calls an agent like a frontend, as the user of a sandbox. Created by `createAgentTestClient`. */
export interface AgentTestClient<S extends object = AnySchema> extends ChartReaders {
  /** The client of one collection. */
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
