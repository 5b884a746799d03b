// Measures, sorts and conditions of groups as models write them. Forms with only one possible meaning become the
// specified ones. The engine refuses all others with the form to send.

import { fail } from '../../core/errors.ts';
import type {
  PlainGroupSort,
  PlainHaving,
  PlainMeasure,
  PlainMeasures,
  PlainOver,
} from '../../core/filter/measures.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson, readGroups } from './arguments.ts';
import { toExpression } from './expressions.ts';
import { readFilter } from './filters.ts';
import { findOperator, groupSortWords, measureWords, operationFormWords } from './synonyms.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** By name, or a list of `{name, ...}`. */
export function readMeasures(input: JsonObject, name: string, context?: NameContext): PlainMeasures | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null) return undefined;
  const entries = toEntries(value);
  if (!entries) return invalid(name, 'send them by name: {"orders":{"count":true},"revenue":{"sum":"total"}}.');
  const measures: Record<string, PlainMeasure> = Object.create(null);
  for (const [key, measure] of entries) {
    if (key in measures) invalid(name, `'${key}' is sent twice.`);
    measures[key] = toMeasure(measure, `${name}.${key}`, context) as PlainMeasure;
  }
  return measures;
}

function toEntries(value: unknown): [string, unknown][] | undefined {
  if (isObject(value)) return Object.entries(value);
  if (!Array.isArray(value)) return undefined;
  const entries = value.map((each): [string, unknown] | undefined => {
    if (typeof each === 'string') return [each, each];
    if (!isObject(each)) return undefined;
    const { name, alias = name, as = alias, ...measure } = each;
    return typeof as === 'string' ? [as, measure] : undefined;
  });
  return entries.every((entry) => entry !== undefined) ? entries : undefined;
}

/** `{"sum": "total"}`, `{"operation": "sum", "field": "total"}` or `sum(total)`. */
function toMeasure(given: unknown, at: string, context: NameContext | undefined): unknown {
  const value = parseIfJson(given);
  if (typeof value === 'string') {
    const [, word = '', inner = ''] = /^\s*(\w+)\s*(?:\(\s*(.*?)\s*\))?\s*$/.exec(value) ?? [];
    const kind = measureWords.get(foldName(word))?.[0];
    if (!kind || kind === 'where') return value;
    return toMeasure({ [kind]: inner === '' || inner === '*' ? true : inner }, at, context);
  }
  if (!isObject(value)) return value;
  const form = toOperationForm(value) ?? value;
  const measure: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(form)) {
    const word = measureWords.get(foldName(key))?.[0] ?? key;
    if (word in measure) return value;
    measure[word] = toPart(word, item, `${at}.${word}`, context);
  }
  return measure;
}

/** `{operation, field}` as `{[operation]: field}`. Undefined for other forms. */
export function toOperationForm(value: JsonObject): JsonObject | undefined {
  const words = new Map(Object.keys(value).map((key) => [operationFormWords.get(foldName(key))?.[0] ?? key, key]));
  const operation = value[words.get('operation') ?? ''];
  if (typeof operation !== 'string') return undefined;
  const kind = measureWords.get(foldName(operation))?.[0];
  if (!kind || kind === 'where') return undefined;
  const field = value[words.get('field') ?? ''] ?? true;
  const rest = Object.entries(value).filter(([key]) => key !== words.get('operation') && key !== words.get('field'));
  return { [kind]: field, ...Object.fromEntries(rest) };
}

function toPart(word: string, given: unknown, at: string, context: NameContext | undefined): unknown {
  const item = parseIfJson(given);
  switch (word) {
    case 'where':
      return readFilter({ [at]: item }, at, context);
    case 'metric':
      return item;
    case 'share':
    case 'running':
      return isObject(item) ? toMeasure(item, at, context) : item;
    case 'ratio':
      return Array.isArray(item)
        ? item.map((each, index) => (isObject(each) ? toMeasure(each, `${at}[${index}]`, context) : each))
        : item;
    case 'percentile':
      return Array.isArray(item) ? [toExpression(item[0], context), ...item.slice(1)] : item;
    case 'count':
      return item === '*' || item === 1 ? true : toExpression(item, context);
    default:
      return toExpression(item, context);
  }
}

/** `{measure | group | field, ascending | desc}`, `name`, `-name`, `name desc`, or a list of these. */
export function readGroupSort(
  input: JsonObject,
  name: string,
  measures: Iterable<string>,
  context?: NameContext,
): readonly PlainGroupSort[] | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null || value === '') return undefined;
  const known = new Set(measures);
  const byName = (text: string): { measure: string } | { group: string | number } => {
    if (known.has(text)) return { measure: text };
    return { group: /^\d+$/.test(text) ? Number(text) : (context?.names.field(context.collection, text) ?? text) };
  };
  return (Array.isArray(value) ? value : [value]).map((clause): PlainGroupSort => {
    if (typeof clause === 'string') {
      const [, sign = '', text = '', direction = ''] =
        /^([-+]?)(.*?)(?:\s+(asc|desc)(?:ending)?)?$/i.exec(clause.trim()) ?? [];
      return { ...byName(text), ascending: sign !== '-' && direction.toLowerCase() !== 'desc' } as PlainGroupSort;
    }
    return isObject(clause) ? toClause(clause, byName) : (clause as PlainGroupSort);
  });
}

function toClause(clause: JsonObject, byName: (text: string) => object): PlainGroupSort {
  const sort: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(clause)) {
    const word = groupSortWords.get(foldName(key))?.[0] ?? key;
    if (word in sort) return clause as unknown as PlainGroupSort;
    sort[word] = item;
  }
  const { field, direction, desc, ...rest } = sort;
  const ascending = rest.ascending ?? direction ?? (typeof desc === 'boolean' ? !desc : desc);
  return {
    ...rest,
    ...(typeof field === 'string' ? byName(field) : field !== undefined && { field }),
    ...(ascending !== undefined && { ascending: toAscending(ascending) }),
  } as unknown as PlainGroupSort;
}

function toAscending(given: unknown): unknown {
  const word = String(given).trim().toLowerCase();
  if (/^(asc|ascending|true|1)$/.test(word)) return true;
  return /^(desc|descending|false|-1|0)$/.test(word) ? false : given;
}

/** The groups that the measures are about, by names of the collection. */
export function readOver(input: JsonObject, name: string, context?: NameContext): PlainOver | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return invalid(name, 'send {"groups":["customer_id"],"measures":{"orders":{"count":true}}}.');
  const [measures, groups, having] = [
    readMeasures(value, 'measures', context),
    readGroups(value, 'groups', context),
    readHaving(value, 'having'),
  ];
  return { ...value, ...(measures && { measures }), ...(groups && { groups }), ...(having && { having }) } as PlainOver;
}

/** A tree of `{measure, operator, value}`, with the operators of filters. */
export function readHaving(input: JsonObject, name: string): PlainHaving | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null || value === '') return undefined;
  return toHaving(value) as PlainHaving;
}

function toHaving(given: unknown): unknown {
  if (Array.isArray(given)) return { aggregator: 'And', conditions: given.map(toHaving) };
  if (!isObject(given)) return given;
  if (Array.isArray(given.conditions)) return { ...given, conditions: given.conditions.map(toHaving) };
  const { field, measure = field, operator, ...rest } = given;
  if (measure === undefined && operator === undefined) return toHavingByName(given);
  const parsed = typeof operator === 'string' ? (findOperator(operator) ?? operator) : operator;
  return { measure, operator: parsed, ...rest };
}

/** `{"revenue": {"gt": 100}}`. */
function toHavingByName(given: JsonObject): unknown {
  const conditions = Object.entries(given).flatMap(([measure, tests]) =>
    isObject(tests)
      ? Object.entries(tests).map(([word, value]) => ({ measure, operator: findOperator(word) ?? word, value }))
      : [{ measure, operator: 'Equal', value: tests }],
  );
  return conditions.length === 1 ? conditions[0] : { aggregator: 'And', conditions };
}
