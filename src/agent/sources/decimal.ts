// Exact decimal arithmetic for numbers from databases: addition and division without loss.

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

export function unitsAt({ units, scale }: Decimal, wanted: number): bigint {
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

/** Divides by a positive integer. Rounds half away from zero to 15 digits, or to 6 decimals where that is finer. */
export function divideDecimal({ units, scale }: Decimal, by: bigint): Decimal {
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
