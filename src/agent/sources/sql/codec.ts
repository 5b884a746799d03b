// What a column of a database is to us: its type, how its values cross the border in both directions, and what SQL is
// put around it. One row of this kind for every native type of the three databases (types-*.ts); the statements are
// built from nothing else.
import { fail } from '../../../core/errors.ts';
import type { Operator } from '../../../core/filter.ts';
import { readJson } from '../json-text.ts';
import type { ColumnType } from '../source.ts';

export type Dialect = 'sqlite' | 'mysql' | 'postgres';

export interface Codec {
  readonly type: ColumnType;
  readonly operators: ReadonlySet<Operator>;
  readonly sortable: boolean;
  /** SQL of what a list reads, made of the quoted column; the column itself when absent. */
  readonly read?: (column: string) => string;
  /** The driver's value, never null, to the canonical one; absent when they are the same. */
  readonly decode?: (value: unknown) => unknown;
  /** The canonical value, never null, to what is bound. */
  readonly encode: (value: unknown) => unknown;
  /** The canonical value to what is written, where that is not what is compared with. */
  readonly stored?: (value: unknown) => unknown;
  /** SQL around the placeholder of a written value; `?` when absent. */
  readonly storedParameter?: string;
  /** SQL of the bound value; `?` when absent. `kind` is what `kindOf` said. */
  readonly parameter?: (kind: string) => string;
  /** Where values of one column need different SQL: a short word that becomes part of the statement's shape. */
  readonly kindOf?: (value: unknown) => string;
  /** SQL compared for equality, made of the quoted column; the column itself when absent. */
  readonly equal?: (column: string, kind: string) => string;
  /** SQL compared for order and, with an empty kind, sorted by; the column itself when absent. */
  readonly ordered?: (column: string, kind: string) => string;
  /** Where order is compared by something else than what is sorted by: both sides of that comparison. */
  readonly ranked?: { readonly column: (column: string) => string; readonly encode: (value: unknown) => unknown };
  /** SQL of the text that patterns and lengths look at; the column itself when absent. */
  readonly text?: (column: string) => string;
  /** SQL that is the same for all values of one meaning; what `ordered` gives, or the column itself, when absent. */
  readonly grouped?: (column: string) => string;
  /** SQL of what Sum and Avg add up; the column itself when absent. */
  readonly summed?: (column: string) => string;
  /** A binary fraction: what is added up has digits that nobody wrote. */
  readonly inexact?: true;
  /** SQLite: how many digits after the point the declared type has; none when absent. */
  readonly scale?: number;
  /** SQLite: SQL of an instant as `YYYY-MM-DD HH:MM:SS` in UTC. */
  readonly utc?: (column: string) => string;
  /** PostgreSQL: type of the array that `In` and `Includes` bind. */
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

/** The families of operators that columns have. */
export const families = {
  presence: new Set<Operator>(presence),
  equality: new Set<Operator>(equality),
  ordered: new Set<Operator>([...equality, ...order]),
  text: new Set<Operator>([...equality, ...order, ...patterns]),
  array: new Set<Operator>([...presence, 'Equal', 'NotEqual', 'IncludesAll', 'IncludesNone']),
} as const;

export const same = (value: unknown): unknown => value;

/** A text of digits as a number when that loses nothing, else the digits without idle zeros. */
export function decodeDigits(value: unknown): unknown {
  const text = String(value);
  if (text.length <= 15) {
    const number = Number(text);
    return Number.isFinite(number) ? number : null;
  }
  if (/^-?\d+$/.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : text;
  }
  const parts = /^(-?)0*(\d*)\.?(\d*?)0*$/.exec(text);
  if (!parts) return Number.isFinite(Number(text)) ? Number(text) : null;
  const [, sign = '', whole = '', fraction = ''] = parts;
  const significant = `${whole}${fraction}`.replace(/^0+/, '');
  const trimmed = fraction === '' ? significant.replace(/0+$/, '') : significant;
  if (trimmed.length <= 15) return Number(text);
  return `${sign}${whole || '0'}${fraction ? `.${fraction}` : ''}`;
}

/** As {@link decodeDigits}, for what is known to have no fraction. */
export function decodeInteger(value: unknown): unknown {
  return typeof value === 'string' && value.length <= 15 ? Number.parseInt(value, 10) : decodeDigits(value);
}

/** `YYYY-MM-DD HH:mm:ss[.f][+00]` in UTC to the canonical instant; microseconds stay where there are some. */
export function decodeInstant(value: unknown): unknown {
  const text = String(value);
  // Most have up to three digits after the second, or none, and the zone or none.
  const length = text.endsWith('+00') ? text.length - 3 : text.length;
  if (length <= 23 && text[4] === '-' && text[10] === ' ' && text[16] === ':' && !text.endsWith('C')) {
    if (length > 20 && text[19] === '.') return flatInstant(text, length - 20);
    if (length === 19) return flatInstant(text, 0);
  }
  const zoneless = text.endsWith('+00') ? text.slice(0, -3) : text;
  // Years of five digits, years before Christ and infinity have no canonical form: they stay as the database writes
  // them, and are never null, since a page that goes on after null would start again.
  const known = zoneless[4] === '-' && zoneless[10] === ' ' && zoneless[16] === ':';
  if (!known || zoneless.endsWith('C')) return text;
  const fraction = zoneless.length === 19 ? '000' : canonicalFraction(zoneless.slice(20));
  return `${zoneless.slice(0, 10)}T${zoneless.slice(11, 19)}.${fraction}Z`;
}

/**
 * With so many digits, at most three, after the second. Made in one piece: a text put together of pieces is another object
 * for each, which a page of a thousand rows keeps until it is printed.
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

/** Three digits, or six when the last three are not all zero. */
export function canonicalFraction(digits: string): string {
  const six = digits.padEnd(6, '0').slice(0, 6);
  return six.endsWith('000') ? six.slice(0, 3) : six;
}

/** A canonical instant (or any other ISO form) as `YYYY-MM-DD HH:mm:ss.ffffff` in UTC. */
export function encodeInstant(value: unknown): string {
  const text = String(value);
  const canonical = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/.test(text);
  if (!/^\d{4}-/.test(text) || text.endsWith('C') || (!canonical && Number.isNaN(Date.parse(text)))) return text;
  const utc = canonical ? text : new Date(text).toISOString();
  return `${utc.slice(0, 10)} ${utc.slice(11, -1)}`;
}

/** A time of day: no fraction when it is zero, else six digits. */
export function decodeTime(value: unknown): unknown {
  const [clock = '', fraction = ''] = String(value).split('.');
  return /[1-9]/.test(fraction) ? `${clock}.${fraction.padEnd(6, '0')}` : clock;
}

export const encodeDay = (value: unknown): string =>
  /^\d{4}-\d\d-\d\d(?:T|$)/.test(String(value)) ? String(value).slice(0, 10) : String(value);

/** A number alone is as that of a Number column: digits where a number would lose some. */
export function decodeJson(value: unknown): unknown {
  if (typeof value === 'bigint') return decodeDigits(value);
  if (typeof value !== 'string') return value;
  try {
    const parsed = readJson(value);
    return typeof parsed === 'number' ? decodeDigits(value.trim()) : parsed;
  } catch {
    return value;
  }
}

/** Servers refuse a label that an enum does not have, where the test should be false; said clearly instead. */
export function checkLabel(labels: readonly string[], value: unknown): string {
  const label = String(value);
  if (!labels.includes(label))
    fail('INVALID_VALUE', { at: 'filter', expected: `one of ${labels.join(', ')}`, got: value });
  return label;
}

/** Whole and within 64 bits. */
export function isInt64(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (!/^-?\d{1,19}$/.test(String(value))) return false;
  return BigInt.asIntN(64, BigInt(String(value))) === BigInt(String(value));
}
