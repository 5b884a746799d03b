// Reads the attributes of a JSON:API document, `{"data": {"attributes": {...}}}`. An invalid member throws
// INVALID_ARGUMENT with its name. Unknown members are ignored, since clients send some that this API does not need.
import { fail } from '../../core/errors.ts';

export type Given = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function refuseArgument(argument: string, problem: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem });
}

/** Returns the single resource of a document. */
export function readData(body: unknown, example = '{"data": {"attributes": {}}}'): Given {
  const data = isObject(body) ? body.data : undefined;
  return isObject(data) ? data : refuseArgument('body', `expected a document such as ${example}.`);
}

export function readAttributes(body: unknown): Given {
  return readMember(readData(body), 'attributes', 'data.attributes');
}

/** Returns an object member, or {} if it is absent. */
export function readMember(given: Given, name: string, argument: string): Given {
  const value = given[name] ?? {};
  return isObject(value) ? value : refuseArgument(argument, 'expected an object.');
}

/** Returns a record id. A number becomes a string. */
export function readId(value: unknown, argument: string): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return refuseArgument(argument, 'expected the id of a record, as a text.');
}

/** Returns the ids without duplicates. */
export function readIds(value: unknown, argument: string): readonly string[] {
  if (!Array.isArray(value)) return refuseArgument(argument, 'expected a list of ids.');
  return [...new Set(value.map((one) => readId(one, argument)))];
}

/** Returns a string member, or undefined. */
export function readText(given: Given, name: string): string | undefined {
  const value = given[name] ?? undefined;
  return value === undefined || typeof value === 'string' ? value : refuseArgument(name, 'expected a text.');
}

/** Returns a query parameter that may occur at most once. */
export function readParameter(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) return refuseArgument(name, 'it was sent more than once.');
  return value === '' ? undefined : value;
}
