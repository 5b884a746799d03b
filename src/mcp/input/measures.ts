// Measures as models write them. Forms with only one possible meaning become the
// specified ones. The engine refuses all others with the form to send.

import { fail } from '../../core/errors.ts';
import type { PlainMeasure, PlainMeasures } from '../../core/filter/measures.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson } from './arguments.ts';
import { toExpression } from './expressions.ts';
import { readFilter } from './filters.ts';
import { expressionWords, measureWords, operationFormWords } from './synonyms.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** By name, or a list of `{name, ...}`. */
export function readMeasures(input: JsonObject, name: string, context?: NameContext): PlainMeasures | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null) return undefined;
  const entries = toEntries(value);
  if (!entries) return failUnnamed(name, value);
  const measures: Record<string, PlainMeasure> = Object.create(null);
  for (const [key, measure] of entries) {
    if (key in measures) invalid(name, `'${key}' is sent twice.`);
    const whole = isObject(value) ? wrapKind(key, measure, context) : measure;
    measures[key] = toMeasure(whole, `${name}.${key}`, context) as PlainMeasure;
  }
  return measures;
}

function failUnnamed(name: string, value: unknown): never {
  const example = { orders: { count: true }, revenue: { sum: 'total' } };
  const isList = Array.isArray(value) && value.length > 0 && value.every(isObject);
  const named = isList ? Object.fromEntries(value.map((each, at) => [`figure ${at + 1}`, each])) : example;
  return invalid(name, `send them by name: ${JSON.stringify(named)}.`);
}

/** Measures and their names. A list may leave out the names of simple measures: `sum(total)` is a name too. */
function toEntries(value: unknown): [string, unknown][] | undefined {
  if (isObject(value)) return Object.entries(value);
  if (!Array.isArray(value)) return undefined;
  const entries = value.map((each): [string, unknown] | undefined => {
    if (typeof each === 'string') return [each, each];
    if (!isObject(each)) return undefined;
    const { name, alias = name, as = alias, ...measure } = each;
    const [[key, only] = ['', undefined], ...others] = Object.entries(measure);
    if (as === undefined && others.length === 0 && isObject(only) && !measureWords.has(foldName(key)))
      return [key, only];
    const named = as ?? nameOf(measure);
    return typeof named === 'string' ? [named, measure] : undefined;
  });
  return entries.every((entry) => entry !== undefined) ? entries : undefined;
}

/** `count` or `sum(total)`. Undefined for measures with other parts. */
function nameOf(measure: JsonObject): string | undefined {
  const [[word = '', of] = [], ...others] = Object.entries(toOperationForm(measure) ?? measure);
  const kind = measureWords.get(foldName(word))?.[0];
  if (!kind || others.length > 0) return undefined;
  if (kind === 'count' && isEveryRecord(of)) return kind;
  return typeof of === 'string' ? `${kind}(${of.trim()})` : undefined;
}

const isEveryRecord = (of: unknown): boolean => of === true || of === '*' || of === 1;

/** `{"sum": "total"}`, `{"operation": "sum", "field": "total"}` or `sum(total)`. */
export function toMeasure(given: unknown, at: string, context: NameContext | undefined): unknown {
  const value = parseIfJson(given);
  if (typeof value === 'string') {
    const [, word = '', inner = ''] = /^\s*(\w+)\s*(?:\(\s*(.*)\s*\))?\s*$/.exec(value) ?? [];
    const kind = measureWords.get(foldName(word))?.[0];
    if (!kind || kind === 'where') return value;
    const [, different] = (kind === 'count' && /^distinct\s+(.+)$/i.exec(inner)) || [];
    if (different) return toMeasure({ countDistinct: different }, at, context);
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

/** `{"count": true}` or `{"sum": "total"}` in place of measures by name: the kind is the name too. */
function wrapKind(name: string, given: unknown, context: NameContext | undefined): unknown {
  const kind = measureWords.get(foldName(name))?.[0];
  if (!kind || kind === 'where') return given;
  const value = parseIfJson(given);
  if (typeof value === 'boolean' || Array.isArray(value)) return { [kind]: value };
  if (isObject(value)) {
    const isExpression = Object.keys(value).every((key) => expressionWords.has(foldName(key)));
    return isExpression && Object.keys(value).length > 0 ? { [kind]: value } : given;
  }
  if (typeof value !== 'string' || value.includes('(')) return given;
  const isField = context?.names.field(context.collection, value.trim()) !== undefined;
  // `{"avg": "count"}` may be the average of a field or a count with the name avg.
  if (measureWords.get(foldName(value))?.[0] === 'count')
    return isField ? invalid(`measures.${name}`, `send {"count":true} or {"${kind}":"${value}"}.`) : given;
  return { [kind]: value };
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
      return (
        toRatio(item)?.map((each, index) => (isObject(each) ? toMeasure(each, `${at}[${index}]`, context) : each)) ??
        item
      );
    case 'percentile':
      return Array.isArray(item) ? [toExpression(item[0], context), ...item.slice(1)] : item;
    case 'count':
      return isEveryRecord(item) ? true : toExpression(item, context);
    default:
      return toExpression(item, context);
  }
}

/** A list of two, `{numerator, denominator}` or `returned / orders`. */
function toRatio(given: unknown): readonly unknown[] | undefined {
  if (Array.isArray(given)) return given;
  if (typeof given === 'string') {
    const parts = given.split('/').map((part) => part.trim());
    return parts.length === 2 && !parts.includes('') ? parts : undefined;
  }
  const { numerator, denominator, ...others } = isObject(given) ? given : {};
  if (numerator === undefined || denominator === undefined || Object.keys(others).length > 0) return undefined;
  return [numerator, denominator];
}
