// Groups of groups as models write them.
import { fail } from '../../core/errors.ts';
import type { PlainOver } from '../../core/filter/measures.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson } from './arguments.ts';
import { readHaving } from './group-order.ts';
import { readGroups } from './groups.ts';
import { readMeasures } from './measures.ts';
import { measureWords } from './synonyms.ts';

/** The groups that the measures are about, by names of the collection. */
export function readOver(input: JsonObject, name: string, context?: NameContext): PlainOver | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return failWithForm(name);
  const outer = toOuterMeasures(value);
  if (outer && input.groups !== undefined && input.groups !== null) return failInverted(input, name, outer);
  const measures = readMeasures(value, 'measures', context);
  const groups = readGroups(value, 'groups', context);
  const having = readHaving(value, 'having', { measures: measures ?? {}, context });
  return { ...value, ...(measures && { measures }), ...(groups && { groups }), ...(having && { having }) } as PlainOver;
}

function failWithForm(argument: string): never {
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: 'send {"groups":["customer_id"],"measures":{"orders":{"count":true}}}.',
  });
}

/** `{"avg": "orders"}` or `{"average": {"avg": "orders"}}`: a measure of the groups, not the groups. */
function toOuterMeasures(over: JsonObject): JsonObject | undefined {
  const isKind = (key: string) => measureWords.has(foldName(key));
  if (over.groups === undefined && isObject(over.measures)) return over.measures;
  const entries = Object.entries(over);
  if (entries.length === 1 && isKind(entries[0]![0]) && typeof entries[0]![1] === 'string')
    return { [`${entries[0]![0]} of ${entries[0]![1]}`]: over };
  const isNamed = entries.every(
    ([, item]) => isObject(item) && Object.keys(item).length > 0 && Object.keys(item).every(isKind),
  );
  return isNamed && entries.length > 0 ? over : undefined;
}

function failInverted(input: JsonObject, argument: string, outer: JsonObject): never {
  const { measures, groups, having, includeEmpty, sort: _sort, limit: _limit, over: _over, top: _top, ...rest } = input;
  const inner = {
    groups,
    measures,
    ...(having !== undefined && { having }),
    ...(includeEmpty === true && { includeEmpty }),
  };
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: `has the inner groups, and measures are about them: send ${JSON.stringify({ ...rest, measures: outer, over: inner })}.`,
  });
}
