// A cursor is a position after one row: its values of the order, and a mark of the query. The next page is selected by
// a condition, not by counting rows, so concurrent inserts and deletes neither skip nor repeat rows. A cursor needs no
// encryption, because it exists only if the caller sees all its values. It needs no signature, because its values are
// validated again.
import { fail } from '../../core/errors.ts';
import { isBranch, isQuantified, type Operator, type PlainFilter, readQuantified } from '../../core/filter.ts';
import { fingerprintOf } from '../../core/secret.ts';
import type { Conditions } from '../lower/filter.ts';
import { always, and, never, not, or } from '../lower/simplify.ts';
import type { Collection, Moment } from '../model/types.ts';
import type { Filter, Order, Path, Slot } from '../plan/types.ts';
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

/** Selects the records after one with these values. Nulls are first in ascending order, last in descending order. */
export function afterCursor(order: readonly Order[], values: readonly unknown[]): Filter {
  let after: Filter = never;
  for (let index = order.length - 1; index >= 0; index--)
    after = or(isAfter(order[index]!, values[index]), and(isSame(order[index]!.path, values[index]), after));
  return order.length > 1 ? and(lowerBound(order[0], values[0]), after) : after;
}

function isSame(path: Path, value: unknown): Filter {
  return value === null ? missing(path) : test(path, 'Equal', value);
}

function isAfter({ path, ascending }: Order, value: unknown): Filter {
  if (value === null) return ascending ? not(missing(path)) : never;
  if (ascending) return test(path, 'GreaterThan', value);
  return or(test(path, 'LessThan', value), missing(path));
}

/** Repeats what the condition implies, so a database that does not infer it can still start within an index. */
function lowerBound(first: Order | undefined, value: unknown): Filter {
  if (!first || value === null) return always;
  const { path, ascending } = first;
  const is = ascending ? 'GreaterThanOrEqual' : 'LessThanOrEqual';
  if (path.field.operators.get(is)?.evaluatedBy !== 'native' || !(ascending || hasValue(path))) return always;
  return test(path, is, value);
}

function missing(path: Path): Filter {
  return hasValue(path) ? never : test(path, 'Missing', null);
}

/** Whether the path has a value on every row. */
function hasValue({ via, field }: Path): boolean {
  return via.length === 0 && !field.nullable;
}

function test(path: Path, is: Operator, value: unknown): Filter {
  return { op: 'test', path, is, value };
}
