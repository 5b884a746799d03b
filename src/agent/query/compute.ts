// Asks the code of an added field for the values of a page: once, with each combination of what it needs once.
import type { ComputedDefinition, CustomizationContext } from '../customize/definitions.ts';
import type { Column } from '../model/types.ts';
import type { PrimitiveType, Row } from '../sources/source.ts';
import { callCode, failCode } from './code.ts';
import { shapeRecords } from './shape.ts';
import type { Compute } from './types.ts';

/** Fills the slot of the field in every row. CUSTOMIZATION_FAILED when the code throws, or gives something else than it should. */
export async function computeField(step: Compute, rows: readonly Row[], context: CustomizationContext): Promise<void> {
  const { path, made, from, guard, into } = step;
  const asked: Row[] = [];
  const places = new Map<string, number>();
  const placeOf: number[] = [];
  for (const row of rows) {
    if (guard !== null && row[guard] === null) {
      placeOf.push(-1);
      continue;
    }
    const mark = JSON.stringify(from.map((slot) => row[slot]));
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
    readMade(value, path.field, made.definition, () => failWith(what, made.at, path.field)),
  );
  for (const [index, row] of rows.entries()) row[into] = placeOf[index] === -1 ? null : read[placeOf[index]!];
}

async function callField(
  step: Compute,
  asked: readonly Row[],
  context: CustomizationContext,
): Promise<readonly unknown[]> {
  const { made, shape } = step;
  const what = whatOf(step);
  const records = shapeRecords(asked, shape);
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

/** A canonical value of the type (sources/source.ts), of what code reasonably gives for it. */
function readMade(
  given: unknown,
  { type, enumValues }: Column,
  { defaultValue }: ComputedDefinition,
  refuse: () => never,
): unknown {
  const value = given ?? defaultValue ?? null;
  if (value === null) return null;
  if (typeof type === 'string') return readers[type](value, enumValues ?? []) ?? refuse();
  if (!Array.isArray(value)) return refuse();
  return value.map((item) => (item === null ? null : (readers[type[0]](item, enumValues ?? []) ?? refuse())));
}

type Reader = (value: unknown, enumValues: readonly string[]) => unknown;

const text =
  (pattern: RegExp): Reader =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? value : undefined;

const readers: { readonly [T in PrimitiveType]: Reader } = {
  String: (value) => (['string', 'number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : undefined),
  Number(value) {
    if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    return typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? value : undefined;
  },
  Boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  Date(value) {
    const date = value instanceof Date || typeof value === 'string' ? new Date(value) : undefined;
    if (!date || Number.isNaN(date.getTime())) return undefined;
    // Kept as it is, with its microseconds, when it is canonical already.
    return typeof value === 'string' && /\.\d{6}Z$/.test(value) ? value : date.toISOString();
  },
  Dateonly: (value) =>
    value instanceof Date ? value.toISOString().slice(0, 10) : text(/^\d{4}-\d{2}-\d{2}$/)(value, []),
  Time: text(/^\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/),
  Enum: (value, enumValues) => (enumValues.includes(value as string) ? value : undefined),
  Json: (value) => value,
  Uuid: (value) => (typeof value === 'string' ? value.toLowerCase() : undefined),
  Binary: (value) => (value instanceof Uint8Array ? Buffer.from(value) : undefined),
  Point: (value) => (Array.isArray(value) && value.length === 2 ? value : undefined),
};
