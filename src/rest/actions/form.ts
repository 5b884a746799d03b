// Converts the engine's action forms to the names and types that clients of the HTTP API read.
import type { FieldAnswer, FormAnswer, LayoutAnswer } from '../../agent/actions/answer.ts';
import type { FormFile } from '../../agent/actions/definitions.ts';
import type { Option, WidgetName } from '../../agent/actions/elements.ts';
import { packId } from '../../agent/encode/record-id.ts';

interface WireForm {
  readonly fields: readonly WireField[];
  /** Empty if the form is a plain list of fields. */
  readonly layout: readonly WireLayout[];
}

interface WireField {
  /** The field's id. */
  readonly field: string;
  readonly label: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
  /** `String`, or `["String"]` for a list. For a record, the type of its key. */
  readonly type: string | readonly [string];
  readonly enums?: readonly string[];
  /** For a record: `collection.key`. */
  readonly reference?: string;
  /** The client loads the form again when the value changes. */
  readonly hook?: 'changeHook';
  /** Files are `data:` URIs and records are packed ids. Null if the field is empty. */
  readonly value: unknown;
  readonly widgetEdit?: { readonly name: string; readonly parameters: Readonly<Record<string, unknown>> };
}

type WireLayout =
  | { readonly component: 'input'; readonly fieldId: string }
  | { readonly component: 'separator' }
  | { readonly component: 'htmlBlock'; readonly content: string }
  | { readonly component: 'row'; readonly fields: readonly WireLayout[] }
  | {
      readonly component: 'page';
      readonly elements: readonly WireLayout[];
      readonly nextButtonLabel?: string;
      readonly previousButtonLabel?: string;
    };

/** Returns the key columns of a collection, for fields that refer to one of its records. */
export type KeyOf = (collection: string) => readonly { readonly name: string; readonly type: string }[];

export function toWireForm({ fields, layout = [] }: Pick<FormAnswer, 'fields' | 'layout'>, keyOf: KeyOf): WireForm {
  return { fields: fields.map((field) => toWireField(field, keyOf)), layout: layout.map(toWireLayout) };
}

const listTypes: Readonly<Record<string, string>> = {
  EnumList: 'Enum',
  StringList: 'String',
  NumberList: 'Number',
  FileList: 'File',
};

function toWireField(field: FieldAnswer, keyOf: KeyOf): WireField {
  const { id, label, description, isRequired, isReadOnly, type, enumValues, isWatched, collectionName } = field;
  const widgetEdit = field.widget && toWireWidget(field.widget, field);
  const key = collectionName === undefined ? [] : keyOf(collectionName);
  const item = listTypes[type];
  return {
    field: id,
    label,
    ...(description !== undefined && { description }),
    isRequired,
    isReadOnly,
    type: item ? [item] : type === 'Collection' ? keyType(key) : type,
    ...(enumValues && { enums: enumValues }),
    ...(key[0] && { reference: `${collectionName}.${key[0].name}` }),
    ...(isWatched && { hook: 'changeHook' as const }),
    value: toWireValue(type, field.value),
    ...(widgetEdit && { widgetEdit }),
  };
}

/** An id of several columns is packed into a string. */
function keyType(key: ReturnType<KeyOf>): string {
  return key.length === 1 ? key[0]!.type : 'String';
}

function toWireValue(type: FieldAnswer['type'], value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'File') return toDataUri(value as FormFile);
  if (type === 'FileList') return (value as readonly FormFile[]).map(toDataUri);
  if (type === 'Collection') return packId(value as readonly unknown[]);
  return value;
}

function toDataUri({ name, mimeType, content }: FormFile): string {
  return `data:${mimeType};name=${encodeURIComponent(name)};base64,${content.toString('base64')}`;
}

const widgetNames: Readonly<Record<WidgetName, string>> = {
  Dropdown: 'dropdown',
  RadioGroup: 'radio button',
  CheckboxGroup: 'checkboxes',
  Checkbox: 'boolean editor',
  TextInput: 'text editor',
  TextInputList: 'input array',
  TextArea: 'text area editor',
  RichText: 'rich text',
  NumberInput: 'number input',
  NumberInputList: 'input array',
  CurrencyInput: 'price editor',
  ColorPicker: 'color editor',
  DatePicker: 'date editor',
  TimePicker: 'time editor',
  AddressAutocomplete: 'address editor',
  UserDropdown: 'assignee editor',
  FilePicker: 'file picker',
  JsonEditor: 'json code editor',
};

function toWireWidget(widget: WidgetName, { options, search, settings = {} }: FieldAnswer) {
  const { placeholder = null, ...more } = settings;
  const isDropdown = widget === 'Dropdown';
  return {
    name: widgetNames[widget],
    parameters: {
      ...(isDropdown && {
        searchType: search === 'dynamic' ? 'dynamic' : null,
        isSearchable: search === 'static' || search === 'dynamic',
      }),
      ...((isDropdown || placeholder !== null) && { placeholder }),
      ...more,
      ...(options && { static: { options: options.map(toWireOption) } }),
    },
  };
}

/** An option is its plain value if the label only repeats that value. */
function toWireOption({ value, label }: Option): unknown {
  return value !== null && label === String(value) ? value : { value, label };
}

/** Returns the same form with the options of one field replaced by search results. */
export function withOptions(form: FormAnswer, id: string, options: readonly Option[]): FormAnswer {
  return { ...form, fields: form.fields.map((field) => (field.id === id ? { ...field, options } : field)) };
}

function toWireLayout(element: LayoutAnswer): WireLayout {
  switch (element.component) {
    case 'Input':
      return { component: 'input', fieldId: element.fieldId };
    case 'Separator':
      return { component: 'separator' };
    case 'HtmlBlock':
      return { component: 'htmlBlock', content: element.content };
    case 'Row':
      return { component: 'row', fields: element.fields.map(toWireLayout) };
    case 'Page': {
      const { component: _, elements, ...labels } = element;
      return { component: 'page', elements: elements.map(toWireLayout), ...labels };
    }
  }
}
