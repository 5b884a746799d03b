// Defines expressions on canonical values. The memory source uses this directly; the SQL sources must give the same
// results.

import type { Comparison, Expression, Path, SourceColumn } from '../statement.ts';
import {
  addDecimals,
  type Decimal,
  divideFractions,
  formatDecimal,
  isNotFinite,
  multiplyDecimals,
  readDecimal,
  roundFraction,
  subtractDecimals,
  toFraction,
} from '../values/decimal.ts';
import { offsetAt, partOf } from './local-time.ts';

/** The canonical value, or null. `valueAt` returns the value of the record at a path, or null. */
export function evaluateExpression(expression: Expression, valueAt: (path: Path) => unknown): unknown {
  switch (expression.op) {
    case 'field':
      return valueAt(expression.path);
    case 'constant':
      return expression.value;
    case 'coalesce':
      return evaluateExpression(expression.of[0], valueAt) ?? evaluateExpression(expression.of[1], valueAt);
    case 'difference': {
      const [from, to] = expression.of.map((each) => evaluateExpression(each, valueAt));
      return from === null || to === null ? null : difference(String(from), String(to), expression);
    }
    case 'part': {
      const date = evaluateExpression(expression.of, valueAt);
      return date === null ? null : partOf(String(date), { ...expression, kind: 'part' });
    }
    default: {
      const number = evaluateNumber(expression, valueAt);
      return number === null || typeof number === 'string' ? number : formatDecimal(number);
    }
  }
}

/** How the values of an expression compare. */
export function comparedColumn(of: Expression): Pick<SourceColumn, 'type' | 'collation'> {
  if (of.op === 'field') return of.path.field;
  if (of.op === 'constant') return { type: of.type, collation: 'binary' };
  if (of.op !== 'coalesce') return { type: 'Number', collation: 'binary' };
  const [left, right] = of.of.map(comparedColumn) as [
    Pick<SourceColumn, 'type' | 'collation'>,
    Pick<SourceColumn, 'type' | 'collation'>,
  ];
  const collation = of.of[0].op === 'constant' ? right.collation : left.collation;
  return { type: left.type === 'Enum' ? 'String' : left.type, collation };
}

/** The paths of all fields. */
export function fieldPaths<P extends Path>(expression: Expression<P>): P[] {
  if (expression.op === 'field') return [expression.path];
  return expression.op === 'constant' ? [] : operandsOf(expression).flatMap(fieldPaths);
}

/** The expressions that it is computed from. */
export function operandsOf<P extends Path>(
  expression: Exclude<Expression<P>, { op: 'field' | 'constant' }>,
): readonly Expression<P>[] {
  return 'op' in expression.of ? [expression.of] : expression.of;
}

/** The paths of a comparison. */
export function comparedPaths<P extends Path>({ left, right }: Pick<Comparison<P>, 'left' | 'right'>): P[] {
  return [...fieldPaths(left), ...fieldPaths(right)];
}

/** The expression with each path replaced. */
export function mapPaths<P extends Path, R extends Path>(
  expression: Expression<P>,
  change: (path: P) => R,
): Expression<R> {
  if (expression.op === 'field') return { op: 'field', path: change(expression.path) };
  if (expression.op === 'constant') return expression;
  const of =
    'op' in expression.of ? mapPaths(expression.of, change) : expression.of.map((each) => mapPaths(each, change));
  return { ...expression, of } as unknown as Expression<R>;
}

type Arithmetic = Extract<Expression, { op: 'plus' | 'minus' | 'times' | 'dividedBy' | 'abs' | 'round' }>;

/** A text is NaN or an infinity. */
function evaluateNumber(expression: Arithmetic, valueAt: (path: Path) => unknown): Decimal | string | null {
  const numberOf = (each: Expression): Decimal | string | null => {
    const value = evaluateExpression(each, valueAt);
    if (value === null || isNotFinite(value)) return value as string | null;
    return readDecimal(value) ?? null;
  };
  if (expression.op === 'abs' || expression.op === 'round') {
    const of = numberOf(expression.of);
    if (of === null) return null;
    if (typeof of === 'string') return expression.op === 'abs' ? of.replace('-', '') : of;
    if (expression.op === 'round') return roundFraction(toFraction(of), 0);
    return of.units < 0n ? { ...of, units: -of.units } : of;
  }
  const [left, right] = [numberOf(expression.of[0]), numberOf(expression.of[1])];
  if (left === null || right === null) return null;
  if (typeof left === 'string' || typeof right === 'string') return withNotFinite(expression.op, left, right);
  switch (expression.op) {
    case 'plus':
      return addDecimals(left, right);
    case 'minus':
      return subtractDecimals(left, right);
    case 'times':
      return multiplyDecimals(left, right);
    case 'dividedBy': {
      const quotient = divideFractions(toFraction(left), toFraction(right));
      return quotient ? roundFraction(quotient, expression.decimals) : null;
    }
  }
}

/** With NaN or an infinity, as doubles calculate. */
function withNotFinite(op: Arithmetic['op'], left: Decimal | string, right: Decimal | string): string | Decimal | null {
  const [a, b] = [left, right].map((each) => Number(typeof each === 'string' ? each : formatDecimal(each))) as [
    number,
    number,
  ];
  if (op === 'dividedBy' && b === 0) return null;
  const value = op === 'plus' ? a + b : op === 'minus' ? a - b : op === 'times' ? a * b : a / b;
  return Number.isFinite(value) ? (readDecimal(value) ?? null) : String(value);
}

const MICROSECONDS = { day: 86_400_000_000n, hour: 3_600_000_000n, minute: 60_000_000n } as const;

function difference(from: string, to: string, { unit, offsets }: Extract<Expression, { op: 'difference' }>): unknown {
  if (unit === 'month' || unit === 'year') {
    const [start, end] = [localText(from, offsets), localText(to, offsets)];
    if (start === undefined || end === undefined) return null;
    const months = monthsBetween(start, end);
    return unit === 'month' ? months : Math.trunc(months / 12);
  }
  const [start, end] = [microseconds(from), microseconds(to)];
  if (start === undefined || end === undefined) return null;
  const under = MICROSECONDS[unit];
  return formatDecimal(roundFraction({ over: { units: end - start, scale: 0 }, under }, 10));
}

/** Since 1970. Undefined for infinity and for years without a canonical form. */
function microseconds(text: string): bigint | undefined {
  const isDay = text.length === 10;
  const time = Date.parse(isDay ? `${text}T00:00:00Z` : text);
  if (Number.isNaN(time) || !/^\d{4}-/.test(text)) return undefined;
  return BigInt(time) * 1000n + (text.length === 27 ? BigInt(text.slice(23, 26)) : 0n);
}

/** The local time as a text that sorts by time. */
function localText(text: string, offsets: Parameters<typeof offsetAt>[1] | undefined): string | undefined {
  if (microseconds(text) === undefined) return undefined;
  if (!offsets || !text.endsWith('Z')) return text;
  const local = new Date(Date.parse(text) + offsetAt(text, offsets) * 1000);
  return `${local.toISOString().slice(0, -1)}${text.length === 27 ? text.slice(23, 26) : '000'}`;
}

/** Whole months: a month is over when the day and the time are reached again. */
function monthsBetween(from: string, to: string): number {
  const count = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7));
  const months = count(to) - count(from);
  const [start, end] = [from.slice(8), to.slice(8)];
  if (months > 0 && end < start) return months - 1;
  return months < 0 && end > start ? months + 1 : months;
}
