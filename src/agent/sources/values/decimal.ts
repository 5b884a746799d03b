// Exact arithmetic for numbers from databases.

/** The value is `units` divided by 10 to the power of `scale`, which is never negative. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

export const zero: Decimal = Object.freeze({ units: 0n, scale: 0 });

/** The texts of numbers without digits: `NaN`, `Infinity`, `-Infinity`. */
export function isNotFinite(value: unknown): value is string {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity';
}

/** The sum of numbers if some are not finite; undefined if all are finite. */
export function addNotFinite(values: readonly unknown[]): string | undefined {
  const found = new Set(values.filter(isNotFinite));
  return found.size > 1 ? 'NaN' : [...found][0];
}

/** Parses a number or a string of digits; returns undefined for anything else, such as NaN. */
export function readDecimal(value: unknown): Decimal | undefined {
  const found = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(String(value));
  if (!found || !(found[2] || found[3])) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = found;
  const scale = fraction.length - Number(power);
  const digits = BigInt(`${whole}${fraction}`) * (scale < 0 ? 10n ** BigInt(-scale) : 1n);
  return { units: sign === '-' ? -digits : digits, scale: Math.max(0, scale) };
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: unitsAt(a, scale) + unitsAt(b, scale), scale };
}

export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const left = unitsAt(a, scale);
  const right = unitsAt(b, scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

function unitsAt({ units, scale }: Decimal, wanted: number): bigint {
  return wanted === scale ? units : units * 10n ** BigInt(wanted - scale);
}

/** The canonical number (source.ts). */
export function formatDecimal({ units, scale }: Decimal): number | string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const text = `${units < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
  const fits = fraction
    ? `${whole}${fraction}`.replace(/^0+/, '').length <= 15
    : Number.isSafeInteger(Number(text)) || text === '0';
  return fits ? Number(text) : text;
}

export function subtractDecimals(a: Decimal, b: Decimal): Decimal {
  return addDecimals(a, { units: -b.units, scale: b.scale });
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

/** The number of decimals without zeros at the end. */
export function usedDecimals({ units, scale }: Decimal): number {
  let [rest, used] = [units, scale];
  for (; used > 0 && rest % 10n === 0n; used--) rest /= 10n;
  return used;
}

/** `over` divided by `under`, which is positive. */
export interface Fraction {
  readonly over: Decimal;
  readonly under: bigint;
}

export const toFraction = (over: Decimal): Fraction => ({ over, under: 1n });

/** Undefined for a division by zero. */
export function divideFractions(a: Fraction, b: Fraction): Fraction | undefined {
  const { units, scale } = b.over;
  if (units === 0n) return undefined;
  const over = a.over.units * b.under * 10n ** BigInt(scale);
  return {
    over: { units: units < 0n ? -over : over, scale: a.over.scale },
    under: a.under * (units < 0n ? -units : units),
  };
}

export function addFractions(a: Fraction, b: Fraction): Fraction {
  if (a.under === b.under) return { over: addDecimals(a.over, b.over), under: a.under };
  const times = ({ units, scale }: Decimal, by: bigint): Decimal => ({ units: units * by, scale });
  return { over: addDecimals(times(a.over, b.under), times(b.over, a.under)), under: a.under * b.under };
}

export const multiplyFractions = (a: Fraction, b: Fraction): Fraction => ({
  over: multiplyDecimals(a.over, b.over),
  under: a.under * b.under,
});

export function compareFractions(a: Fraction, b: Fraction): number {
  if (a.under === b.under) return compareDecimals(a.over, b.over);
  const scale = Math.max(a.over.scale, b.over.scale);
  const left = unitsAt(a.over, scale) * b.under;
  const right = unitsAt(b.over, scale) * a.under;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The square root, with an error below 10 to the power of -40. Null for a negative number. */
export function rootOfFraction({ over: { units, scale }, under }: Fraction): Fraction | null {
  if (units <= 0n) return units === 0n ? toFraction(zero) : null;
  const square = (units * 10n ** 80n) / (under * 10n ** BigInt(scale));
  // Newton's method falls from above to the whole part of the root.
  let root = 1n << BigInt(Math.ceil(square.toString(2).length / 2));
  for (let next = lower(root); next < root; next = lower(root)) root = next;
  return { over: { units: root, scale: 0 }, under: 10n ** 40n };

  function lower(above: bigint): bigint {
    return (above + square / above) >> 1n;
  }
}

/** Rounds half away from zero to this number of decimals. A decimal with fewer decimals stays as it is. */
export function roundFraction({ over, under }: Fraction, decimals: number): Decimal {
  if (under === 1n && over.scale <= decimals) return over;
  const size = over.units < 0n ? -over.units : over.units;
  const shift = decimals - over.scale;
  const [top, bottom] = shift >= 0 ? [size * 10n ** BigInt(shift), under] : [size, under * 10n ** BigInt(-shift)];
  const rounded = (2n * top + bottom) / (2n * bottom);
  return { units: over.units < 0n ? -rounded : rounded, scale: decimals };
}

/** Rounds half away from zero to 15 digits, or to 6 decimals where that is finer. */
export function roundToDigits({ over: { units, scale }, under: by }: Fraction): Decimal {
  const over = units < 0n ? -units : units;
  const under = by * 10n ** BigInt(scale);
  if (over === 0n) return zero;
  // 10 to this power is the largest power of ten not above the quotient.
  let exponent = String(over).length - String(under).length;
  const reaches = exponent >= 0 ? over >= under * 10n ** BigInt(exponent) : over * 10n ** BigInt(-exponent) >= under;
  if (!reaches) exponent--;
  const decimals = Math.max(6, 14 - exponent);
  const scaled = over * 10n ** BigInt(decimals);
  const rounded = (2n * scaled + under) / (2n * under);
  return { units: units < 0n ? -rounded : rounded, scale: decimals };
}

/** Rounds a double to 15 digits, which drops artifacts of binary fractions. Returns undefined if it is not finite. */
export function roundDouble(value: number): Decimal | undefined {
  return Number.isFinite(value) ? readDecimal(value.toPrecision(15)) : undefined;
}
