// Requests and answers of the engine.

import type { FieldMeaning, Meaning } from '../core/caller/meanings.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { PlainColumn } from '../core/filter/columns.ts';
import type { PlainAggregate, PlainGroup } from '../core/filter/measures.ts';
import type { PlainFilter, PlainSort } from '../core/filter.ts';
import type { ReportProgress } from './actions/definitions.ts';
import type { RecordId } from './encode/record-id.ts';
import type { WriteList } from './execute/written-records.ts';
import type { Operation } from './sources/statement.ts';
import type { RecordChange, WriteEffect } from './write/effects.ts';

/** The limits of an engine, for all callers. */
export interface EngineLimits {
  /** The maximum number of records in one list. */
  readonly pageSizeLimit: number;
  /** Milliseconds after which the engine stops a statement with TIMED_OUT. */
  readonly queryTimeoutMs: number;
  /** The maximum number of rows read at once where the database cannot apply the filter; default 100,000. */
  readonly rowsLimit?: number;
  /** The maximum number of concurrent statements per user; further ones wait. Default 3. */
  readonly queriesAtOnce?: number;
}

/** Options of every call of the engine. */
export interface CallOptions {
  /** Stops the statement in the database. Default: no signal. */
  readonly signal?: StopSignal;
  /** Reports the progress of an action or of a write of many records. Default: no reports. */
  readonly progress?: ReportProgress;
  /** Collects every record that the call writes, also by code and by failed calls. Default: no collection of them. */
  readonly written?: WriteList;
  /**
   * Shortens a page that exceeds the memory limit; `hasMore` and the cursor continue after it. Default false: such a
   * page is an error.
   */
  readonly cutsPages?: boolean;
  /** A shorter time for each statement than `SERVICE_QUERY_SECONDS`, in milliseconds. Default: that setting. */
  readonly timeoutMs?: number;
  /**
   * Characters of the texts that a list shows; `one`: in a list of one record. The database may cut a longer text, which
   * is then a CutText (agent/sources/values/cut-text.ts). Default: texts are whole.
   */
  readonly cutTexts?: { readonly many: number; readonly one: number };
  /** The user's id, if the access lacks it: callers share the connections of a database. Default: that of the caller. */
  readonly user?: number;
}

/** A request to count records. */
export interface CountRequest {
  /** The name of the collection. */
  readonly collection: string;
  /** The condition that records must match. Default: no condition. */
  readonly filter?: PlainFilter | null;
  /**
   * Of a list: fields, `relation:field` through to-one relations, and at most 20 columns, also for `filter` and `sort`:
   * expressions and figures of related records. Default: every visible field, without those hidden by default. A count
   * needs the columns that its filter names, and no fields.
   */
  readonly fields?: readonly (string | PlainColumn)[];
  /** The words that records must contain. Default: no search. */
  readonly search?: string;
  /** Searches the to-one relations as well. Default false. */
  readonly searchExtended?: boolean;
  /** One of the segments that `describe` lists. Default: no segment. */
  readonly segment?: string;
  /** IANA name; defaults to the caller's timezone. */
  readonly timezone?: string;
}

/** A request for a page of records. */
export interface ListRequest extends CountRequest {
  /**
   * The different combinations of the values of `fields` (at most 8), in place of records. Nulls are equal. `sort` takes
   * these fields; all of them follow, ascending. Default false.
   */
  readonly distinct?: boolean;
  /** The fields to sort by, or columns of `fields` by name, at most 100. Default: the order of the key. */
  readonly sort?: readonly PlainSort[];
  /** 1 to the configured limit. */
  readonly limit: number;
  /** Ignored with a cursor. */
  readonly skip?: number;
  /** A cursor from an earlier answer to the same request. */
  readonly cursor?: string;
}

/** A request for one record. */
export interface GetRequest {
  /** The name of the collection. */
  readonly collection: string;
  /** The id of the record. */
  readonly id: RecordId;
  /** Fields, as in a list. */
  readonly fields?: readonly string[];
  /** The timezone of timestamps and relative dates. IANA name; defaults to the caller's timezone. */
  readonly timezone?: string;
}

/** A page of records, as rows. */
export interface ListAnswer {
  /** In the order of the request. */
  readonly columns: readonly string[];
  /** Values by position, as many as `columns`: canonical values (agent/sources/source.ts) converted for JSON. */
  readonly rows: readonly (readonly unknown[])[];
  /** Whether there are records after these. */
  readonly hasMore: boolean;
  /** The columns with file values: `data:` URIs. */
  readonly files: readonly string[];
  /** The cursor after row `index`; only for a collection with a primary key. */
  cursorAfter(index: number): string | undefined;
  /** The same rows as objects, with nested relations; null for a missing relation. */
  records(): Record<string, unknown>[];
}

/** A request for figures of records, or of each group of records: `measures`, or one `operation`. */
export interface AggregateRequest extends Omit<CountRequest, 'fields'>, PlainAggregate {
  /** One figure instead of `measures`: Count, Sum, Avg, Max or Min. */
  readonly operation?: Operation;
  /** For `operation`: a Number for Sum and Avg. Count of a field counts its non-null values. */
  readonly field?: string;
  /** The maximum number of groups: 1 to the configured limit. */
  readonly limit: number;
  /** For `operation`: `value`, the default, puts the largest value first; `groups` orders by group, ascending. */
  readonly order?: 'value' | 'groups';
  /** From the answer to the same request: returns the groups after it. INVALID_CURSOR for a different request. */
  readonly cursor?: string;
}

/** One record, and a to-many relation of its collection. */
export interface ParentRecord {
  /** The collection of the record. */
  readonly collection: string;
  /** The id of the record. */
  readonly id: RecordId;
  /** The to-many relation. */
  readonly relation: string;
}

/** A request for a page of related records. */
export type ListRelatedRequest = Omit<ListRequest, 'collection'> & ParentRecord;

/** A request to count related records. */
export type CountRelatedRequest = Omit<CountRequest, 'collection'> & ParentRecord;

/** A request to aggregate related records. */
export type AggregateRelatedRequest = Omit<AggregateRequest, 'collection'> & ParentRecord;

/** The groups of an aggregate, as rows. */
export interface AggregateAnswer {
  /**
   * The groups in the order of the request, a bucket as `month(field)` and a part as `weekday(field)`; then the measures by their names, the value of
   * `operation` as `count` or `sum(field)`.
   */
  readonly columns: readonly string[];
  /** A bucket is the first day of its period, 'YYYY-MM-DD', or its hour, 'YYYY-MM-DDTHH:00'. A range is '10..100'. */
  readonly rows: readonly (readonly unknown[])[];
  /** Whether there are groups after these. */
  readonly hasMore: boolean;
  /** Warns that groups without records are omitted: for groups behind a relation, and for periods and enums. */
  readonly note?: string;
  /** The cursor for the groups after row `index`. */
  cursorAfter(index: number): string;
}

/** Options of every write of the engine. */
export interface WriteOptions extends CallOptions {
  /** Executes the write, reports the result and rolls it back. Default false. */
  readonly preview?: boolean;
  /** With a preview: adds `found` to the answer. Default false. */
  readonly found?: boolean;
  /**
   * With a preview of the update of one record: if no code and no other record takes part, reads the record and does
   * not execute the write. The answer then has no effects, and the database has not checked the values. Default false.
   */
  readonly onlyReads?: boolean;
  /** Limits nested writes to the relations that code allows (`allowNestedWrites`). Tools set this. Default false. */
  readonly onlyAllowedRelations?: boolean;
  /**
   * For an approved write: called before the commit with the current effects, to compare them with `found.effects` of
   * the preview. Throws to roll the write back. Default: no check.
   */
  readonly approved?: (effects: unknown) => void;
}

/** A request to create records. */
export interface CreateRequest {
  /** The name of the collection. */
  readonly collection: string;
  /** Values by field; at most 500 records. An omitted field takes the default of the database. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** The timezone for instants without an offset. IANA name; defaults to the caller's timezone. */
  readonly timezone?: string;
}

/** A request to write the same values to records. */
export interface UpdateRequest {
  /** The name of the collection. */
  readonly collection: string;
  /** Either ids, at most 500, or a filter that matches at most 500 records. */
  readonly ids?: readonly RecordId[];
  /** Selects the records, instead of `ids`. */
  readonly filter?: PlainFilter;
  /** The new values by field, the same for every record. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The timezone for instants without an offset. IANA name; defaults to the caller's timezone. */
  readonly timezone?: string;
}

/** A request to delete records. */
export interface DeleteRequest {
  /** The name of the collection. */
  readonly collection: string;
  /** 1 to 500. */
  readonly ids: readonly RecordId[];
}

/** A request to link records to a record, or to unlink them. */
export interface LinkRequest {
  /** The collection of the record `id`. */
  readonly collection: string;
  /** The record that has the relation. */
  readonly id: RecordId;
  /** A relation of `collection`, made of a foreign key of the other collection. */
  readonly relation: string;
  /** Records of the other collection. */
  readonly ids: readonly RecordId[];
}

/** A request for the values that point to a record. */
export interface ForeignKeyRequest {
  /** The collection of the record. */
  readonly collection: string;
  /** A to-one relation of `collection`. */
  readonly relation: string;
  /** The related record, or null for no record. */
  readonly to: RecordId | null;
}

/** A request to set a to-one relation. */
export interface SetRelationRequest extends ForeignKeyRequest {
  /** The record that has the relation. */
  readonly id: RecordId;
}

/** A request for the inverse of a to-many relation. */
export interface InverseRequest {
  /** The collection that has the relation. */
  readonly collection: string;
  /** A to-many relation of `collection`. */
  readonly relation: string;
}

/** The inverse of a to-many relation, to aggregate by. */
export interface InverseRelation {
  /** The foreign collection; many to many, the through collection. */
  readonly collection: string;
  /** Its to-one relation back to the record. */
  readonly home: string;
  /** Many to many: its relation to the foreign collection. */
  readonly foreign?: string;
}

/** The result of a write. */
export interface WriteAnswer {
  /** The number of records in the write, changed or not. */
  readonly count: number;
  /**
   * Packed ids (agent/encode/record-id.ts), in the order of the request. Empty for a preview, and when the key is
   * hidden from the caller.
   */
  readonly ids: readonly string[];
  /** Every visible column as stored now, or before a delete; empty for a preview. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** For a preview: one for each record. */
  readonly changes?: readonly RecordChange[];
  /**
   * Every record that the call wrote, or for a preview would write, in all collections and as the caller may see them.
   * Includes the records of `count`.
   */
  readonly effects: readonly WriteEffect[];
  /** Further possible changes that the engine cannot determine, as sentences; usually empty. */
  readonly unseen: readonly string[];
  /** For a preview with `found`: the current state of the records, to detect later changes. Never shown. */
  readonly found?: {
    /** The existing records, with every visible stored column. */
    readonly records: readonly Readonly<Record<string, unknown>>[];
    /** The value that the write itself passes to `approved`. */
    readonly effects: unknown;
  };
}

/** A collection in the list of all collections. */
export interface CollectionSummary extends Meaning {
  /** The name for callers. */
  readonly name: string;
  /** Whether the data source has it as a table or as a view. */
  readonly kind: 'table' | 'view';
  /** Number of visible columns. */
  readonly fields: number;
  /** Names of visible relations. */
  readonly relations: readonly string[];
  /** Whether the caller may write records in any way. */
  readonly writable: boolean;
}

/** A collection as the caller may use it. */
export interface CollectionDescription extends Meaning {
  /** The name for callers. */
  readonly name: string;
  /** Whether the data source has it as a table or as a view. */
  readonly kind: 'table' | 'view';
  /** Empty without a primary key, or when part of it is hidden from the caller. */
  readonly key: readonly string[];
  /** The field whose value names a record for people. Absent if no visible field fits. */
  readonly displayField?: string;
  /** The fields that the caller may see. */
  readonly fields: readonly FieldDescription[];
  /** The relations that the caller may see. */
  readonly relations: readonly RelationDescription[];
  /** Names that a list accepts as `segment`. */
  readonly segments: readonly string[];
  /** What segments are, by name. Absent if the console describes none. */
  readonly segmentDescriptions?: Readonly<Record<string, string>>;
  /** The metrics that measures of an aggregate may name, with what they are. */
  readonly metrics: readonly { readonly name: string; readonly description?: string }[];
  /** The fields that only aggregates show, and what those may group by and filter. Absent without a minimum group size. */
  readonly aggregates?: {
    readonly minGroupSize: number;
    readonly fields: readonly FieldDescription[];
    readonly by: readonly (string | PlainGroup)[];
  };
  /** Whether requests may have a `search`. */
  readonly searchable: boolean;
  /** Whether the records may be counted. */
  readonly countable: boolean;
  /** Whether the caller may create, update and delete records. */
  readonly permissions: { readonly add: boolean; readonly edit: boolean; readonly delete: boolean };
}

/** A field as the caller may use it. */
export interface FieldDescription extends FieldMeaning {
  /** The name for callers. */
  readonly name: string;
  /** `String`, `[String]` for an array, or `{ city: String }` for a Json of known shape. */
  readonly type: string;
  /** Whether values may be null. */
  readonly nullable: boolean;
  /** Whether the caller may only read it. */
  readonly readOnly: boolean;
  /** Required in a create. */
  readonly required: boolean;
  /** Whether the field is part of the primary key. */
  readonly isKey: boolean;
  /** Whether requests may sort by the field. */
  readonly sortable: boolean;
  /** The possible values of an Enum. */
  readonly enumValues?: readonly string[];
  /** For a Binary: `datauri` for files, or `hex` for short bytes such as a UUID. All values have this form. */
  readonly binaryMode?: 'datauri' | 'hex';
  /** For a timestamp without a zone: the IANA timezone of its values. Absent for instants. */
  readonly timezone?: string;
  /** In the order of core/filter.ts. */
  readonly operators: readonly string[];
  /** For a parameter of a query: its default, without which every request needs a filter that sets it. */
  readonly parameter?: { readonly default?: unknown };
}

/** A relation as the caller may use it. */
export interface RelationDescription extends Meaning {
  /** The name for callers. */
  readonly name: string;
  /** The previous name, which callers may still use. */
  readonly formerly?: string;
  /** Whether the relation leads to one record or to many. */
  readonly kind: 'one' | 'many';
  /** The collection at the other end. */
  readonly to: string;
  /** Many to many: the collection of the pairs, which `associate` writes to. Absent if hidden from the caller. */
  readonly through?: string;
  /**
   * Polymorphic: the required value of a type field. The field is in this collection for a to-one relation, otherwise
   * in the foreign one.
   */
  readonly only?: { readonly field: string; readonly value: string | number };
  /** The related record can be written together with one of this collection. */
  readonly isWritten?: true;
  /** A to-one relation with several candidates: the one with the lowest key that the caller may see. */
  readonly isLowest?: true;
  /** For records from code, outside any collection: their fields and types. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The relation's own columns; they hold the key of the foreign collection. */
  readonly columns: readonly string[];
  /**
   * To-one: the fields of the foreign collection that `columns` hold, if they are not its key, in its order. Empty if
   * the foreign record refers to this one, or if a field is hidden from the caller.
   */
  readonly references?: readonly string[];
}
