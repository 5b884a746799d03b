// The elements of forms, as tables, and the reader that turns a form into a checked tree. It finds every problem of a
// definition: at the start if the form is a list, and on loading if it is a function.
import { suggestNames } from '../../core/suggestions.ts';
import { type FieldType, fieldTypes } from './field-types.ts';

/** The types that a widget supports, and its options in addition to those of every field. */
export const widgets = {
  Dropdown: {
    types: ['String', 'Number', 'Date', 'Dateonly', 'Time', 'StringList', 'NumberList'],
    options: ['options', 'search', 'placeholder'],
  },
  RadioGroup: { types: ['String', 'Number'], options: ['options'] },
  CheckboxGroup: { types: ['StringList', 'NumberList'], options: ['options'] },
  Checkbox: { types: ['Boolean'], options: [] },
  TextInput: { types: ['String'], options: ['placeholder'] },
  TextInputList: {
    types: ['StringList'],
    options: ['placeholder', 'enableReorder', 'allowEmptyValues', 'allowDuplicates'],
  },
  TextArea: { types: ['String'], options: ['placeholder', 'rows'] },
  RichText: { types: ['String'], options: ['placeholder'] },
  NumberInput: { types: ['Number'], options: ['placeholder', 'min', 'max', 'step'] },
  NumberInputList: {
    types: ['NumberList'],
    options: ['placeholder', 'enableReorder', 'allowDuplicates', 'min', 'max', 'step'],
  },
  CurrencyInput: { types: ['Number'], options: ['currency', 'base', 'min', 'max', 'step', 'placeholder'] },
  ColorPicker: { types: ['String'], options: ['enableOpacity', 'quickPalette', 'placeholder'] },
  DatePicker: { types: ['Date', 'Dateonly'], options: ['format', 'min', 'max', 'placeholder'] },
  TimePicker: { types: ['Time'], options: [] },
  AddressAutocomplete: { types: ['String'], options: ['placeholder'] },
  UserDropdown: { types: ['String', 'StringList'], options: ['placeholder'] },
  FilePicker: { types: ['File', 'FileList'], options: ['extensions', 'maxSizeMb', 'maxCount'] },
  JsonEditor: { types: ['Json'], options: [] },
} as const satisfies Record<string, { types: readonly FieldType[]; options: readonly string[] }>;

export type WidgetName = keyof typeof widgets;

type Component = 'Separator' | 'HtmlBlock' | 'Row' | 'Page';

const components: Readonly<Record<Component, readonly string[]>> = {
  Separator: [],
  HtmlBlock: ['content'],
  Row: ['fields'],
  Page: ['elements', 'nextButtonLabel', 'previousButtonLabel'],
};

const commonOptions = [
  'type',
  'label',
  'id',
  'description',
  'isRequired',
  'isReadOnly',
  'if',
  'value',
  'defaultValue',
  'widget',
];

const typeOptions: Readonly<Partial<Record<FieldType, readonly string[]>>> = {
  Enum: ['enumValues'],
  EnumList: ['enumValues', 'minItems', 'maxItems'],
  Collection: ['collectionName'],
  FileList: ['minItems', 'maxItems'],
  NumberList: ['minItems', 'maxItems'],
  StringList: ['minItems', 'maxItems'],
};

/** Options that are required wherever they are allowed. */
const requiredOptions = ['enumValues', 'collectionName', 'options', 'currency', 'content', 'fields', 'elements'];
const functionOptions = ['if'];
const flagOptions = ['isRequired', 'isReadOnly'];
const dynamicOptions = [
  ...['description', 'isRequired', 'isReadOnly', 'value', 'defaultValue', 'enumValues', 'collectionName', 'options'],
  ...['placeholder', 'rows', 'min', 'max', 'step', 'currency', 'base', 'content'],
];

type Props = Readonly<Record<string, unknown>>;

export interface FieldElement {
  readonly kind: 'field';
  readonly id: string;
  readonly label: string;
  readonly type: FieldType;
  readonly widget: WidgetName | undefined;
  /** The options as defined. */
  readonly props: Props;
  /** Names of the options that callers receive: those of the type and of the widget. */
  readonly options: readonly string[];
}

interface LayoutElement {
  readonly kind: 'layout';
  readonly component: Component;
  readonly props: Props;
  readonly children: readonly Element[];
}

export type Element = FieldElement | LayoutElement;

/** The message says what is wrong, and where in the form. */
export class FormProblem extends Error {}

/** Throws FormProblem, such as for an unknown name (with suggestions), a missing option or a duplicate id. */
export function readForm(form: unknown): readonly Element[] {
  if (!Array.isArray(form)) throw new FormProblem('a form must be a list of elements, or a function that returns one');
  const elements = form.map((element, index) => readElement(element, `element ${index + 1}`, 'root'));
  const pages = elements.filter(isPage).length;
  if (pages > 0 && pages < elements.length)
    throw new FormProblem('a form with pages can have only pages at its root: move the other elements into a page');
  const ids = new Set<string>();
  for (const { id } of fieldsOf(elements)) {
    if (ids.has(id)) throw new FormProblem(`two fields have the id '${id}': change one of them`);
    ids.add(id);
  }
  return elements;
}

/** All fields, including those in layouts, in the order of the form. */
export function fieldsOf(elements: readonly Element[]): readonly FieldElement[] {
  return elements.flatMap((element) => (element.kind === 'field' ? [element] : fieldsOf(element.children)));
}

/** No option is a function, so the form is the same for all callers and records. */
export function isStatic(elements: readonly Element[]): boolean {
  return elements.every(
    (element) =>
      Object.values(element.props).every((prop) => typeof prop !== 'function') &&
      (element.kind === 'field' || isStatic(element.children)),
  );
}

const isPage = (element: Element): boolean => element.kind === 'layout' && element.component === 'Page';

type ParentKind = 'root' | 'Page' | 'Row';

function readElement(given: unknown, at: string, parent: ParentKind): Element {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new FormProblem(`${at} is not an object`);
  const props = given as Props;
  return props.type === 'Layout' ? readLayout(props, at, parent) : readField(props, at);
}

function readLayout(props: Props, at: string, parent: ParentKind): LayoutElement {
  const component = oneOf(props.component, Object.keys(components) as Component[], `${at}: component`);
  if (parent === 'Row') throw new FormProblem(`${at}: a Row can contain only fields`);
  if (parent === 'Page' && component === 'Page') throw new FormProblem(`${at}: a Page cannot contain another Page`);
  checkProps(
    props,
    ['type', 'component', 'if', ...components[component]],
    components[component],
    `${at} (${component})`,
  );
  const within = component === 'Row' ? props.fields : component === 'Page' ? props.elements : [];
  if (!Array.isArray(within)) throw new FormProblem(`${at} (${component}): expected a list of elements`);
  const children = within.map((child, index) =>
    readElement(child, `${at} (${component}), element ${index + 1}`, component === 'Row' ? 'Row' : 'Page'),
  );
  return { kind: 'layout', component, props, children };
}

function readField(props: Props, at: string): FieldElement {
  const { label, id = label, type: givenType, widget: givenWidget } = props;
  const missing = ['label', 'type'].filter((name) => props[name] === undefined);
  const stray = Object.keys(props).find(
    (name) => !commonOptions.includes(name) && suggestNames(name, missing).length > 0,
  );
  if (stray !== undefined) throw new FormProblem(`${at}: no option '${stray}'${formatSuggestions(stray, missing)}`);
  if (typeof label !== 'string' || label === '') throw new FormProblem(`${at}: label is missing`);
  if (typeof id !== 'string' || id === '') throw new FormProblem(`field '${label}': id must be a string`);
  const where = `field '${label}'`;
  const type = oneOf(givenType, fieldTypes, `${where}: type`);
  const widget =
    givenWidget === undefined
      ? undefined
      : oneOf(givenWidget, Object.keys(widgets) as WidgetName[], `${where}: widget`);
  const types: readonly FieldType[] = widget ? widgets[widget].types : fieldTypes;
  if (!types.includes(type))
    throw new FormProblem(`${where}: the widget ${widget} is for ${types.join(', ')}, not for ${type}`);
  const options = [...(typeOptions[type] ?? []), ...(widget ? widgets[widget].options : [])];
  checkProps(props, [...commonOptions, ...options], options, where);
  return { kind: 'field', id, label, type, widget, props, options };
}

function checkProps(props: Props, known: readonly string[], options: readonly string[], where: string): void {
  for (const [name, prop] of Object.entries(props)) {
    if (!known.includes(name)) throw new FormProblem(`${where}: no option '${name}'${formatSuggestions(name, known)}`);
    if (functionOptions.includes(name) && prop !== undefined && typeof prop !== 'function')
      throw new FormProblem(`${where}: '${name}' must be a function of the context`);
    if (typeof prop === 'function' && !functionOptions.includes(name) && !dynamicOptions.includes(name))
      throw new FormProblem(`${where}: '${name}' cannot be a function`);
    // The text 'false' would count as true.
    if (flagOptions.includes(name) && !['undefined', 'boolean', 'function'].includes(typeof prop))
      throw new FormProblem(`${where}: '${name}' must be true or false, or a function of the context`);
  }
  const missing = options.find((name) => requiredOptions.includes(name) && props[name] === undefined);
  if (missing) throw new FormProblem(`${where}: '${missing}' is missing`);
  checkChoices(props, where);
}

/** Checks `enumValues`, `options` and `search`. Values that a function returns are checked when it is called. */
function checkChoices(props: Props, where: string): void {
  const { enumValues, options, search } = props;
  if (enumValues !== undefined && typeof enumValues !== 'function') readEnumValues(enumValues, where);
  if (options !== undefined && typeof options !== 'function') readOptions(options, where);
  if (search !== undefined) oneOf(search, ['static', 'dynamic', 'disabled'], `${where}: search`);
  if (search === 'dynamic' && typeof options !== 'function')
    throw new FormProblem(`${where}: a dynamic search needs 'options' to be a function of the context and the search`);
}

export function readEnumValues(given: unknown, where: string): readonly string[] {
  if (Array.isArray(given) && given.length > 0 && given.every((value) => typeof value === 'string')) return given;
  throw new FormProblem(`${where}: enumValues must be a list of at least one string`);
}

export interface Option {
  readonly value: unknown;
  readonly label: string;
}

export function readOptions(given: unknown, where: string): readonly Option[] {
  if (!Array.isArray(given)) throw new FormProblem(`${where}: options must be a list of values or {value, label}`);
  return given.map((option: unknown) => {
    if (typeof option === 'string' || typeof option === 'number') return { value: option, label: String(option) };
    const { value, label } = (option ?? {}) as Partial<Option>;
    if (typeof label === 'string' && (value === null || typeof value === 'string' || typeof value === 'number'))
      return { value, label };
    throw new FormProblem(`${where}: an option must be a value or {value, label}`);
  });
}

function oneOf<Name extends string>(given: unknown, known: readonly Name[], where: string): Name {
  if (known.includes(given as Name)) return given as Name;
  if (given === undefined) throw new FormProblem(`${where} is missing`);
  throw new FormProblem(`${where}: no '${String(given)}'${formatSuggestions(String(given), known)}`);
}

function formatSuggestions(name: string, known: readonly string[]): string {
  const near = suggestNames(name, known);
  return near.length ? ` (near: ${near.join(', ')})` : ` (known: ${known.join(', ')})`;
}
