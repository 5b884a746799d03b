// Record ids as models send them: a number, a text, a list with the parts of a composite key, or JSON text of these.
// The engine checks the parts of an id.
import type { RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { type JsonObject, readValue } from './arguments.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** One id. Also accepts a list with one id, and a list with the parts of a composite key. */
export function readRecordId(input: JsonObject, name: string): RecordId | undefined {
  const value = readIdValue(input, name);
  if (value === undefined || value === '') return undefined;
  if (isPart(value)) return value;
  if (Array.isArray(value) && value.length > 0 && value.every(isPart)) return value.length === 1 ? value[0]! : value;
  return invalid(name, 'send one id, a number or a string.');
}

/** `[]` for an empty list, undefined if absent. A single id counts as a list of one. */
export function readRecordIds(input: JsonObject, name: string): readonly RecordId[] | undefined {
  const value = readIdValue(input, name);
  if (value === undefined) return undefined;
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (ids.every(isId)) return ids;
  return invalid(name, 'send a list of ids, numbers or strings.');
}

/**
 * The ids in the argument `name` or its synonym `other`. Throws INVALID_ARGUMENT if there are no ids: an empty list
 * never means all records.
 */
export function readRequiredIds(input: JsonObject, name: string, other: string): readonly RecordId[] {
  const [ids, others] = [readRecordIds(input, name), readRecordIds(input, other)];
  if (ids && others) return invalid(other, `send either this or ${name}.`);
  const some = ids ?? others ?? [];
  return some.length > 0 ? some : invalid(name, 'send at least one id; an empty list does not mean all records.');
}

/** The id as the activity log and answers show it. */
export function formatId(id: RecordId): string {
  return Array.isArray(id) ? id.map(String).join('|') : String(id);
}

/** Only lists are parsed from JSON text, because a key may be the text `true` or `null`. */
function readIdValue(input: JsonObject, name: string): unknown {
  const value = input[name];
  return typeof value === 'string' && !value.trimStart().startsWith('[') ? value : readValue(input, name);
}

function isPart(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value !== '');
}

function isId(value: unknown): value is RecordId {
  return isPart(value) || (Array.isArray(value) && value.length > 0 && value.every(isPart));
}
