// The context of customization code: collections, the caller and the time.

import type { Caller } from '../../core/caller.ts';
import type { PlainGroup } from '../../core/filter/measures.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { AiProvider } from '../ai/definitions.ts';
import type { Operation } from '../sources/statement.ts';

export type MaybePromise<T> = T | Promise<T>;

/** A record in customization code: original names, nested relations, null for a missing relation. */
export type CodeRecord = Readonly<Record<string, unknown>>;

/** The argument of every function of customization code. */
export interface CustomizationContext {
  /** The user who makes the call. */
  readonly caller: Caller;
  /** IANA name: the timezone of the call, or of the caller. */
  readonly timezone: string;
  /**
   * Direct access to a collection, including removed ones: original names, without hooks or row scope. The result may
   * contain more than the caller may see. UNKNOWN_COLLECTION.
   */
  collection(name: string): UnscopedCollection;
  /** The provider passed to `addAi`, or null. Its requests are cancelled with the call. */
  readonly ai: AiProvider | null;
}

/**
 * Access without hooks and row scope. Validations, replaced fields and overrides still apply. A write by filter needs a
 * condition, a search or a segment.
 */
export interface UnscopedCollection {
  /** All matching records, in key order. TOO_MANY_ROWS above the limit of rows read at once. */
  list(filter: CodeFilter, projection: readonly string[]): Promise<Record<string, unknown>[]>;
  /** The number of matching records. Default: of all records. */
  count(filter?: CodeFilter): Promise<number>;
  /** One entry for each group, the largest value first. `limit` defaults to the page size limit. */
  aggregate(
    filter: CodeFilter,
    aggregation: HookAggregation | Omit<HookAggregation, 'groups'>,
    limit?: number,
  ): Promise<{ readonly value: unknown; readonly group: CodeRecord }[]>;
  /** Creates all records or fails. Returns them as stored, in the order of the data. */
  create(data: readonly CodeRecord[]): Promise<Record<string, unknown>[]>;
  /** Updates all matching records or fails. Returns their number, changed or not. */
  update(filter: CodeFilter, patch: CodeRecord): Promise<number>;
  /** Deletes all matching records or fails. Returns their number. */
  delete(filter: CodeFilter): Promise<number>;
  /** Points the records `ids` of a to-many relation to the record `id`. Returns their number. */
  associate(id: CodeRecordId, relation: string, ids: readonly CodeRecordId[]): Promise<number>;
  /** Sets their foreign key to null; many to many, deletes the pairs. */
  dissociate(id: CodeRecordId, relation: string, ids: readonly CodeRecordId[]): Promise<number>;
}

/** The value of a key, the values of a composite key, or those values packed into one text. */
type CodeRecordId = string | number | readonly (string | number)[];

/** A filter as customization code writes and receives it (behaviour 2.7). */
export interface CodeFilter {
  /** The condition that records must match. Default: no condition. */
  readonly conditionTree?: PlainFilter;
  /** The words that records must contain. Default: no search. */
  readonly search?: string;
  /** Searches the to-one relations as well. Default false. */
  readonly searchExtended?: boolean;
  /** The name of a segment of the collection. Default: no segment. */
  readonly segment?: string;
}

export interface HookAggregation {
  readonly operation: Operation;
  /** Absent for a Count of records. */
  readonly field?: string;
  readonly groups: readonly PlainGroup[];
}
