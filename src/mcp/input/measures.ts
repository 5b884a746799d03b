// Measures as models write them. Forms with only one possible meaning become the
// specified ones. The engine refuses all others with the form to send.

import { fail } from '../../core/errors.ts';
import type { PlainMeasure, PlainMeasures } from '../../core/filter/measures.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson, resolveField } from './arguments.ts';
import { toExpression } from './expressions.ts';
import { readFilter } from './filters.ts';
import { readInfix } from './infix.ts';
import { earlierName, failOnMoving, failOnSpread } from './measure-calls.ts';
import {
  isEveryRecord,
  toFraction,
  toKnownForm,
  toOperationForm,
  toQuotient,
  toRatio,
  toWindowOfText,
} from './measure-forms.ts';
import { expressionWords, measureWords } from './synonyms.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** By name, or a list of `{name, ...}`. */
export function readMeasures(input: JsonObject, name: string, context?: NameContext): PlainMeasures | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null) return undefined;
  const entries = toEntries(value);
  if (!entries) return failUnnamed(name, value);
  const measures: Record<string, PlainMeasure> = Object.create(null);
  for (const [key, measure] of entries.flatMap((entry) => toKinds(entry, context))) {
    if (key in measures) invalid(name, `'${key}' is sent twice.`);
    const whole = isObject(value)
      ? (toMeasureOfField(key, measure, context) ?? wrapKind(key, measure, entries, context))
      : measure;
    measures[key] = toMeasure(
      toFormula(whole, entries, `${name}.${key}`, context) ?? whole,
      `${name}.${key}`,
      context,
    ) as PlainMeasure;
  }
  for (const [key, measure] of Object.entries(measures)) {
    checkAdding(measure, measures, `${name}.${key}`, context);
    measures[key] = withOperands(
      measure as unknown as JsonObject,
      measures,
      `${name}.${key}`,
      context,
    ) as unknown as PlainMeasure;
  }
  return measures;
}

/** `sum(total)` in arithmetic is a measure in place, unless a measure has this name. */
function withOperands(
  measure: JsonObject,
  measures: PlainMeasures,
  at: string,
  context: NameContext | undefined,
): JsonObject {
  if (!isObject(measure)) return measure;
  const [kind, list] = Object.entries(measure).find(([key]) => ofMeasures.has(key)) ?? [];
  if (kind === undefined) return measure;
  const toOperand = (each: unknown): unknown => {
    if (isObject(each)) return withOperands(each, measures, at, context);
    const isName = typeof each !== 'string' || Object.hasOwn(measures, each);
    if (!isName && /^\s*count\s*$/i.test(each)) return { count: true };
    return isName ? each : (toFormula(each, Object.entries(measures), at, context) ?? each);
  };
  return { ...measure, [kind]: Array.isArray(list) ? list.map(toOperand) : toOperand(list) };
}

/** `(revenue - cost) / sum(total)`, if all names are those of measures. */
function toFormula(
  given: unknown,
  entries: readonly (readonly [string, unknown])[],
  at: string,
  context: NameContext | undefined,
): unknown {
  const [[key = '', of] = [], ...others] = isObject(given) ? Object.entries(given) : [['expression', given]];
  if (others.length > 0 || typeof of !== 'string' || !/^(expression|expr|formula|calc|computed)$/i.test(String(key)))
    return undefined;
  const calls: unknown[] = [];
  const text = of.replace(/\b(\w+)\s*\([^()]*\)/g, (call, word: string) =>
    measureWords.has(foldName(word)) ? `call_${calls.push(toMeasure(call, at, context))}` : call,
  );
  if (/^call_1$/.test(text.trim())) return calls[0];
  const names = entries.map(([name]) => name);
  const formula = readInfix(text, (name) =>
    /^call_\d+$/.test(name) || names.includes(name) ? name : earlierName(name, names, context),
  );
  const fill = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(fill);
    if (isObject(part)) return Object.fromEntries(Object.entries(part).map(([word, item]) => [word, fill(item)]));
    const place = typeof part === 'string' && !names.includes(part) ? Number(part.slice('call_'.length)) : 0;
    return place > 0 ? calls[place - 1] : part;
  };
  return formula === undefined || typeof formula === 'string' ? undefined : fill(formula);
}

/** These name measures, not fields. */
const ofMeasures: ReadonlySet<string> = new Set([
  ...['ratio', 'share', 'running', 'movingAverage', 'rank'],
  ...['plus', 'minus', 'times', 'dividedBy', 'abs', 'round', 'sqrt', 'coalesce'],
]);
const isArithmetic = (word: string): boolean => ofMeasures.has(word) && expressionWords.has(foldName(word));
const symbols: Readonly<Record<string, string>> = { '+': 'plus', '-': 'minus', '*': 'times', '/': 'dividedBy' };

/** The word of the specified form for the member of a measure. */
function toWord(key: string): string {
  const operator = symbols[key.trim()] ?? expressionWords.get(foldName(key))?.[0];
  return measureWords.get(foldName(key))?.[0] ?? (operator !== undefined && isArithmetic(operator) ? operator : key);
}

/** These take measures; for fields, the refusal has their sum. */
function checkAdding(measure: unknown, measures: PlainMeasures, at: string, context: NameContext | undefined): void {
  if (!context) return;
  const failWithSum = (of: unknown) => invalid(at, `send ${JSON.stringify({ sum: of })}, or another of avg, min, max.`);
  const expression = typeof measure === 'string' ? toExpression(measure, context, at) : undefined;
  if (typeof expression === 'object') failWithSum(expression);
  if (!isObject(measure)) return;
  const [[word = '', list] = []] = Object.entries(measure);
  const names = isArithmetic(word) ? [list].flat().filter((each) => typeof each === 'string') : [];
  const isField = (each: string) =>
    !Object.hasOwn(measures, each) && context.names.field(context.collection, each) !== undefined;
  if (names.length > 0 && names.every(isField)) failWithSum(toExpression(measure, context));
  for (const kind of ['share', 'running', 'movingAverage', 'rank']) {
    const of = measure[kind];
    if (typeof of !== 'string' || Object.hasOwn(measures, of)) continue;
    const field = context.names.field(context.collection, of);
    if (field !== undefined)
      invalid(`${at}.${kind}`, `send ${JSON.stringify({ ...measure, [kind]: { sum: field } })}.`);
  }
}

/** `{"total": "sum"}`: a field and what to compute of it. */
function toMeasureOfField(name: string, given: unknown, context: NameContext | undefined): JsonObject | undefined {
  if (!context || typeof given !== 'string') return undefined;
  const kind = measureWords.get(foldName(given))?.[0];
  const field = context.names.type(context.collection, name) === undefined ? undefined : name;
  const isOfOne = kind !== undefined && kindsOfOneField.has(kind);
  // `{"total": "average"}` may also be the sum of a field with the name average.
  const isOther = measureWords.has(foldName(name)) && context.names.field(context.collection, given) !== undefined;
  return isOfOne && field !== undefined && !isOther ? { [kind]: field } : undefined;
}

const kindsOfOneField: ReadonlySet<string> = new Set(['countDistinct', 'sum', 'avg', 'min', 'max', 'median']);

function failUnnamed(name: string, value: unknown): never {
  const example = { orders: { count: true }, revenue: { sum: 'total' } };
  const isList = Array.isArray(value) && value.length > 0 && value.every(isObject);
  const named = isList ? Object.fromEntries(value.map((each, at) => [`figure ${at + 1}`, each])) : example;
  return invalid(name, `send them by name: ${JSON.stringify(named)}.`);
}

/** `{"price": ["min", "max"]}` */
function toKinds([name, given]: [string, unknown], context: NameContext | undefined): [string, unknown][] {
  const isField = context?.names.type(context.collection, name) !== undefined;
  const kinds =
    Array.isArray(given) && isField ? given.map((each) => measureWords.get(foldName(String(each)))?.[0]) : [];
  const isList = kinds.length > 0 && kinds.every((kind) => kind && kindsOfOneField.has(kind));
  return isList ? kinds.map((kind) => [`${kind}(${name})`, { [kind!]: name }]) : [[name, given]];
}

/** Measures and their names. A list may leave out the names of simple measures: `sum(total)` is a name too. */
function toEntries(value: unknown): [string, unknown][] | undefined {
  if (isObject(value)) return Object.entries(value);
  if (typeof value === 'string' && /^\s*count\s*$|\(/i.test(value)) return toEntries(value.split(/,(?![^()]*\))/));
  if (!Array.isArray(value)) return undefined;
  const entries = value.map((each): [string, unknown] | undefined => {
    if (typeof each === 'string') {
      const [, what = each, as = each] = /^(.+\))\s+as\s+(\w+)\s*$/i.exec(each) ?? [];
      return [as.trim(), what.trim()];
    }
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

/** `{"sum": "total"}`, `{"operation": "sum", "field": "total"}` or `sum(total)`. */
export function toMeasure(given: unknown, at: string, context: NameContext | undefined): unknown {
  const value = parseIfJson(given);
  if (typeof value === 'string') {
    const window = toWindowOfText(value);
    if (window) return toMeasure(window, at, context);
    const parts = toQuotient(value);
    if (parts) return toMeasure({ ratio: parts }, at, context);
    const [, word = '', inner = ''] =
      /^\s*(\w+)\s*(?:\(\s*(.*)\s*\))?\s*$/.exec(value) ?? /^(\w+):(?!.*\()(.+)$/.exec(value.trim()) ?? [];
    const kind = measureWords.get(foldName(word))?.[0];
    if (!kind && inner !== '') failOnSpread({ [word]: inner }, at, context);
    if (!kind || kind === 'where') return value;
    const [, different] = (kind === 'count' && /^distinct\s+(.+)$/i.exec(inner)) || [];
    if (different) return toMeasure({ countDistinct: different }, at, context);
    return toMeasure({ [kind]: inner === '' || inner === '*' ? true : inner }, at, context);
  }
  if (!isObject(value)) return value;
  failOnSpread(value, at, context);
  failOnMoving(value, at);
  const form = toOperationForm(value) ?? toKnownForm(value) ?? value;
  const measure: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(form)) {
    const word = toWord(key);
    if (word in measure) return value;
    measure[word] = toPart(word, item, `${at}.${word}`, context);
  }
  return measure;
}

/** `{"count": true}` or `{"sum": "total"}` in place of measures by name: the kind is the name too. */
function wrapKind(
  name: string,
  given: unknown,
  entries: readonly (readonly [string, unknown])[],
  context: NameContext | undefined,
): unknown {
  const kind = measureWords.get(foldName(name))?.[0];
  if (!kind || kind === 'where') return given;
  const value = parseIfJson(given);
  const isOfMeasures = /^(ratio|share|running|movingAverage|rank|metric)$/.test(kind);
  if (typeof value === 'boolean') return kind === 'count' ? { count: value } : given;
  if (Array.isArray(value)) return kind === 'ratio' || kind === 'percentile' ? { [kind]: value } : given;
  if (isObject(value)) {
    const keys = Object.keys(value);
    const isExpression = keys.length > 0 && keys.every((key) => expressionWords.has(foldName(key)));
    const names = entries.map(([each]) => each).filter((each) => each !== name);
    return isExpression && !isOfMeasures && !namesMeasures(value, names, context) ? { [kind]: value } : given;
  }
  if (typeof value !== 'string' || value.includes('(')) return given;
  // `{"share": "paid / all"}` is a ratio with the name share.
  if (toQuotient(value) && (isOfMeasures || typeof toExpression(value, context) === 'string')) return given;
  const isField = context?.names.field(context.collection, value.trim()) !== undefined;
  // `{"avg": "count"}` may be the average of a field or a count with the name avg.
  if (measureWords.get(foldName(value))?.[0] === 'count')
    return isField ? invalid(`measures.${name}`, `send {"count":true} or {"${kind}":"${value}"}.`) : given;
  return { [kind]: value };
}

/** Whether an operand is a measure and no field: `{"total": {"coalesce": [{"sum": "price"}, 0]}}`. */
function namesMeasures(value: unknown, names: readonly string[], context: NameContext | undefined): boolean {
  if (Array.isArray(value)) return value.some((each) => namesMeasures(each, names, context));
  if (isObject(value))
    return Object.entries(value).some(
      ([key, of]) => measureWords.has(foldName(key)) || namesMeasures(of, names, context),
    );
  const isField = context?.names.field(context.collection, String(value)) !== undefined;
  return typeof value === 'string' && !isField && (names.includes(value) || /^\w+\(.*\)$/.test(value));
}

function toPart(word: string, given: unknown, at: string, context: NameContext | undefined): unknown {
  const item = parseIfJson(given);
  const toOperand = (each: unknown) => (isObject(each) ? toMeasure(each, at, context) : each);
  switch (word) {
    case 'where':
      return readFilter({ [at]: item }, at, context);
    case 'metric':
      return item;
    case 'per':
      return [item].flat().map((each) => (typeof each === 'string' ? resolveField(each, context) : each));
    case 'share':
    case 'running':
    case 'movingAverage':
    case 'rank':
      return isObject(item) ? toMeasure(item, at, context) : item;
    case 'ratio':
      return (
        toRatio(item)?.map((each, index) => (isObject(each) ? toMeasure(each, `${at}[${index}]`, context) : each)) ??
        item
      );
    case 'percentile':
      return Array.isArray(item) ? [toExpression(item[0], context, at), ...item.slice(1).map(toFraction)] : item;
    case 'count':
      return isEveryRecord(item) ? true : toExpression(item, context, at);
    default:
      if (!isArithmetic(word)) return toExpression(item, context, at);
      return Array.isArray(item) ? item.map(toOperand) : toOperand(item);
  }
}
