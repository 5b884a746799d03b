// A cursor is a position after one row: its values of the order, and a mark of the query. The next page is selected by
// a condition (sources/after.ts), not by counting rows, so concurrent inserts and deletes neither skip nor repeat rows. A cursor needs no
// encryption, because it exists only if the caller sees all its values. It needs no signature, because its values are
// validated again.
import { fail } from '../../core/errors.ts';
import {
  isBranch,
  isComparison,
  isQuantified,
  type PlainFilter,
  readComparison,
  readQuantified,
} from '../../core/filter.ts';
import { fingerprintOf } from '../../core/secret.ts';
import type { Conditions } from '../lower/filter.ts';
import type { Collection, Moment } from '../model/types.ts';
import type { Order, Path, Slot } from '../plan/types.ts';
import { checkValue } from '../resolve/values.ts';
import type { Row } from '../sources/statement.ts';

/** The mark of a query, equal for equal queries of all callers. `arrangement`: output and order, as JSON. */
export function fingerprint(
  collection: Collection,
  arrangement: readonly unknown[],
  conditions: Conditions & { readonly timezone?: string; readonly within?: string },
): string {
  const parts = [
    collection.name,
    arrangement,
    conditions.filter ? canonical(conditions.filter) : null,
    conditions.search ?? '',
    conditions.searchExtended ?? false,
    conditions.timezone ?? '',
    conditions.segment ?? '',
    conditions.within ?? '',
  ];
  return fingerprintOf(JSON.stringify(parts));
}

/** Independent of the order of properties in the request. */
function canonical(filter: PlainFilter): unknown {
  if (isBranch(filter)) return [filter.aggregator, filter.conditions.map(canonical)];
  if (isComparison(filter)) return [readComparison(filter), filter.operator];
  if (!isQuantified(filter)) return [filter.field, filter.operator, filter.value ?? null];
  const { quantifier, path, where } = readQuantified(filter);
  return [quantifier, path, where ? canonical(where) : null];
}

export function writeCursor(mark: string, row: Row, keys: readonly Slot[]): string {
  return Buffer.from(JSON.stringify([mark, ...keys.map((slot) => row[slot])])).toString('base64url');
}

export function orderArrangement(order: readonly Order[]): readonly unknown[] {
  return order.map(({ path, ascending }) => [path.id, ascending]);
}

/** The values of the order. INVALID_CURSOR if the cursor belongs to another query. */
export function readCursor(cursor: string, mark: string, order: readonly Order[], moment: Moment): readonly unknown[] {
  try {
    const values = decodeCursor(cursor, mark);
    if (values.length === order.length)
      return order.map(({ path }, index) => checkCursorValue(path, values[index], moment));
  } catch (cause) {
    return fail('INVALID_CURSOR', {}, cause);
  }
  return fail('INVALID_CURSOR', {});
}

/**
 * The next page of groups starts after `count` groups. Groups are computed again for each page, so a group with a
 * changed value can move between pages.
 */
export function writeGroupCursor(mark: string, count: number): string {
  return Buffer.from(JSON.stringify([mark, count])).toString('base64url');
}

/** The number of groups on earlier pages. INVALID_CURSOR if the cursor belongs to another query. */
export function readGroupCursor(cursor: string, mark: string): number {
  let values: readonly unknown[] = [];
  try {
    values = decodeCursor(cursor, mark);
  } catch (cause) {
    return fail('INVALID_CURSOR', {}, cause);
  }
  const [count] = values;
  return values.length === 1 && Number.isSafeInteger(count) && (count as number) > 0
    ? (count as number)
    : fail('INVALID_CURSOR', {});
}

/** The values after the mark; empty if the mark belongs to another query. */
function decodeCursor(cursor: string, mark: string): readonly unknown[] {
  const bytes = Buffer.from(cursor, 'base64url');
  const [marked, ...values] = JSON.parse(bytes.toString()) as unknown[];
  // Decoding ignores characters that are not base64url.
  const isWhole = bytes.toString('base64url') === cursor;
  return isWhole && marked === mark ? values : [];
}

// Values that a database can hold but callers may not write: `infinity`, invalid days, years before 1 and after 9999,
// times over a day or below zero.
const extendedDay = /^(?:-?infinity|\d{4,6}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|\+00)?)?(?: BC)?)$/;
const extendedForms: { readonly [type: string]: RegExp } = {
  Date: extendedDay,
  Dateonly: extendedDay,
  Time: /^-?\d{2,3}:[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/,
};

function checkCursorValue(path: Path, value: unknown, moment: Moment): unknown {
  if (value === null) return null;
  const { type } = path.field;
  if (typeof type === 'string' && extendedForms[type]?.test(String(value))) return value;
  return checkValue('value', value, { column: path.field, label: 'cursor', moment, acceptsDays: false });
}
