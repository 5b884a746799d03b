// Figures that the database computes with doubles, which is nearly twice as fast, where their error cannot change a digit.
import { interpolate, positionOf, sumFigure } from '../../aggregate.ts';
import type { Figure } from '../../statement.ts';
import { type Decimal, readDecimal, roundDouble } from '../../values/decimal.ts';
import { notFinite } from '../codec.ts';

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
