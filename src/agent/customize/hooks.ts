// What users write to stand before, after or in place of what callers do: hooks, replaced fields and overrides. Types alone.
import type { PlainFilter } from '../../core/filter.ts';
import type { BucketUnit, Operation } from '../sources/source.ts';
import type { CodeRecord, CustomizationContext, InsideFilter, MaybePromise } from './definitions.ts';

export type HookPosition = 'Before' | 'After';
export type HookType = 'List' | 'Create' | 'Update' | 'Delete' | 'Aggregate';

/** A record that code may change in place. */
export type OpenRecord = Record<string, unknown>;

/** What every hook is given: the caller, the collection, and how to refuse. */
export interface HookContext extends CustomizationContext {
  /** The collection that the hook is of. */
  readonly collectionName: string;
  /** Stops the call; the caller reads the message. REFUSED. */
  throwError(message: string): never;
  /** The same, as something that the caller may not do. DENIED. */
  throwForbiddenError(message: string): never;
  /** The same, as something that is wrong with the field, or with the record. INVALID_RECORD; REFUSED where nothing is written. */
  throwValidationError(message: string, field?: string): never;
}

interface Filtered {
  /** Which records are meant. The row scope is no part of it: it holds whatever a hook does. */
  readonly filter: InsideFilter;
}

interface Narrowing extends Filtered {
  /** Lets only records through that match this as well. */
  narrow(filter: PlainFilter): void;
}

interface Writing {
  /** Nothing will stay of the write: do nothing outside of the database. Hooks after it are not called then. */
  readonly isPreview: boolean;
}

interface ListContext extends HookContext {
  readonly projection: readonly string[];
}

/** Of a hook that may narrow what is listed. */
export interface BeforeListContext extends ListContext, Narrowing {}
/** Of a hook that may change records before they are answered. */
export interface AfterListContext extends ListContext, Filtered {
  /** What was read. What the hook puts into a field is what the caller is told; it must be ready for JSON. */
  readonly records: readonly OpenRecord[];
}

/** Of a hook that may change records before they are made. */
export interface BeforeCreateContext extends HookContext, Writing {
  /** May be changed, field by field; what is then there is checked. A relation that is written along is nested. */
  readonly data: readonly OpenRecord[];
}
/** Of a hook that is told the records that were made. */
export interface AfterCreateContext extends HookContext {
  readonly data: readonly CodeRecord[];
  /** As they are stored. */
  readonly records: readonly CodeRecord[];
}

/** Of a hook that may narrow what is updated, and change what is written. */
export interface BeforeUpdateContext extends HookContext, Narrowing, Writing {
  /** May be changed; what is then there is checked. */
  readonly patch: OpenRecord;
}
/** Of a hook that is told what was written, and to which records. */
export interface AfterUpdateContext extends HookContext, Filtered {
  readonly patch: CodeRecord;
  /** As they are stored now. */
  readonly records: readonly CodeRecord[];
}

/** Of a hook that may narrow what is deleted. */
export interface BeforeDeleteContext extends HookContext, Narrowing, Writing {}
/** Of a hook that is told the records that were deleted, as they were before. */
export interface AfterDeleteContext extends HookContext, Filtered {
  /** As they were. */
  readonly records: readonly CodeRecord[];
}

export interface HookAggregation {
  readonly operation: Operation;
  /** Absent for the Count of records. */
  readonly field?: string;
  readonly groups: readonly { readonly field: string; readonly bucket?: BucketUnit }[];
}

interface AggregateContext extends HookContext {
  readonly aggregation: HookAggregation;
}

/** Of a hook that may narrow what is aggregated. */
export interface BeforeAggregateContext extends AggregateContext, Narrowing {}
/** Of a hook that is told the groups of an aggregate before they are answered. */
export interface AfterAggregateContext extends AggregateContext, Filtered {
  /** One for each group, with its values by field; a value may be changed. */
  readonly result: readonly { value: unknown; readonly group: CodeRecord }[];
}

export interface HookContexts {
  readonly Before: {
    readonly List: BeforeListContext;
    readonly Create: BeforeCreateContext;
    readonly Update: BeforeUpdateContext;
    readonly Delete: BeforeDeleteContext;
    readonly Aggregate: BeforeAggregateContext;
  };
  readonly After: {
    readonly List: AfterListContext;
    readonly Create: AfterCreateContext;
    readonly Update: AfterUpdateContext;
    readonly Delete: AfterDeleteContext;
    readonly Aggregate: AfterAggregateContext;
  };
}

export type HookHandler<C> = (context: C) => MaybePromise<void>;

export interface Hook<C> {
  readonly handler: HookHandler<C>;
  readonly at: string;
}

/** In the order in which they were added. */
export type Hooks = {
  readonly [P in HookPosition]: { readonly [T in HookType]: readonly Hook<HookContexts[P][T]>[] };
};

/** Of code that writes a field in place of the column. */
export interface WriteContext extends CustomizationContext {
  readonly action: 'create' | 'update';
  /** All that is being written, before replacements. */
  readonly record: CodeRecord;
  /**
   * The records that are being updated, as they are, by inside names: those that may be seen. None for a
   * create. TOO_MANY_ROWS past the limit of rows that are read at once.
   */
  getRecords(fields: readonly string[]): Promise<readonly CodeRecord[]>;
}

/**
 * What to write in place of the value: fields of the collection, and of to-one relations as `relation:field` or nested.
 * The field itself may be among them; other replaced fields are replaced in their turn. Nothing is written for undefined.
 */
export type FieldWriter = (value: unknown, context: WriteContext) => MaybePromise<CodeRecord | null | undefined>;

/** Of code that makes records in place of the source. */
export interface OverrideCreateContext extends CustomizationContext {
  readonly data: readonly CodeRecord[];
}
/** Of code that deletes in place of the source. The filter holds the row scope. */
export interface OverrideDeleteContext extends CustomizationContext {
  /** The records, all within the row scope of the caller. */
  readonly filter: InsideFilter & { readonly conditionTree: PlainFilter };
}
/** Of code that updates in place of the source. The filter holds the row scope. */
export interface OverrideUpdateContext extends OverrideDeleteContext {
  readonly patch: CodeRecord;
}

/** What writes in place of the data source. Nothing can be taken back of what these do. */
export interface OverrideHandlers {
  /** Gives the created records, in the order of the data, each with its key. */
  readonly create: (context: OverrideCreateContext) => MaybePromise<readonly CodeRecord[]>;
  readonly update: (context: OverrideUpdateContext) => MaybePromise<void>;
  readonly delete: (context: OverrideDeleteContext) => MaybePromise<void>;
}
export type OverrideVerb = keyof OverrideHandlers;

export interface Override<V extends OverrideVerb> {
  readonly handler: OverrideHandlers[V];
  readonly at: string;
}
export type Overrides = { readonly [V in OverrideVerb]?: Override<V> };
