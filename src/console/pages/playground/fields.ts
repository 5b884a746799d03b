// Tool arguments as form fields, derived from the input schema: the control of each argument, its typed value, and the
// parsed arguments. Typed values stay text, valid or not, so the form can show them again.
import { isAppError } from '../../../core/errors.ts';
import { isExact } from '../../../core/filter/exact-numbers.ts';
import { parseJson } from '../../../http/body.ts';
import type { Tool } from '../../../mcp/tool.ts';

type Kind = 'text' | 'number' | 'flag' | 'choice' | 'lines' | 'json';

export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly required: boolean;
  /** Description from the schema; '' if it has no description. */
  readonly hint: string;
  /** Options of a `choice` field. */
  readonly choices: readonly string[];
}

export type Arguments = Readonly<Record<string, unknown>>;

/** Input of the user: form fields, or the JSON of all arguments. */
export interface Typed {
  readonly mode: 'form' | 'json';
  /** Text by field; a flag is 'true' or ''. */
  readonly fields: ReadonlyMap<string, string>;
  readonly json: string;
}

/** Error messages by field; '' is the JSON of all arguments. */
export type Problems = ReadonlyMap<string, string>;

type Read = { readonly args: Arguments } | { readonly problems: Problems };

interface Schema {
  readonly type?: unknown;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly description?: string;
}

export function fieldsOf({ inputSchema }: Pick<Tool, 'inputSchema'>): readonly Field[] {
  const { properties = {}, required = [] } = inputSchema as {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    kind: kindOf(schema),
    required: required.includes(name),
    hint: schema.description ?? '',
    choices: schema.enum ?? [],
  }));
}

function kindOf({ type, enum: choices, items }: Schema): Kind {
  if (choices) return 'choice';
  if (type === 'string') return 'text';
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return 'number';
  // Without a type any value may be valid, and only JSON can express all of them.
  // Items without a type are texts, or objects as JSON.
  return type === 'array' && items && (items.type === 'string' || items.type === undefined) ? 'lines' : 'json';
}

/** Name of a field in forms and URLs. The prefix avoids collisions with the form's other fields. */
export const inputName = (field: string): string => `arg.${field}`;

/** Dry-run flag, which is on by default. */
export const isTrial = ({ name }: Field): boolean => name === 'dryRun';

/** Reads a call from the query of the URL, so calls can be linked. */
export function readQuery(query: URLSearchParams, fields: readonly Field[]): Typed {
  const typed = fields.map((field): [string, string] => {
    const text = query.get(inputName(field.name));
    if (field.kind !== 'flag') return [field.name, text ?? ''];
    return [field.name, (text ?? `${isTrial(field)}`) === 'true' ? 'true' : ''];
  });
  const json = query.get('json');
  const mode = query.get('mode') === 'json' || json !== null ? 'json' : 'form';
  return { mode, fields: new Map(typed), json: json ?? (mode === 'json' ? blank(fields) : '') };
}

/** Reads the submitted form. */
export function readForm(form: URLSearchParams, fields: readonly Field[]): Typed {
  return {
    mode: form.get('mode') === 'json' ? 'json' : 'form',
    fields: new Map(fields.map(({ name }) => [name, form.get(inputName(name)) ?? ''])),
    json: form.get('json') ?? '',
  };
}

/** JSON template with the required arguments and empty values. */
function blank(fields: readonly Field[]): string {
  const empty: Readonly<Record<Kind, unknown>> = { text: '', number: 0, flag: false, choice: '', lines: [], json: {} };
  const start = fields
    .filter((field) => field.required || isTrial(field))
    .map((field) => [field.name, isTrial(field) ? true : empty[field.kind]]);
  return JSON.stringify(Object.fromEntries(start), null, 2);
}

/** Uses the same depth limit as `/mcp`. */
export function readArguments(typed: Typed, fields: readonly Field[], depth: number): Read {
  const problems = new Map<string, string>();
  const read = (name: string, text: string): unknown => {
    try {
      return parseJson(Buffer.from(text), depth);
    } catch (error) {
      problems.set(name, problemOf(error));
      return undefined;
    }
  };
  const done = (args: Arguments): Read => (problems.size > 0 ? { problems } : { args });
  if (typed.mode === 'json') {
    const value = typed.json.trim() === '' ? {} : read('', typed.json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return done(value as Arguments);
    if (problems.size === 0) problems.set('', 'Send an object, such as {"collectionName": "orders"}.');
    return { problems };
  }
  const args: Record<string, unknown> = {};
  for (const { name, kind } of fields) {
    const text = typed.fields.get(name) ?? '';
    // Empty fields are omitted. Use JSON to pass an empty string.
    if (text.trim() === '') continue;
    if (kind === 'lines') args[name] = linesOf(text).map((line) => (line.startsWith('{') ? read(name, line) : line));
    else args[name] = kind === 'json' ? read(name, text) : readers[kind](text);
  }
  return done(args);
}

const linesOf = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.trim() !== '');

const readers: Readonly<Record<Exclude<Kind, 'json' | 'lines'>, (text: string) => unknown>> = {
  text: (text) => text,
  choice: (text) => text,
  flag: (text) => text === 'true',
  // Pass text that is not a number unchanged, so the tool reports its own error.
  number: (text) => (Number.isFinite(Number(text)) && isExact(text.trim()) ? Number(text) : text),
};

function problemOf(error: unknown): string {
  const { message = '' } = ((error as Error).cause ?? {}) as Partial<Error>;
  // Only the author of the text reads this, so it may quote the parser.
  if (isAppError(error, 'MALFORMED_JSON')) return `Invalid JSON: ${message || error.details.problem}`;
  throw error;
}

/** Converts to the other mode; undefined if the form cannot express the arguments. */
export function switchMode(args: Arguments, fields: readonly Field[], mode: Typed['mode']): Typed | undefined {
  if (mode === 'json') return { mode, fields: new Map(), json: JSON.stringify(args, null, 2) };
  const typed = new Map<string, string>();
  for (const [name, value] of Object.entries(args)) {
    const field = fields.find((one) => one.name === name);
    const text = field && writeValue(field, value);
    if (text === undefined) return undefined;
    typed.set(name, text);
  }
  return { mode, fields: typed, json: '' };
}

function writeValue({ kind, choices }: Field, value: unknown): string | undefined {
  if (kind === 'json') return JSON.stringify(value, null, 2);
  if (kind === 'flag') return typeof value === 'boolean' ? (value ? 'true' : '') : undefined;
  if (kind === 'lines') return isLines(value) ? value.map(toLine).join('\n') : undefined;
  if (kind === 'number') return typeof value === 'number' ? `${value}` : undefined;
  if (typeof value !== 'string' || value.trim() === '' || /[\r\n]/.test(value)) return undefined;
  return kind === 'choice' && !choices.includes(value) ? undefined : value;
}

/** Whether the value is a non-empty list of objects and of non-blank single lines that do not look like one. */
function isLines(value: unknown): value is readonly (string | object)[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => (typeof one === 'string' ? one.trim() !== '' && !/^\{|[\r\n]/.test(one) : isPlainObject(one)))
  );
}

const isPlainObject = (one: unknown): one is object => typeof one === 'object' && one !== null && !Array.isArray(one);

const toLine = (one: string | object): string => (typeof one === 'string' ? one : JSON.stringify(one));

/** URL that opens the page with this call filled in; undefined if it would be too long. */
export function linkOf(page: string, args: Arguments, fields: readonly Field[]): string | undefined {
  const typed = switchMode(args, fields, 'form');
  const query = new URLSearchParams();
  if (!typed) query.set('json', JSON.stringify(args));
  else {
    for (const [name, text] of typed.fields) if (text !== '') query.set(inputName(name), text);
    for (const field of fields) if (isTrial(field) && !args[field.name]) query.set(inputName(field.name), 'false');
  }
  const link = `${page}${query.size > 0 ? `?${query}` : ''}`;
  return link.length <= LINK_CHARACTERS ? link : undefined;
}

const LINK_CHARACTERS = 4000;
