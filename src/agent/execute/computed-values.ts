// Converts the values that code returns for a field to the type of the field.
import type { Column } from '../model/types.ts';
import { readDataUri } from '../resolve/values.ts';
import type { ColumnShape, PrimitiveType } from '../sources/column-types.ts';

/** The canonical value of the type (agent/sources/source.ts), from the usual JavaScript forms. */
export function readComputedValue(given: unknown, { type, enumValues, shape }: Column, refuse: () => never): unknown {
  const value = given ?? null;
  if (value === null) return null;
  if (shape) return readShape(value, shape, refuse);
  if (typeof type === 'string') return readers[type](value, enumValues ?? []) ?? refuse();
  if (!Array.isArray(value)) return refuse();
  return value.map((item) => (item === null ? null : (readers[type[0]](item, enumValues ?? []) ?? refuse())));
}

/** Objects get exactly the keys of the shape; missing values are null. */
function readShape(value: unknown, shape: ColumnShape, refuse: () => never): unknown {
  if (value === null || value === undefined) return null;
  if (typeof shape === 'string') return readers[shape](value, []) ?? refuse();
  if (isList(shape)) {
    return Array.isArray(value) ? value.map((item) => readShape(item, shape[0], refuse)) : refuse();
  }
  if (typeof value !== 'object' || Array.isArray(value)) return refuse();
  const object = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(shape).map(([key, of]) => [key, readShape(object[key], of, refuse)]));
}

function isList(shape: ColumnShape): shape is readonly [ColumnShape] {
  return Array.isArray(shape);
}

type Reader = (value: unknown, enumValues: readonly string[]) => unknown;

const text =
  (pattern: RegExp): Reader =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? value : undefined;

const readers: { readonly [T in PrimitiveType]: Reader } = {
  String(value) {
    if (typeof value === 'string') return value;
    return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
      ? String(value)
      : undefined;
  },
  Number(value) {
    if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    return typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? value : undefined;
  },
  Boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  Date(value) {
    const date = value instanceof Date || typeof value === 'string' ? new Date(value) : undefined;
    if (!date || Number.isNaN(date.getTime())) return undefined;
    // A canonical text is kept, to preserve its microseconds.
    return typeof value === 'string' && /\.\d{6}Z$/.test(value) ? value : date.toISOString();
  },
  Dateonly: (value) =>
    value instanceof Date ? value.toISOString().slice(0, 10) : text(/^\d{4}-\d{2}-\d{2}$/)(value, []),
  Time: text(/^\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/),
  Enum: (value, enumValues) => (enumValues.includes(value as string) ? value : undefined),
  Json: (value) => value,
  Uuid: (value) => (typeof value === 'string' ? value.toLowerCase() : undefined),
  Binary: (value) =>
    typeof value === 'string' ? readDataUri(value) : value instanceof Uint8Array ? Buffer.from(value) : undefined,
  Point: (value) => (Array.isArray(value) && value.length === 2 ? value : undefined),
};
