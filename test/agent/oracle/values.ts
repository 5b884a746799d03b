// Compares values without code of the engine: numbers are integer ten-thousandths, texts compare as UTF-8 bytes, and
// Intl gives the day of an instant.
import type { Kind } from './world.ts';

/** Differences between databases. */
export interface Habits {
  /** Whether columns of kind `label` ignore case. */
  readonly ignoresCase: boolean;
  /** MariaDB keeps and orders UUIDs by their parts from the last to the first. */
  readonly uuidBackwards: boolean;
}

/** Below, at or above zero. Null comes first. */
export function compare(habits: Habits, a: unknown, b: unknown, kind: Kind): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  const [left, right] = [rank(habits, a, kind), rank(habits, b, kind)];
  if (typeof left === 'string' || typeof right === 'string') return bytes(String(left), String(right));
  return left < right ? -1 : Number(left > right);
}

/** The comparable form of the value. */
function rank(habits: Habits, value: unknown, kind: Kind): string | number | bigint {
  switch (kind) {
    case 'whole':
    case 'big':
    case 'decimal':
      return hundredths(value);
    case 'flag':
      return value ? 1 : 0;
    case 'instant':
      return Date.parse(String(value));
    case 'label':
      return habits.ignoresCase ? lower(value) : String(value);
    case 'uuid':
      return habits.uuidBackwards ? String(value).split('-').reverse().join('') : String(value);
    default:
      return String(value);
  }
}

export function bytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function lower(value: unknown): string {
  return String(value).toLowerCase();
}

/** A cache: the same few numbers are compared millions of times. */
const known = new Map<string, bigint>();

/** In ten-thousandths: no value of a world has more than four decimals. */
export function hundredths(value: unknown): bigint {
  const text = String(value);
  let found = known.get(text);
  if (found === undefined) {
    const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.');
    if (!/^\d+$/.test(whole) || !/^\d{0,4}$/.test(fraction)) throw new Error(`'${text}' is no number of a world`);
    found = BigInt(whole) * 10_000n + BigInt(fraction.padEnd(4, '0'));
    if (text.startsWith('-')) found = -found;
    if (known.size > 10_000) known.clear();
    known.set(text, found);
  }
  return found;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The calendar day of an instant in the zone. */
export function localDay(instant: string, zone: string): string {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
    formats.set(zone, format);
  }
  return format.format(new Date(instant));
}

export function addDays(day: string, count: number): string {
  const date = new Date(`${day}T12:00:00Z`);
  date.setUTCDate(date.getUTCDate() + count);
  return date.toISOString().slice(0, 10);
}

/** The first day of the week (from Monday), month, quarter or year that contains the day. */
export function startOf(unit: string, day: string): string {
  const [year, month] = day.split('-') as [string, string];
  switch (unit) {
    case 'Week': {
      let monday = day;
      while (new Date(`${monday}T12:00:00Z`).getUTCDay() !== 1) monday = addDays(monday, -1);
      return monday;
    }
    case 'Month':
      return `${year}-${month}-01`;
    case 'Quarter':
      return `${year}-${['01', '04', '07', '10'][Math.floor((Number(month) - 1) / 3)]}-01`;
    default:
      return `${year}-01-01`;
  }
}
