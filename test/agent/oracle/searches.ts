// Searches by meaning: a random tree of words, the text that a caller would type, and whether one cell matches a word.
// Dates compare as prefixes of local days, while the engine compares instants.
import type { Meaning } from './interpreter.ts';
import type { Random } from './random.ts';
import { bytes, hundredths, localDay, lower } from './values.ts';
import { choices, type Kind } from './world.ts';

export type Sought =
  | { readonly op: 'all' | 'any'; readonly of: readonly Sought[] }
  | { readonly op: 'not'; readonly of: Sought }
  | { readonly op: 'word'; readonly text: string }
  | {
      readonly op: 'in';
      readonly field: string;
      readonly sign: '' | '"' | '>' | '>=' | '<' | '<=' | '=' | '!=' | '..' | 'NULL';
      readonly text: string;
      /** The end of a range. */
      readonly to?: string;
      /** The column supports only equality. */
      readonly whole: boolean;
    };

const anywhere = [
  'a', 'AB', 'zebra', '1', '42', '-1', '10%', '_', 'brien', "O'Brien", '0.1', '9007199254740993', 'two words', 'red', 'gamma',
  '*', 'OR', 'AND', '(', 'a)', ':', 'x:y', 'NULL', 'true', 'FALSE', '2024', '2024-03', '2024-03-31', '2023-11', '2023-02-29',
  '1969', '1700', '2024-01-01T04:30:00Z', '..', '>1', 'wäre',
]; // biome-ignore format: a pool
const inTexts = ['a', 'B', 'ab', '%', '_', '\\', '10', "'", 'é', '*', '[a', 'NULL', '>a', 'a..b', 'two words'];
const inNumbers = ['0', '1', '-1', '2', '42', '0.1', '10.25', '9007199254740993', '2147483648', '007'];
const inDates = [
  '2024', '2023', '2024-03', '2024-02', '2023-11', '2024-03-31', '2024-03-30', '2024-01-01', '2023-12-31', '2024-02-29', '1969',
  '1970-01', '1883-11-18',
]; // biome-ignore format: a pool
const inTimes = ['00:00:00', '08:30:00', '08:30', '12:00:00'];
const signs = ['', '', '>', '>=', '<', '<=', '=', '!=', '..', '..', 'NULL'] as const;

/** A field that a search can name. */
export interface Nameable {
  readonly name: string;
  readonly kind: Kind;
  readonly operators?: readonly string[];
}

export function createSought(names: readonly Nameable[], random: Random, depth: number): Sought {
  const deeper = () => createSought(names, random, depth - 1);
  if (depth > 0 && random.chance(0.6)) {
    if (random.chance(0.25)) return { op: 'not', of: deeper() };
    return { op: random.chance(0.5) ? 'all' : 'any', of: Array.from({ length: 1 + random.number(3) }, deeper) };
  }
  if (random.chance(0.3)) return { op: 'word', text: random.pick(anywhere) };
  return createNamed(random.pick(names), random) ?? { op: 'word', text: random.pick(anywhere) };
}

function createNamed({ name: field, kind, operators }: Nameable, random: Random): Sought | undefined {
  const whole = operators !== undefined;
  const texts: { readonly [K in Kind]?: readonly string[] } = {
    text: inTexts, label: inTexts, whole: inNumbers, big: inNumbers, decimal: inNumbers, instant: inDates, day: inDates,
    time: inTimes, flag: ['true', 'false', '1', '0', 'x'], choice: [...choices, 'GAMMA', 'gam'],
    uuid: ['0e7b1d2a-90c4-4f1e-8a3b-000000000001', 'AE7B1D2A-90C4-4F1E-8A3B-000000000002', '0e7b1d2a'],
  }; // biome-ignore format: one family
  const text = random.pick(texts[kind]!);
  const ranged = ['whole', 'big', 'decimal', 'instant', 'day', 'time'].includes(kind);
  if (whole) {
    if (kind === 'instant' || kind === 'day') return undefined;
    return { op: 'in', field, sign: kind === 'text' ? '"' : '', text, whole };
  }
  const sign = ranged ? random.pick(signs) : random.pick(['', '', '', 'NULL'] as const);
  if (kind === 'text' || kind === 'label') return { op: 'in', field, sign: sign || '"', text, whole };
  return { op: 'in', field, sign, text, whole, ...(sign === '..' && { to: random.pick(texts[kind]!) }) };
}

/** The text that a caller would type. */
export function writeSought(sought: Sought, random: Random, inside: 'top' | 'all' | 'any' | 'not' = 'top'): string {
  const group = (text: string) => (inside === 'top' ? text : `(${text})`);
  switch (sought.op) {
    case 'not':
      return inside === 'not'
        ? `(-${writeSought(sought.of, random, 'not')})`
        : `-${writeSought(sought.of, random, 'not')}`;
    case 'all':
    case 'any': {
      const parts = sought.of.map((each) => writeSought(each, random, sought.op));
      const between = sought.op === 'any' ? ' OR ' : random.pick([' ', '  ', ' AND ', '\n']);
      // Words bind more tightly than OR.
      const bare = sought.op === 'all' && inside === 'any';
      return bare ? parts.join(between) : group(parts.join(between));
    }
    case 'word':
      return /^-|\s|["()]|^(?:OR|AND)$/.test(sought.text) ? `"${sought.text}"` : sought.text;
    default: {
      const { field, sign, text, to } = sought;
      const name = random.chance(0.3) ? field.replaceAll(':', '.').toUpperCase() : field;
      const head = `${name.replace(/\s/g, random.pick(['', '_', '-']))}:`;
      if (sign === '"') return `${head}"${text}"`;
      if (sign === 'NULL') return `${head}NULL`;
      return sign === '..' ? `${head}${text}..${to}` : `${head}${sign}${text}`;
    }
  }
}

interface Cell {
  readonly value: unknown;
  readonly kind: Kind;
  readonly whole: boolean;
}

/** Whether the cell matches a word without a field name. */
export function hasWord(meaning: Meaning, { value, kind, whole }: Cell, text: string, zone: string): boolean {
  if (kind === 'time' || (kind === 'flag' && /^[01]$/.test(text))) return false;
  const year = Number(text.slice(0, 4));
  const isDate = kind === 'instant' || kind === 'day';
  if (isDate && (whole || year < 1800 || year > new Date(meaning.world.now).getUTCFullYear() + 100)) return false;
  return hasValue(meaning, { value, kind, whole }, '', text, zone);
}

/** Whether the cell matches `field:value`. */
export function hasNamed(
  meaning: Meaning,
  { value, kind }: Cell,
  { sign, text, to, whole }: Sought & { readonly op: 'in' },
  zone: string,
): boolean {
  if (sign === 'NULL') return value === null;
  if (sign === '!=') return !hasValue(meaning, { value, kind, whole }, '', text, zone);
  if (sign === '..')
    return (
      hasValue(meaning, { value, kind, whole }, '>=', text, zone) &&
      hasValue(meaning, { value, kind, whole }, '<=', to!, zone)
    );
  return hasValue(meaning, { value, kind, whole }, sign, text, zone);
}

function hasValue(meaning: Meaning, { value, kind, whole }: Cell, sign: string, text: string, zone: string): boolean {
  if (value === null) return false;
  const by = (order: number): boolean => {
    if (sign === '>') return order > 0;
    if (sign === '<') return order < 0;
    return sign === '>=' ? order >= 0 : sign === '<=' ? order <= 0 : order === 0;
  };
  switch (kind) {
    case 'text':
    case 'label':
      return whole ? value === text : lower(value).includes(lower(text));
    case 'choice':
      return meaning.choiceIsText && !whole ? lower(value).includes(lower(text)) : value === lower(text);
    case 'uuid':
      return value === lower(text);
    case 'flag':
      return /^(?:true|1)$/i.test(text) ? value === true : /^(?:false|0)$/i.test(text) && value === false;
    case 'whole':
    case 'big':
    case 'decimal': {
      if (!/^-?\d+(\.\d+)?$/.test(text)) return false;
      const difference = hundredths(value) - hundredths(text);
      return by(difference < 0n ? -1 : difference > 0n ? 1 : 0);
    }
    case 'time':
      return by(bytes(String(value), text.length === 5 ? `${text}:00` : text));
    default: {
      if (kind === 'instant' && text.includes('T')) return by(Date.parse(String(value)) - Date.parse(text));
      if (!/^\d{4}(-\d\d){0,2}$/.test(text)) return false;
      const day = kind === 'instant' ? localDay(String(value), zone) : String(value);
      return by(bytes(day.slice(0, text.length), text));
    }
  }
}
