// Groups of groups as models write them.
import { fail } from '../../core/errors.ts';
import type { PlainOver } from '../../core/filter/measures.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson } from './arguments.ts';
import { toExpression } from './expressions.ts';
import { readHaving } from './group-order.ts';
import { boundsOf, isJoined, readGroups } from './groups.ts';
import { readMeasures } from './measures.ts';
import { argumentWords, expressionWords, measureWords } from './synonyms.ts';

/** The groups that the measures are about, by names of the collection. */
export function readOver(input: JsonObject, name: string, context?: NameContext): PlainOver | undefined {
  const value = withOwnNames(parseIfJson(input[name]));
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return failNested(input, name, value);
  if (value.groups !== undefined && value.measures === undefined) return failNested(input, name, value.groups);
  const outer = toOuterMeasures(value);
  // The order and the number of the inner groups may matter, and `over` has neither.
  const isWhole = input.top === undefined && input.limit === undefined;
  if (outer && isWhole && input.groups !== undefined && input.groups !== null) return failInverted(input, name, outer);
  const measures = readMeasures(value, 'measures', context);
  const groups = readGroups(value, 'groups', context);
  const having = readHaving(value, 'having', { measures: measures ?? {}, context });
  return { ...value, ...(measures && { measures }), ...(groups && { groups }), ...(having && { having }) } as PlainOver;
}

/** `groupBy` in place of `groups`, as in the arguments. */
function withOwnNames(value: unknown): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    const word = argumentWords.get(foldName(key))?.[0];
    return [(word === 'groups' || word === 'measures') && !(word in value) ? word : key, item];
  });
  return Object.fromEntries(entries);
}

/** `over: "order_id"` with measures of measures, such as `{"avg": {"count": true}}`. */
function failNested(input: JsonObject, argument: string, groups: unknown): never {
  const list = Array.isArray(groups) ? groups : [groups];
  const measures = parseIfJson(input.measures);
  const inner: Record<string, unknown> = {};
  const outer = Object.entries(isObject(measures) ? measures : {}).map(
    ([name, measure]): [string, unknown] | undefined => {
      const [[kind = '', of] = [], ...others] = Object.entries(isObject(measure) ? measure : {});
      const isNested = isObject(of) && Object.keys(of).some((key) => measureWords.has(foldName(key)));
      if (!isNested || others.length > 0) return undefined;
      inner[`inner ${name}`] = of;
      return [name, { [kind]: `inner ${name}` }];
    },
  );
  const isWhole = outer.length > 0 && outer.every((entry) => entry !== undefined);
  const form = isWhole
    ? { ...input, measures: Object.fromEntries(outer), over: { groups: list, measures: inner } }
    : { over: { groups: list, measures: { records: { count: true } } } };
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: `send the inner groups and measures: ${JSON.stringify(form)}.`,
  });
}

/**
 * A group by an expression, and a count of different periods: groups of groups compute them. The refusal has that call, if
 * the other groups are fields.
 */
export function failOnInnerGroups(args: JsonObject, context: NameContext): void {
  const [groups, measures] = [[parseIfJson(args.groups) ?? []].flat().map(parseIfJson), parseIfJson(args.measures)];
  if (args.over !== undefined || !isObject(measures)) return;
  const [[name = '', measure] = [], ...others] = Object.entries(measures);
  const period = isObject(measure) && isObject(measure.countDistinct) ? measure.countDistinct : {};
  if (others.length === 0 && typeof period.bucket === 'string' && groups.every((group) => typeof group === 'string')) {
    const over = { groups: [...groups, period], measures: { records: { count: true } } };
    const form = JSON.stringify({ measures: { [name]: { count: true } }, over });
    fail('INVALID_ARGUMENT', {
      argument: 'measures',
      problem: `different periods are counted as groups of groups: send ${form}.`,
    });
  }
  const values: Record<string, unknown> = {};
  const outer = groups.map((group, at) => {
    const expression = expressionOf(group, context);
    if (expression === undefined) return typeof group === 'string' ? group : undefined;
    values[`value ${at}`] = { max: expression };
    const { ranges } = group as JsonObject;
    if (ranges === undefined) return `value ${at}`;
    const isRanges = Array.isArray(ranges) && ranges.length > 0 && ranges.every(isObject) && isJoined(ranges);
    return { field: `value ${at}`, ranges: isRanges ? boundsOf(ranges) : ranges };
  });
  const ofRecords = toMeasuresOfRecords(measures);
  if (Object.keys(values).length === 0 || outer.includes(undefined) || !ofRecords) return;
  const inner = [...groups.filter((group) => typeof group === 'string'), ...context.names.key(context.collection)];
  const over = { groups: [...new Set(inner)], measures: { ...values, ...ofRecords.values } };
  const isChanged = Object.keys(ofRecords.values).length > 0;
  const form = JSON.stringify({ ...(isChanged && { measures: ofRecords.measures }), groups: outer, over });
  fail('INVALID_ARGUMENT', {
    argument: 'groups',
    problem: `a group is a field. For an expression, group the values of the records: send ${form}.`,
  });
}

/** The measures over `values`, which hold one value of each record. Undefined if a measure needs the records. */
function toMeasuresOfRecords(
  measures: JsonObject,
): { readonly measures: JsonObject; readonly values: JsonObject } | undefined {
  const values: Record<string, unknown> = {};
  const outer = Object.entries(measures).map(([name, measure]): [string, unknown] | undefined => {
    const [[kind = '', of] = [], ...others] = Object.entries(isObject(measure) ? measure : {});
    const word = measureWords.get(foldName(kind))?.[0] ?? '';
    if (others.length > 0) return undefined;
    const isOfMeasures = /^(ratio|share)$/.test(word) && [of].flat().every((each) => typeof each === 'string');
    if (isOfMeasures || (word === 'count' && of === true)) return [name, measure];
    if (!/^(sum|avg|min|max|median|countDistinct)$/.test(word)) return undefined;
    values[`value of ${name}`] = { max: of };
    return [name, { [word]: `value of ${name}` }];
  });
  return outer.every((entry) => entry !== undefined) ? { measures: Object.fromEntries(outer), values } : undefined;
}

/** `{"expression": {...}, "ranges": [...]}`, perhaps with a name, or `{"coalesce": [...]}`. */
function expressionOf(group: unknown, context: NameContext): unknown {
  if (!isObject(group)) return undefined;
  const { expression, ranges: _ranges, name: _name, ...others } = group;
  const isWhole = expression !== undefined && Object.keys(others).length === 0;
  const isOperation = Object.keys(group).every((key) => expressionWords.has(foldName(key)));
  const found = isWhole || isOperation ? toExpression(isWhole ? expression : group, context, 'groups') : undefined;
  return isObject(found) &&
    Object.keys(found).every((key) => key === 'field' || key === 'part' || expressionWords.has(key))
    ? found
    : undefined;
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
  const { measures, groups, having, includeEmpty, sort: _sort, over: _over, ...rest } = input;
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
