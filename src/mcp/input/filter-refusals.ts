// Refusals of conditions that have the form to send.
import { fail } from '../../core/errors.ts';
import { operators } from '../../core/filter.ts';
import { foldName, suggestNames } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, resolveField } from './arguments.ts';
import { applySynonyms, findOperator, leafWords, measureWords } from './synonyms.ts';

interface ConditionPosition {
  readonly at: string;
  readonly context: NameContext | undefined;
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

export function failUnknownOperator(
  operator: unknown,
  leaf?: { readonly field: string; readonly value: unknown },
  position?: ConditionPosition,
): never {
  if (leaf && position) failOnLastPeriods(String(operator), leaf, position);
  return fail('UNKNOWN_OPERATOR', { operator: String(operator), near: suggestOperators(String(operator)) });
}

/** `PreviousXMonths` with 6: only days and hours have such an operator, and those of `PreviousXDays` end yesterday. */
function failOnLastPeriods(
  operator: string,
  { field, value }: { readonly field: string; readonly value: unknown },
  { at, context }: ConditionPosition,
): void {
  const [, unit] =
    /^(?:previous|last|past|inlast|inthelast|withinlast|within)[xn]?(week|month|quarter|year)s?(?:todate)?$/.exec(
      foldName(operator),
    ) ?? [];
  const count = Number(value);
  if (!context || unit === undefined || !Number.isInteger(count) || count < 1 || count > 1000) return;
  const { moment } = context.names;
  const from =
    unit === 'week'
      ? moment.startOf('day', -7 * count).day
      : monthsBefore(moment, count * { month: 1, quarter: 3, year: 12 }[unit as 'month' | 'quarter' | 'year']);
  const form = JSON.stringify({ field, operator: 'GreaterThanOrEqual', value: from });
  invalid(at, `there is no operator '${operator}'. For the last ${count} ${unit}s, send ${form}.`);
}

/** The same day of an earlier month, or its last day if it is shorter. */
function monthsBefore({ now, startOf }: NameContext['names']['moment'], count: number): string {
  const first = startOf('month', -count).day;
  const [year = 0, month = 0] = first.split('-').map(Number);
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const day = Math.min(Number(now().day.slice(8)), last);
  return `${first.slice(0, 8)}${String(day).padStart(2, '0')}`;
}

/** A condition with one member more, which would be read as the names of fields. */
export function failOnMember(value: JsonObject, { at, context }: ConditionPosition): void {
  const entries = Object.entries(value);
  const known = entries.filter(([key]) => leafWords.has(foldName(key)));
  const leaf = applySynonyms(Object.fromEntries(known), leafWords);
  const [other, ...more] = entries.filter((entry) => !known.includes(entry));
  if (!context || !other || more.length > 0 || typeof leaf?.field !== 'string' || typeof leaf.operator !== 'string')
    return;
  const { names, collection } = context;
  const field = names.field(collection, leaf.field);
  if (field === undefined || names.field(collection, 'operator') !== undefined) return;
  const compared = typeof other[1] === 'string' ? names.field(collection, other[1]) : undefined;
  const against = 'value' in leaf || compared === undefined ? {} : { value: { field: compared } };
  const form = JSON.stringify({ ...leaf, field, operator: findOperator(leaf.operator) ?? leaf.operator, ...against });
  invalid(`${at}.${other[0]}`, `a condition has no '${other[0]}': send ${form}.`);
}

/** `{"field": {"count": "orders"}, "operator": "GreaterThan", "value": 1}`: a filter computes no figures of related records. */
export function failOnRelatedFigure(
  expression: unknown,
  operator: string,
  value: unknown,
  { at, context }: ConditionPosition,
): void {
  const [[word = '', of] = [], ...others] = isObject(expression) ? Object.entries(expression) : [];
  const kind = measureWords.get(foldName(word))?.[0];
  if (!context || !kind || others.length > 0 || typeof of !== 'string') return;
  const { names, collection } = context;
  const relation = names.relation(collection, of) ?? names.relation(collection, of.slice(0, of.lastIndexOf(':')));
  if (relation === undefined) return;
  const isAny =
    kind === 'count' && ['GreaterThan 0', 'GreaterThanOrEqual 1', 'NotEqual 0'].includes(`${operator} ${value}`);
  const isNone = kind === 'count' && ['Equal 0', 'LessThan 1', 'LessThanOrEqual 0'].includes(`${operator} ${value}`);
  if (isAny || isNone) invalid(at, `send ${JSON.stringify({ [isAny ? 'some' : 'none']: relation })}.`);
  const target = names.target(collection, relation);
  const back = target && names.relation(target, collection);
  if (!back) return;
  const figure = relation === of ? { [kind]: true } : { [kind]: of.slice(relation.length + 1) };
  const over = { groups: names.key(collection).map((key) => `${back}:${key}`), measures: { figure } };
  const measures = { number: { count: true, where: { field: 'figure', operator, value } } };
  const form = JSON.stringify({ collectionName: target, measures, over });
  invalid(at, `a filter computes no figures of related records. Groups of groups do: send ${form}.`);
}

/** `"atLeast": 2` of related records, as a condition on their number. */
export function toLeast(
  member: string,
  value: unknown,
): { readonly operator: string; readonly value: number } | undefined {
  const word = foldName(member);
  if (!/^(atleast|min|minimum|mincount|morethan)$/.test(word) || !Number.isInteger(value)) return undefined;
  return { operator: word === 'morethan' ? 'GreaterThan' : 'GreaterThanOrEqual', value: Number(value) };
}

/** `{"some": "orders", "atLeast": 2}`: groups of the related records have their number. */
export function failOnNumber(
  path: string,
  member: string,
  value: JsonObject,
  { at, context }: ConditionPosition,
): void {
  const least = toLeast(member, value[member]);
  const relation = context?.names.relation(context.collection, path);
  if (!context || !least || relation === undefined) return;
  const { names, collection } = context;
  const target = names.target(collection, relation);
  const back = target && names.relation(target, collection);
  if (!back) return;
  const { where: filters } = value;
  const form = JSON.stringify({
    collectionName: target,
    measures: { n: { count: true } },
    groups: names.key(collection).map((key) => `${back}:${key}`),
    ...(filters !== undefined && { filters }),
    having: { measure: 'n', ...least },
  });
  invalid(`${at}.${member}`, `a filter counts no records. For those with so many, call aggregate, and send ${form}.`);
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
