// The types of action definitions. With `Values`, the type of the form's values, the compiler checks labels, default
// values and members of `formValues`. Without it, any form is accepted.

import type { Caller, PolicyInput } from '../../core/caller.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { AiProvider } from '../ai/definitions.ts';
import type { UnscopedCollection } from '../customize/context.ts';
import type { WidgetName, widgets } from './elements.ts';
import type { FieldType } from './field-types.ts';
import type { ActionResult, ResultBuilder } from './results.ts';

/** `Single`: one record. `Bulk`: several selected records. `Global`: the whole collection. */
export type ActionScope = 'Single' | 'Bulk' | 'Global';

/** A file value of a form. Clients send a `data:` URI; callers in the same process may pass this object. */
export interface FormFile {
  readonly name: string;
  readonly mimeType: string;
  readonly content: Buffer;
}

/** The types of values in handlers and in `execute`; null or undefined for an empty field. */
interface FieldValues {
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

/** The selection, by original names. `conditionTree` includes the caller's row scope. */
export interface ActionFilter {
  readonly conditionTree: PlainFilter | null;
  readonly search?: string;
  readonly searchExtended?: boolean;
}

/**
 * Direct access to the collection: reads and writes all fields and rows, whatever the caller may see. Restrict it with
 * `context.filter`.
 */
export interface ActionCollection extends Omit<UnscopedCollection, 'list' | 'update' | 'delete'> {
  readonly name: string;
  list(filter: ActionFilter | null, fields: readonly string[]): Promise<ActionRecord[]>;
  update(filter: ActionFilter, patch: ActionRecord): Promise<number>;
  delete(filter: ActionFilter): Promise<number>;
}

/**
 * Reports progress: `done` of `total`, in any unit, with a message for the user. Only clients that requested progress
 * receive it. You may call it often: reports are throttled to a few per second, and skipped unless `done` has
 * increased.
 */
export type ReportProgress = (done: number, total?: number, message?: string) => void;

export interface BulkContext<Values = FormValues> {
  /** The collection of the action, unscoped. */
  readonly collection: ActionCollection;
  /** The selected records. */
  readonly filter: ActionFilter;
  /** The user who executes the action. */
  readonly caller: Caller;
  /** The provider passed to `addAi`, or null. Its requests are cancelled with the call. */
  readonly ai: AiProvider | null;
  /** Aborted when the client cancels or disconnects. Reads and writes through the context then stop automatically. */
  readonly signal: AbortSignal;
  /** Works in `execute`; has no effect in the handlers of a form. */
  readonly progress: ReportProgress;
  /** By field id. In a form's handlers, each read adds a dependency of the handler. */
  readonly formValues: Readonly<Values>;
  /** True if the form is loaded because the value of this field changed. */
  hasFieldChanged(fieldName: keyof Values & string): boolean;
  /** The selected records that the caller may see, in key order. Calls in the same tick share one query. */
  getRecords(fields: readonly string[]): Promise<ActionRecord[]>;
  /** The value of the key; for a composite key, its packed text. */
  getRecordIds(): Promise<(string | number)[]>;
  /** The values of each key, in the order of its columns. */
  getCompositeRecordIds(): Promise<(string | number)[][]>;
}

interface SingleContext<Values = FormValues> extends BulkContext<Values> {
  /** RECORD_NOT_FOUND if the record no longer exists. */
  getRecord(fields: readonly string[]): Promise<ActionRecord>;
  /** The value of the key; for a composite key, its packed text. */
  getRecordId(): Promise<string | number>;
  /** The values of the key, in the order of its columns. */
  getCompositeRecordId(): Promise<(string | number)[]>;
  /** The value of a field, or of `relation:field`. */
  getField(fieldName: string): Promise<unknown>;
}

export type ActionContext<Scope extends ActionScope = ActionScope, Values = FormValues> = Scope extends 'Single'
  ? SingleContext<Values>
  : BulkContext<Values>;

/** A value, or a function of the context that returns it. Undefined means absent. */
type Dynamic<Context, Value> = Value | ((context: Context) => Value | undefined | Promise<Value | undefined>);

type OptionOf<Value> = Value | { readonly value: Value | null; readonly label: string };
type Options<Context, Value> =
  | readonly OptionOf<Value>[]
  | ((
      context: Context,
      /** The search text; null when the form is loaded. */
      search: string | null,
    ) => readonly OptionOf<Value>[] | Promise<readonly OptionOf<Value>[]>);

/** The item type of a list type; any other type unchanged. */
type Item<Value> = Value extends readonly (infer One)[] ? One : Value;

interface WidgetOptions<Context, Value> {
  /** The options, or a function that returns them for a search text. */
  readonly options: Options<Context, Item<Value>>;
  /** Default `disabled`. With `dynamic`, the `options` handler receives the search text. */
  readonly search?: 'static' | 'dynamic' | 'disabled';
  /** The text in an empty field. Default: no text. */
  readonly placeholder?: Dynamic<Context, string>;
  /** The height of the field in lines. Default: the front end's own. */
  readonly rows?: Dynamic<Context, number>;
  /** The least value. Default: no limit. */
  readonly min?: Dynamic<Context, Item<Value>>;
  /** The greatest value. Default: no limit. */
  readonly max?: Dynamic<Context, Item<Value>>;
  /** The distance between values. Default: any value. */
  readonly step?: Dynamic<Context, number>;
  /** Three letters of ISO 4217. */
  readonly currency: Dynamic<Context, string>;
  /** The unit of the value, units or cents; default `Unit`. */
  readonly base?: Dynamic<Context, 'Unit' | 'Cent'>;
  /** Whether items may change places. Default: the front end's own. */
  readonly enableReorder?: boolean;
  /** Whether an item may be empty. Default: the front end's own. */
  readonly allowEmptyValues?: boolean;
  /** Whether an item may be there twice. Default false. */
  readonly allowDuplicates?: boolean;
  /** Whether colors have an opacity. Default: the front end's own. */
  readonly enableOpacity?: boolean;
  /** Colors to choose from. Default: no colors. */
  readonly quickPalette?: readonly string[];
  /** The format of dates in the front end. Default: the front end's own. */
  readonly format?: string;
  /** Such as `['pdf', 'png']`; default: any. */
  readonly extensions?: readonly string[];
  /** The greatest size of a file in megabytes. Default: no limit but that of requests. */
  readonly maxSizeMb?: number;
  /** The most files. Default: no limit. */
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
  /** The least number of items. Default: no limit. */
  readonly minItems?: number;
  /** The most items. Default: no limit. */
  readonly maxItems?: number;
}

interface FieldBase<Type extends FieldType, Context> {
  /** The type of the value. */
  readonly type: Type;
  /** Text beside the field. Default: no text. */
  readonly description?: Dynamic<Context, string>;
  /** Whether the action needs a value. Default false. */
  readonly isRequired?: Dynamic<Context, boolean>;
  /** Whether only the action's code sets the value. Default false. */
  readonly isReadOnly?: Dynamic<Context, boolean>;
  /** Shows the field only if this returns true. Default: always. */
  readonly if?: (context: Context) => boolean | Promise<boolean>;
  /**
   * The value set by the server, which overrides the client's. Undefined leaves the client's value. Default: the
   * client's value.
   */
  readonly value?: Dynamic<Context, FieldValues[Type] | null>;
  /** Used until the client sends a value. Default: an empty field. */
  readonly defaultValue?: Dynamic<Context, FieldValues[Type] | null>;
}

type FieldOf<Type extends FieldType, Context> = FieldBase<Type, Context> &
  WithWidget<Type, Context> &
  (Type extends keyof Extras<Context> ? Extras<Context>[Type] : unknown) &
  (FieldValues[Type] extends readonly unknown[] ? (Type extends 'Collection' ? unknown : ListLengths) : unknown);

type AnyField<Context> = { [Type in FieldType]: FieldOf<Type, Context> }[FieldType] & {
  readonly label: string;
  /** The name in `formValues` and in requests; default: the label. Unique within the form. */
  readonly id?: string;
};

type NamedField<Name extends string, Value, Context> = {
  [Type in FieldType]: NonNullable<Value> extends FieldValues[Type] ? FieldOf<Type, Context> : never;
}[FieldType] &
  ({ readonly label: Name; readonly id?: never } | { readonly id: Name; readonly label: string });

/** A field of an action form, typed by the values of the form. */
export type FormField<Values = FormValues, Context = BulkContext<Partial<Values>>> = string extends keyof Values
  ? AnyField<Context>
  : { [Name in keyof Values & string]: NamedField<Name, Values[Name], Context> }[keyof Values & string];

interface LayoutBase<Context> {
  /** Marks an element without a value. */
  readonly type: 'Layout';
  /** Shows the element only if this returns true. Default: always. */
  readonly if?: (context: Context) => boolean | Promise<boolean>;
}

interface Separator<Context> extends LayoutBase<Context> {
  /** A line. */
  readonly component: 'Separator';
}

interface HtmlBlock<Context> extends LayoutBase<Context> {
  /** A block of HTML. */
  readonly component: 'HtmlBlock';
  /** The HTML. The code that displays it must sanitize it. */
  readonly content: Dynamic<Context, string>;
}

interface FieldRow<Values, Context> extends LayoutBase<Context> {
  /** Fields beside each other. */
  readonly component: 'Row';
  /** The fields of the row. */
  readonly fields: readonly FormField<Values, Context>[];
}

/** Only at the root, and only next to other pages. */
interface FormPage<Values, Context> extends LayoutBase<Context> {
  /** A page of the form. */
  readonly component: 'Page';
  /** The elements of the page. */
  readonly elements: readonly (
    | FormField<Values, Context>
    | FieldRow<Values, Context>
    | Separator<Context>
    | HtmlBlock<Context>
  )[];
  /** The label of the button to the next page. Default: the front end's own. */
  readonly nextButtonLabel?: string;
  /** The label of the button to the previous page. Default: the front end's own. */
  readonly previousButtonLabel?: string;
}

/** An element of an action form: a field, or a layout element (behaviour 2.4). */
export type FormElement<Values = FormValues, Context = BulkContext<Partial<Values>>> =
  | FormField<Values, Context>
  | Separator<Context>
  | HtmlBlock<Context>
  | FieldRow<Values, Context>
  | FormPage<Values, Context>;

/** No result is success. */
export type ActionCode<Context> = (
  context: Context,
  resultBuilder: ResultBuilder,
  // biome-ignore lint/suspicious/noConfusingVoidType: TypeScript 5.9 takes a function without a result for void
) => ActionResult | void | Promise<ActionResult | void>;

export interface DefinitionOf<Scope extends ActionScope, Values> {
  /** `Single`: one record. `Bulk`: several selected records. `Global`: the whole collection. */
  readonly scope: Scope;
  /**
   * The code of the action. Returning no result means success. An ActionError refuses with a message for the user;
   * other errors are ACTION_FAILED.
   */
  readonly execute: ActionCode<ActionContext<Scope, Values>>;
  /** The form for the values of the action, or a function that returns it. Default: no form. */
  readonly form?:
    | readonly FormElement<Values, ActionContext<Scope, Partial<Values>>>[]
    | ((
        context: ActionContext<Scope, Partial<Values>>,
      ) =>
        | readonly FormElement<Values, ActionContext<Scope, Partial<Values>>>[]
        | Promise<readonly FormElement<Values, ActionContext<Scope, Partial<Values>>>[]>);
  /** Text for users and assistants. Default: no text. */
  readonly description?: string;
  /** Whether the action may return a file. Default false. */
  readonly generateFile?: boolean;
  /** The label of the button that executes the action, at most 50 characters. Default: the front end's own. */
  readonly submitButtonLabel?: string;
  /**
   * The approval required before a run. `ask`: the user of the assistant. `ask-person`: a user signed in to the
   * console; with `secondPerson`, a different user from the caller. `deny`: always refused. Default `allow`. A role may
   * require more approval, but not less.
   */
  readonly approval?: PolicyInput;
}

/** The definition of `addAction`: the scope of the action, its form and its code. */
export type ActionDefinition<Values = FormValues> =
  | DefinitionOf<'Single', Values>
  | DefinitionOf<'Bulk', Values>
  | DefinitionOf<'Global', Values>;

/** A definition as registered. */
export interface ActionEntry {
  readonly collection: string;
  readonly name: string;
  /** File and line of the user's call. */
  readonly at: string;
  readonly definition: ActionDefinition;
}
