// Repairs arguments of models if the meaning is clear: JSON or a number as text, one value instead of a list,
// `relation@@@field`. All other errors say which value to send. The engine checks field names and value types.
import { fail } from '../../core/errors.ts';
import { nearNames } from '../../core/suggestions.ts';
import { parseJson } from '../../http/body.ts';

export type Given = Readonly<Record<string, unknown>>;

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Throws INVALID_ARGUMENT for an unknown argument, because ignoring it would silently give a wrong answer. */
export function checkNames(given: Given, known: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = nearNames(name, known);
    invalid(name, `unknown argument. ${near.length ? `Near: ${near.join(', ')}.` : `Known: ${known.join(', ')}.`}`);
  }
}

/** Undefined if absent; null counts as absent in all arguments. */
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

/** A whole number of at least `least`. Default: 1. */
export function readCount(value: unknown, argument: string, least = 1): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < least) {
    return invalid(argument, `send a whole number from ${least}.`);
  }
  return number;
}

/** Any value; a JSON text is parsed. Undefined if absent or null. */
export function readValue(given: Given, name: string): unknown {
  return fromText(given[name]) ?? undefined;
}

/** An object, or its JSON text. */
export function readObject(given: Given, name: string, example: string): Given | undefined {
  const value = fromText(given[name]);
  if (value === undefined || value === null) return undefined;
  return isObject(value) ? value : invalid(name, `send an object such as ${example}.`);
}

const KEY_CHARACTERS = 200;

/** The key that identifies repeats of the call. Undefined if absent or empty. */
export function readIdempotencyKey(given: Given): string | undefined {
  const key = readText(given, 'idempotencyKey');
  if (key && key.length > KEY_CHARACTERS) return invalid('idempotencyKey', `at most ${KEY_CHARACTERS} characters.`);
  return key || undefined;
}

/** Records as values by field: one object or a list, or either as JSON text. */
export function readRecords(given: Given, name: string): readonly Given[] {
  const value = fromText(given[name]);
  const records = Array.isArray(value) ? value : [value];
  const example = 'send the values by field, such as {"name":"Ada","age":36}.';
  return records.map((record) => (isObject(record) ? record : invalid(name, example)));
}

/** `{field: {from}}`, or `{field: from}`: the first character of the cells of a field. */
export function readCells(given: Given, name: string): Readonly<Record<string, number>> | undefined {
  const example = '{"body":{"from":2000}}';
  const cells = readObject(given, name, example);
  if (!cells) return undefined;
  const starts = Object.entries(cells).map(([field, cell]): [string, number] => {
    const from = readCount(isObject(cell) ? cell.from : cell, `${name}.${field}.from`, 0);
    const known = !isObject(cell) || Object.keys(cell).every((key) => key === 'from');
    return known && from !== undefined ? [field.trim(), from] : invalid(`${name}.${field}`, `send ${example}.`);
  });
  return Object.fromEntries(starts);
}

/** JSON sent as text was not counted by the depth limit of the body. */
const TEXT_DEPTH = 64;

/** Parses a text that is JSON of an object, a list, a number or a boolean. Other texts stay as they are. */
export function fromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (!/^([[{]|true$|false$|null$)/.test(text)) return value;
  try {
    return parseJson(Buffer.from(text), TEXT_DEPTH);
  } catch {
    return value;
  }
}

export function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
