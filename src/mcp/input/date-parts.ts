// Parts of dates in conditions and expressions as models write them.
import { fail } from '../../core/errors.ts';
import { type DatePart, dateParts } from '../../core/filter/expression.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type NameContext } from './arguments.ts';
import type { ParsedOperator } from './synonyms.ts';

/** Years and quarters are no parts in expressions: conditions on them are on dates and months. */
type Part = DatePart | 'Year' | 'Quarter';

interface PartOfDate<P extends Part = Part> {
  readonly field: string;
  readonly part: P;
}

const words: ReadonlyMap<string, Part> = new Map<string, Part>([
  ...[...dateParts, 'Year' as const, 'Quarter' as const].map((part) => [foldName(part), part] as const),
  ...(['hour', 'month', 'isodow', 'dayofweek', 'dow'] as const).map(
    (word, at) => [word, (['HourOfDay', 'MonthOfYear'] as const)[at] ?? 'Weekday'] as const,
  ),
]);

/** `{"field": "placed_at", "part": "Weekday"}`, `{"month": "placed_at"}`, `hour(placed_at)`. */
export function readPart(given: unknown, context: NameContext | undefined): PartOfDate | undefined {
  if (!context) return undefined;
  const { names, collection } = context;
  const ofDate = (word: unknown, text: unknown): PartOfDate | undefined => {
    const part = words.get(foldName(String(word)));
    const field = part && typeof text === 'string' ? names.field(collection, text.trim()) : undefined;
    const type = field === undefined ? undefined : names.type(collection, field);
    return part && field !== undefined && (type === 'Date' || type === 'Dateonly') ? { field, part } : undefined;
  };
  if (isObject(given)) {
    const [[word, of] = [], ...others] = Object.entries(given);
    if (others.length === 0) return ofDate(word, of);
    return others.length === 1 && 'part' in given ? ofDate(given.part, given.field) : undefined;
  }
  if (typeof given !== 'string' || names.field(collection, given.trim()) !== undefined) return undefined;
  const [, word, of] =
    /^extract\s*\(\s*(\w+)\s+from\s+(.+?)\s*\)$/i.exec(given.trim()) ??
    /^(\w+)\s*\(([^()]+)\)$/.exec(given.trim()) ??
    [];
  return ofDate(word, of);
}

/** A part in an expression. */
export function readPartExpression(given: unknown, context: NameContext | undefined): PartOfDate<DatePart> | undefined {
  const found = readPart(given, context);
  return found && dateParts.includes(found.part as DatePart) ? (found as PartOfDate<DatePart>) : undefined;
}

const values: Readonly<Partial<Record<Part, readonly string[]>>> = {
  Weekday: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
  MonthOfYear: [
    ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october'],
    ...['november', 'december'],
  ],
};
const ranges: Readonly<Record<Part, readonly [number, number]>> = {
  HourOfDay: [0, 23],
  Weekday: [1, 7],
  MonthOfYear: [1, 12],
  Quarter: [1, 4],
  Year: [1, 9998],
};

/** The condition on the part. `at`: its place in the call. */
export function toPartTest(of: PartOfDate, parsed: ParsedOperator, given: unknown, at: string): PlainFilter {
  const { part } = of;
  const invalid = (problem: string): never => fail('INVALID_ARGUMENT', { argument: at, problem });
  const [first, last] = ranges[part];
  const numberOf = (value: unknown): number => {
    const text = String(value).trim().toLowerCase();
    const named = text.length > 2 ? (values[part] ?? []).findIndex((each) => each.startsWith(text)) + 1 : 0;
    const number = named || (/^\d{1,4}$/.test(text) ? Number(text) : Number.NaN);
    if (number >= first && number <= last) return number;
    const form = { expression: of, operator: 'Equal', value: first };
    const monday = part === 'Weekday' ? ' (1 is Monday)' : '';
    return invalid(`${part} is a whole number from ${first} to ${last}${monday}: send ${JSON.stringify(form)}.`);
  };
  const list = (Array.isArray(given) ? given : [given]).map(numberOf);
  const [low = first, high = low] = list;
  const test = (operator: string, value: number): PlainFilter => {
    if (part === 'Year' || part === 'Quarter') return toRangeTest(of, operator, value, invalid);
    return { expression: of, operator, value } as unknown as PlainFilter;
  };
  switch (parsed) {
    case 'In':
    case 'NotIn': {
      const any: PlainFilter = { aggregator: 'Or', conditions: list.map((value) => test('Equal', value)) };
      return parsed === 'In' ? any : { aggregator: 'Not', conditions: [any] };
    }
    case 'Between':
    case 'NotBetween': {
      if (list.length !== 2 || low > high) invalid('send the lower and the higher number as a list, such as [9,17].');
      const within: PlainFilter = {
        aggregator: 'And',
        conditions: [test('GreaterThanOrEqual', low), test('LessThanOrEqual', high)],
      };
      return parsed === 'Between' ? within : { aggregator: 'Not', conditions: [within] };
    }
    default:
      return list.length === 1 ? test(parsed, low) : toPartTest(of, 'In', given, at);
  }
}

/** A condition on years as one on dates, and on quarters as one on months. */
function toRangeTest(
  { field, part }: PartOfDate,
  operator: string,
  value: number,
  invalid: (problem: string) => never,
): PlainFilter {
  const start = (number: number) => (part === 'Year' ? `${String(number).padStart(4, '0')}-01-01` : 3 * number - 2);
  const test = (is: string, number: number): PlainFilter =>
    (part === 'Year'
      ? { field, operator: is, value: start(number) }
      : { expression: { field, part: 'MonthOfYear' }, operator: is, value: start(number) }) as unknown as PlainFilter;
  const within: PlainFilter = {
    aggregator: 'And',
    conditions: [test('GreaterThanOrEqual', value), test('LessThan', value + 1)],
  };
  switch (operator) {
    case 'Equal':
      return within;
    case 'NotEqual':
      return { aggregator: 'Not', conditions: [within] };
    case 'GreaterThan':
      return test('GreaterThanOrEqual', value + 1);
    case 'LessThanOrEqual':
      return test('LessThan', value + 1);
    case 'GreaterThanOrEqual':
    case 'LessThan':
      return test(operator, value);
    default:
      return invalid(`${operator} does not compare numbers: send Equal, In, LessThan or GreaterThan.`);
  }
}
