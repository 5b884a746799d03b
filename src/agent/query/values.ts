// What callers write as a value becomes the canonical value of the column (sources/source.ts). What plainly means one
// thing is taken (a number as a text, one value for a list); the rest is refused with what to send instead.
import { fail } from '../../core/errors.ts';
import { nearNames } from '../../core/near.ts';
import type { Column, Moment, Takes } from '../model/types.ts';
import { compilePattern, type Pattern } from '../sources/pattern.ts';
import type { PrimitiveType } from '../sources/source.ts';
import { readDay, readInstant, readTime } from './dates.ts';

const LIST_LIMIT = 10_000;
const DAYS_LIMIT = 100_000;
const HOURS_LIMIT = 1_000_000;

interface Asked {
  readonly column: Column;
  /** For messages: the field and the operator. */
  readonly at: string;
  readonly moment: Moment;
  /** A day alone may stand for its first moment. */
  readonly days: boolean;
}

/** A value for `takes`; null where null is taken, and an array where values are (which may hold null). */
export function checkValue(takes: Takes, given: unknown, asked: Asked): unknown {
  switch (takes) {
    case 'nothing':
      return null;
    case 'value or null':
      if (given === null) return null;
      return Array.isArray(asked.column.type) ? whole(given, asked) : one(given, asked);
    case 'value':
      return one(given, asked);
    case 'values': {
      const items = Array.isArray(given) ? given : [given];
      if (given === undefined || items.length > LIST_LIMIT)
        return refuse(asked, `a list of at most ${LIST_LIMIT} values`, given);
      if (Array.isArray(asked.column.type) && !items.some((item) => item !== null))
        return refuse(asked, 'a list of at least one value', given);
      return items.map((item) => (item === null ? null : one(item, asked)));
    }
    case 'text':
      return text(given, asked);
    case 'pattern': {
      const pattern = text(given, asked);
      // An escape with nothing after it has no meaning, and PostgreSQL refuses it.
      if (/(?<!\\)(?:\\\\)*\\$/.test(pattern))
        return refuse(asked, "a pattern that does not end in a single '\\'", given);
      return pattern;
    }
    case 'expression':
      return expression(given, asked);
    case 'length':
      return count(given, asked, 0, Number.MAX_SAFE_INTEGER, 'a whole number of characters');
    case 'days':
      return count(given, asked, 1, DAYS_LIMIT, `a whole number of days from 1 to ${DAYS_LIMIT}`);
    case 'hours':
      return count(given, asked, 0, HOURS_LIMIT, `a whole number of hours from 0 to ${HOURS_LIMIT}`);
  }
}

/** A value to be written; null stays null. */
export function checkStored(given: unknown, asked: Asked): unknown {
  if (given === null) return null;
  const { type, nativeType } = asked.column;
  if (typeof type !== 'string') {
    return whole(given, asked);
  }
  if (type === 'Json') return given;
  if (type === 'Point') {
    const numbers = Array.isArray(given) && given.length === 2 ? given.map(readNumber) : [];
    if (numbers.length !== 2 || numbers.some((number) => typeof number !== 'number'))
      return refuse(asked, 'a point such as [2.35, 48.85]', given);
    return numbers;
  }
  const value = one(given, asked);
  // Databases would round in silence.
  if (
    type === 'Number' &&
    /^(tiny|small|medium|big)?(int|serial)/i.test(nativeType) &&
    !/^-?\d+(e\+\d+)?$/.test(String(value))
  )
    return refuse(asked, 'a whole number', given);
  return value;
}

/** A whole list, which may hold null. */
function whole(given: unknown, asked: Asked): unknown {
  if (!Array.isArray(given) || given.length > LIST_LIMIT)
    return refuse(asked, `a list of at most ${LIST_LIMIT} values`, given);
  return given.map((item) => (item === null ? null : one(item, asked)));
}

function one(given: unknown, asked: Asked): unknown {
  const { type } = asked.column;
  return readers[typeof type === 'string' ? type : type[0]](given, asked);
}

const readers: { readonly [T in PrimitiveType]: (given: unknown, asked: Asked) => unknown } = {
  String: text,
  Number: (given, asked) => readNumber(given) ?? refuse(asked, 'a number', given),
  Boolean: (given, asked) => {
    if (given === true || given === 1 || (typeof given === 'string' && /^(?:true|1)$/i.test(given))) return true;
    if (given === false || given === 0 || (typeof given === 'string' && /^(?:false|0)$/i.test(given))) return false;
    return refuse(asked, 'true or false', given);
  },
  Date: (given, asked) =>
    (given instanceof Date && !Number.isNaN(given.getTime()) ? given.toISOString() : undefined) ??
    (typeof given === 'string' ? readInstant(given, asked.moment.zone, asked.days) : undefined) ??
    refuse(
      asked,
      asked.days
        ? "an instant such as '2025-03-30T08:00:00Z', or a day such as '2025-03-30'"
        : "an instant such as '2025-03-30T08:00:00Z' (for a whole day, GreaterThanOrEqual it and LessThan the next)",
      given,
    ),
  Dateonly: (given, asked) =>
    (typeof given === 'string' ? readDay(given.trim()) : undefined) ??
    refuse(asked, "a day such as '2025-03-30'", given),
  Time: (given, asked) =>
    (typeof given === 'string' ? readTime(given.trim()) : undefined) ??
    refuse(asked, "a time such as '14:30:00'", given),
  Enum: (given, asked) => {
    const values = asked.column.enumValues ?? [];
    if (typeof given === 'string' && values.includes(given)) return given;
    const near = nearNames(String(given), values);
    const offered = near.length ? near : values.slice(0, 10);
    return refuse(asked, `one of ${offered.join(', ')}${offered.length < values.length ? ', ...' : ''}`, given);
  },
  Uuid: (given, asked) =>
    (typeof given === 'string' ? readUuid(given) : undefined) ??
    refuse(asked, "a UUID such as '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d'", given),
  Binary: (given, asked) =>
    (given instanceof Uint8Array ? Buffer.from(given) : undefined) ??
    (typeof given === 'string' ? readBinary(given) : undefined) ??
    refuse(asked, "hexadecimal digits, or a 'data:...;base64,' URI", given),
  Json: (given, asked) => refuse(asked, 'no comparison with JSON', given),
  Point: (given, asked) => refuse(asked, 'no comparison with points', given),
};

function text(given: unknown, asked: Asked): string {
  if (typeof given === 'string') {
    if (given.includes('\0')) return refuse(asked, 'a text without NUL characters', given);
    return given;
  }
  if (typeof given === 'number' || typeof given === 'boolean') return String(given);
  return refuse(asked, 'a text', given);
}

function expression(given: unknown, asked: Asked): Pattern {
  const written = given instanceof RegExp ? given : text(given, asked);
  try {
    return compilePattern(written);
  } catch (cause) {
    const why = (cause as SyntaxError).message;
    return refuse(asked, `a regular expression in the syntax of RE2, without lookaround (${why})`, String(written));
  }
}

/** A number, or a text of digits where a number would lose some; undefined when it is neither. */
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
  if (/^(?:[0-9a-f]{2})*$/i.test(given)) return Buffer.from(given, 'hex');
  const found = /^data:[^,]*;base64,([A-Za-z0-9+/_-]*={0,2})$/.exec(given);
  return found ? Buffer.from(found[1]!, 'base64') : undefined;
}

function count(given: unknown, asked: Asked, least: number, most: number, expected: string): number {
  const number = readNumber(given);
  if (typeof number !== 'number' || !Number.isInteger(number) || number < least || number > most)
    return refuse(asked, expected, given);
  return number;
}

function refuse(asked: Asked, expected: string, got: unknown): never {
  return fail('INVALID_VALUE', { at: asked.at, expected, got: got === undefined ? null : got });
}
