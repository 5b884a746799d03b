// Calls the code of an added field for the values of a page: once, with the distinct combinations of its dependencies.
import type { CustomizationContext } from '../customize/context.ts';
import { callCode, failCode, isThenable } from '../customize/user-code.ts';
import { shapeRecords } from '../encode/records.ts';
import type { Compute } from '../plan/types.ts';
import type { Row } from '../sources/statement.ts';
import { readMade } from './computed-values.ts';
import { listExternal, readyExternal } from './external.ts';

/**
 * Fills the slot of the field in every row. CUSTOMIZATION_FAILED if the code throws or returns an invalid result.
 * Stored values that do not fit the declared type become null, and `misfits` receives their number.
 */
export async function computeField(
  step: Compute,
  rows: readonly Row[],
  context: CustomizationContext,
  misfits: (count: number, step: Compute) => void,
): Promise<void> {
  const { path, made, guard, into } = step;
  const { asked, placeOf } = guard === null && allDiffer(rows, step) ? { asked: rows } : withoutRepeats(rows, step);
  const values = asked.length ? await callField(step, asked, context) : [];
  const refuse = () =>
    failCode(whatOf(step), made.at, new Error(`getValues gave a value that is no ${path.field.type}`));
  let unfit = 0;
  const read = (value: unknown): unknown => {
    if (!made.isStored) return readMade(value, path.field, refuse);
    try {
      return readMade(value, path.field, () => {
        throw misfit;
      });
    } catch (error) {
      if (error !== misfit) throw error;
      unfit++;
      return null;
    }
  };
  const ready: unknown[] = [];
  // Not `map`, which skips the holes of a sparse array.
  for (const value of values) ready.push(read(value ?? made.definition.defaultValue));
  if (unfit > 0) misfits(unfit, step);
  for (let at = 0; at < rows.length; at++) {
    const place = placeOf ? placeOf[at]! : at;
    rows[at]![into] = place === NOWHERE ? null : ready[place];
  }
}

const misfit = new Error('a stored value does not fit its declared type');

/** The dependencies of most fields differ in every record. This check costs half as much as grouping the rows. */
function allDiffer(rows: readonly Row[], { from }: Compute): boolean {
  const seen = new Set<unknown>();
  for (let at = 0; at < rows.length; at++) {
    seen.add(markOf(rows[at]!, from));
    if (seen.size <= at) return false;
  }
  return true;
}

const NOWHERE = -1;

/** The rows to pass to the code, and for each row the index of the one that gives its value. */
function withoutRepeats(rows: readonly Row[], { from, guard }: Compute): { asked: Row[]; placeOf: number[] } {
  const asked: Row[] = [];
  const places = new Map<unknown, number>();
  const placeOf = rows.map((row) => {
    if (guard !== null && row[guard] === null) return NOWHERE;
    const mark = markOf(row, from);
    let place = places.get(mark);
    if (place === undefined) {
      place = asked.push(row) - 1;
      places.set(mark, place);
    }
    return place;
  });
  return { asked, placeOf };
}

/** Equal for rows with the same dependencies. A single number or text is its own mark, unless it looks like JSON. */
function markOf(row: Row, from: readonly number[]): unknown {
  const value = row[from[0]!];
  if (from.length === 1 && (typeof value === 'number' || (typeof value === 'string' && value[0] !== '['))) return value;
  return JSON.stringify(from.map((slot) => row[slot]));
}

async function callField(
  step: Compute,
  asked: readonly Row[],
  context: CustomizationContext,
): Promise<readonly unknown[]> {
  const { made, shape } = step;
  const what = whatOf(step);
  const records = shapeRecords(asked, shape);
  const { external } = made;
  if (external) return (await listExternal(external, records, context)).map((rows) => readyExternal(external, rows));
  const values = await callCode(what, made.at, async () =>
    awaitEach(await made.definition.getValues(records, context)),
  );
  if (Array.isArray(values) && values.length === asked.length) return values;
  const got = Array.isArray(values) ? `${values.length} values` : typeof values;
  return failCode(what, made.at, new Error(`getValues was given ${asked.length} records and gave ${got}`));
}

/** Awaits the values only if some are promises: awaiting each value costs more than the rest of the field. */
function awaitEach(given: unknown): unknown {
  return Array.isArray(given) && given.some(isThenable) ? Promise.all(given) : given;
}

function whatOf({ path }: Compute): string {
  return `the field '${path.id}'`;
}
