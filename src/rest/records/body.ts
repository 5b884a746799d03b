// Reads the attributes of a JSON:API document, `{"data": {"attributes": {...}}}`. An invalid member throws
// INVALID_ARGUMENT with its name. Unknown members are ignored, since clients send some that this API does not need.
import { fail } from '../../core/errors.ts';
import { digitsAsString, losesPrecision } from '../../core/filter/exact-numbers.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function failArgument(argument: string, problem: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem });
}

/** Returns the single resource of a document. */
export function readData(body: unknown, example = '{"data": {"attributes": {}}}'): JsonObject {
  const data = isObject(body) ? body.data : undefined;
  return isObject(data) ? data : failArgument('body', `expected a document such as ${example}.`);
}

export function readAttributes(body: unknown): JsonObject {
  return readMember(readData(body), 'attributes', 'data.attributes');
}

/** Returns an object member, or {} if it is absent. */
export function readMember(input: JsonObject, name: string, argument: string): JsonObject {
  const value = input[name] ?? {};
  return isObject(value) ? value : failArgument(argument, 'expected an object.');
}

/** Returns a record id. A number becomes a string. */
export function readId(value: unknown, argument: string): string {
  if (typeof value === 'string' && value !== '') return value;
  // RFC 8259 section 6: rounded, it would be the id of another record.
  if (losesPrecision(value)) return failArgument(argument, `send ${digitsAsString}.`);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return failArgument(argument, 'expected the id of a record, as a string.');
}

/** Returns the ids without duplicates. */
export function readIds(value: unknown, argument: string): readonly string[] {
  if (!Array.isArray(value)) return failArgument(argument, 'expected a list of ids.');
  return [...new Set(value.map((one) => readId(one, argument)))];
}

/** Returns a string member, or undefined. */
export function readText(input: JsonObject, name: string): string | undefined {
  const value = input[name] ?? undefined;
  return value === undefined || typeof value === 'string' ? value : failArgument(name, 'expected a string.');
}

/** Returns a query parameter that may occur at most once. */
export function readParameter(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) return failArgument(name, 'sent more than once.');
  return value === '' ? undefined : value;
}
