// Asks the code of an added field for the values of a page: once, with each combination of what it needs once.
import type { CustomizationContext } from '../customize/definitions.ts';
import type { Column } from '../model/types.ts';
import type { Row } from '../sources/source.ts';
import { callCode, failCode } from './code.ts';
import { listExternal, readyExternal } from './external.ts';
import { readMade } from './made-values.ts';
import { shapeRecords } from './shape.ts';
import type { Compute } from './types.ts';

/** Fills the slot of the field in every row. CUSTOMIZATION_FAILED when the code throws, or gives something else than it should. */
export async function computeField(step: Compute, rows: readonly Row[], context: CustomizationContext): Promise<void> {
  const { path, made, from, guard, into } = step;
  const asked: Row[] = [];
  const places = new Map<unknown, number>();
  const placeOf: number[] = [];
  for (const row of rows) {
    if (guard !== null && row[guard] === null) {
      placeOf.push(-1);
      continue;
    }
    const mark = markOf(row, from);
    let place = places.get(mark);
    if (place === undefined) {
      place = asked.push(row) - 1;
      places.set(mark, place);
    }
    placeOf.push(place);
  }
  const values = asked.length ? await callField(step, asked, context) : [];
  const what = whatOf(step);
  const read = values.map((value) =>
    readMade(value ?? made.definition.defaultValue, path.field, () => failWith(what, made.at, path.field)),
  );
  for (const [index, row] of rows.entries()) row[into] = placeOf[index] === -1 ? null : read[placeOf[index]!];
}

/** Equal for rows in which the code finds the same. A single number or text is its own mark, unless it could be taken for one. */
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
  const values = await callCode(what, made.at, async () => {
    const given = await made.definition.getValues(records, context);
    return Array.isArray(given) ? Promise.all(given as readonly unknown[]) : given;
  });
  if (Array.isArray(values) && values.length === asked.length) return values;
  const got = Array.isArray(values) ? `${values.length} values` : typeof values;
  return failCode(what, made.at, new Error(`getValues was given ${asked.length} records and gave ${got}`));
}

function whatOf({ path }: Compute): string {
  return `the field '${path.id}'`;
}

function failWith(what: string, at: string, { type }: Column): never {
  return failCode(what, at, new Error(`getValues gave a value that is no ${type}`));
}
