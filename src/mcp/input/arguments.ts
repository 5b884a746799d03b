// Repairs arguments of models if the meaning is clear: JSON or a number as text, one value instead of a list,
// `relation@@@field`. All other errors say which value to send. The engine checks field names and value types. Fields,
// sorts and groups may get `home`: unclear names then become the only names that they can mean.

import type { CallerNames } from '../../agent/engine.ts';
import { fail } from '../../core/errors.ts';
import { digitsAsString, losesPrecision } from '../../core/filter/exact-numbers.ts';
import { MAX_SORTS, type PlainSort } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { parseJson } from '../../http/body.ts';
import { applySynonyms, sortWords } from './synonyms.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Throws INVALID_ARGUMENT for an unknown argument, because ignoring it would silently give a wrong answer. */
export function checkNames(input: JsonObject, known: readonly string[]): void {
  for (const name of Object.keys(input)) {
    if (known.includes(name)) continue;
    const near = suggestNames(name, known);
    invalid(name, `unknown argument. ${near.length ? `Near: ${near.join(', ')}.` : `Known: ${known.join(', ')}.`}`);
  }
}

/** Undefined if absent; null counts as absent in all arguments. */
export function readText(input: JsonObject, name: string): string | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (losesPrecision(value)) return invalid(name, `send ${digitsAsString}.`);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return invalid(name, 'send a string.');
}

export function readRequiredText(input: JsonObject, name: string, hint: string): string {
  const value = readText(input, name)?.trim();
  return value ? value : invalid(name, hint);
}

export function readFlag(input: JsonObject, name: string): boolean {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null || value === false || value === 0) return false;
  if (value === true || value === 1) return true;
  return invalid(name, 'send true or false.');
}

export function readChoice<T extends string>(input: JsonObject, name: string, choices: readonly T[]): T | undefined {
  const text = readText(input, name);
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice.toLowerCase() === text.trim().toLowerCase());
  return found ?? invalid(name, `send ${choices.map((choice) => `'${choice}'`).join(' or ')}.`);
}

/** A whole number of at least `least`. Default: 1. */
export function readCount(value: unknown, argument: string, min = 1): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < min) {
    return invalid(argument, `send a whole number of at least ${min}.`);
  }
  return number;
}

/** Any value; a JSON text is parsed. Undefined if absent or null. */
export function readValue(input: JsonObject, name: string): unknown {
  return parseIfJson(input[name]) ?? undefined;
}

/** An object, or its JSON text. */
export function readObject(input: JsonObject, name: string, example: string): JsonObject | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null) return undefined;
  return isObject(value) ? value : invalid(name, `send an object such as ${example}.`);
}

const MAX_KEY_CHARACTERS = 200;

/** The key that identifies repeats of the call. Undefined if absent or empty. */
export function readIdempotencyKey(input: JsonObject): string | undefined {
  const key = readText(input, 'idempotencyKey');
  if (key && key.length > MAX_KEY_CHARACTERS)
    return invalid('idempotencyKey', `at most ${MAX_KEY_CHARACTERS} characters.`);
  return key || undefined;
}

/** Records as values by field: one object or a list, or either as JSON text. */
export function readRecords(input: JsonObject, name: string): readonly JsonObject[] {
  const value = parseIfJson(input[name]);
  const records = Array.isArray(value) ? value : [value];
  const example = 'send the values by field, such as {"name":"Ada","age":36}.';
  return records.map((record) => (isObject(record) ? record : invalid(name, example)));
}

/** `{field: {from}}`, or `{field: from}`: the first character of the cells of a field. */
export function readCells(input: JsonObject, name: string): Readonly<Record<string, number>> | undefined {
  const example = '{"body":{"from":2000}}';
  const cells = readObject(input, name, example);
  if (!cells) return undefined;
  const starts = Object.entries(cells).map(([field, cell]): [string, number] => {
    const from = readCount(isObject(cell) ? cell.from : cell, `${name}.${field}.from`, 0);
    const known = !isObject(cell) || Object.keys(cell).every((key) => key === 'from');
    return known && from !== undefined ? [field.trim(), from] : invalid(`${name}.${field}`, `send ${example}.`);
  });
  return Object.fromEntries(starts);
}

/** JSON sent as text was not counted by the depth limit of the body. */
const MAX_JSON_DEPTH = 64;

/** Parses a text that is JSON of an object, a list, a number or a boolean. Other texts stay as they are. */
export function parseIfJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (!/^([[{]|true$|false$|null$)/.test(text)) return value;
  try {
    return parseJson(Buffer.from(text), MAX_JSON_DEPTH);
  } catch {
    return value;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The collection of the names, and the names that the caller may use there. */
export interface NameContext {
  readonly names: CallerNames;
  readonly collection: string;
}

export const MAX_FIELDS = 1000;

/** Limits the list before its names are resolved, because finding the meaning of a wrong name is slow. */
export function requireAtMost(max: number, list: readonly unknown[], name: string, what = name): void {
  if (list.length > max) invalid(name, `at most ${max} ${what}, got ${list.length}.`);
}

/** The field that the text means. Otherwise the text itself: the engine then suggests similar names. */
export function resolveField(text: string, context: NameContext | undefined): string {
  const field = text.trim();
  return context?.names.field(context.collection, field) ?? field;
}

/** A list of fields. Also accepts JSON text, a comma-separated text, or one field. */
export function readFields(input: JsonObject, name: string, context?: NameContext): readonly string[] | undefined {
  let value = parseIfJson(input[name]);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') value = value.split(',');
  if (!Array.isArray(value) || !value.every((path) => typeof path === 'string')) {
    return invalid(name, 'send a list of field names such as ["id","relation:field"].');
  }
  requireAtMost(MAX_FIELDS, value, name, 'fields');
  const fields = [...new Set(value.filter((path) => path.trim() !== '').map((path) => resolveField(path, context)))];
  return fields.length > 0 ? fields : undefined;
}

const sortExample = 'send {"field":"name","ascending":true} or a list of these.';

/** `{field, ascending}`, a list of them, `name`, `-name`, `name desc`, `{name: "desc"}` or `["name", "desc"]`. */
export function readSort(input: JsonObject, name: string, context?: NameContext): readonly PlainSort[] | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null || value === '') return undefined;
  const clauses = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [value];
  requireAtMost(MAX_SORTS, clauses, name, 'fields to sort by');
  return clauses.flatMap((clause): readonly PlainSort[] => {
    if (typeof clause === 'string') return [toSort(clause, context)];
    if (Array.isArray(clause) && clause.length === 2 && typeof clause[0] === 'string')
      return [{ field: resolveField(clause[0], context), ascending: isAscending(clause[1], name) }];
    if (!isObject(clause)) return invalid(name, sortExample);
    const { field, ascending, direction, desc } = applySynonyms(clause, sortWords) ?? {};
    const [way = true, ...others] = [ascending, direction, typeof desc === 'boolean' ? !desc : desc].filter(
      (each) => each !== undefined,
    );
    if (typeof field === 'string' && others.length === 0)
      return [{ field: resolveField(field, context), ascending: isAscending(way, name) }];
    const entries = Object.entries(clause);
    requireAtMost(MAX_SORTS, entries, name, 'fields to sort by');
    if (entries.length === 0 || 'field' in clause) return invalid(name, sortExample);
    return entries.map(([each, direction]) => ({
      field: resolveField(each, context),
      ascending: isAscending(direction, name),
    }));
  });
}

function toSort(text: string, context: NameContext | undefined): PlainSort {
  const clause = text.trim();
  const [, sign = '', field, direction = ''] = /^([-+]?)(.*?)(?:(?:\s+|:)(asc|desc)(?:ending)?)?$/i.exec(clause) ?? [];
  if (field === undefined || context?.names.field(context.collection, clause) === clause)
    return { field: resolveField(clause, context), ascending: true };
  return { field: resolveField(field, context), ascending: sign !== '-' && direction.toLowerCase() !== 'desc' };
}

function isAscending(direction: unknown, name: string): boolean {
  const word = typeof direction === 'string' ? direction.trim().toLowerCase() : direction;
  if (word === true || word === 1 || word === null || /^(asc|ascending|true|1)$/.test(String(word))) return true;
  if (word === false || word === 0 || /^(desc|descending|false|-1|0)$/.test(String(word))) return false;
  return invalid(name, sortExample);
}
