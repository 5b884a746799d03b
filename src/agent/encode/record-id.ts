// Packs the key of a record into one text. The id of a single-column key is its value, without escapes. The values of a
// composite key are joined with `|`; `\` escapes `|` and `\` within a value.
import { fail } from '../../core/errors.ts';
import type { Column, Moment } from '../model/types.ts';
import { checkValue } from '../resolve/values.ts';

/** An id from a caller: packed, or the values in the order of the key. */
export type RecordId = string | number | readonly (string | number)[];

/** `values` in the order of the key, ready for JSON. */
export function packId(values: readonly unknown[]): string {
  if (values.length === 1) return String(values[0]);
  return values.map((value) => String(value).replace(/[|\\]/g, '\\$&')).join('|');
}

/** The canonical values of the key. INVALID_VALUE for a value that its column cannot hold. */
export function unpackId(key: readonly Column[], given: RecordId, argument: string, moment: Moment): unknown[] {
  const parts = toParts(key, given);
  if (parts.length !== key.length)
    fail('INVALID_VALUE', {
      at: argument,
      expected:
        key.length === 1
          ? 'one value'
          : `an id of ${key.length} parts, ${key.map(({ name }) => name).join('|')}${suggestPackedId(key, given)}`,
      got: given,
    });
  return key.map((column, index) => {
    const at = key.length === 1 ? argument : `${argument} (${column.name})`;
    return checkValue('value', parts[index], { column, label: at, moment, acceptsDays: false });
  });
}

function toParts(key: readonly Column[], given: RecordId): readonly unknown[] {
  if (Array.isArray(given)) return given;
  return key.length === 1 || typeof given !== 'string' ? [given] : splitId(given);
}

/** A hint with the packed id, if another separator than `|` gives the right number of parts. */
function suggestPackedId(key: readonly Column[], given: RecordId): string {
  const parts = typeof given === 'string' ? given.split(/[,;:/_\s-]+/) : [];
  return parts.length === key.length ? ` (such as ${JSON.stringify(packId(parts))})` : '';
}

/** The parts of a composite id. */
export function splitId(packed: string): string[] {
  const parts: string[] = [];
  let part = '';
  for (let at = 0; at < packed.length; at++) {
    const next = packed[at + 1];
    if (packed[at] === '|') {
      parts.push(part);
      part = '';
    } else if (packed[at] === '\\' && (next === '|' || next === '\\')) part += packed[++at];
    else part += packed[at];
  }
  parts.push(part);
  return parts;
}
