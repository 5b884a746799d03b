// Decides whether an answer shows the rows that the SQL of a question returns. The order of columns is free, and the
// answer may show more columns. The number of rows is not free.

type Row = readonly unknown[];

/** The rows that a question asks for. */
export interface Expected {
  readonly rows: readonly Row[];
  /** The values by which each row is sorted; rows with equal values may swap. Undefined if the SQL sorts nothing. */
  readonly keys?: readonly Row[];
  /** How many of the rows to show. Of rows that tie at the end, any may be shown. Default: all. */
  readonly limit?: number;
  /** How far numbers may be apart. Default: what floating-point sums and ten decimals need. */
  readonly tolerance?: Tolerance;
}

export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
}

/** Ratios are rounded to ten decimals, and floating-point sums differ in their last digits. */
export const exact: Tolerance = { relative: 1e-9, absolute: 5e-11 };

/** Whether the answer has the expected rows; `ordered`: in the expected order. */
export function hasRows(expected: Expected, answer: readonly Row[], ordered: boolean): boolean {
  const { rows, keys, limit = rows.length, tolerance = exact } = expected;
  if (answer.length !== Math.min(limit, rows.length)) return false;
  if (answer.length === 0) return true;
  const parts = ordered && keys ? tied(rows, keys) : splitAtLimit(rows, keys, limit);
  const fits = ordered && keys ? isInOrder : isChoice;
  return assignments(rows[0]!.length, answer[0]!.length).some((columns) =>
    fits(
      parts,
      answer.map((row) => columns.map((column) => row[column])),
      tolerance,
    ),
  );
}

/** Each part holds rows with equal keys. */
function tied(rows: readonly Row[], keys: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  rows.forEach((row, at) => {
    if (at > 0 && JSON.stringify(keys[at]) === JSON.stringify(keys[at - 1])) parts.at(-1)!.push(row);
    else parts.push([row]);
  });
  return parts;
}

/** The rows that must be shown, and those that tie where the limit cuts. */
function splitAtLimit(rows: readonly Row[], keys: readonly Row[] | undefined, limit: number): Row[][] {
  if (limit >= rows.length) return [[], [...rows]];
  if (!keys) return [rows.slice(0, limit), []];
  const parts = tied(rows, keys);
  let end = 0;
  const cut = parts.findIndex(({ length }) => {
    end += length;
    return end >= limit;
  });
  return [parts.slice(0, cut).flat(), parts[cut]!];
}

function isInOrder(parts: readonly Row[][], shown: readonly Row[], tolerance: Tolerance): boolean {
  let at = 0;
  return parts.every((part) => {
    const slice = shown.slice(at, at + part.length);
    at += part.length;
    return without(part, slice, tolerance) !== undefined;
  });
}

function isChoice([must = [], may = []]: readonly Row[][], shown: readonly Row[], tolerance: Tolerance): boolean {
  const rest = without(shown, must, tolerance);
  return rest !== undefined && without(may, rest, tolerance) !== undefined;
}

/** The rows without one equal row for each of `taken`. Undefined if one of them is missing. */
function without(rows: readonly Row[], taken: readonly Row[], tolerance: Tolerance): Row[] | undefined {
  const rest = [...rows];
  for (const row of taken) {
    const at = rest.findIndex((other) => row.every((value, column) => isSameValue(value, other[column], tolerance)));
    if (at < 0) return undefined;
    rest.splice(at, 1);
  }
  return rest;
}

/** All choices of `count` of the first `width` numbers, in each order. */
function assignments(count: number, width: number, used: readonly number[] = []): (readonly number[])[] {
  if (used.length === count) return [used];
  return Array.from({ length: width }, (_, column) => column)
    .filter((column) => !used.includes(column))
    .flatMap((column) => assignments(count, width, used.concat(column)));
}

/** Compares numbers, also as texts of digits, within a tolerance, and days with the moments at which they begin. */
export function isSameValue(one: unknown, other: unknown, { relative, absolute }: Tolerance = exact): boolean {
  if (typeof one === 'number' || typeof other === 'number') {
    const [a, b] = [numberOf(one), numberOf(other)];
    if (a === undefined || b === undefined) return false;
    return Math.abs(a - b) <= Math.max(absolute, relative * Math.max(Math.abs(a), Math.abs(b)));
  }
  return momentOf(one) === momentOf(other);
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
}

/** Other values than dates stay. */
function momentOf(value: unknown): unknown {
  const [, day, time] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|\+00(?::?00)?)?)?$/.exec(String(value)) ?? [];
  return typeof value === 'string' && day !== undefined ? Date.parse(`${day}T${time ?? '00:00'}Z`) : value;
}
