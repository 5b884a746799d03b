// The arguments of a tool as fields of a form, made from its input schema: which control each one has, what was typed into
// it, and the arguments that this stands for. What was typed stays text, right or wrong, so that it can be shown again.
import { isAppError } from '../../core/errors.ts';
import type { Tool } from '../../mcp/tools.ts';
import { parseJson } from '../../oauth/body.ts';

export type Kind = 'text' | 'number' | 'flag' | 'choice' | 'lines' | 'json';

export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly required: boolean;
  /** What the schema says of it; '' where it says nothing. */
  readonly hint: string;
  /** Of a choice. */
  readonly choices: readonly string[];
}

export type Arguments = Readonly<Record<string, unknown>>;

/** What a person typed, in the form or as the JSON of all arguments. */
export interface Typed {
  readonly mode: 'form' | 'json';
  /** By field; of a flag 'true' or ''. */
  readonly fields: ReadonlyMap<string, string>;
  readonly json: string;
}

/** By field, '' being the JSON of all: what is wrong with what was typed. */
export type Problems = ReadonlyMap<string, string>;

export type Read = { readonly args: Arguments } | { readonly problems: Problems };

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
  // Without a type anything may be meant, and JSON can say all of it.
  return type === 'array' && items?.type === 'string' ? 'lines' : 'json';
}

/** How a field is called in a form and in an address: no name of an argument can be one of ours. */
export const inputName = (field: string): string => `arg.${field}`;

/** A tool that can be tried without writing is tried so, unless somebody says otherwise. */
export const isTrial = ({ name }: Field): boolean => name === 'dryRun';

/** What a page is asked with in its address: a call can be linked. */
export function readLinked(query: URLSearchParams, fields: readonly Field[]): Typed {
  const typed = fields.map((field): [string, string] => {
    const sent = query.get(inputName(field.name));
    if (field.kind !== 'flag') return [field.name, sent ?? ''];
    return [field.name, (sent ?? `${isTrial(field)}`) === 'true' ? 'true' : ''];
  });
  const json = query.get('json');
  const mode = query.get('mode') === 'json' || json !== null ? 'json' : 'form';
  return { mode, fields: new Map(typed), json: json ?? (mode === 'json' ? blank(fields) : '') };
}

/** What was sent with the form of the page. */
export function readSent(form: URLSearchParams, fields: readonly Field[]): Typed {
  return {
    mode: form.get('mode') === 'json' ? 'json' : 'form',
    fields: new Map(fields.map(({ name }) => [name, form.get(inputName(name)) ?? ''])),
    json: form.get('json') ?? '',
  };
}

/** The arguments that must be there, with nothing in them yet. */
function blank(fields: readonly Field[]): string {
  const empty: Readonly<Record<Kind, unknown>> = { text: '', number: 0, flag: false, choice: '', lines: [], json: {} };
  const start = fields
    .filter((field) => field.required || isTrial(field))
    .map((field) => [field.name, isTrial(field) ? true : empty[field.kind]]);
  return JSON.stringify(Object.fromEntries(start), null, 2);
}

/** As deep as `/mcp` takes it. */
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
    // What is left empty is not sent. An empty text can be sent as JSON.
    if (text.trim() !== '') args[name] = kind === 'json' ? read(name, text) : readers[kind](text);
  }
  return done(args);
}

const readers: Readonly<Record<Exclude<Kind, 'json'>, (text: string) => unknown>> = {
  text: (text) => text,
  choice: (text) => text,
  flag: (text) => text === 'true',
  // What is no number goes as it is, for the tool to say what it wants.
  number: (text) => (Number.isFinite(Number(text)) ? Number(text) : text),
  lines: (text) => text.split(/\r?\n/).filter((line) => line.trim() !== ''),
};

function problemOf(error: unknown): string {
  const { message = '' } = ((error as Error).cause ?? {}) as Partial<Error>;
  // Here nobody but the one who typed it reads what the parser quotes.
  if (isAppError(error, 'MALFORMED_JSON')) return `This is not JSON: ${message || error.details.problem}`;
  throw error;
}

/** The same in the other mode; undefined where the form has no place for it. */
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
  if (kind === 'lines') return isLines(value) ? value.join('\n') : undefined;
  if (kind === 'number') return typeof value === 'number' ? `${value}` : undefined;
  if (typeof value !== 'string' || value.trim() === '' || /[\r\n]/.test(value)) return undefined;
  return kind === 'choice' && !choices.includes(value) ? undefined : value;
}

/** A line for each, and each a line. */
function isLines(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === 'string' && one.trim() !== '' && !/[\r\n]/.test(one))
  );
}

/** The address that opens the page with this call typed in; undefined for one that is too long to be an address. */
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
