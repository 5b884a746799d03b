// Measures of the period before, which only `compare` computes. The refusal has the call to send.
import { fail } from '../../core/errors.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, parseIfJson } from './arguments.ts';

const before = /^(lag|previous|prior|previousperiod|previousvalue)$/;
const change = /^(change|delta|diff|difference|absolutechange)$/;
const growth = /^(growth|growthrate|pctchange|percentchange|percentagechange|relativechange)$/;

interface Found {
  readonly measures: JsonObject;
  /** The names that `compare` gives, by those of the call. */
  readonly renamed: ReadonlyMap<string, string>;
  isFound: boolean;
}

/** Refuses measures that need the period before. */
export function refuseEarlierPeriods(args: JsonObject): void {
  const measures = parseIfJson(args.measures);
  if (!isObject(measures) || args.compare !== undefined) return;
  const entries = Object.entries(measures).map(([name, measure]) => [name, parseIfJson(measure)] as const);
  const earlier = entries.map(([, given]) => (isObject(given) ? earlierOf(given, measures) : undefined));
  // `compare` shows these figures as columns of their own.
  const renamed = new Map(
    entries.flatMap(([name], at) => (earlier[at] === undefined ? [] : [[name, `previous ${earlier[at]}`] as const])),
  );
  const found: Found = { measures, renamed, isFound: renamed.size > 0 };
  const repaired = entries
    .filter(([name]) => !renamed.has(name))
    .map(([name, given]) => [name, withPrevious(given, found)] as const);
  if (!found.isFound) return;
  const form = JSON.stringify({ measures: Object.fromEntries(repaired), compare: { previous: 1 } });
  const problem = `compare adds the figures of the period before as "previous ..." to each group: send ${form}.`;
  fail('INVALID_ARGUMENT', { argument: 'measures', problem });
}

/** The measure of `{"lag": "revenue"}`. */
function earlierOf(given: JsonObject, measures: JsonObject): string | undefined {
  const [[word = '', argument] = [], ...others] = Object.entries(given);
  const of =
    Array.isArray(argument) && argument.length === 2 && argument[1] === 1 ? (argument[0] as unknown) : argument;
  const isKnown = typeof of === 'string' && Object.hasOwn(measures, of);
  return isKnown && others.length === 0 && before.test(foldName(word)) ? of : undefined;
}

/** The measure with the names that `compare` gives. */
function withPrevious(given: unknown, found: Found): unknown {
  const { measures, renamed } = found;
  if (Array.isArray(given)) return given.map((each) => renamed.get(String(each)) ?? withPrevious(each, found));
  if (!isObject(given)) return given;
  const earlier = earlierOf(given, measures);
  if (earlier !== undefined) {
    found.isFound = true;
    return `previous ${earlier}`;
  }
  const [[word = '', of] = [], ...others] = Object.entries(given);
  const folded = foldName(word);
  if (others.length === 0 && typeof of === 'string' && Object.hasOwn(measures, of)) {
    const difference = { minus: [of, `previous ${of}`] };
    if (change.test(folded) || growth.test(folded)) found.isFound = true;
    if (change.test(folded)) return difference;
    if (growth.test(folded)) return { ratio: [difference, `previous ${of}`] };
  }
  return Object.fromEntries(Object.entries(given).map(([key, each]) => [key, withPrevious(each, found)]));
}
