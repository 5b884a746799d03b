// Converts values from callers to canonical values of a column (agent/sources/source.ts). Unambiguous variants are
// accepted, such as a number as text or one value for a list. Errors for other values name the expected form.
import { fail } from '../../core/errors.ts';
import { digitsAsString, losesPrecision } from '../../core/filter/exact-numbers.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { readDay, readLocal, readTime } from '../lower/dates.ts';
import type { Column, Moment, OperandKind } from '../model/types.ts';
import type { PrimitiveType } from '../sources/column-types.ts';
import { compilePattern, type Pattern } from '../sources/pattern.ts';
import { isGeometry } from '../sources/values/geometry.ts';
import { readInterval, readNetwork } from '../sources/values/special-texts.ts';

const LIST_LIMIT = 10_000;
/** SQLite allows 50,000 bytes per pattern, and a case-insensitive letter takes up to ten. */
const PATTERN_LIMIT = 5_000;
const DAYS_LIMIT = 100_000;
const HOURS_LIMIT = 1_000_000;

interface ValueContext {
  readonly column: Column;
  /** For messages: the field and the operator. */
  readonly label: string;
  readonly moment: Moment;
  /** Accept a day without a time as its first moment. */
  readonly acceptsDays: boolean;
}

/** Removes a time of midnight UTC from a day. */
const withoutMidnight = (text: string): string => text.replace(/[T ]00:00(:00(\.0+)?)?(Z|\+00:00)?$/, '');

/**
 * The canonical value for `takes`: null if it accepts null, an array if it accepts several values. Arrays can contain
 * null.
 */
export function checkValue(takes: OperandKind, given: unknown, context: ValueContext): unknown {
  switch (takes) {
    case 'nothing':
      return null;
    case 'value or null':
      if (given === null) return null;
      return Array.isArray(context.column.type) ? readList(given, context) : readItem(given, context);
    case 'value':
      return readItem(given, context);
    case 'values': {
      const items = Array.isArray(given) ? given : [given];
      if (given === undefined || items.length > LIST_LIMIT)
        return refuse(context, `a list of at most ${LIST_LIMIT} values`, given && `${items.length} values`);
      // Some databases cannot search an array for null.
      if (Array.isArray(context.column.type) && (items.length === 0 || items.includes(null)))
        return refuse(
          context,
          'a list of at least one value, without null; use Missing for records without an array',
          given,
        );
      return items.map((item) => (item === null ? null : readItem(item, context)));
    }
    case 'text':
      return readSearchText(given, context);
    case 'pattern': {
      const pattern = readSearchText(given, context);
      // A trailing escape has no meaning, and PostgreSQL rejects it.
      if (/(?<!\\)(?:\\\\)*\\$/.test(pattern))
        return refuse(context, "a pattern that does not end in a single '\\'", given);
      return pattern;
    }
    case 'expression':
      return readExpression(given, context);
    case 'length':
      return readCount(given, context, 0, Number.MAX_SAFE_INTEGER, 'a whole number of characters');
    case 'days':
      return readCount(given, context, 1, DAYS_LIMIT, `a whole number of days from 1 to ${DAYS_LIMIT}`);
    case 'hours':
      return readCount(given, context, 0, HOURS_LIMIT, `a whole number of hours from 0 to ${HOURS_LIMIT}`);
  }
}

/** The canonical form of a value to write. Null stays null. */
export function checkStored(given: unknown, context: ValueContext): unknown {
  if (given === null) return null;
  const { type, nativeType } = context.column;
  if (typeof type !== 'string') {
    return readList(given, context);
  }
  if (type === 'Json') return checkDocument(given, context);
  if (type === 'Point') {
    const numbers = Array.isArray(given) && given.length === 2 ? given.map(readNumber) : [];
    if (numbers.length !== 2 || numbers.some((number) => typeof number !== 'number'))
      return refuse(context, 'a point such as [2.35, 48.85]', given);
    return numbers;
  }
  if (type === 'String' && isGeometry(nativeType)) return readWellKnownText(given, context);
  const value = readItem(given, context);
  // Databases would round without an error.
  if (
    type === 'Number' &&
    /^(tiny|small|medium|big)?(int|serial)/i.test(nativeType) &&
    !/^-?\d+(e\+\d+)?$/.test(String(value))
  )
    return refuse(context, 'a whole number', given);
  const scale = type === 'Number' ? scaleOf(nativeType) : undefined;
  if (scale !== undefined && !fitsScale(value, scale))
    return refuse(context, `a number with at most ${scale} digits after the decimal point, like its column`, given);
  return value;
}

/** The scale of a decimal type: 4 for DECIMAL(20,4), 0 for DECIMAL(20). */
function scaleOf(nativeType: string): number | undefined {
  const found = /^(?:decimal|numeric|dec|fixed)\s*\(\s*\d+\s*(?:,\s*(\d+)\s*)?\)/i.exec(nativeType);
  return found ? Number(found[1] ?? 0) : undefined;
}

/** Ignores rounding errors of calculated doubles, as in 59.970000000000006. */
function fitsScale(value: unknown, scale: number): boolean {
  if (typeof value === 'number') return decimalsOf(String(Number(value.toPrecision(15)))) <= scale;
  return decimalsOf(String(value)) <= scale;
}

function decimalsOf(text: string): number {
  const [, fraction = '', power = '0'] = /^-?\d*(?:\.(\d*?)0*)?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  return fraction.length - Number(power);
}

/** Half of a UTF-16 surrogate pair. Databases would store another character. */
const loneSurrogate = /\p{Cs}/u;

/** PostgreSQL keeps neither in JSONB. */
function checkDocument(given: unknown, context: ValueContext): unknown {
  const printed = JSON.stringify(given) ?? '';
  if (/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(printed))
    return refuse(context, 'JSON without NUL characters and lone surrogates', 'a document that has one');
  return given;
}

function readWellKnownText(given: unknown, context: ValueContext): string {
  const isText =
    typeof given === 'string' && /^\s*(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)\s*\(/i.test(given);
  if (!isText) return refuse(context, "well-known text such as 'POINT(2.35 48.85)'", given);
  // MariaDB accepts one of the two forms only.
  return /^\s*MULTIPOINT/i.test(given) ? given.replace(/\(([^()]*)\)(?=\s*[,)])/g, '$1') : given;
}

/** A complete list value, which can contain null. */
function readList(given: unknown, context: ValueContext): unknown {
  if (!Array.isArray(given) || given.length > LIST_LIMIT)
    return refuse(context, `a list of at most ${LIST_LIMIT} values`, given);
  const { nativeType, enumValues = [] } = context.column;
  if (!/^set\b/i.test(nativeType)) return given.map((item) => (item === null ? null : readItem(item, context)));
  // A MySQL SET stores each label once, in the order of its definition.
  const chosen = new Set(given.map((item) => readItem(item, context)));
  return enumValues.filter((label) => chosen.has(label));
}

function readItem(given: unknown, context: ValueContext): unknown {
  const { type } = context.column;
  return readers[typeof type === 'string' ? type : type[0]](given, context);
}

const readers: { readonly [T in PrimitiveType]: (given: unknown, context: ValueContext) => unknown } = {
  String: (given, context) => {
    const special = context.column.collation;
    const value = readText(given, context);
    if (special === 'interval' && readInterval(value) === undefined)
      return refuse(context, "an interval such as '9 days', '1 day 02:30:00' or 'P1DT2H30M'", given);
    if (special === 'network' && readNetwork(value) === undefined)
      return refuse(context, "an address such as '10.0.0.9', '10.0.0.0/8' or '::1'", given);
    return value;
  },
  Number: (given, context) => {
    if (losesPrecision(given) && !isFloat(context.column)) return refuseRounded(context, given);
    return readNotFinite(given) ?? readNumber(given) ?? refuse(context, 'a number', given);
  },
  Boolean: (given, context) => {
    if (given === true || given === 1 || (typeof given === 'string' && /^(?:true|1)$/i.test(given))) return true;
    if (given === false || given === 0 || (typeof given === 'string' && /^(?:false|0)$/i.test(given))) return false;
    return refuse(context, 'true or false', given);
  },
  Date: (given, context) =>
    readInfinite(given) ??
    (given instanceof Date && !Number.isNaN(given.getTime()) ? given.toISOString() : undefined) ??
    (typeof given === 'string' ? readMoment(given, context) : undefined) ??
    refuse(
      context,
      context.acceptsDays
        ? "a timestamp such as '2025-03-30T08:00:00Z', or a date such as '2025-03-30'"
        : "a timestamp such as '2025-03-30T08:00:00Z' (for a whole day, use GreaterThanOrEqual with it and LessThan with the next)",
      given,
    ),
  Dateonly: (given, context) =>
    readInfinite(given) ??
    (typeof given === 'string' ? readDay(withoutMidnight(given.trim())) : undefined) ??
    refuse(context, "a date such as '2025-03-30'", given),
  Time: (given, context) =>
    (typeof given === 'string' ? (readTime(given.trim()) ?? readDuration(given.trim(), context)) : undefined) ??
    refuse(context, "a time such as '14:30:00'", given),
  Enum: (given, context) => {
    const values = context.column.enumValues ?? [];
    if (typeof given === 'string' && values.includes(given)) return given;
    const near = suggestNames(String(given), values);
    const offered = near.length ? near : values.slice(0, 10);
    return refuse(context, `one of ${offered.join(', ')}${offered.length < values.length ? ', ...' : ''}`, given);
  },
  Uuid: (given, context) =>
    (typeof given === 'string' ? readUuid(given) : undefined) ??
    refuse(context, "a UUID such as '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d'", given),
  Binary: (given, context) =>
    (given instanceof Uint8Array ? Buffer.from(given) : undefined) ??
    (typeof given === 'string' ? readBinary(given) : undefined) ??
    refuse(context, "hexadecimal digits, or a 'data:...;base64,' URI", given),
  Json: (given, context) => refuse(context, 'no comparison with JSON', given),
  Point: (given, context) => refuse(context, 'no comparison with points', given),
};

function readMoment(given: string, context: ValueContext): string | undefined {
  const { zone } = context.moment;
  const read = readLocal(given, zone, context.acceptsDays);
  if (!read?.isSkipped) return read?.instant;
  return refuse(
    context,
    `a timestamp with an offset, such as '${read.instant}': this time does not exist in ${zone}`,
    given,
  );
}

function readText(given: unknown, context: ValueContext): string {
  if (typeof given === 'string') {
    if (given.includes('\0')) return refuse(context, 'a string without NUL characters', given);
    if (loneSurrogate.test(given)) return refuse(context, 'a string without lone surrogates', given);
    return given;
  }
  if (losesPrecision(given)) return refuseRounded(context, given);
  if (typeof given === 'number' || typeof given === 'boolean') return String(given);
  return refuse(context, 'a string', given);
}

/** A text to search for. */
function readSearchText(given: unknown, context: ValueContext): string {
  const wanted = readText(given, context);
  if (wanted.length > PATTERN_LIMIT)
    return refuse(context, `a string of at most ${PATTERN_LIMIT} characters`, `${wanted.length} characters`);
  return wanted;
}

const isFloat = ({ nativeType, computedFrom: made }: Column): boolean =>
  made !== undefined || /real|floa|doub/i.test(nativeType);

const refuseRounded = (asked: ValueContext, given: unknown): never => refuse(asked, digitsAsString, given);

function readExpression(given: unknown, context: ValueContext): Pattern {
  const written = given instanceof RegExp ? given : readText(given, context);
  try {
    return compilePattern(written);
  } catch (cause) {
    const why = (cause as SyntaxError).message;
    return refuse(context, `a regular expression in the syntax of RE2, without lookaround (${why})`, String(written));
  }
}

/** Some databases lack these values. The source rejects those that its column cannot be compared with. */
function readNotFinite(given: unknown): string | undefined {
  return ['NaN', 'Infinity', '-Infinity'].find((each) => each.toLowerCase() === String(given).trim().toLowerCase());
}

/** Times outside 00:00 to 23:59:59: the end of a day, and the range of TIME in MySQL and MariaDB. */
function readDuration(text: string, { column }: ValueContext): string | undefined {
  if (/^24:00:00$/.test(text)) return text;
  if (!/^time(?:\(\d\))?$/i.test(column.nativeType)) return undefined;
  return /^-?(?:[0-7]?\d\d|8[0-3]\d):[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/.test(text) ? text : undefined;
}

const readInfinite = (given: unknown): string | undefined =>
  /^-?infinity$/i.test(String(given).trim()) ? String(given).trim().toLowerCase() : undefined;

/** A number, or a text of digits if a number would lose precision. Undefined for other values. */
export function readNumber(given: unknown): number | string | undefined {
  if (typeof given === 'number') return Number.isFinite(given) ? given : undefined;
  if (typeof given === 'bigint') return readNumber(String(given));
  if (typeof given !== 'string') return undefined;
  const found = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(given.trim());
  if (!found || !/\d/.test(given) || given.length > 1000) return undefined;
  const [, sign, whole = '', fraction = ''] = found;
  const exact = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction && `.${fraction}`}`;
  if (whole.length + fraction.length <= 15) return Number(exact) || 0;
  return fraction === '' && Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

export function readUuid(given: string): string | undefined {
  const digits = given.trim().toLowerCase();
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(digits) ? digits : undefined;
}

function readBinary(given: string): Buffer | undefined {
  return /^(?:[0-9a-f]{2})*$/i.test(given) ? Buffer.from(given, 'hex') : readDataUri(given);
}

/** The bytes of a base64 `data:` URI. Undefined for other texts. */
export function readDataUri(given: string): Buffer | undefined {
  const found = /^data:[^,]*;base64,([A-Za-z0-9+/_-]*={0,2})$/.exec(given);
  return found ? Buffer.from(found[1]!, 'base64') : undefined;
}

function readCount(given: unknown, context: ValueContext, least: number, most: number, expected: string): number {
  const number = readNumber(given);
  if (typeof number !== 'number' || !Number.isInteger(number) || number < least || number > most)
    return refuse(context, expected, given);
  return number;
}

function refuse(context: ValueContext, expected: string, got: unknown): never {
  return fail('INVALID_VALUE', { at: context.label, expected, got: got === undefined ? null : got });
}
