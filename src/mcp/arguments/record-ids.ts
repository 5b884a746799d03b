// Ids of records as models send them: a number or a text, the parts of a composite key as a list, and any of these as
// JSON text. What an id must be made of is the engine's matter.
import type { RecordId } from '../../agent/record-id.ts';
import { fail } from '../../core/errors.ts';
import { type Given, readValue } from './arguments.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** One id; also the only item of a list, and a list of the parts of a composite key. */
export function readRecordId(given: Given, name: string): RecordId | undefined {
  const value = readIdValue(given, name);
  if (value === undefined || value === '') return undefined;
  if (isPart(value)) return value;
  if (Array.isArray(value) && value.length > 0 && value.every(isPart)) return value.length === 1 ? value[0]! : value;
  return invalid(name, 'send one id, a number or a text.');
}

/** `[]` where a list without ids was sent, undefined where nothing was; one id counts as a list of it. */
export function readRecordIds(given: Given, name: string): readonly RecordId[] | undefined {
  const value = readIdValue(given, name);
  if (value === undefined) return undefined;
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (ids.every(isId)) return ids;
  return invalid(name, 'send a list of ids, numbers or texts.');
}

/**
 * The ids under `name`, or under `other`, which means the same. INVALID_ARGUMENT where there is none: none is never all.
 */
export function readRequiredIds(given: Given, name: string, other: string): readonly RecordId[] {
  const [ids, others] = [readRecordIds(given, name), readRecordIds(given, other)];
  if (ids && others) return invalid(other, `send either this or ${name}.`);
  const some = ids ?? others ?? [];
  return some.length > 0 ? some : invalid(name, 'send at least one id; none never means all.');
}

/** As the activity log and answers name a record. */
export function nameOf(id: RecordId): string {
  return Array.isArray(id) ? id.map(String).join('|') : String(id);
}

/** Only a list is looked for in a text: a key may well be `true` or `null`. */
function readIdValue(given: Given, name: string): unknown {
  const value = given[name];
  return typeof value === 'string' && !value.trimStart().startsWith('[') ? value : readValue(given, name);
}

function isPart(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value !== '');
}

function isId(value: unknown): value is RecordId {
  return isPart(value) || (Array.isArray(value) && value.length > 0 && value.every(isPart));
}
