// What users write to define an action: types alone. `Values` names the form's values, so that a label that is not one
// of them, a default of another type, or a misspelt `formValues` member does not compile; without it any form is taken.

import type { Caller, PolicyWish } from '../../core/caller.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { AiProvider } from '../ai/definitions.ts';
import type { InsideCollection } from '../customize/definitions.ts';
import type { WidgetName, widgets } from './elements.ts';
import type { ActionResult, ResultBuilder } from './results.ts';

/** One record, any number of chosen ones, or none: the collection as a whole. */
export type ActionScope = 'Single' | 'Bulk' | 'Global';

export const fieldTypes = [
  'String',
  'Number',
  'Boolean',
  'Date',
  'Dateonly',
  'Time',
  'Enum',
  'EnumList',
  'File',
  'FileList',
  'Json',
  'Collection',
  'NumberList',
  'StringList',
] as const;
export type FieldType = (typeof fieldTypes)[number];

/** A file of a form: sent as a `data:` URI, or as this by callers within the process. */
export interface FormFile {
  readonly name: string;
  readonly mimeType: string;
  readonly content: Buffer;
}

/** The values that handlers and `execute` see; null or undefined where there is none. */
export interface FieldValues {
  readonly String: string;
  readonly Number: number;
  readonly Boolean: boolean;
  /** `YYYY-MM-DDTHH:mm:ss.sssZ` */
  readonly Date: string;
  /** `YYYY-MM-DD` */
  readonly Dateonly: string;
  /** `HH:mm:ss` */
  readonly Time: string;
  readonly Enum: string;
  readonly EnumList: readonly string[];
  readonly File: FormFile;
  readonly FileList: readonly FormFile[];
  readonly Json: unknown;
  /** The key of a record, one item for each of its columns. */
  readonly Collection: readonly (string | number)[];
  readonly NumberList: readonly number[];
  readonly StringList: readonly string[];
}

export type FormValues = Readonly<Record<string, unknown>>;

/** A record with its relations nested; null for a missing relation. */
export type ActionRecord = Readonly<Record<string, unknown>>;

/** What is selected, in inside names. The row scope of the caller is already in `conditionTree`. */
export interface ActionFilter {
  readonly conditionTree: PlainFilter | null;
  readonly search?: string;
  readonly searchExtended?: boolean;
}

/**
 * The inside door to the collection: every field and every row, whatever the caller may see, to read and to write. Narrow
 * with `context.filter`.
 */
export interface ActionCollection extends Omit<InsideCollection, 'list' | 'update' | 'delete'> {
  readonly name: string;
  list(filter: ActionFilter | null, fields: readonly string[]): Promise<ActionRecord[]>;
  update(filter: ActionFilter, patch: ActionRecord): Promise<number>;
  delete(filter: ActionFilter): Promise<number>;
}

/**
 * Says how far the work is: `done` of `total`, in any unit, with a line for the person who waits. It reaches clients that
 * asked for progress; say it as often as you like, since they hear it a few times a second at most, and only when `done` is
 * more than before.
 */
export type ReportProgress = (done: number, total?: number, message?: string) => void;

export interface BulkContext<Values = FormValues> {
  readonly collection: ActionCollection;
  readonly filter: ActionFilter;
  readonly caller: Caller;
  /** What `addAi` added, or null. Its questions end when the call is cancelled. */
  readonly ai: AiProvider | null;
  /** Aborted when the client cancels or goes away. Reading and writing through the context ends by itself then. */
  readonly signal: AbortSignal;
  /** In `execute`; in a form's handlers it says nothing to nobody. */
  readonly progress: ReportProgress;
  /** By field id. In a form's handlers what is read here is what the handler depends on. */
  readonly formValues: Readonly<Values>;
  /** Whether the form is loaded because the value of this field changed. */
  hasFieldChanged(fieldName: keyof Values & string): boolean;
  /** The selected records that the caller may see, in key order. Calls of one tick become one list. */
  getRecords(fields: readonly string[]): Promise<ActionRecord[]>;
  /** The value of the key; the packed text where the key has several columns. */
  getRecordIds(): Promise<(string | number)[]>;
  getCompositeRecordIds(): Promise<(string | number)[][]>;
}

export interface SingleContext<Values = FormValues> extends BulkContext<Values> {
  /** RECORD_NOT_FOUND when the record is gone. */
  getRecord(fields: readonly string[]): Promise<ActionRecord>;
  getRecordId(): Promise<string | number>;
  getCompositeRecordId(): Promise<(string | number)[]>;
  /** The value of a field, or of `relation:field`. */
  getField(fieldName: string): Promise<unknown>;
}

export type ActionContext<Scope extends ActionScope = ActionScope, Values = FormValues> = Scope extends 'Single'
  ? SingleContext<Values>
  : BulkContext<Values>;

/** A value, or a function of the context that gives it; undefined is as if it were not there. */
export type Dynamic<Context, Value> = Value | ((context: Context) => Value | undefined | Promise<Value | undefined>);

export type OptionOf<Value> = Value | { readonly value: Value | null; readonly label: string };
export type Options<Context, Value> =
  | readonly OptionOf<Value>[]
  | ((
      context: Context,
      /** What is typed; null when the form is loaded. */
      search: string | null,
    ) => readonly OptionOf<Value>[] | Promise<readonly OptionOf<Value>[]>);

/** The items of a list type; another type itself. */
type Item<Value> = Value extends readonly (infer One)[] ? One : Value;

interface WidgetOptions<Context, Value> {
  readonly options: Options<Context, Item<Value>>;
  /** Default `disabled`. With `dynamic` the handler of `options` is called with what is typed. */
  readonly search?: 'static' | 'dynamic' | 'disabled';
  readonly placeholder?: Dynamic<Context, string>;
  readonly rows?: Dynamic<Context, number>;
  readonly min?: Dynamic<Context, Item<Value>>;
  readonly max?: Dynamic<Context, Item<Value>>;
  readonly step?: Dynamic<Context, number>;
  /** Three letters of ISO 4217. */
  readonly currency: Dynamic<Context, string>;
  /** Whether the value counts units or cents; default `Unit`. */
  readonly base?: Dynamic<Context, 'Unit' | 'Cent'>;
  readonly enableReorder?: boolean;
  readonly allowEmptyValues?: boolean;
  readonly allowDuplicates?: boolean;
  readonly enableOpacity?: boolean;
  readonly quickPalette?: readonly string[];
  readonly format?: string;
  /** Such as `['pdf', 'png']`; any when absent. */
  readonly extensions?: readonly string[];
  readonly maxSizeMb?: number;
  readonly maxCount?: number;
}

type WidgetFor<Type extends FieldType> = {
  [W in WidgetName]: Type extends (typeof widgets)[W]['types'][number] ? W : never;
}[WidgetName];

type WithWidget<Type extends FieldType, Context> =
  | { readonly widget?: never }
  | {
      [W in WidgetFor<Type>]: { readonly widget: W } & Pick<
        WidgetOptions<Context, FieldValues[Type]>,
        (typeof widgets)[W]['options'][number]
      >;
    }[WidgetFor<Type>];

interface Extras<Context> {
  readonly Enum: { readonly enumValues: Dynamic<Context, readonly string[]> };
  readonly EnumList: { readonly enumValues: Dynamic<Context, readonly string[]> };
  readonly Collection: { readonly collectionName: Dynamic<Context, string> };
}

interface ListLengths {
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface FieldBase<Type extends FieldType, Context> {
  readonly type: Type;
  readonly description?: Dynamic<Context, string>;
  readonly isRequired?: Dynamic<Context, boolean>;
  readonly isReadOnly?: Dynamic<Context, boolean>;
  /** The field is there only when this is true. */
  readonly if?: (context: Context) => boolean | Promise<boolean>;
  /** The value that the server gives, whatever was sent; undefined leaves what was sent. */
  readonly value?: Dynamic<Context, FieldValues[Type] | null>;
  /** Used while nothing was sent. */
  readonly defaultValue?: Dynamic<Context, FieldValues[Type] | null>;
}

export type FieldOf<Type extends FieldType, Context> = FieldBase<Type, Context> &
  WithWidget<Type, Context> &
  (Type extends keyof Extras<Context> ? Extras<Context>[Type] : unknown) &
  (FieldValues[Type] extends readonly unknown[] ? (Type extends 'Collection' ? unknown : ListLengths) : unknown);

type AnyField<Context> = { [Type in FieldType]: FieldOf<Type, Context> }[FieldType] & {
  readonly label: string;
  /** What `formValues` and callers name it by; the label when absent. Unique within the form. */
  readonly id?: string;
};

type NamedField<Name extends string, Value, Context> = {
  [Type in FieldType]: NonNullable<Value> extends FieldValues[Type] ? FieldOf<Type, Context> : never;
}[FieldType] &
  ({ readonly label: Name; readonly id?: never } | { readonly id: Name; readonly label: string });

/** A field of the form of an action, typed by the values that the form gives. */
export type FormField<Values = FormValues, Context = BulkContext<Partial<Values>>> = string extends keyof Values
  ? AnyField<Context>
  : { [Name in keyof Values & string]: NamedField<Name, Values[Name], Context> }[keyof Values & string];

interface LayoutBase<Context> {
  readonly type: 'Layout';
  readonly if?: (context: Context) => boolean | Promise<boolean>;
}

export interface Separator<Context> extends LayoutBase<Context> {
  readonly component: 'Separator';
}

export interface HtmlBlock<Context> extends LayoutBase<Context> {
  readonly component: 'HtmlBlock';
  readonly content: Dynamic<Context, string>;
}

export interface FieldRow<Values, Context> extends LayoutBase<Context> {
  readonly component: 'Row';
  readonly fields: readonly FormField<Values, Context>[];
}

/** Stands at the root only, and then beside other pages only. */
export interface FormPage<Values, Context> extends LayoutBase<Context> {
  readonly component: 'Page';
  readonly elements: readonly (
    | FormField<Values, Context>
    | FieldRow<Values, Context>
    | Separator<Context>
    | HtmlBlock<Context>
  )[];
  readonly nextButtonLabel?: string;
  readonly previousButtonLabel?: string;
}

/** One line of the form of an action: a field, or what stands between fields (spec 2.4). */
export type FormElement<Values = FormValues, Context = BulkContext<Partial<Values>>> =
  | FormField<Values, Context>
  | Separator<Context>
  | HtmlBlock<Context>
  | FieldRow<Values, Context>
  | FormPage<Values, Context>;

interface DefinitionOf<Scope extends ActionScope, Values> {
  readonly scope: Scope;
  /** Returning nothing is a success. */
  readonly execute: (
    context: ActionContext<Scope, Values>,
    resultBuilder: ResultBuilder,
  ) => ActionResult | undefined | Promise<ActionResult | undefined>;
  readonly form?:
    | readonly FormElement<Values, ActionContext<Scope, Partial<Values>>>[]
    | ((
        context: ActionContext<Scope, Partial<Values>>,
      ) =>
        | readonly FormElement<Values, ActionContext<Scope, Partial<Values>>>[]
        | Promise<readonly FormElement<Values, ActionContext<Scope, Partial<Values>>>[]>);
  readonly description?: string;
  /** The action may answer with a file. */
  readonly generateFile?: boolean;
  /** At most 50 characters. */
  readonly submitButtonLabel?: string;
  /**
   * Whose yes it needs before it runs: `ask` that of the person at the assistant, `ask-person` that of a person who is
   * signed in to the console, with `secondPerson` another than the one who asks; `deny` is for nobody. Default `allow`. A
   * role may ask for more, never for less.
   */
  readonly approval?: PolicyWish;
}

/** What `addAction` is given: how many records the action works on, its form, and what it does. */
export type ActionDefinition<Values = FormValues> =
  | DefinitionOf<'Single', Values>
  | DefinitionOf<'Bulk', Values>
  | DefinitionOf<'Global', Values>;

/** A definition as it was registered. */
export interface ActionEntry {
  readonly collection: string;
  readonly name: string;
  /** File and line of the user's call. */
  readonly at: string;
  readonly definition: ActionDefinition;
}
