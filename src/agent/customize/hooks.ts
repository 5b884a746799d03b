// The types of hooks, replaced field writes and overrides, which run before, after or instead of an operation.
import type { PlainFilter } from '../../core/filter.ts';
import type { CodeFilter, CodeRecord, CustomizationContext, HookAggregation, MaybePromise } from './context.ts';

export type HookPosition = 'Before' | 'After';
export type HookType = 'List' | 'Create' | 'Update' | 'Delete' | 'Aggregate';

/** A record that code may change in place. */
export type OpenRecord = Record<string, unknown>;

/** The context of every hook: the caller, the collection, and methods that refuse the call. */
export interface HookContext extends CustomizationContext {
  /** The collection of the hook. */
  readonly collectionName: string;
  /** Stops the call; the caller gets the message. REFUSED. */
  throwError(message: string): never;
  /** Stops the call as forbidden. DENIED. */
  throwForbiddenError(message: string): never;
  /** Stops the call with a problem of the field, or of the record. INVALID_RECORD; REFUSED for reads. */
  throwValidationError(message: string, field?: string): never;
}

interface HasFilter {
  /** The filter of the call. It excludes the row scope, which always applies. */
  readonly filter: CodeFilter;
}

interface Restrictable extends HasFilter {
  /** Restricts the operation to records that also match this filter. */
  narrow(filter: PlainFilter): void;
}

interface PreviewAware {
  /** The write will be rolled back, so the hook must have no effects outside the database. After hooks do not run. */
  readonly isPreview: boolean;
}

interface ListContext extends HookContext {
  /** The fields of the answer, `relation:field` included. */
  readonly projection: readonly string[];
}

/** For a hook that may restrict a list. */
export interface BeforeListContext extends ListContext, Restrictable {}
/** For a hook that may change records before the answer. */
export interface AfterListContext extends ListContext, HasFilter {
  /** The records of the answer. The caller gets the values that the hook sets; they must be ready for JSON. */
  readonly records: readonly OpenRecord[];
}

/** For a hook that may change records before their creation. */
export interface BeforeCreateContext extends HookContext, PreviewAware {
  /** Fields may be changed; validation runs afterwards. Records of nested writes are nested. */
  readonly data: readonly OpenRecord[];
}
/** For a hook that receives the created records. */
export interface AfterCreateContext extends HookContext {
  /** The values of the call, after the `Before` hooks. */
  readonly data: readonly CodeRecord[];
  /** As stored. */
  readonly records: readonly CodeRecord[];
}

/** For a hook that may restrict an update, and change its values. */
export interface BeforeUpdateContext extends HookContext, Restrictable, PreviewAware {
  /** May be changed; validation runs afterwards. */
  readonly patch: OpenRecord;
}
/** For a hook that receives the updated records and values. */
export interface AfterUpdateContext extends HookContext, HasFilter {
  /** The values of the call, after the `Before` hooks. */
  readonly patch: CodeRecord;
  /** As stored now. */
  readonly records: readonly CodeRecord[];
}

/** For a hook that may restrict a delete. */
export interface BeforeDeleteContext extends HookContext, Restrictable, PreviewAware {}
/** For a hook that receives the deleted records. */
export interface AfterDeleteContext extends HookContext, HasFilter {
  /** As they were before the delete. */
  readonly records: readonly CodeRecord[];
}

interface AggregateContext extends HookContext {
  /** The operation, its field, and the groups. */
  readonly aggregation: HookAggregation;
}

/** For a hook that may restrict an aggregate. */
export interface BeforeAggregateContext extends AggregateContext, Restrictable {}
/** For a hook that receives the groups of an aggregate before the answer. */
export interface AfterAggregateContext extends AggregateContext, HasFilter {
  /** One entry for each group, with its values by field; the hook may change `value`. */
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

/** In the order of the calls. */
export type Hooks = {
  readonly [P in HookPosition]: { readonly [T in HookType]: readonly Hook<HookContexts[P][T]>[] };
};

/** The context of code that replaces the write of a field. */
export interface WriteContext extends CustomizationContext {
  /** Whether the write creates or updates records. */
  readonly action: 'create' | 'update';
  /** All values of the write, before replacements. */
  readonly record: CodeRecord;
  /**
   * The current records of the update that the caller may see, by original names; empty for a create. TOO_MANY_ROWS
   * above the limit of rows read at once.
   */
  getRecords(fields: readonly string[]): Promise<readonly CodeRecord[]>;
}

/**
 * Returns the values to write instead: fields of the collection, and of to-one relations as `relation:field` or nested.
 * They may include the field itself. Other replaced fields among them are replaced in turn. Undefined writes no value.
 */
export type FieldWriter = (value: unknown, context: WriteContext) => MaybePromise<CodeRecord | null | undefined>;

/** The context of code that creates records instead of the source. */
export interface OverrideCreateContext extends CustomizationContext {
  /** The values to create records from, by original names. */
  readonly data: readonly CodeRecord[];
}
/** The context of code that deletes records instead of the source. The filter includes the row scope. */
export interface OverrideDeleteContext extends CustomizationContext {
  /** Selects the records, all within the caller's row scope. */
  readonly filter: CodeFilter & { readonly conditionTree: PlainFilter };
}
/** The context of code that updates records instead of the source. The filter includes the row scope. */
export interface OverrideUpdateContext extends OverrideDeleteContext {
  /** The values to write to each selected record, by original names. */
  readonly patch: CodeRecord;
}

/** Handlers that write instead of the data source. Their writes cannot be rolled back. */
export interface OverrideHandlers {
  /** Returns the created records, in the order of the data, each with its key. */
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
