// What users write to customize a collection, and what is kept of it until the model is built. Types alone.
//
// Customization code names fields as they were before any renaming, and may name removed ones.

import type { Caller } from '../../core/caller.ts';
import type { Operator, PlainFilter, PlainSort } from '../../core/filter.ts';
import type { ActionDefinition } from '../actions/definitions.ts';
import type { ColumnType, Source } from '../sources/source.ts';

export type MaybePromise<T> = T | Promise<T>;

/** A record as code sees it: inside names, relations nested, null for a relation without a record. */
export type CodeRecord = Readonly<Record<string, unknown>>;

/** What every function of customization code is given. */
export interface CustomizationContext {
  readonly caller: Caller;
  /** IANA name: of the call, or of the caller. */
  readonly timezone: string;
  /**
   * The inside door to a collection, removed ones too: inside names, no hooks and no row scope. What comes out of it may
   * be more than the caller may see. UNKNOWN_COLLECTION.
   */
  collection(name: string): InsideCollection;
}

export interface InsideCollection {
  /** All records that match, in the order of the key; TOO_MANY_ROWS past the limit of rows that are read at once. */
  list(filter: InsideFilter, projection: readonly string[]): Promise<Record<string, unknown>[]>;
  count(filter?: InsideFilter): Promise<number>;
}

export interface InsideFilter {
  readonly conditionTree?: PlainFilter;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly segment?: string;
}

export interface DataSourceOptions {
  /** Names in the source; everything when absent. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** From the name in the source to the name of the collection. */
  readonly rename?: Readonly<Record<string, string>>;
}

export interface ComputedDefinition {
  /** `File` is a `Binary`. */
  readonly columnType: ColumnType | 'File';
  /** At least one; `relation:field` through to-one relations, other added fields too. */
  readonly dependencies: readonly string[];
  /** Called once for a page, with each combination of dependencies once; gives one value for each record, in order. */
  readonly getValues: (
    records: readonly CodeRecord[],
    context: CustomizationContext,
  ) => MaybePromise<readonly unknown[]>;
  /** In place of a value that is null or undefined. */
  readonly defaultValue?: unknown;
  /** For `Enum`, and needed there. */
  readonly enumValues?: readonly string[];
}

export interface ImportDefinition {
  /** `relation:field` through to-one relations. */
  readonly path: string;
  readonly readonly?: boolean;
}

export type SegmentDefinition = PlainFilter | ((context: CustomizationContext) => MaybePromise<PlainFilter>);
export type OperatorReplacer = (value: unknown, context: CustomizationContext) => MaybePromise<PlainFilter>;
export type SearchReplacer = (
  search: string,
  extended: boolean,
  context: CustomizationContext,
) => MaybePromise<PlainFilter>;

export interface ManyToOneOptions {
  readonly foreignKey: string;
  /** The key of the foreign collection when absent. */
  readonly foreignKeyTarget?: string;
}

export interface OneToManyOptions {
  readonly originKey: string;
  /** The key of this collection when absent. */
  readonly originKeyTarget?: string;
}

export type HookPosition = 'Before' | 'After';

export interface HookContext extends CustomizationContext {
  /** Stops the call; the caller reads the message. REFUSED. */
  throwError(message: string): never;
  /** The same, as something that the caller may not do. DENIED. */
  throwForbiddenError(message: string): never;
}

export interface BeforeListContext extends HookContext {
  /** Lets only records through that match this as well. */
  narrow(filter: PlainFilter): void;
}

export interface AfterListContext extends HookContext {
  /** What was read, by the names that the caller asked for: to look at. */
  readonly records: readonly CodeRecord[];
}

export interface HookContexts {
  readonly Before: { readonly List: BeforeListContext };
  readonly After: { readonly List: AfterListContext };
}

export type HookHandler<C> = (context: C) => MaybePromise<void>;

export interface Hook<C> {
  readonly handler: HookHandler<C>;
  readonly at: string;
}

/** In the order in which they were added. */
export interface Hooks {
  readonly beforeList: readonly Hook<BeforeListContext>[];
  readonly afterList: readonly Hook<AfterListContext>[];
}

/** One call of the customizer. */
export type Customization =
  | { readonly kind: 'renameField'; readonly name: string; readonly newName: string }
  | { readonly kind: 'removeField'; readonly name: string }
  | { readonly kind: 'addField'; readonly name: string; readonly definition: ComputedDefinition }
  | { readonly kind: 'importField'; readonly name: string; readonly definition: ImportDefinition }
  | { readonly kind: 'addSegment'; readonly name: string; readonly definition: SegmentDefinition }
  | { readonly kind: 'toOne'; readonly name: string; readonly foreign: string; readonly options: ManyToOneOptions }
  | {
      readonly kind: 'fromOther';
      readonly name: string;
      readonly foreign: string;
      readonly single: boolean;
      readonly options: OneToManyOptions;
    }
  | {
      readonly kind: 'replaceOperator';
      readonly name: string;
      readonly operator: Operator;
      readonly replace: OperatorReplacer;
    }
  /** Every operator of the type that nothing else answers, when none is named. */
  | { readonly kind: 'emulateOperator'; readonly name: string; readonly operator?: Operator }
  | { readonly kind: 'sort'; readonly name: string; readonly by: 'here' | 'nothing' | readonly PlainSort[] }
  | { readonly kind: 'nullable'; readonly name: string }
  | { readonly kind: 'search'; readonly replace: SearchReplacer | null }
  | { readonly kind: 'action'; readonly name: string; readonly definition: ActionDefinition }
  | { readonly kind: 'disableCount' }
  | { readonly kind: 'beforeList'; readonly handler: HookHandler<BeforeListContext> }
  | { readonly kind: 'afterList'; readonly handler: HookHandler<AfterListContext> };

export interface Recorded {
  readonly collection: string;
  /** `file:line` of the call. */
  readonly at: string;
  readonly what: Customization;
}

/** Everything that was said before the model is built, in the order in which it was said. */
export interface Customizations {
  readonly recorded: readonly Recorded[];
  readonly removed: readonly { readonly collection: string; readonly at: string }[];
  /** Of sources that were added with options. */
  readonly tables: ReadonlyMap<Source, { readonly options: DataSourceOptions; readonly at: string }>;
}
