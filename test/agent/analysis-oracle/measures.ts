// The value of an expression for a record, and of a plain measure over records.
import { compare, type Habits } from '../oracle/values.ts';
import type { Kind } from '../oracle/world.ts';
import {
  absolute, compareFractions, dividedBy, type Exact, exact, type Fraction, minus, order, percentile, plus, quotientOf, roundTo,
  show, sum, times,
} from './exact.ts'; // biome-ignore format: one family
import {
  type Expression,
  isDerived,
  type Measure,
  readMeasure,
  readOperator,
  type Scale,
  scaleOf,
} from './question.ts';
import { difference, partOf } from './times.ts';

/** A number, a text (also for dates), a flag or null. Parts and positions of ranges are JavaScript numbers. */
export type Value = Exact | Fraction | string | number | boolean | null;

/** Numbers beyond what every database computes exactly. */
export class TooLarge extends Error {}

const MOST_UNITS = 10n ** 26n;
const MOST_DECIMALS = 20;

export function bounded(value: Exact): Exact {
  const { units, scale } = value;
  if (scale > MOST_DECIMALS || (units < 0n ? -units : units) / 10n ** BigInt(scale) >= MOST_UNITS)
    throw new TooLarge(show(value));
  return value;
}

/** How the fields of an expression are read. */
export interface Fields {
  /** Returns numbers as `Exact`. */
  read(name: string): Value;
  kind(name: string): Kind;
  readonly scale: Scale;
  readonly zone: string;
}

export function evaluate(expression: Expression, fields: Fields): Value {
  const { read, kind, scale, zone } = fields;
  if (typeof expression === 'string') return read(expression);
  if (typeof expression === 'number') return exact(expression);
  if ('value' in expression) return typeof expression.value === 'number' ? exact(expression.value) : expression.value;
  const { operator, operands, unit, part } = readOperator(expression)!;
  const values = operands.map((each) => evaluate(each, fields));
  if (operator === 'coalesce') return values[0] ?? values[1]!;
  if (values.includes(null)) return null;
  if (operator === 'difference') {
    const dates = operands.map((each) => kindOfDates(each, kind));
    return difference(String(values[0]), String(values[1]), dates[0]!, unit!, zone);
  }
  if (operator === 'part') return exact(partOf(String(values[0]), kind(operands[0] as string), part!, zone));
  const [a, b] = values as Exact[];
  switch (operator) {
    case 'plus':
      return bounded(plus(a!, b!));
    case 'minus':
      return bounded(minus(a!, b!));
    case 'times':
      return bounded(times(a!, b!));
    case 'dividedBy': {
      const found = dividedBy(a!, b!, scaleOf(expression, scale));
      return found && bounded(found);
    }
    case 'abs':
      return absolute(a!);
    case 'round':
      return roundTo(a!, 0);
  }
}

/** The kind of an expression that is a date: a field, or the first or second of two. */
function kindOfDates(expression: Expression, kind: (name: string) => Kind): Kind {
  if (typeof expression === 'string') return kind(expression);
  return kindOfDates(readOperator(expression)!.operands[0]!, kind);
}

/** Measures that are computed from others are null here. */
export function measure(
  habits: Habits,
  given: Measure,
  kind: Kind,
  items: readonly { value(expression: Expression): Value; kind(expression: Expression): Kind }[],
): Value {
  const { operation, argument, fraction } = readMeasure(given);
  if (isDerived(given)) return null;
  if (argument === true) return exact(items.length);
  const values = items.map((item) => item.value(argument as Expression)).filter((value) => value !== null);
  if (operation === 'count') return exact(values.length);
  if (operation === 'countDistinct') {
    const ignoresCase = habits.ignoresCase && items[0]?.kind(argument as Expression) === 'label';
    const marks = values.map((value) => (typeof value === 'object' ? show(value as Exact) : String(value)));
    return exact(new Set(marks.map((mark) => (ignoresCase ? mark.toLowerCase() : mark))).size);
  }
  if (values.length === 0) return null;
  if (operation === 'min' || operation === 'max') {
    const sorted = [...values].sort((a, b) => compareValues(habits, a, b, kind));
    return operation === 'min' ? sorted[0]! : sorted.at(-1)!;
  }
  const numbers = values as Exact[];
  if (operation === 'sum') return bounded(sum(numbers));
  if (operation === 'avg') return quotientOf(sum(numbers), exact(numbers.length));
  return percentile([...numbers].sort(order), exact(fraction));
}

/** Null comes first. */
export function compareValues(habits: Habits, a: Value, b: Value, kind: string): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (typeof a === 'object' && typeof b === 'object') return compareFractions(a, b);
  if (kind === 'bucket') return String(a) < String(b) ? -1 : Number(String(a) > String(b));
  if (kind === 'part' || kind === 'range') return Number(a) - Number(b);
  return compare(habits, a, b, kind as Kind);
}
