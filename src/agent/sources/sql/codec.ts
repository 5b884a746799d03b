// The mapping of a database column: its type, the conversion of its values in both directions, and the SQL around it.
// Every native type of the three databases has one codec (types.ts of each dialect). Statements are built only from
// codecs.
import { fail } from '../../../core/errors.ts';
import type { Operator } from '../../../core/filter.ts';
import type { Collation, ColumnType } from '../column-types.ts';
import { parseJson } from '../lossless-json.ts';
import type { ZoneOffsets } from '../statement.ts';
import { isNotFinite } from '../values/decimal.ts';

export type Dialect = 'sqlite' | 'mysql' | 'postgres';

export interface Codec {
  readonly type: ColumnType;
  readonly operators: ReadonlySet<Operator>;
  readonly sortable: boolean;
  /** SQL that selects the value, given the quoted column. Default: the column itself. */
  readonly read?: (column: string) => string;
  /** Converts the driver's non-null value to the canonical one. Default: unchanged. */
  readonly decode?: (value: unknown) => unknown;
  /** Converts the canonical, non-null value to a bound parameter. */
  readonly encode: (value: unknown) => unknown;
  /** Converts the canonical value for storage, where that differs from `encode`. */
  readonly stored?: (value: unknown) => unknown;
  /** SQL around the placeholder of a stored value. Default: `?`. */
  readonly storedParameter?: string;
  /** SQL of a bound value, for a `kind` from `kindOf`. Default: `?`. */
  readonly parameter?: (kind: string) => string;
  /** For columns with values that need different SQL: a short word that becomes part of the statement's shape. */
  readonly kindOf?: (value: unknown) => string;
  /** SQL to compare for equality, given the quoted column. Default: the column itself. */
  readonly equal?: (column: string, kind: string) => string;
  /** SQL to compare for order, and to sort by with an empty kind. Default: the column itself. */
  readonly ordered?: (column: string, kind: string) => string;
  /** Both sides of an order comparison, where it differs from the sort expression. */
  readonly ranked?: {
    readonly column: (column: string) => string;
    readonly encode: (value: unknown) => unknown;
    readonly decode: (value: unknown) => unknown;
  };
  /** SQL of the text for patterns and lengths. Default: the column itself. */
  readonly text?: (column: string) => string;
  /** SQL that is equal for all representations of one value. Default: `ordered`, or the column itself. */
  readonly grouped?: (column: string) => string;
  /** SQL of the number for Sum and Avg. Default: the column itself. */
  readonly summed?: (column: string) => string;
  /** A binary fraction: its sums show rounding artifacts. */
  readonly inexact?: true;
  /** The order of texts of this type, where it overrides the column's collation. */
  readonly collation?: Collation;
  /**
   * The number of decimals in the declared type. SQLite: absent if it declares no decimals. PostgreSQL: absent for more
   * than 15 digits in all.
   */
  readonly scale?: number;
  /** SQLite: how the column stores instants. Columns of one form compare directly. */
  readonly form?: string;
  /** SQLite: SQL that formats an instant as `YYYY-MM-DD HH:MM:SS` in UTC. */
  readonly utc?: (column: string) => string;
  /** SQLite: SQL of the milliseconds since 1970. Absent where the date functions read the value itself. */
  readonly milliseconds?: (column: string) => string;
  /**
   * Encoders for order comparisons, where they differ from equality: `least` for `<` and `>=`, `most` for `>` and `<=`.
   */
  readonly bounds?: { readonly least: Codec['encode']; readonly most: Codec['encode'] };
  /** For timestamps without zone: the codec of the column in a given zone (zoneless.ts). */
  readonly inZone?: (zone: string) => Codec;
  /** For columns read in a zone: their codec in UTC, and the offsets of the zone. */
  readonly zoned?: { readonly plain: Codec; readonly offsets: ZoneOffsets };
  /** MySQL: the stored number of a list, with one bit for each label. */
  readonly bits?: (items: readonly unknown[]) => string;
  /** For texts that may be long, on database servers: SQL of the length in UTF-16 code units (statements/cut.ts). */
  readonly units?: (column: string) => string;
  /** PostgreSQL: the element type of the array that `In` and `Includes` bind. */
  readonly list?: (kind: string) => string;
}

const presence = ['Missing'] as const;
const equality = ['Missing', 'Equal', 'NotEqual', 'In', 'NotIn'] as const;
const order = ['LessThan', 'GreaterThan', 'LessThanOrEqual', 'GreaterThanOrEqual'] as const;
// biome-ignore format: one family a line
const patterns = [
  'Like', 'ILike', 'Contains', 'NotContains', 'IContains', 'NotIContains',
  'StartsWith', 'EndsWith', 'IStartsWith', 'IEndsWith', 'LongerThan', 'ShorterThan',
] as const;

/** The operators of each kind of column. */
export const families = {
  presence: new Set<Operator>(presence),
  equality: new Set<Operator>(equality),
  ordered: new Set<Operator>([...equality, ...order]),
  text: new Set<Operator>([...equality, ...order, ...patterns]),
  /** For texts that sort differently than the database does. */
  unordered: new Set<Operator>([...equality, ...patterns]),
  array: new Set<Operator>([...presence, 'Equal', 'NotEqual', 'IncludesAll', 'IncludesNone']),
} as const;

export const identity = (value: unknown): unknown => value;

/** The text of a number without digits: `NaN`, `Infinity` or `-Infinity`; null for all other values. */
export function notFinite(value: unknown): string | null {
  const text = String(value);
  return isNotFinite(text) ? text : null;
}

/** For columns that cannot hold such values: throws INVALID_VALUE for NaN and infinity. */
export function finite<T>(encode: (value: unknown) => T): (value: unknown) => T {
  return (value) =>
    isNotFinite(value) || value === 'infinity' || value === '-infinity'
      ? fail('INVALID_VALUE', { at: 'filter', expected: 'a value that this database can store', got: value })
      : encode(value);
}

/** Converts a string of digits to a number if that is lossless, otherwise to digits without redundant zeros. */
export function decodeDigits(value: unknown): unknown {
  const text = String(value);
  if (text.length <= 15) {
    const number = Number(text);
    return Number.isFinite(number) ? number : notFinite(text);
  }
  if (/^-?\d+$/.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : text;
  }
  const parts = /^(-?)0*(\d*)\.?(\d*?)0*$/.exec(text);
  if (!parts) return Number.isFinite(Number(text)) ? Number(text) : notFinite(text);
  const [, sign = '', whole = '', fraction = ''] = parts;
  const significant = `${whole}${fraction}`.replace(/^0+/, '');
  const trimmed = fraction === '' ? significant.replace(/0+$/, '') : significant;
  if (trimmed.length <= 15) return Number(text);
  return `${sign}${whole || '0'}${fraction ? `.${fraction}` : ''}`;
}

/** Like {@link decodeDigits}, for values without a fraction. */
export function decodeInteger(value: unknown): unknown {
  return typeof value === 'string' && value.length <= 15 ? Number.parseInt(value, 10) : decodeDigits(value);
}

/** Converts `YYYY-MM-DD HH:mm:ss[.f][+00]` in UTC to a canonical instant. Keeps microseconds that are not zero. */
export function decodeInstant(value: unknown): unknown {
  const text = String(value);
  // Fast path: most values have at most three fraction digits, with or without the zone.
  const length = text.endsWith('+00') ? text.length - 3 : text.length;
  if (length <= 23 && text[4] === '-' && text[10] === ' ' && text[16] === ':' && !text.endsWith('C')) {
    if (length > 20 && text[19] === '.') return flatInstant(text, length - 20);
    if (length === 19) return flatInstant(text, 0);
  }
  const zoneless = text.endsWith('+00') ? text.slice(0, -3) : text;
  // Five-digit years, years BC and infinity have no canonical form and keep the database's text. They must not become
  // null, since a cursor after null would start again at the first page.
  const known = zoneless[4] === '-' && zoneless[10] === ' ' && zoneless[16] === ':';
  if (!known || zoneless.endsWith('C')) return text;
  const fraction = zoneless.length === 19 ? '000' : canonicalFraction(zoneless.slice(20));
  return `${zoneless.slice(0, 10)}T${zoneless.slice(11, 19)}.${fraction}Z`;
}

/**
 * `digits`: the number of fraction digits, at most three. Builds the string in one piece. A concatenated string holds
 * one object for each part, which a page of 1,000 rows would retain until it is printed.
 */
function flatInstant(text: string, digits: number): string {
  const digit = (at: number) => (at < digits ? text.charCodeAt(20 + at) : 0x30);
  // biome-ignore format: the positions of a text
  return String.fromCharCode(
    text.charCodeAt(0), text.charCodeAt(1), text.charCodeAt(2), text.charCodeAt(3), 0x2d,
    text.charCodeAt(5), text.charCodeAt(6), 0x2d, text.charCodeAt(8), text.charCodeAt(9), 0x54,
    text.charCodeAt(11), text.charCodeAt(12), 0x3a, text.charCodeAt(14), text.charCodeAt(15), 0x3a,
    text.charCodeAt(17), text.charCodeAt(18), 0x2e, digit(0), digit(1), digit(2), 0x5a,
  );
}

/** Returns three digits, or six if the last three are not all zero. */
export function canonicalFraction(digits: string): string {
  const six = digits.padEnd(6, '0').slice(0, 6);
  return six.endsWith('000') ? six.slice(0, 3) : six;
}

/** Formats a canonical instant (or another ISO form) as `YYYY-MM-DD HH:mm:ss.ffffff` in UTC. */
export function encodeInstant(value: unknown): string {
  const text = String(value);
  const canonical = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/.test(text);
  if (!/^\d{4}-/.test(text) || text.endsWith('C') || (!canonical && Number.isNaN(Date.parse(text)))) return text;
  const utc = canonical ? text : new Date(text).toISOString();
  return `${utc.slice(0, 10)} ${utc.slice(11, -1)}`;
}

/** A time of day: without a zero fraction, otherwise with six fraction digits. */
export function decodeTime(value: unknown): unknown {
  const [clock = '', fraction = ''] = String(value).split('.');
  return /[1-9]/.test(fraction) ? `${clock}.${fraction.padEnd(6, '0')}` : clock;
}

export const encodeDay = (value: unknown): string =>
  /^\d{4}-\d\d-\d\d(?:T|$)/.test(String(value)) ? String(value).slice(0, 10) : String(value);

/**
 * Parses a document. A document that is a single number is decoded like a Number column, as digits if a number would
 * lose some.
 */
export function decodeJson(value: unknown): unknown {
  if (typeof value === 'bigint') return decodeDigits(value);
  if (typeof value !== 'string') return value;
  try {
    const parsed = parseJson(value);
    return typeof parsed === 'number' ? decodeDigits(value.trim()) : parsed;
  } catch {
    return value;
  }
}

/** Throws INVALID_VALUE for a label the enum lacks. The server's own error would be less clear. */
export function checkLabel(labels: readonly string[], value: unknown): string {
  const label = String(value);
  if (!labels.includes(label))
    fail('INVALID_VALUE', { at: 'filter', expected: `one of ${labels.join(', ')}`, got: value });
  return label;
}

/** Whether the value is an integer of at most 64 bits. */
export function isInt64(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (!/^-?\d{1,19}$/.test(String(value))) return false;
  return BigInt.asIntN(64, BigInt(String(value))) === BigInt(String(value));
}
