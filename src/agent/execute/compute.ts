// Calls the code of an added field for the values of a page: once, with the distinct combinations of its dependencies.
import type { CustomizationContext } from '../customize/context.ts';
import { callCode, failCode, isThenable } from '../customize/user-code.ts';
import { shapeRecords } from '../encode/records.ts';
import type { ComputeStep } from '../plan/types.ts';
import type { Row } from '../sources/statement.ts';
import { readComputedValue } from './computed-values.ts';
import { listExternal, toReadyRecords } from './external.ts';

/**
 * Fills the slot of the field in every row. CUSTOMIZATION_FAILED if the code throws or returns an invalid result.
 * Stored values that do not fit the declared type become null, and `misfits` receives their number.
 */
export async function computeField(
  step: ComputeStep,
  rows: readonly Row[],
  context: CustomizationContext,
  misfits: (count: number, step: ComputeStep) => void,
): Promise<void> {
  const { path, computedFrom, guard, into } = step;
  const { distinct, placeOf } =
    guard === null && allDiffer(rows, step) ? { distinct: rows } : deduplicateRows(rows, step);
  const values = distinct.length ? await callField(step, distinct, context) : [];
  const refuse = () =>
    failCode(
      describeField(step),
      computedFrom.at,
      new Error(`getValues returned a value that is not a ${path.field.type}`),
    );
  let unfit = 0;
  const read = (value: unknown): unknown => {
    if (!computedFrom.isStored) return readComputedValue(value, path.field, refuse);
    try {
      return readComputedValue(value, path.field, () => {
        throw misfitError;
      });
    } catch (error) {
      if (error !== misfitError) throw error;
      unfit++;
      return null;
    }
  };
  const ready: unknown[] = [];
  // Not `map`, which skips the holes of a sparse array.
  for (const value of values) ready.push(read(value ?? computedFrom.definition.defaultValue));
  if (unfit > 0) misfits(unfit, step);
  for (let at = 0; at < rows.length; at++) {
    const place = placeOf ? placeOf[at]! : at;
    rows[at]![into] = place === NO_POSITION ? null : ready[place];
  }
}

const misfitError = new Error('a stored value does not fit its declared type');

/** The dependencies of most fields differ in every record. This check costs half as much as grouping the rows. */
function allDiffer(rows: readonly Row[], { from }: ComputeStep): boolean {
  const seen = new Set<unknown>();
  for (let at = 0; at < rows.length; at++) {
    seen.add(rowKey(rows[at]!, from));
    if (seen.size <= at) return false;
  }
  return true;
}

const NO_POSITION = -1;

/** The rows to pass to the code, and for each row the index of the one that gives its value. */
function deduplicateRows(rows: readonly Row[], { from, guard }: ComputeStep): { distinct: Row[]; placeOf: number[] } {
  const asked: Row[] = [];
  const places = new Map<unknown, number>();
  const placeOf = rows.map((row) => {
    if (guard !== null && row[guard] === null) return NO_POSITION;
    const mark = rowKey(row, from);
    let place = places.get(mark);
    if (place === undefined) {
      place = asked.push(row) - 1;
      places.set(mark, place);
    }
    return place;
  });
  return { distinct: asked, placeOf };
}

/** Equal for rows with the same dependencies. A single number or text is its own mark, unless it looks like JSON. */
function rowKey(row: Row, from: readonly number[]): unknown {
  const value = row[from[0]!];
  if (from.length === 1 && (typeof value === 'number' || (typeof value === 'string' && value[0] !== '['))) return value;
  return JSON.stringify(from.map((slot) => row[slot]));
}

async function callField(
  step: ComputeStep,
  distinct: readonly Row[],
  context: CustomizationContext,
): Promise<readonly unknown[]> {
  const { computedFrom, shape } = step;
  const what = describeField(step);
  const records = shapeRecords(distinct, shape);
  const { external } = computedFrom;
  if (external) return (await listExternal(external, records, context)).map((rows) => toReadyRecords(external, rows));
  const values = await callCode(what, computedFrom.at, async () =>
    awaitAll(await computedFrom.definition.getValues(records, context)),
  );
  if (Array.isArray(values) && values.length === distinct.length) return values;
  const got = Array.isArray(values) ? `${values.length} values` : typeof values;
  return failCode(
    what,
    computedFrom.at,
    new Error(`getValues received ${distinct.length} records and returned ${got}`),
  );
}

/** Awaits the values only if some are promises: awaiting each value costs more than the rest of the field. */
function awaitAll(given: unknown): unknown {
  return Array.isArray(given) && given.some(isThenable) ? Promise.all(given) : given;
}

function describeField({ path }: ComputeStep): string {
  return `the field '${path.id}'`;
}
