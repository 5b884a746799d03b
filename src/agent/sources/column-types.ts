// The types of columns, and how a database compares their texts.
//
// Values use one canonical form, independent of the driver:
//   String, Enum   string                      Number    number; a string of digits where a number would lose some,
//                                             and 'NaN', 'Infinity', '-Infinity'
//   Uuid           lower-case string           Boolean   boolean
//   Date           'YYYY-MM-DDTHH:mm:ss.sssZ'  Dateonly  'YYYY-MM-DD'       Time  'HH:mm:ss[.ffffff]'
//                  ('...ss.ffffffZ' where the microseconds are not zero: a value must match its own row again)
//   Json           the parsed value, which     Binary    Buffer             Point [x, y]
//                  keeps its text (lossless-json.ts)
//   [T]            array of T                  no value  null, never undefined

export const primitiveTypes = [
  'String',
  'Number',
  'Boolean',
  'Date',
  'Dateonly',
  'Time',
  'Enum',
  'Json',
  'Uuid',
  'Binary',
  'Point',
] as const;
/** The column types that are neither lists nor objects. */
export type PrimitiveType = (typeof primitiveTypes)[number];
/** A primitive, or an array of one (PostgreSQL). */
export type ColumnType = PrimitiveType | readonly [PrimitiveType];
/** The shape of the values in a Json column, where known: an object by its keys, a list, or a primitive. */
export type ColumnShape = PrimitiveType | readonly [ColumnShape] | { readonly [key: string]: ColumnShape };

/**
 * How the database compares texts of a column. `insensitive` ignores case (and accents on MariaDB). `backwards` is for
 * UUIDs ordered by their groups from last to first, as MariaDB does. `interval` and `network` are for PostgreSQL types
 * ordered by their meaning instead of their text.
 */
export type Collation = 'binary' | 'insensitive' | 'backwards' | 'interval' | 'network';
