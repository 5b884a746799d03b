// Expressions as models write them. The engine refuses what has no single meaning.
import { fail } from '../../core/errors.ts';
import type { PlainExpression } from '../../core/filter/expression.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson, resolveField } from './arguments.ts';
import { readInfix } from './infix.ts';
import { expressionWords } from './synonyms.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Resolves names of fields, and the words for operations. */
export function toExpression(given: unknown, context: NameContext | undefined): PlainExpression {
  const value = typeof given === 'string' && given.trimStart().startsWith('{') ? parseIfJson(given) : given;
  if (typeof value === 'string') return toArithmetic(value, context) ?? resolveField(value, context);
  if (!isObject(value)) return value as PlainExpression;
  const between = toDifference(value);
  if (between) return toExpression(between, context);
  const expression: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const word = expressionWords.get(foldName(key))?.[0] ?? symbols[key.trim()] ?? key;
    if (word in expression) return value as unknown as PlainExpression;
    const isValue = word === 'value' || word === 'unit';
    expression[word] = isValue
      ? item
      : Array.isArray(item)
        ? item.map((each) => toExpression(each, context))
        : toExpression(item, context);
  }
  return expression as unknown as PlainExpression;
}

/** `price - cost`, unless a field has such a name. */
function toArithmetic(text: string, context: NameContext | undefined): PlainExpression | undefined {
  if (!context) return undefined;
  const fieldOf = (name: string) => context.names.field(context.collection, name);
  const expression = readInfix(text, fieldOf);
  const field = expression === undefined ? undefined : fieldOf(text.trim());
  if (field === undefined || field === text.trim()) return field ?? expression;
  return invalid('expression', `'${text}' can mean the field "${field}" or ${JSON.stringify(expression)}: send one.`);
}

/** `{"daysBetween": [from, to]}` */
function toDifference(value: JsonObject): JsonObject | undefined {
  const [[key, of] = ['', undefined], ...others] = Object.entries(value);
  const unit = /^(minute|hour|day|month|year)s?(?:between|diff|difference)$/.exec(foldName(key))?.[1];
  return unit && others.length === 0 ? { difference: of, unit } : undefined;
}

const symbols: Readonly<Record<string, string>> = { '+': 'plus', '-': 'minus', '*': 'times', '/': 'dividedBy' };
