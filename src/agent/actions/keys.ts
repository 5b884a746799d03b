// Ids of records, as callers of actions write them. The id of a composite key is the list of its values, or one text
// (encode/record-id.ts).
import { splitId } from '../encode/record-id.ts';
import { readNumber, readUuid } from '../resolve/values.ts';
import type { KeyColumn } from './collection-access.ts';
import type { ActionRecord } from './definitions.ts';

export type RecordId = string | number | readonly (string | number)[];
export type Key = readonly (string | number)[];

/** The parts of the key, in the form of the source. Undefined if there are too many or too few. */
export function readKey(columns: readonly KeyColumn[], given: RecordId): Key | undefined {
  const parts = partsOf(given, columns.length);
  if (parts?.length !== columns.length) return undefined;
  return parts.map((part, index) => canonical(columns[index]!, part));
}

function partsOf(given: RecordId, width: number): Key | undefined {
  if (Array.isArray(given)) {
    const parts = given as Key;
    // A packed text may be the only item of a list.
    return parts.length === 1 && width > 1 ? partsOf(parts[0]!, width) : parts;
  }
  if (width === 1) return [given as string | number];
  return splitId(String(given));
}

function canonical({ type }: KeyColumn, part: string | number): string | number {
  if (type === 'Number') return readNumber(part) ?? part;
  if (type === 'Uuid') return readUuid(String(part)) ?? part;
  return type === 'String' || type === 'Enum' ? String(part) : part;
}

export function keyOfRecord(columns: readonly KeyColumn[], record: ActionRecord): (string | number)[] {
  return columns.map(({ name }) => record[name] as string | number);
}
