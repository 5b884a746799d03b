// Measures that only another call computes. The refusal has this call.
import { fail } from '../../core/errors.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, parseIfJson } from './arguments.ts';
import { expressionWords } from './synonyms.ts';

/** Refuses measures of the period before, and arithmetic of measures. */
export function refuseMeasuresOfMeasures(args: JsonObject): void {
  const measures = parseIfJson(args.measures);
  if (!isObject(measures)) return;
  for (const [name, measure] of Object.entries(measures)) {
    const [[word = '', of] = [], ...others] = Object.entries(isObject(measure) ? measure : {});
    if (others.length > 0) continue;
    if (
      /^(lag|previous|prior|previousperiod)$/.test(foldName(word)) &&
      typeof of === 'string' &&
      Object.hasOwn(measures, of)
    )
      refuseWithCompare(measures, name, of);
    const operation = expressionWords.get(foldName(word))?.[0];
    const isOfMeasures =
      Array.isArray(of) &&
      of.every((each) => typeof each === 'number' || (typeof each === 'string' && Object.hasOwn(measures, each)));
    if (args.over === undefined && operation !== undefined && /^(plus|minus|times)$/.test(operation) && isOfMeasures)
      refuseWithOver(args, measures, name, { [operation]: of });
  }
}

function refuseWithCompare(measures: JsonObject, name: string, of: string): never {
  const { [name]: _previous, ...rest } = measures;
  const form = { measures: rest, compare: { previous: 1 } };
  return fail('INVALID_ARGUMENT', {
    argument: 'measures',
    problem: `for the period before, as the column 'previous ${of}', send ${JSON.stringify(form)}.`,
  });
}

/** Groups of the same groups: each has one record, so that `max` is its value. */
function refuseWithOver(args: JsonObject, measures: JsonObject, name: string, expression: JsonObject): never {
  const { groups: given, ...rest } = args;
  const groups = given === undefined ? [] : Array.isArray(given) ? given : [given];
  const { [name]: _computed, ...inner } = measures;
  const outer = Object.keys(inner).map((each) => [each, { max: each }]);
  const form = {
    ...rest,
    measures: { ...Object.fromEntries(outer), [name]: { max: expression } },
    groups: groups.map(columnOf),
    over: { groups, measures: inner },
  };
  const problem =
    groups.length > 0
      ? `arithmetic of measures needs groups of groups: send ${JSON.stringify(form)}.`
      : 'arithmetic of measures needs groups: add groups, or compute it from the answer.';
  return fail('INVALID_ARGUMENT', { argument: 'measures', problem });
}

function columnOf(group: unknown): unknown {
  if (!isObject(group)) return group;
  const { field, bucket, part } = group;
  const by = bucket ?? part;
  return typeof by === 'string' ? `${by.toLowerCase()}(${field})` : field;
}
