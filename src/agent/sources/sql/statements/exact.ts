// Figures whose digits must be right. SQLite calculates integers beyond 64 bits as doubles, without an error. Databases compute
// with doubles in half the time, which is done where their error cannot change a digit.
import { operandsOf } from '../../aggregate/expression.ts';
import { interpolate, positionOf, sumFigure } from '../../aggregate.ts';
import type { Expression, Figure, Path } from '../../statement.ts';
import { type Decimal, readDecimal, roundDouble } from '../../values/decimal.ts';
import { notFinite } from '../codec.ts';
import { type ExpressionContext, isSqliteDecimal, writeNumber } from './expression.ts';
import { fragment, plain } from './fragment.ts';

/**
 * A number whose calculation fails with 'integer overflow' where SQLite would go on with a double. Numbers that are
 * stored as doubles stay doubles.
 */
export function writeExact(of: Expression, context: ExpressionContext): ReturnType<typeof writeNumber> {
  const number = writeNumber(of, context);
  const paths = [...new Set(numbersOf(of))];
  const isCalculated = of.op !== 'field' && of.op !== 'constant' && !isOfDates(of);
  if (context.dialect !== 'sqlite' || number.inexact || !isCalculated) return number;
  const exact = paths.map((path) => isExact(context.column(path), context.codecOf(path).scale ?? 0));
  // The lowest integer has no absolute value.
  const overflow = 'abs(-9223372036854775807 - (v is not null))';
  const condition = plain(["typeof(v) = 'real'", ...exact].join(' and '));
  const sql = fragment`(select case when ${condition} then ${plain(overflow)} else v end from (select ${number} as v))`;
  return { ...number, ...sql };
}

function isExact(column: string, scale: number): string {
  const isDecimal = scale > 0 ? isSqliteDecimal(column, scale) : '0';
  return `case typeof(${column}) when 'integer' then 1 when 'null' then 1 when 'real' then ${isDecimal} else 0 end`;
}

const isOfDates = ({ op }: Expression): boolean => op === 'difference' || op === 'part';

/** The numbers of a calculation, without the dates. */
function numbersOf(expression: Expression): Path[] {
  switch (expression.op) {
    case 'field':
      return [expression.path];
    case 'constant':
      return [];
    default:
      return isOfDates(expression) ? [] : operandsOf(expression).flatMap(numbersOf);
  }
}

/** Thrown if an error could change a digit: the statement must be `exact`. */
export const needsExact = new Error('needs exact figures');

/** SQLite: of a column of decimals, which it stores as doubles. */
export function sumOfDoubles(operation: 'Sum' | 'Avg', value: string, scale: number) {
  return {
    columns: [`count(${value})`, `total(${value})`, `min(${value})`],
    order: undefined,
    read: ([count, total, least]: readonly unknown[]): Figure =>
      sumFigure({ operation }, readSum(Number(count), Number(total), Number(least), scale), Number(count)),
  };
}

/**
 * The sum of decimals, from that of their doubles. SQLite adds with compensation (Kahan and Babuska), so the error is
 * that of the values and of the result: each half a unit in the last of 53 bits.
 * Source: https://sqlite.org/lang_aggfunc.html#sumunc (from SQLite 3.43).
 */
function readSum(count: number, total: number, least: number, scale: number): Decimal | undefined {
  if (count === 0) return undefined;
  const ofNegative = Math.max(0, -least * count);
  const error = (Math.abs(total) + total + 2 * ofNegative) * 2 ** -53;
  const units = total * 10 ** scale;
  const whole = Math.round(units);
  // Most sums have the declared decimals, and need no text.
  if (Math.abs(units - whole) <= 3 * error * 10 ** scale && error * 10 ** scale < 0.01)
    return { units: BigInt(whole), scale };
  // Rounding to this many decimals removes an error of that size.
  const decimals = Math.min(Math.floor(-Math.log10(2.1 * error)), 100);
  const rounded = roundDouble(total);
  // NaN for Infinity and texts.
  if (!rounded || !(decimals >= scale) || rounded.scale < scale) throw needsExact;
  return rounded.scale > decimals ? readDecimal(total.toFixed(decimals)) : rounded;
}

/**
 * PostgreSQL: of a column whose values have at most 15 digits. One sort gives the value at or beside the place, and the
 * interpolation between this one and the next as a double, from which the next follows.
 */
export function percentileOfDoubles(fraction: Decimal, value: string, scale: number) {
  const part = formatFraction(fraction);
  const at = (name: string) => `${name}(${part}) within group (order by ${value}::float8)`;
  return {
    columns: [`count(${value})`, at('percentile_disc'), at('percentile_cont')],
    order: undefined,
    read: ([count, near, between]: readonly unknown[]): Figure => {
      const all = Number(count);
      if (all === 0) return null;
      const { rest } = positionOf(fraction, all);
      const known = Number(near);
      if (rest.units === 0n) return notFinite(near) ?? interpolate(toDecimal(known), toDecimal(known), rest);
      const special = notFinite(between);
      if (special !== null) return special;
      const middle = Number(between);
      const share = Number(rest.units) / 10 ** rest.scale;
      const isLower = known <= middle;
      const other = isLower ? known + (middle - known) / share : known - (known - middle) / (1 - share);
      // The place is the product of two doubles, and its error grows with the number of values.
      const error =
        ((Math.abs(other - known) * all + Math.abs(known) + Math.abs(other)) * 2 ** -51) / Math.min(share, 1 - share);
      if (!(error < 0.4 / 10 ** scale)) throw needsExact;
      const [low, high] = isLower ? [known, other] : [other, known];
      return interpolate(toDecimal(low), toDecimal(high), rest);
    },
  };

  function toDecimal(number: number): Decimal {
    return readDecimal(number.toFixed(scale))!;
  }
}

const formatFraction = ({ units, scale }: Decimal): string => `${units}e-${scale}`;
