// Defines every operator on canonical values (source.ts). The memory source uses it directly; the SQL sources must give
// the same results.

import { comparedColumn, evaluateExpression } from './aggregate/expression.ts';
import type { Pattern } from './pattern.ts';
import type { Comparison, Filter, Path, SourceColumn, SubqueryFilter } from './statement.ts';
import { isNotFinite } from './values/decimal.ts';
import { compare, compareNetworks, readClock, readInterval, readNetwork } from './values/special-texts.ts';

/**
 * Whether a record satisfies the filter. `valueAt` returns the value at a path, or null. `finds` evaluates conditions
 * on other collections, which the row itself cannot answer.
 */
export function evaluateFilter(
  filter: Filter,
  valueAt: (path: Path) => unknown,
  evaluateSubquery?: (subquery: SubqueryFilter) => boolean,
): boolean {
  switch (filter.op) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'and':
      return filter.of.every((each) => evaluateFilter(each, valueAt, evaluateSubquery));
    case 'or':
      return filter.of.some((each) => evaluateFilter(each, valueAt, evaluateSubquery));
    case 'not':
      return !evaluateFilter(filter.of, valueAt, evaluateSubquery);
    case 'test':
      return evaluateTest(filter, valueAt(filter.path));
    case 'compare':
      return evaluateComparison(filter, valueAt);
    case 'some':
    case 'found':
      return evaluateSubquery ? evaluateSubquery(filter) : failOnSubquery(filter);
    case 'any':
      throw new Error(`the target of '${filter.relation.name}' has not been planned`);
  }
}

function failOnSubquery(subquery: SubqueryFilter): never {
  const name = subquery.op === 'some' ? subquery.other.collection.name : subquery.own.id;
  throw new Error(`the source of '${name}' decides whether it has such a record, not this code`);
}

function evaluateComparison({ is, left, right }: Comparison, valueAt: (path: Path) => unknown): boolean {
  const [a, b] = [evaluateExpression(left, valueAt), evaluateExpression(right, valueAt)];
  if (a === null || b === null) return false;
  const order = compareValues(a, b, comparedColumn({ op: 'coalesce', of: [left, right] }));
  return is === 'Equal' ? order === 0 : is === 'LessThan' ? order < 0 : order <= 0;
}

function evaluateTest(
  { is, path: { field }, value: operand }: Filter & { readonly op: 'test' },
  value: unknown,
): boolean {
  if (value === null)
    return is === 'Missing' || is === 'NotEqual' || is === 'NotIn' || is === 'NotContains' || is === 'NotIContains';
  const list = operand as readonly unknown[];
  const text = value as string;
  const operandText = operand as string;
  switch (is) {
    case 'Missing':
      return false;
    case 'Equal':
      return isSame(value, operand, field);
    case 'NotEqual':
      return !isSame(value, operand, field);
    case 'In':
      return list.some((item) => compareValues(value, item, field) === 0);
    case 'NotIn':
      return !list.some((item) => compareValues(value, item, field) === 0);
    case 'LessThan':
      return compareValues(value, operand, field) < 0;
    case 'GreaterThan':
      return compareValues(value, operand, field) > 0;
    case 'LessThanOrEqual':
      return compareValues(value, operand, field) <= 0;
    case 'GreaterThanOrEqual':
      return compareValues(value, operand, field) >= 0;
    case 'Like':
      return isLike(text, operandText);
    case 'ILike':
      return isLike(fold(text), fold(operandText));
    case 'Match':
      return (operand as Pattern).test(text);
    case 'Contains':
      return text.includes(operandText);
    case 'NotContains':
      return !text.includes(operandText);
    case 'IContains':
      return fold(text).includes(fold(operandText));
    case 'NotIContains':
      return !fold(text).includes(fold(operandText));
    case 'StartsWith':
      return text.startsWith(operandText);
    case 'EndsWith':
      return text.endsWith(operandText);
    case 'IStartsWith':
      return fold(text).startsWith(fold(operandText));
    case 'IEndsWith':
      return fold(text).endsWith(fold(operandText));
    case 'LongerThan':
      return countCharacters(text) > (operand as number);
    case 'ShorterThan':
      return countCharacters(text) < (operand as number);
    case 'IncludesAll':
      return list.every((item) =>
        (value as unknown[]).some((own) => own !== null && compareValues(own, item, field) === 0),
      );
    case 'IncludesNone':
      return !list.some((item) =>
        (value as unknown[]).some((own) => own !== null && compareValues(own, item, field) === 0),
      );
    default:
      throw new Error(`${is} is expressed with other operators and is not evaluated here`);
  }
}

/** Both values are non-null. Lists are equal if they have the same items in the same order, including nulls. */
function isSame(a: unknown, b: unknown, field: Compared): boolean {
  if (typeof field.type === 'string') return compareValues(a, b, field) === 0;
  const [left, right] = [a as readonly unknown[], b as readonly unknown[]];
  return left.length === right.length && left.every((item, at) => isSameItem(item, right[at], field));
}

/** A PostgreSQL list may contain lists; these never equal a value. */
function isSameItem(a: unknown, b: unknown, field: Compared): boolean {
  if (a === null || b === null) return a === b;
  return !Array.isArray(a) && compareValues(a, b, field) === 0;
}

/** The facts of a column that comparisons need. */
type Compared = Pick<SourceColumn, 'type' | 'collation'>;

/** Orders two non-null values of a column (or two items, for an array column). */
export function compareValues(a: unknown, b: unknown, { type, collation }: Compared): number {
  switch (typeof type === 'string' ? type : type[0]) {
    case 'Number':
      return compareNumbers(a as number | string, b as number | string);
    case 'String':
      if (collation === 'interval') return compare(readInterval(a as string) ?? 0n, readInterval(b as string) ?? 0n);
      if (collation === 'network') return compareAddresses(a as string, b as string);
      return collation === 'binary'
        ? compareTexts(a as string, b as string)
        : compareTexts(fold(a as string), fold(b as string));
    case 'Uuid':
      return collation === 'backwards'
        ? compareTexts(backwards(a as string), backwards(b as string))
        : compareTexts(a as string, b as string);
    case 'Boolean':
      return Number(a) - Number(b);
    case 'Binary':
      return Buffer.compare(a as Buffer, b as Buffer);
    case 'Time':
      return compare(readClock(a as string) ?? 0n, readClock(b as string) ?? 0n);
    case 'Date':
      // Drops the Z. Otherwise 'Z' would sort a value without microseconds after the same one with them.
      return compareTexts((a as string).slice(0, -1), (b as string).slice(0, -1));
    default:
      return compareTexts(a as string, b as string);
  }
}

/** Orders nulls first. */
export function compareNullable(a: unknown, b: unknown, column: Compared): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareValues(a, b, column);
}

/** A string key: two values of a column have the same key exactly when they are equal. */
export function equalityKey(value: unknown, { type, collation }: Compared): string {
  if (type === 'Number') {
    if (isNotFinite(value)) return String(value);
    const { negative, digits, exponent } = readDecimal(value as number | string);
    return `${negative ? '-' : ''}${digits}e${exponent}`;
  }
  if (type === 'Binary') return (value as Buffer).toString('hex');
  if (collation === 'interval') return String(readInterval(value as string) ?? value);
  return collation === 'insensitive' && type === 'String' ? fold(value as string) : String(value);
}

function compareAddresses(a: string, b: string): number {
  const [left, right] = [readNetwork(a), readNetwork(b)];
  return left && right ? compareNetworks(left, right) : compareTexts(a, b);
}

function backwards(uuid: string): string {
  return uuid.split('-').reverse().join('-');
}

function fold(text: string): string {
  return text.toLowerCase();
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Compares by code points, the order of UTF-8 bytes. JavaScript compares UTF-16 units, which differs above U+FFFF. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    const leftHigh = left >= 0xd800 && left <= 0xdfff;
    const rightHigh = right >= 0xd800 && right <= 0xdfff;
    return leftHigh === rightHigh ? left - right : leftHigh ? 1 : -1;
  }
  return a.length - b.length;
}

interface Decimal {
  readonly negative: boolean;
  /** Significant digits without zeros at either end; '' for zero. */
  readonly digits: string;
  /** The value is 0.digits times 10 to this power. */
  readonly exponent: number;
}

function readDecimal(value: number | string): Decimal {
  const found = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(String(value));
  if (!found) throw new Error('not a number');
  const [, sign, whole = '', fraction = '', power = '0'] = found;
  const all = whole + fraction;
  const digits = all.replace(/^0+/, '');
  const exponent = whole.length + Number(power) - (all.length - digits.length);
  const trimmed = digits.replace(/0+$/, '');
  return trimmed === ''
    ? { negative: false, digits: '', exponent: 0 }
    : { negative: sign === '-', digits: trimmed, exponent };
}

/** Exact even for digit strings that a number cannot hold. */
function compareNumbers(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (isNotFinite(a) || isNotFinite(b)) return rankOf(a) - rankOf(b);
  const left = readDecimal(a);
  const right = readDecimal(b);
  const signs = signOf(left) - signOf(right);
  if (signs !== 0 || left.digits === '') return signs;
  const size = left.exponent - right.exponent || (left.digits < right.digits ? -1 : left.digits > right.digits ? 1 : 0);
  return left.negative ? -size : size;
}

/** NaN equals itself and is greater than all other values, as in PostgreSQL. */
function rankOf(value: number | string): number {
  return value === 'NaN' ? 2 : value === 'Infinity' ? 1 : value === '-Infinity' ? -1 : 0;
}

function signOf({ negative, digits }: Decimal): number {
  return digits === '' ? 0 : negative ? -1 : 1;
}

/**
 * In LIKE patterns, `%` matches any text, `_` matches one character, and `\` escapes the next one. Backtracks only to
 * the last `%`, which bounds the time by the product of the lengths.
 */
function isLike(text: string, pattern: string): boolean {
  const characters = [...text];
  const parts = readPattern(pattern);
  let at = 0;
  let part = 0;
  let star = -1;
  let resume = 0;
  while (at < characters.length) {
    const wanted = parts[part];
    if (wanted === anyText) {
      star = part++;
      resume = at;
    } else if (wanted !== undefined && (wanted === anyCharacter || wanted === characters[at])) {
      part++;
      at++;
    } else if (star >= 0) {
      part = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (parts[part] === anyText) part++;
  return part === parts.length;
}

const anyText = Symbol('%');
const anyCharacter = Symbol('_');

function readPattern(pattern: string): (string | symbol)[] {
  const parts: (string | symbol)[] = [];
  let isEscaped = false;
  for (const character of pattern) {
    if (isEscaped) {
      parts.push(character);
      isEscaped = false;
    } else if (character === '\\') isEscaped = true;
    else if (character === '%') parts.push(anyText);
    else parts.push(character === '_' ? anyCharacter : character);
  }
  return parts;
}
