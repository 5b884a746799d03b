// The agent test client as tests see it. `S` is the interface of generated typings: with it the names of collections, their
// fields, filters and records are checked by the compiler; without it any name will do. Types alone.
import type { FieldType, FormFile } from '../agent/actions/definitions.ts';
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
import type { RecordId } from '../agent/record-id.ts';
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

/** One record, or several: `[1, 2]` are two of them, `[[1, 2]]` is one whose key has two columns. */
export type RecordIds = string | number | readonly RecordId[];

/** Which records. */
export interface SelectOptions<S, C extends keyof S> {
  /** Conditions as hooks and segments write them. */
  readonly filters?: IsAny<S> extends true ? PlainFilter : FilterOf<S, C>;
  readonly search?: string;
  /** Searches in the records of to-one relations as well. */
  readonly searchExtended?: boolean;
  readonly segment?: string;
}

/** Which records, in which order, with which fields. */
export interface ListOptions<S, C extends keyof S, P extends string = PathIn<S, C>> extends SelectOptions<S, C> {
  /** Paths such as `name` or `customer:city`. All columns, and those of to-one relations, when absent. */
  readonly fields?: readonly P[];
  readonly sort?: IsAny<S> extends true ? PlainSort | readonly PlainSort[] : SortOf<S, C> | readonly SortOf<S, C>[];
  /** `size`: default 15, at most 1,000. `number`: from 1. */
  readonly page?: { readonly size?: number; readonly number?: number };
}

/** Of a file of records. */
export interface CsvOptions<S, C extends keyof S> extends ListOptions<S, C> {
  /** The first row; the names of the fields when absent. */
  readonly header?: readonly string[];
  readonly filename?: string;
}

interface Listed<S, C extends keyof S> {
  list(options?: Omit<ListOptions<S, C>, 'fields'>): Promise<Whole<S, C>[]>;
  list<P extends PathIn<S, C>>(
    options: ListOptions<S, C, P> & { readonly fields: readonly P[] },
  ): Promise<Found<S, C, P>[]>;
  /** How many there are; null where the collection is not counted. */
  count(options?: SelectOptions<S, C>): Promise<number | null>;
  /** The text of the file. */
  exportCsv(options?: CsvOptions<S, C>): Promise<string>;
}

/** The records of a segment. */
export type SegmentClient<S, C extends keyof S> = Listed<S, C>;

/** A collection of the agent. `S` is the interface of generated typings, `C` the name of the collection. */
export interface CollectionClient<S, C extends keyof S> extends Listed<S, C>, RecordChartReaders {
  search(text: string, options?: Omit<ListOptions<S, C>, 'search' | 'fields'>): Promise<Whole<S, C>[]>;
  /** AgentHttpError with status 404 when there is none that the user may see. */
  get(id: RecordId): Promise<Whole<S, C>>;
  get<P extends PathIn<S, C>>(id: RecordId, options: { readonly fields: readonly P[] }): Promise<Found<S, C, P>>;
  /** The record as it is afterwards. To-one relations are given by the id of a record, a record with its key, or null. */
  create(values: Patch<S, C>): Promise<Whole<S, C>>;
  update(id: RecordId, values: Patch<S, C>): Promise<Whole<S, C>>;
  delete(ids: RecordIds): Promise<void>;
  capabilities(): Promise<Capabilities>;
  segment(name: string): SegmentClient<S, C>;
  relation<R extends RelationName<S, C>>(name: R, id: RecordId): RelationClient<S, ForeignOf<S, C, R>>;
  /** Loads the form of an action. `recordId` for an action on one record; none for a global one. */
  action(name: string, target?: ActionTarget): Promise<ActionFormClient>;
}

/** What a record is related to: `C` is the collection at the other end. */
export interface RelationClient<S, C extends keyof S> extends Listed<S, C> {
  /** To relations to many. */
  associate(ids: RecordIds): Promise<void>;
  /** Takes the records from the relation; they stay. */
  dissociate(ids: RecordIds): Promise<void>;
  /** Deletes the records themselves. */
  delete(ids: RecordIds): Promise<void>;
  /** Of to-one relations: the record to point to, or null for none. */
  set(id: RecordId | null): Promise<void>;
}

/** What an agent tells front ends of a collection: its fields, and how they can be filtered. */
export interface Capabilities {
  readonly name: string;
  readonly fields: readonly {
    readonly name: string;
    readonly type: unknown;
    /** As on the wire, such as `greater_than`; absent of relations. */
    readonly operators?: readonly string[];
    readonly isGroupable?: boolean;
  }[];
  readonly aggregationCapabilities?: unknown;
}

/** The records that an action is about; none for a global one. */
export type ActionTarget = { readonly recordId: RecordId } | { readonly recordIds: RecordIds };

/** The form of an action while it is filled in. Where something depends on a value, the agent is asked what follows from it. */
export interface ActionFormClient {
  /** Those that there are with the values as they are. */
  readonly fields: readonly ActionFieldClient[];
  /** UnknownActionFieldError for a field that there is not, or not yet. */
  getField(name: string): ActionFieldClient;
  /** Pages, rows, separators and blocks of HTML; empty when the form is a plain list. */
  getLayout(): readonly LayoutElement[];
  /** Fields in turn, by name. */
  fill(values: Readonly<Record<string, unknown>>): Promise<void>;
  /** The options of a field with a dynamic search. */
  search(field: string, text: string): Promise<readonly FieldOption[]>;
  /**
   * An error that the action answers with is an outcome; ActionFormValidationError for values that the agent does not take,
   * ActionRequiresApprovalError where somebody else has to agree.
   */
  execute(): Promise<ActionOutcome>;
}

/** One that a field can be filled with. */
export interface FieldOption {
  readonly value: unknown;
  readonly label: string;
}

/** A field at the moment of reading: `fill` changes what it says. */
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
  /** Of a field for a record: its collection. */
  readonly collectionName: string | undefined;
  /** As front ends call it, such as `dropdown`. */
  readonly widget: string | undefined;
  /** Sets the value and lets the agent work out what follows from it. A file is given by name, media type and content. */
  fill(value: unknown): Promise<void>;
  search(text: string): Promise<readonly FieldOption[]>;
}

/** A file to fill a field with. */
export type GivenFile = Omit<FormFile, 'content'> & { readonly content: Uint8Array | string };

export type LayoutElement = Readonly<Record<string, unknown>> & { readonly component: string };

/** How long something took. */
export interface Timing {
  readonly times: number;
  /** Milliseconds. */
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly least: number;
  readonly most: number;
}

/** Asks an agent what a front end would ask, in the name of the user of a sandbox. Made by `createAgentTestClient`. */
export interface AgentTestClient<S extends object = AnySchema> extends ChartReaders {
  collection<C extends CollectionName<S>>(name: C): CollectionClient<S, C>;
  /**
   * What the user may do from the next call on: everything, but what is said here. `{}` gives all back.
   */
  overridePermissions(overrides: { readonly [C in CollectionName<S> | '*']?: PermissionOverride }): Promise<void>;
  /** How long `run` takes, some times after another. */
  benchmark(run: () => unknown, options?: { readonly times?: number }): Promise<Timing>;
  /** Lets the sandbox go; what it holds stays as it is. */
  close(): Promise<void>;
}
