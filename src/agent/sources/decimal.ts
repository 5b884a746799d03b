// Numbers as databases hold them: digits before and after a point, added and divided without loss.

/** `units` divided by ten to the `scale`; a scale is never negative. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

export const zero: Decimal = Object.freeze({ units: 0n, scale: 0 });

/** A number, or a text of digits; undefined for what is neither, such as NaN. */
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

/** The canonical number of sources/source.ts. */
export function writeDecimal({ units, scale }: Decimal): number | string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const text = `${units < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
  const fits = fraction
    ? `${whole}${fraction}`.replace(/^0+/, '').length <= 15
    : Number.isSafeInteger(Number(text)) || text === '0';
  return fits ? Number(text) : text;
}

/** Divided by a whole number above zero; half away from zero to 15 digits, or to 6 decimals where that is finer. */
export function divideDecimal({ units, scale }: Decimal, by: bigint): Decimal {
  const over = units < 0n ? -units : units;
  const under = by * 10n ** BigInt(scale);
  if (over === 0n) return zero;
  // Ten to this is the largest power of ten that is not above the quotient.
  let exponent = String(over).length - String(under).length;
  const reaches = exponent >= 0 ? over >= under * 10n ** BigInt(exponent) : over * 10n ** BigInt(-exponent) >= under;
  if (!reaches) exponent--;
  const decimals = Math.max(6, 14 - exponent);
  const scaled = over * 10n ** BigInt(decimals);
  const rounded = (2n * scaled + under) / (2n * under);
  return { units: units < 0n ? -rounded : rounded, scale: decimals };
}

/** A double without the digits that binary fractions bring in; undefined for what is no number. */
export function roundDouble(value: number): Decimal | undefined {
  return Number.isFinite(value) ? readDecimal(value.toPrecision(15)) : undefined;
}
