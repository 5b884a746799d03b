// Exact decimals. Quotients are rounded half away from zero, as docs/aggregates.md says.
export interface Exact {
  readonly units: bigint;
  /** The number of decimals of `units`. */
  readonly scale: number;
}

export const zero: Exact = { units: 0n, scale: 0 };

/** Reads the digits of a number, also with an exponent. */
export function exact(value: unknown): Exact {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(String(value)) ?? [];
  if (whole === undefined) throw new Error(`'${value}' is no number`);
  const digits = BigInt(`${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  const units = sign ? -digits : digits;
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

export function show({ units, scale }: Exact): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const cut = digits.length - scale;
  const fraction = digits.slice(cut).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, cut)}${fraction ? `.${fraction}` : ''}`;
}

const unitsAt = ({ units, scale }: Exact, wanted: number): bigint => units * 10n ** BigInt(wanted - scale);

export function plus(a: Exact, b: Exact): Exact {
  const scale = Math.max(a.scale, b.scale);
  return { units: unitsAt(a, scale) + unitsAt(b, scale), scale };
}

export const negative = ({ units, scale }: Exact): Exact => ({ units: -units, scale });

export const minus = (a: Exact, b: Exact): Exact => plus(a, negative(b));

export const times = (a: Exact, b: Exact): Exact => ({ units: a.units * b.units, scale: a.scale + b.scale });

export const absolute = (a: Exact): Exact => (a.units < 0n ? negative(a) : a);

export const sum = (values: readonly Exact[]): Exact => values.reduce(plus, zero);

/** Rounded to `places` decimals; null if `b` is zero. */
export function dividedBy(a: Exact, b: Exact, places: number): Exact | null {
  if (b.units === 0n) return null;
  const [over, under] = [a.units * 10n ** BigInt(b.scale + places), b.units * 10n ** BigInt(a.scale)];
  return { units: quotient(over, under), scale: places };
}

/** A quotient that is not rounded yet. `under` is above zero. */
export interface Fraction {
  readonly over: Exact;
  readonly under: Exact;
}

export const isFraction = (value: unknown): value is Fraction =>
  typeof value === 'object' && value !== null && 'under' in value;

export const asFraction = (value: Exact | Fraction): Fraction =>
  isFraction(value) ? value : { over: value, under: { units: 1n, scale: 0 } };

/** Null if `b` is zero. */
export function quotientOf(a: Exact | Fraction, b: Exact | Fraction): Fraction | null {
  const [left, right] = [asFraction(a), asFraction(b)];
  if (right.over.units === 0n) return null;
  const [over, under] = [times(left.over, right.under), times(left.under, right.over)];
  return under.units < 0n ? { over: negative(over), under: negative(under) } : { over, under };
}

/** As `plus`, for quotients too. */
export function plusFractions(a: Exact | Fraction, b: Exact | Fraction): Fraction {
  const [left, right] = [asFraction(a), asFraction(b)];
  return {
    over: plus(times(left.over, right.under), times(right.over, left.under)),
    under: times(left.under, right.under),
  };
}

export const roundFraction = ({ over, under }: Fraction, places: number): Exact => dividedBy(over, under, places)!;

/** Below, at or above zero. */
export function compareFractions(a: Exact | Fraction, b: Exact | Fraction): number {
  const [left, right] = [asFraction(a), asFraction(b)];
  return order(times(left.over, right.under), times(right.over, left.under));
}

/** Rounds half away from zero. */
export function roundTo(a: Exact, scale: number): Exact {
  if (a.scale <= scale) return a;
  return { units: quotient(a.units, 10n ** BigInt(a.scale - scale)), scale };
}

function quotient(over: bigint, under: bigint): bigint {
  const [high, low] = [over < 0n ? -over : over, under < 0n ? -under : under];
  const size = (2n * high + low) / (2n * low);
  return over < 0n === under < 0n ? size : -size;
}

/** Below, at or above zero. */
export function order(a: Exact, b: Exact): number {
  const { units } = minus(a, b);
  return units < 0n ? -1 : Number(units > 0n);
}

/** The fraction of `p` between the values below and above it, in ascending order. */
export function percentile(sorted: readonly Exact[], p: Exact): Exact {
  const at = times(p, { units: BigInt(sorted.length - 1), scale: 0 });
  const index = Number(at.units / 10n ** BigInt(at.scale));
  const rest = minus(at, { units: BigInt(index), scale: 0 });
  const [low, high] = [sorted[index]!, sorted[index + 1] ?? sorted[index]!];
  return plus(low, times(rest, minus(high, low)));
}
