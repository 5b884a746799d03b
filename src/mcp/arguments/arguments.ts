// Repairs what models send where the meaning is plain (JSON sent as text, a number as text, one value for a list,
// `relation@@@field`), and otherwise says what to send. Names of fields and the types of values are the engine's matter.
import { fail } from '../../core/errors.ts';
import { type Operator, operators, type PlainFilter, type PlainSort } from '../../core/filter.ts';
import { nearNames } from '../../core/near.ts';
import { parseJson } from '../../oauth/body.ts';

export type Given = Readonly<Record<string, unknown>>;

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** INVALID_ARGUMENT for an argument that the tool does not have: one that is ignored gives a wrong answer silently. */
export function checkNames(given: Given, known: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = nearNames(name, known);
    invalid(name, `unknown argument. ${near.length ? `Near: ${near.join(', ')}.` : `Known: ${known.join(', ')}.`}`);
  }
}

/** Undefined when absent; null counts as absent everywhere. */
export function readText(given: Given, name: string): string | undefined {
  const value = given[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return invalid(name, 'send a string.');
}

export function readRequiredText(given: Given, name: string, hint: string): string {
  const value = readText(given, name)?.trim();
  return value ? value : invalid(name, hint);
}

export function readFlag(given: Given, name: string): boolean {
  const value = fromText(given[name]);
  if (value === undefined || value === null || value === false || value === 0) return false;
  if (value === true || value === 1) return true;
  return invalid(name, 'send true or false.');
}

export function readChoice<T extends string>(given: Given, name: string, choices: readonly T[]): T | undefined {
  const text = readText(given, name);
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice.toLowerCase() === text.trim().toLowerCase());
  return found ?? invalid(name, `send ${choices.map((choice) => `'${choice}'`).join(' or ')}.`);
}

/** A whole number of at least 1. */
export function readCount(value: unknown, argument: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) {
    return invalid(argument, 'send a whole number from 1.');
  }
  return number;
}

/** Whatever was sent, read as JSON where it is the text of some; undefined when absent or null. */
export function readValue(given: Given, name: string): unknown {
  return fromText(given[name]) ?? undefined;
}

/** An object, or the same as JSON text. */
export function readObject(given: Given, name: string, example: string): Given | undefined {
  const value = fromText(given[name]);
  if (value === undefined || value === null) return undefined;
  return isObject(value) ? value : invalid(name, `send an object such as ${example}.`);
}

const KEY_CHARACTERS = 200;

/** What a repeat of the call is known by; undefined when absent or empty. */
export function readIdempotencyKey(given: Given): string | undefined {
  const key = readText(given, 'idempotencyKey');
  if (key && key.length > KEY_CHARACTERS) return invalid('idempotencyKey', `at most ${KEY_CHARACTERS} characters.`);
  return key || undefined;
}

/** The values of one record by field, a list of such, or either as JSON text: the records. */
export function readRecords(given: Given, name: string): readonly Given[] {
  const value = fromText(given[name]);
  const records = Array.isArray(value) ? value : [value];
  const example = 'send the values by field, such as {"name":"Ada","age":36}.';
  return records.map((record) => (isObject(record) ? record : invalid(name, example)));
}

/** A list of paths; also JSON text, a comma-separated text, or one path. */
export function readPaths(given: Given, name: string): readonly string[] | undefined {
  let value = fromText(given[name]);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') value = value.split(',');
  if (!Array.isArray(value) || !value.every((path) => typeof path === 'string')) {
    return invalid(name, 'send a list of field names such as ["id","relation:field"].');
  }
  const paths = value.map(toPath).filter((path) => path !== '');
  return paths.length > 0 ? paths : undefined;
}

/** `"field"`, `{field, bucket}`, or a list of either; a bucket in any case. */
export function readGroups<B extends string>(
  given: Given,
  name: string,
  buckets: readonly B[],
): readonly { readonly field: string; readonly bucket?: B }[] | undefined {
  const value = fromText(given[name]);
  if (value === undefined || value === null || value === '') return undefined;
  const example = `send a list such as ["status",{"field":"created_at","bucket":"${buckets[2]}"}].`;
  return (Array.isArray(value) ? value : [value]).map((group) => {
    if (typeof group === 'string') return { field: toPath(group) };
    if (!isObject(group) || typeof group.field !== 'string') return invalid(name, example);
    for (const key of Object.keys(group)) if (key !== 'field' && key !== 'bucket') invalid(`${name}.${key}`, example);
    const bucket = readChoice(group, 'bucket', buckets);
    return { field: toPath(group.field), ...(bucket && { bucket }) };
  });
}

const sortExample = 'send {"field":"name","ascending":true} or a list of such.';

/** `{field, ascending}`, a list of them, `name`, or `-name`. */
export function readSort(given: Given, name: string): readonly PlainSort[] | undefined {
  const value = fromText(given[name]);
  if (value === undefined || value === null || value === '') return undefined;
  const clauses = Array.isArray(value) ? value : [value];
  return clauses.map((clause): PlainSort => {
    if (typeof clause === 'string') {
      const descending = clause.startsWith('-');
      return { field: toPath(descending ? clause.slice(1) : clause), ascending: !descending };
    }
    if (!isObject(clause) || typeof clause.field !== 'string') return invalid(name, sortExample);
    for (const key of Object.keys(clause)) if (key !== 'field' && key !== 'ascending') invalid(name, sortExample);
    const ascending = clause.ascending === undefined || clause.ascending === null || readFlag(clause, 'ascending');
    return { field: toPath(clause.field), ascending };
  });
}

const filterExample =
  'send {"field":"status","operator":"Equal","value":"paid"} or {"aggregator":"And","conditions":[...]}.';

/** A condition, a tree of them, a list of them (all must hold), or any of these as JSON text. */
export function readFilter(given: Given, name: string): PlainFilter | undefined {
  const value = fromText(given[name]);
  if (value === undefined || value === null || value === '') return undefined;
  if (isObject(value) && Object.keys(value).length === 0) return undefined;
  return toFilter(value, name);
}

// Recursive, and safe so: neither the body nor text within it is deeper than its limit.
function toFilter(value: unknown, at: string): PlainFilter {
  if (Array.isArray(value)) {
    return { aggregator: 'And', conditions: value.map((item, i) => toFilter(item, `${at}[${i}]`)) };
  }
  if (!isObject(value)) return invalid(at, filterExample);
  if ('aggregator' in value || 'conditions' in value) return toBranch(value, at);
  const { field, operator } = value;
  if (typeof field !== 'string' || typeof operator !== 'string') return invalid(at, filterExample);
  for (const key of Object.keys(value)) {
    if (key !== 'field' && key !== 'operator' && key !== 'value') invalid(`${at}.${key}`, `unknown; ${filterExample}`);
  }
  const known = toOperator(operator);
  const given = 'value' in value ? { value: toValue(known, value.value) } : {};
  return { field: toPath(field), operator: known, ...given };
}

function toBranch(value: Given, at: string): PlainFilter {
  const word = typeof value.aggregator === 'string' ? value.aggregator.toLowerCase() : 'and';
  if (word !== 'and' && word !== 'or') invalid(`${at}.aggregator`, 'send "And" or "Or".');
  const conditions = value.conditions;
  if (conditions === undefined || conditions === null) return invalid(at, filterExample);
  const list = Array.isArray(conditions) ? conditions : [conditions];
  return {
    aggregator: word === 'or' ? 'Or' : 'And',
    conditions: list.map((item, i) => toFilter(item, `${at}.conditions[${i}]`)),
  };
}

const byFolded = new Map(operators.map((operator) => [operator.toLowerCase(), operator]));
const symbols: Readonly<Record<string, Operator>> = {
  '=': 'Equal',
  '==': 'Equal',
  '!=': 'NotEqual',
  '<>': 'NotEqual',
  '<': 'LessThan',
  '<=': 'LessThanOrEqual',
  '>': 'GreaterThan',
  '>=': 'GreaterThanOrEqual',
};
const listOperators: ReadonlySet<Operator> = new Set(['In', 'NotIn', 'IncludesAll', 'IncludesNone']);

function toOperator(operator: string): Operator {
  const found = symbols[operator] ?? byFolded.get(operator.toLowerCase().replace(/[\s_-]/g, ''));
  return found ?? fail('UNKNOWN_OPERATOR', { operator, near: nearNames(operator, operators) });
}

function toValue(operator: Operator, value: unknown): unknown {
  if (!listOperators.has(operator)) return value;
  const list = typeof value === 'string' && value.trimStart().startsWith('[') ? fromText(value) : value;
  if (Array.isArray(list)) return list;
  return list === undefined || list === null ? value : [list];
}

/** The engine reads `@@@` as `:` where it is not part of a name. */
function toPath(path: string): string {
  return path.trim();
}

/** Text inside the body escaped the body's own depth limit. */
const TEXT_DEPTH = 64;

/** What a text holds when it is JSON of an object, a list, a number or a flag; else the text. */
function fromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (!/^([[{]|true$|false$|null$)/.test(text)) return value;
  try {
    return parseJson(Buffer.from(text), TEXT_DEPTH);
  } catch {
    return value;
  }
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
