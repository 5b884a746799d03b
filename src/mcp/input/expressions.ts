// Expressions as models write them. The engine refuses what has no single meaning.
import { fail } from '../../core/errors.ts';
import type { PlainExpression } from '../../core/filter/expression.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson, resolveField } from './arguments.ts';
import { readPartExpression } from './date-parts.ts';
import { readInfix } from './infix.ts';
import { expressionWords } from './synonyms.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Resolves names of fields, and the words for operations. */
export function toExpression(given: unknown, context: NameContext | undefined, at = 'expression'): PlainExpression {
  const value = typeof given === 'string' && given.trimStart().startsWith('{') ? parseIfJson(given) : given;
  const part = readPartExpression(value, context);
  if (part) return part;
  if (typeof value === 'string') return toArithmetic(value, context, at) ?? resolveField(value, context);
  if (!isObject(value)) return value as PlainExpression;
  const between = toDifference(value) ?? toFromTo(value) ?? toAge(value, context) ?? withNow(value, context);
  if (between) return toExpression(between, context, at);
  failOnOrder(value, context, at);
  const expression: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    // Of the values of one record, a ratio is a quotient.
    const word =
      key === 'ratio' ? 'dividedBy' : (expressionWords.get(foldName(key))?.[0] ?? symbols[key.trim()] ?? key);
    if (word in expression) return value as unknown as PlainExpression;
    const isValue = word === 'value' || word === 'unit' || word === 'part';
    expression[word] = isValue
      ? item
      : Array.isArray(item)
        ? item.map((each, index) => toExpression(each, context, `${at}.${word}[${index}]`))
        : toExpression(item, context, `${at}.${word}`);
  }
  return expression as unknown as PlainExpression;
}

/** `price - cost`, unless a field has such a name. */
function toArithmetic(text: string, context: NameContext | undefined, at: string): PlainExpression | undefined {
  if (!context) return undefined;
  const fieldOf = (name: string) => context.names.field(context.collection, name);
  const expression = readInfix(text, fieldOf);
  const field = expression === undefined ? undefined : fieldOf(text.trim());
  if (field === undefined || field === text.trim()) return field ?? expression;
  return invalid(at, `'${text}' can mean the field "${field}" or ${JSON.stringify(expression)}: send one.`);
}

/** `{"daysBetween": [from, to]}`, or `{"minus": [to, from], "unit": "day"}` */
function toDifference(value: JsonObject): JsonObject | undefined {
  const [[key, of] = ['', undefined], ...others] = Object.entries(value);
  const isMinus = expressionWords.get(foldName(key))?.[0] === 'minus' && Array.isArray(of) && of.length === 2;
  if (isMinus && others.length === 1 && others[0]![0] === 'unit')
    return { difference: of.toReversed(), unit: value.unit };
  const unit = /^(minute|hour|day|month|year)s?(?:between|diff|difference)$/.exec(foldName(key))?.[1];
  return unit && others.length === 0 ? { difference: of, unit } : undefined;
}

/** `{"dateDiff": {"from": "placed_at", "to": "shipped_at", "unit": "day"}}` */
function toFromTo(value: JsonObject): JsonObject | undefined {
  const [[key = '', given] = [], ...others] = Object.entries(value);
  if (expressionWords.get(foldName(key))?.[0] !== 'difference' || !isObject(given)) return undefined;
  const {
    unit,
    start,
    from = start,
    end,
    to = end,
    ...rest
  } = { ...given, ...Object.fromEntries(others) } as JsonObject;
  const isWhole = from !== undefined && to !== undefined && Object.keys(rest).length === 0;
  return isWhole ? { difference: [from, to], ...(unit !== undefined && { unit }) } : undefined;
}

/** `{"age": "birth_date"}`, in whole years. */
function toAge(value: JsonObject, context: NameContext | undefined): JsonObject | undefined {
  const [[key = '', of] = [], ...others] = Object.entries(value);
  const isAge = /^age(inyears)?$/.test(foldName(key)) && others.length === 0 && typeof of === 'string';
  const field = isAge ? context?.names.field(context.collection, of) : undefined;
  const isDate = field !== undefined && /^Date/.test(String(context?.names.type(context.collection, field)));
  return isDate ? { difference: [field, 'now'], unit: 'year' } : undefined;
}

/**
 * A list of two dates with `now` as the time of the call, or `today` as its day, for timestamps the start of the day, unless a
 * field has that name. Undefined without them.
 */
function withNow(value: JsonObject, context: NameContext | undefined): JsonObject | undefined {
  const [[key = '', list] = [], ...others] = Object.entries(value);
  const isDifference = unitForm.test(key) || expressionWords.get(foldName(key))?.[0] === 'difference';
  if (!context || !isDifference || !Array.isArray(list)) return undefined;
  const { names, collection } = context;
  const field = (each: unknown) => (typeof each === 'string' ? names.field(collection, each) : undefined);
  const timeOf = (each: unknown): DateBound | undefined => {
    const text = isObject(each) && Object.keys(each).length === 1 ? (each.value ?? (each.now === true && 'now')) : each;
    if (field(each) !== undefined) return undefined;
    if (todayForm.test(String(text))) return names.moment.startOf('day');
    return nowForm.test(String(text)) ? names.moment.now() : undefined;
  };
  const times = list.map(timeOf);
  if (times.every((time) => time === undefined)) return undefined;
  const form = list.some((each) => names.type(collection, field(each) ?? '') === 'Dateonly') ? 'day' : 'instant';
  const dates = list.map((each, at) => (times[at] ? { value: times[at][form] } : each));
  return Object.fromEntries([[key, dates], ...others]);
}

type DateBound = ReturnType<NameContext['names']['moment']['now']>;

const nowForm = /^(now|current_?(time|timestamp)|getdate)(\(\))?$/i;
const todayForm = /^(today|current_?date)(\(\))?$/i;

/**
 * `{"dateDiff": [one, other, "day"]}` or `{"days": [one, other]}`: some databases and spreadsheets take the later date
 * first, and the difference would have the wrong sign without a word.
 */
function failOnOrder(value: JsonObject, context: NameContext | undefined, at: string): void {
  const [[key = '', list] = [], [other, named] = [], ...more] = Object.entries(value);
  const isUnit = (each: unknown): boolean => unitForm.test(String(each));
  const isDifference = key !== 'difference' && expressionWords.get(foldName(key))?.[0] === 'difference';
  const isWhole = more.length === 0 && (other === undefined || (other === 'unit' && isUnit(named)));
  if (!Array.isArray(list) || !isWhole || !(isDifference || isUnit(key))) return;
  const [one, second, ...rest] = list.filter((each) => !isUnit(each)).map((each) => toExpression(each, context));
  if (one === undefined || second === undefined || rest.length > 0) return;
  const found = named ?? list.find(isUnit) ?? (isUnit(key) ? key : 'day');
  const unit = String(found).toLowerCase().replace(/s$/, '');
  const [form, opposite] = [
    [one, second],
    [second, one],
  ].map((dates) => JSON.stringify({ difference: dates, unit }));
  invalid(`${at}.${key}`, `send ${form}, from the first date to the second, or ${opposite}.`);
}

const unitForm = /^(minute|hour|day|month|year)s?$/i;

const symbols: Readonly<Record<string, string>> = { '+': 'plus', '-': 'minus', '*': 'times', '/': 'dividedBy' };
