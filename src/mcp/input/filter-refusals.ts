// Refusals of conditions that have the form to send.
import { fail } from '../../core/errors.ts';
import { operators } from '../../core/filter.ts';
import { foldName, suggestNames } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, resolveField } from './arguments.ts';
import { measureWords } from './synonyms.ts';

interface ConditionPosition {
  readonly at: string;
  readonly context: NameContext | undefined;
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

export function failUnknownOperator(operator: unknown): never {
  return fail('UNKNOWN_OPERATOR', { operator: String(operator), near: suggestOperators(String(operator)) });
}

/** Similar operators, otherwise the most common ones. */
function suggestOperators(text: string): string[] {
  const near = text.length > 2 ? suggestNames(text, operators) : [];
  return near.length > 0
    ? near
    : ['Equal', 'NotEqual', 'In', 'GreaterThan', 'LessThan', 'Contains', 'Missing', 'Present'];
}

/** The difference of two dates has a unit. */
export function failOnDates(
  expression: unknown,
  operator: string,
  operand: JsonObject,
  { at, context }: ConditionPosition,
): void {
  if (!context || !isObject(expression) || !Array.isArray(expression.minus)) return;
  const dates = expression.minus.toReversed();
  const typeOf = (each: unknown) => typeof each === 'string' && context.names.type(context.collection, each);
  if (!dates.every((each) => /^Date/.test(String(typeOf(each))))) return;
  const [, number, unit = 'day'] =
    /^(\d+(?:\.\d+)?)\s*(minute|hour|day|month|year)s?$/i.exec(String(operand.value)) ?? [];
  const against = number === undefined ? operand : { value: Number(number) };
  const difference = { difference: dates, unit: unit.toLowerCase() };
  invalid(
    at,
    `for the time between two dates, send ${JSON.stringify({ expression: difference, operator, ...against })}.`,
  );
}

/** `{"field": "total", "operator": "GreaterThan", "value": {"avg": "total"}}`: a filter cannot compute the figure. */
export function failOnFigure(
  field: string,
  operator: string,
  value: JsonObject,
  { at, context }: ConditionPosition,
): void {
  const [[word = '', of] = [], ...others] = Object.entries(value);
  const kind = measureWords.get(foldName(word))?.[0];
  if (!context || !kind || others.length > 0 || typeof of !== 'string') return;
  const first = { collectionName: context.collection, measures: { figure: { [kind]: resolveField(of, context) } } };
  const then = JSON.stringify({ field, operator, value: 0 });
  invalid(
    at,
    `a filter computes no figures. Call aggregate with ${JSON.stringify(first)}, then send ${then} with the figure as value.`,
  );
}
