// Groups of groups as models write them.
import { fail } from '../../core/errors.ts';
import type { PlainOver } from '../../core/filter/measures.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson } from './arguments.ts';
import { isFigure } from './columns.ts';
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
  failIfInverted(input, name, value);
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

/** The inner groups beside `over`, whose groups and measures name theirs. */
function failIfInverted(input: JsonObject, argument: string, over: JsonObject): void {
  const [inner, outer] = [parseIfJson(input.measures), parseIfJson(over.measures)];
  const [groups, above] = [parseIfJson(input.groups), parseIfJson(over.groups)];
  if (!isObject(inner) || !isObject(outer) || !Array.isArray(groups) || !Array.isArray(above)) return;
  const named = above.map((group) => {
    const index = isObject(group) && Object.keys(group).length === 1 ? group.group : undefined;
    return typeof index === 'number' ? groups[index] : group;
  });
  const columns = new Set<unknown>([...Object.keys(outer), ...above]);
  const isColumn = (each: unknown) => typeof each === 'string' && columns.has(each);
  // Those of the call are about columns of `over` where they are the right way round.
  const isRight = groups.every(isColumn) || operandsOf(inner).some((each) => Object.hasOwn(outer, each));
  const isOfInner = (each: string) => Object.hasOwn(inner, each);
  const names = [...operandsOf(outer), ...above.filter((each) => typeof each === 'string' && isOfInner(each))];
  const isNamed = names.length > 0 || named.some((each, at) => each !== above[at]);
  if (isRight || !isNamed || !operandsOf(outer).every(isOfInner) || named.includes(undefined)) return;
  failInverted({ ...input, top: undefined }, argument, outer, named);
}

/** The texts that measures name: fields or other measures. */
const operandsOf = (measures: JsonObject): string[] =>
  Object.values(measures).flatMap((measure) =>
    isObject(measure) ? Object.values(measure).filter((of): of is string => typeof of === 'string') : [],
  );

function failInverted(input: JsonObject, argument: string, outer: JsonObject, above?: readonly unknown[]): never {
  const { measures, groups, having, includeEmpty, sort: _sort, over, ...rest } = input;
  const sort = isObject(over) ? over.sort : undefined;
  const inner = {
    groups,
    measures,
    ...(having !== undefined && { having }),
    ...(includeEmpty === true && { includeEmpty }),
  };
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: `has the inner groups, and measures are about them: send ${JSON.stringify({ ...rest, measures: outer, ...(above && { groups: above }), ...(sort !== undefined && { sort }), over: inner })}.`,
  });
}

interface RelatedFigure {
  readonly relation: string;
  readonly kind: string;
  /** Of the related record. Absent: the record itself. */
  readonly field?: string;
}

/** `{"min": "orders:placed_at"}`, or `{"count": "orders"}`. */
function toRelatedFigure(value: unknown, { names, collection }: NameContext): RelatedFigure | undefined {
  if (!isObject(value)) return undefined;
  const [[word = '', of] = [], ...others] = Object.entries(value);
  const kind = measureWords.get(foldName(word))?.[0] ?? '';
  if (others.length > 0 || !isFigure(kind) || typeof of !== 'string') return undefined;
  const [first = '', ...rest] = of.split(':');
  const relation = names.relation(collection, first);
  if (relation === undefined || relation.includes(':') || names.inverse(collection, relation) === undefined)
    return undefined;
  return { relation, kind, ...(rest.length > 0 && { field: rest.join(':') }) };
}

/** The first figure of related records among the groups and within the measures. */
function findFigure(groups: readonly unknown[], measures: JsonObject, context: NameContext): RelatedFigure | undefined {
  const find = (value: unknown): RelatedFigure | undefined => {
    if (Array.isArray(value)) return firstOf(value, find);
    return isObject(value) ? (toRelatedFigure(value, context) ?? firstOf(Object.values(value), find)) : undefined;
  };
  // A figure of all records is not one of each record.
  const within = Object.values(measures).flatMap((measure) => (isObject(measure) ? Object.values(measure) : []));
  return firstOf(groups, (group) => isObject(group) && toRelatedFigure(splitGroup(group).of, context)) ?? find(within);
}

function firstOf<T>(items: readonly unknown[], find: (item: unknown) => T | undefined | false): T | undefined {
  for (const item of items) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}

/** What a group is of, and by what it groups. */
function splitGroup({ name, bucket, part, ranges, ...of }: JsonObject) {
  const by = Object.entries({ bucket, part, ranges }).filter(([, value]) => value !== undefined);
  return { name: typeof name === 'string' ? name : undefined, of, by: Object.fromEntries(by) };
}

/**
 * Groups by figures of related records, and measures of expressions with them, are groups of groups of the related records.
 * The refusal has that call.
 */
export function failOnRelatedFigures(args: JsonObject, context: NameContext): void {
  const { names, collection } = context;
  const [groups, measures] = [[parseIfJson(args.groups) ?? []].flat().map(parseIfJson), parseIfJson(args.measures)];
  if (args.over !== undefined || args.search || args.segment || args.having || !isObject(measures)) return;
  const first = findFigure(groups, measures, context);
  if (!first) return;
  const { relation } = first;
  const home = names.inverse(collection, relation)!;
  const inner: Record<string, unknown> = {};
  const own = new Set(names.key(collection).map((name) => `${home}:${name}`));
  let isOther = false;
  const addFigure = (figure: RelatedFigure, name = [figure.kind, 'of', relation, figure.field].filter(Boolean).join(' ')) => {
    const measure = { [figure.kind]: figure.field ?? true };
    if (figure.relation !== relation || JSON.stringify(inner[name] ?? measure) !== JSON.stringify(measure)) isOther = true;
    inner[name] = measure;
    return name;
  }; // biome-ignore format: a name by default
  const addOwn = (text: string) => {
    const field = `${home}:${names.field(collection, text) ?? text}`;
    own.add(field);
    return field;
  };
  const toColumns = (value: unknown): unknown => {
    if (typeof value === 'string') return addOwn(value);
    if (Array.isArray(value)) return value.map(toColumns);
    if (!isObject(value) || 'value' in value) return value;
    const figure = toRelatedFigure(value, context);
    if (figure) return addFigure(figure);
    return Object.fromEntries(
      Object.entries(value).map(([key, of]) => [key, key === 'unit' || key === 'part' ? of : toColumns(of)]),
    );
  };
  const outer = groups.map((group) => {
    if (typeof group === 'string') return addOwn(group);
    if (!isObject(group)) return undefined;
    const { name, of, by } = splitGroup(group);
    const figure = toRelatedFigure(of, context);
    if (!figure && (typeof of.field !== 'string' || Object.keys(of).length > 1)) return undefined;
    const field = figure ? addFigure(figure, name) : addOwn(String(of.field));
    return Object.keys(by).length > 0 ? { field, ...by } : field;
  });
  const changed = Object.entries(measures).map(([name, measure]): [string, unknown] | undefined => {
    const [[word = '', of] = [], ...others] = Object.entries(isObject(measure) ? measure : {});
    const kind = measureWords.get(foldName(word))?.[0] ?? '';
    if (others.length > 0 || toRelatedFigure(measure, context)) return undefined;
    if (/^(ratio|share)$/.test(kind) || (kind === 'count' && of === true)) return [name, measure];
    return isFigure(kind) || kind === 'median' ? [name, { [kind]: toColumns(toExpression(of, context)) }] : undefined;
  }); // biome-ignore format: one kind
  if (isOther || outer.includes(undefined) || changed.includes(undefined)) return;
  const { collectionName: _, groups: __, measures: ___, filters, ...others } = args;
  const form = {
    collectionName: names.target(collection, relation),
    measures: Object.fromEntries(changed as [string, unknown][]),
    ...(outer.length > 0 && { groups: outer }),
    over: { groups: [...own], measures: inner },
    filters: { some: home, ...(filters !== undefined && { where: parseIfJson(filters) }) },
    ...others,
  };
  fail('INVALID_ARGUMENT', {
    argument: 'measures',
    problem: `figures of related records are groups of groups. For the records that have '${relation}', send ${JSON.stringify(form)}.`,
  });
}
