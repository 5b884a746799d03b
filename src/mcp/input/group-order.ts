// Conditions on groups and their order as models write them. Forms with only one possible meaning become the specified
// ones. The engine refuses all others with the form to send.
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../../core/errors.ts';
import type { PlainGroupSort, PlainHaving, PlainMeasures } from '../../core/filter/measures.ts';
import { foldName, matchName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson } from './arguments.ts';
import { readConditionText } from './condition-text.ts';
import { earlierName } from './measure-calls.ts';
import { toMeasure } from './measures.ts';
import { aggregatorWords, applySynonyms, findOperator, groupSortWords, measureWords, topWords } from './synonyms.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** The measures of the call, with the names of the specified form. */
interface Known {
  readonly measures: PlainMeasures;
  readonly context?: NameContext | undefined;
}

/** A measure by its name, or by what it computes: `sum(total)`, `count`. Undefined if none or several match. */
function findMeasure(text: string, { measures, context }: Known): string | undefined {
  const names = Object.keys(measures);
  const name = matchName(text, names) ?? earlierName(text, names, context);
  if (name !== undefined) return name;
  const kind = measureWords.get(foldName(text))?.[0];
  const computed = text.includes('(') ? toMeasure(text, 'measure', context) : undefined;
  const same = names.filter((each) => {
    const measure = { ...measures[each] };
    return kind === undefined ? isObject(computed) && isDeepStrictEqual(measure, computed) : kind in measure;
  });
  return same.length === 1 ? same[0] : undefined;
}

/** `{measure | group | field, ascending | desc}`, `name`, `-name`, `name desc`, or a list of these. */
export function readGroupSort(input: JsonObject, name: string, known: Known): readonly PlainGroupSort[] | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null || value === '') return undefined;
  const isList = typeof value === 'string' && !Object.hasOwn(known.measures, value);
  const isWhole = isPair(value) && !Object.hasOwn(known.measures, value[1]!);
  const clauses = isList ? value.split(',') : Array.isArray(value) && !isWhole ? value : [value];
  return clauses.map((clause): PlainGroupSort => {
    if (isPair(clause)) return toClauseOfText(clause.join(' '), known);
    if (typeof clause !== 'string') return isObject(clause) ? toClause(clause, known) : (clause as PlainGroupSort);
    return toClauseOfText(clause.trim(), known);
  });
}

/** `["revenue", "desc"]` */
const isPair = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((each) => typeof each === 'string') &&
  /^(asc|desc)$/i.test(String(value[1]));

function toClauseOfText(clause: string, known: Known): PlainGroupSort {
  const { measures, context } = known;
  const isName = Object.hasOwn(measures, clause) || context?.names.field(context.collection, clause) === clause;
  const [, sign = '', text = '', direction = ''] = (!isName &&
    /^([-+]?)(.*?)(?:(?:\s+|:)(asc|desc)(?:ending)?)?$/i.exec(clause)) || ['', '', clause];
  return { ...byName(text, known), ascending: sign !== '-' && direction.toLowerCase() !== 'desc' } as PlainGroupSort;
}

function byName(text: string, known: Known): { measure: string } | { group: string | number } {
  const { measures, context } = known;
  if (Object.hasOwn(measures, text)) return { measure: text };
  if (/^\d+$/.test(text)) return { group: Number(text) };
  const field = context?.names.field(context.collection, text);
  const measure = field === undefined ? findMeasure(text, known) : undefined;
  return measure === undefined ? { group: field ?? text } : { measure };
}

function toClause(clause: JsonObject, known: Known): PlainGroupSort {
  const sort: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(clause)) {
    const word = groupSortWords.get(foldName(key))?.[0] ?? key;
    if (word in sort) return clause as unknown as PlainGroupSort;
    sort[word] = item;
  }
  const [[only = '', way] = [], ...others] = Object.entries(clause);
  // `{"revenue": "desc"}`
  if (others.length === 0 && !groupSortWords.has(foldName(only)) && typeof toAscending(way) === 'boolean')
    return { ...byName(only, known), ascending: toAscending(way) } as PlainGroupSort;
  const { field, measure, direction, desc, ...rest } = sort;
  const ascending = rest.ascending ?? direction ?? (typeof desc === 'boolean' ? !desc : desc);
  return {
    ...rest,
    ...(measure !== undefined && { measure: resolveMeasure(measure, known) }),
    ...(typeof field === 'string' ? byName(field, known) : field !== undefined && { field }),
    ...(ascending !== undefined && { ascending: toAscending(ascending) }),
  } as unknown as PlainGroupSort;
}

const resolveMeasure = (given: unknown, known: Known): unknown =>
  typeof given === 'string' ? (findMeasure(given, known) ?? given) : given;

function toAscending(given: unknown): unknown {
  const word = String(given).trim().toLowerCase();
  if (/^(asc|ascending|true|1)$/.test(word)) return true;
  return /^(desc|descending|false|-1|0)$/.test(word) ? false : given;
}

/** A tree of `{measure, operator, value}`, with the operators of filters, or a text such as `revenue > 100`. */
export function readHaving(input: JsonObject, name: string, known: Known): PlainHaving | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null || value === '') return undefined;
  return toHaving(value, known) as PlainHaving;
}

function toHaving(given: unknown, known: Known): unknown {
  if (typeof given === 'string') return toHavingOfText(given, known) ?? given;
  if (Array.isArray(given)) return { aggregator: 'And', conditions: given.map((each) => toHaving(each, known)) };
  if (!isObject(given)) return given;
  const [[key = '', items] = [], ...others] = Object.entries(given);
  if (others.length === 0 && /^\$?(and|or|not)$/i.test(key) && typeof items === 'object' && items !== null)
    return {
      aggregator: aggregatorWords.get(foldName(key))?.[0],
      conditions: (Array.isArray(items) ? items : [items]).map((each) => toHaving(each, known)),
    };
  if (Array.isArray(given.conditions))
    return { ...given, conditions: given.conditions.map((each) => toHaving(each, known)) };
  const { field, measure = field, op, operator = op, ...rest } = given;
  if (measure === undefined && operator === undefined) return toHavingByName(given, known);
  const parsed = typeof operator === 'string' ? (findOperator(operator) ?? operator) : operator;
  return { measure: resolveMeasure(measure, known), operator: parsed, ...rest };
}

/** `{"revenue": {"gt": 100}}` or `{"revenue": "> 100"}`. */
function toHavingByName(given: JsonObject, known: Known): unknown {
  const conditions = Object.entries(given).flatMap(([name, tests]) => {
    const measure = resolveMeasure(name, known);
    if (isObject(tests))
      return Object.entries(tests).map(([word, value]) => ({ measure, operator: findOperator(word) ?? word, value }));
    const text = typeof tests === 'string' ? toHavingOfText(`${name} ${tests}`, known) : undefined;
    return [text ?? { measure, operator: 'Equal', value: tests }];
  });
  return conditions.length === 1 ? conditions[0] : { aggregator: 'And', conditions };
}

/** `revenue > 100`. Undefined if the text does not compare measures with values. */
function toHavingOfText(text: string, known: Known): unknown {
  const { aggregator, conditions } = readConditionText(text) ?? { conditions: [] };
  const tests = conditions.map(({ name, operator, value }) => {
    const measure = findMeasure(name, known);
    const is = findOperator(operator);
    return measure !== undefined && is && value !== undefined ? { measure, operator: is, value } : undefined;
  });
  if (tests.length === 0 || tests.includes(undefined)) return undefined;
  return tests.length === 1 ? tests[0] : { aggregator, conditions: tests };
}

/** `{"n": 5, "others": true}`: the form without the unknown member. */
function failOnMemberOfTop(given: JsonObject): void {
  const known = Object.entries(given).filter(([key]) => topWords.has(foldName(key)));
  const top = applySynonyms(Object.fromEntries(known), topWords);
  const other = Object.keys(given).find((key) => !topWords.has(foldName(key)));
  if (top?.n === undefined || other === undefined) return;
  invalid('top', `has no '${other}': send ${JSON.stringify({ top })}.`);
}

/** `top` and the sort that it names: `{n: 3, by: "revenue", per: "country"}`. */
export function repairTop(args: JsonObject, known: Known): { readonly top?: unknown; readonly sort?: unknown } {
  const given = parseIfJson(args.top);
  const { by, per, ...top } = (isObject(given) && applySynonyms(given, topWords)) || { by: undefined };
  if (isObject(given) && top.n === undefined) failOnMemberOfTop(given);
  if (!isObject(given) || top.n === undefined) return {};
  const list = per === undefined || per === null ? [] : Array.isArray(per) ? per : [per];
  const { context } = known;
  const groups = list.map((each) =>
    typeof each === 'string' ? (context?.names.field(context.collection, each) ?? each) : each,
  );
  const n = /^\d{1,9}$/.test(String(top.n)) ? Number(top.n) : top.n;
  const repaired = { n, ...(groups.length > 0 && { per: groups }) };
  if (by === undefined) return { top: repaired };
  const sort = readGroupSort({ by }, 'by', known)?.map((clause) =>
    // The top by a measure begins with the largest.
    typeof by === 'string' && !/\s(asc|desc)|^[-+]/i.test(by.trim()) ? { ...clause, ascending: false } : clause,
  );
  const own = args.sort === undefined ? sort : readGroupSort(args, 'sort', known);
  if (!isDeepStrictEqual(own?.[0], sort?.[0]))
    invalid('top', `sort has another order: send ${JSON.stringify({ top: repaired, sort })}, or leave by out.`);
  return { top: repaired, sort: own };
}
