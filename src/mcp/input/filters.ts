// Filters as models write them: the specified form, objects by field, logical keys, lists of conditions, and operator
// names of other tools. Input with only one possible meaning becomes the specified form. Any other input is refused
// with the form to send.
import { fail } from '../../core/errors.ts';
import { MAX_CONDITIONS, type Operator, type PlainFilter, quantified } from '../../core/filter.ts';
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson, resolveField } from './arguments.ts';
import { readConditionText, readRange, type TextCondition } from './condition-text.ts';
import { readPart, toPartTest } from './date-parts.ts';
import { toExpression } from './expressions.ts';
import {
  failOnDates,
  failOnFigure,
  failOnMember,
  failOnNumber,
  failOnRelatedFigure,
  failUnknownOperator,
} from './filter-refusals.ts';
import {
  aggregatorWords,
  applySynonyms,
  branchWords,
  comparisonWords,
  expressionWords,
  findOperator,
  leafWords,
  type ParsedOperator,
  partTestWords,
  quantifierWords,
} from './synonyms.ts';

interface FilterPosition {
  readonly at: string;
  readonly context: NameContext | undefined;
  /** The number of conditions read so far, over the whole filter. */
  readonly counts: { conditions: number };
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
const send = (filter: unknown): string => `send ${JSON.stringify(filter)}`;

const example = 'send {"field":"status","operator":"Equal","value":"paid"} or {"aggregator":"And","conditions":[...]}.';

/** A condition, a tree, a list of conditions that must all hold, or any of these as JSON text. */
export function readFilter(input: JsonObject, name: string, context?: NameContext): PlainFilter | undefined {
  return readFrom(input, name, { context, counts: { conditions: 0 } });
}

function readFrom(
  input: JsonObject,
  name: string,
  position: Omit<FilterPosition, 'at'>,
  at = name,
): PlainFilter | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null || value === '') return undefined;
  if (isObject(value) && Object.keys(value).length === 0) return undefined;
  return toFilter(value, { ...position, at });
}

// The recursion is bounded, because the body and JSON texts in it have depth limits.
function toFilter(value: unknown, position: FilterPosition): PlainFilter {
  const { at } = position;
  if (Array.isArray(value)) {
    if (isTriple(value)) return toLeaf({ field: value[0], operator: value[1], value: value[2] }, position);
    if (value.length === 0) count(position);
    return allOf(value.map((item, i) => toFilter(item, { ...position, at: `${at}[${i}]` })));
  }
  if (typeof value === 'string') return toFilterOfText(value, position) ?? invalid(at, example);
  if (!isObject(value)) return invalid(at, example);
  const comparison = toTestOfPart(value, position) ?? toComparison(value, position);
  if (comparison) return comparison;
  const leaf = applySynonyms(value, leafWords);
  if (leaf && typeof leaf.field === 'string' && ('operator' in leaf || 'value' in leaf)) return toLeaf(leaf, position);
  failOnMember(value, position);
  const branch = applySynonyms(value, branchWords);
  if (branch) return toBranch(branch, position);
  const quantifier = toQuantified(value, position);
  return quantifier ?? toObject(value, position, '');
}

/** `status = 'paid' and total > 100`. Undefined for other texts and for names that are no fields. */
function toFilterOfText(text: string, position: FilterPosition): PlainFilter | undefined {
  const { aggregator, conditions } = readConditionText(text) ?? {};
  const filters = conditions?.map((condition) => toConditionOfText(condition, position));
  if (!aggregator || !filters?.every((each) => each !== undefined)) return undefined;
  const filter = filters.length === 1 ? filters[0]! : { aggregator, conditions: filters };
  // In SQL, null is neither equal nor unequal.
  if (filters.some((each) => 'operator' in each && /^Not(Equal|In)$/.test(each.operator)))
    invalid(position.at, `${send(filter)}, which null satisfies too.`);
  return filter;
}

function toConditionOfText(condition: TextCondition, position: FilterPosition): PlainFilter | undefined {
  const { name, operator: word, ...against } = condition;
  const { context } = position;
  const operator = findOperator(word);
  if (!operator || !context) return undefined;
  const { names, collection } = context;
  const other = against.other === undefined ? undefined : names.field(collection, against.other);
  if (against.other !== undefined && other === undefined) return undefined;
  const operand = other === undefined ? against : { other };
  if (names.field(collection, name) !== undefined)
    return toFilter({ field: name, operator: word, ...operand }, position);
  const part = readPart(name, context);
  if (part && 'value' in against) {
    count(position);
    return toPartTest(part, operator, against.value, position.at);
  }
  const expression = toExpression(name, context);
  if (typeof expression === 'string') return undefined;
  failOnDates(expression, operator, operand, position);
  return toFilter({ expression, operator: word, ...operand }, position);
}

/** Checked before each condition is read: a body can hold tens of thousands. */
function count({ at, counts }: FilterPosition): void {
  if (++counts.conditions > MAX_CONDITIONS)
    invalid(at.replace(/\W.*/, ''), `at most ${MAX_CONDITIONS} conditions; use In for many values.`);
}

const not = (filter: PlainFilter): PlainFilter => ({ aggregator: 'Not', conditions: [filter] });
const allOf = (conditions: readonly PlainFilter[]): PlainFilter => ({ aggregator: 'And', conditions });

/** `["status", "=", "paid"]` is one condition, because a list of conditions contains no plain texts. */
function isTriple(value: readonly unknown[]): value is [string, string, unknown] {
  const [field, operator] = value;
  return (
    value.length === 3 && typeof field === 'string' && typeof operator === 'string' && Boolean(findOperator(operator))
  );
}

function toBranch(value: JsonObject, position: FilterPosition): PlainFilter {
  const { at } = position;
  const word = typeof value.aggregator === 'string' ? value.aggregator : 'and';
  const aggregator = aggregatorWords.get(foldName(word))?.[0];
  if (!aggregator) return invalid(`${at}.aggregator`, 'send "And", "Or" or "Not".');
  const { conditions } = value;
  if (conditions === undefined || conditions === null) return invalid(at, example);
  const list = Array.isArray(conditions) && !isTriple(conditions) ? conditions : [conditions];
  if (list.length === 0) count(position);
  return {
    aggregator,
    conditions: list.map((item, i) => toFilter(item, { ...position, at: `${at}.conditions[${i}]` })),
  };
}

/** `{"field": "shipped_at", "operator": "After", "other": "required_at"}`. Undefined for any other object. */
function toComparison(value: JsonObject, position: FilterPosition): PlainFilter | undefined {
  const named = applySynonyms(value, comparisonWords);
  const { field: of, ...others } = named ?? {};
  // An expression in place of the field.
  const parts = isObject(of) && !('expression' in others) ? { ...others, expression: of } : named;
  if (!parts || !('operator' in parts) || !('other' in parts || 'expression' in parts)) return undefined;
  count(position);
  const { context } = position;
  const { operator: word, ...operands } = parts;
  const operator = findOperator(String(word)) ?? failUnknownOperator(word);
  failOnRelatedFigure(parts.expression, operator, operands.value, position);
  const expression =
    'expression' in parts ? toExpression(parts.expression, context, `${position.at}.expression`) : undefined;
  const { expression: _given, ...operand } = operands;
  failOnDates(expression, operator, operand, position);
  return {
    ...parts,
    ...(typeof parts.field === 'string' && { field: resolveField(parts.field, context) }),
    ...(expression !== undefined && { expression }),
    ...('other' in parts && { other: toExpression(parts.other, context) }),
    operator,
  } as unknown as PlainFilter;
}

/** `{"field": "placed_at", "part": "Weekday", "operator": "In", "value": [6, 7]}`. Undefined for any other object. */
function toTestOfPart(value: JsonObject, position: FilterPosition): PlainFilter | undefined {
  const { operator: word, value: given, field, ...own } = applySynonyms(value, partTestWords) ?? {};
  const of = own.expression ?? (own.part === undefined ? field : { field, part: own.part });
  const isPlain = typeof of === 'string' && !of.includes('(');
  const part = word !== undefined && given !== undefined && !isPlain && readPart(of, position.context);
  if (!part) return undefined;
  count(position);
  return toPartTest(part, findOperator(String(word)) ?? failUnknownOperator(word), given, position.at);
}

/** `{"none": "orders", "where": {...}}`. Undefined for any other object. */
function toQuantified(value: JsonObject, position: FilterPosition): PlainFilter | undefined {
  const { at, context } = position;
  const keys = Object.keys(value);
  const key = keys.find((each) => quantifierWords.has(foldName(each)) && typeof value[each] === 'string');
  if (key === undefined || context?.names.field(context.collection, key)) return undefined;
  count(position);
  const quantifier = quantifierWords.get(foldName(key))![0]!;
  const path = value[key] as string;
  const form = `send {"${quantifier}":"${path}","where":{"field":"status","operator":"Equal","value":"paid"}}.`;
  for (const each of keys)
    if (each !== key && !['where', 'filter', 'filters', 'conditions'].includes(each)) {
      failOnNumber(path, each, value, position);
      return invalid(`${at}.${each}`, form);
    }
  const relationPath = context?.names.relation(context.collection, path);
  const to = context && relationPath !== undefined ? context.names.target(context.collection, relationPath) : undefined;
  const inner = keys.find((each) => each !== key);
  const where =
    inner === undefined
      ? undefined
      : readFrom(
          value,
          inner,
          { ...position, context: to === undefined ? undefined : { ...context!, collection: to } },
          `${at}.${inner}`,
        );
  if (quantifier === 'every' && !where) return invalid(`${at}.where`, `required with every: ${form}`);
  return quantified({ quantifier, path: relationPath ?? path, ...(where && { where }) });
}

/** `{"status": "paid"}`, `{"total": {"gte": 5}}`, `{"customer": {"city": "Paris"}}`, `{"or": [...]}`: all must hold. */
function toObject(value: JsonObject, position: FilterPosition, prefix: string): PlainFilter {
  const conditions = Object.entries(value).map(([key, item]): PlainFilter => {
    const at = `${position.at}.${key}`;
    const logical = aggregatorWords.get(foldName(key))?.[0];
    if (logical && typeof item === 'object' && item !== null) {
      if (prefix !== '') return invalid(at, example);
      return toBranch({ aggregator: logical, conditions: item }, { ...position, at });
    }
    const field = prefix + key;
    if (!isObject(item))
      return toLeaf({ field, operator: Array.isArray(item) ? 'In' : 'Equal', value: item }, { ...position, at });
    const tests = Object.entries(item);
    if (tests.length === 0) return invalid(at, example);
    const related = toRelated(field, item, { ...position, at });
    if (related) return related;
    if (tests.every(([word]) => findOperator(word)))
      return joinConditions(
        tests.map(([operator, operand]) => toLeaf({ field, operator, value: operand }, { ...position, at })),
      );
    return toObject(item, { ...position, at }, `${field}:`);
  });
  return joinConditions(conditions);
}

/** `{"orders": {"some": {"total": 5}}}`. Undefined if the name is no relation. */
function toRelated(name: string, item: JsonObject, position: FilterPosition): PlainFilter | undefined {
  const { context } = position;
  const [[word = '', where] = [], ...others] = Object.entries(item);
  const isQuantifier = others.length === 0 && quantifierWords.has(foldName(word)) && isObject(where);
  if (!isQuantifier || !context || context.names.field(context.collection, name) !== undefined) return undefined;
  if (context.names.relation(context.collection, name) === undefined) return undefined;
  return toQuantified({ [word]: name, ...(Object.keys(where).length > 0 && { where }) }, position);
}

const joinConditions = (conditions: readonly PlainFilter[]): PlainFilter =>
  conditions.length === 1 ? conditions[0]! : allOf(conditions);

interface Leaf {
  readonly field: string;
  readonly value?: unknown;
}

function toLeaf(input: JsonObject, position: FilterPosition): PlainFilter {
  const ofPart = toTestOfPart(input, position);
  if (ofPart) return ofPart;
  count(position);
  const { at, context } = position;
  const field = resolveField(String(input.field), context);
  const { operator } = input;
  if (operator === undefined || operator === null)
    return invalid(at, `${send({ field, operator: 'Equal', value: input.value })}, or another operator.`);
  const parsed = typeof operator === 'string' ? findOperator(operator) : undefined;
  if (!parsed) return failUnknownOperator(operator, { field, value: input.value }, position);
  if (isObject(input.value)) failOnFigure(field, parsed, input.value, position);
  const other = otherField(field, input.value, context);
  if (other !== undefined && comparing.has(parsed)) return { field, operator: parsed, other } as unknown as PlainFilter;
  const leaf: Leaf = 'value' in input ? { field, value: input.value } : { field };
  return relationTest(parsed, leaf, context) ?? toTest(parsed, leaf, context);
}

const comparing: ReadonlySet<ParsedOperator> = new Set<ParsedOperator>([
  ...(['Equal', 'NotEqual', 'LessThan', 'LessThanOrEqual', 'GreaterThan', 'GreaterThanOrEqual'] as const),
  ...(['Before', 'After'] as const),
]);

/** A value that is a field: `{"field": "cost"}`, or the exact name of one where a number or a date is due. */
function otherField(field: string, value: unknown, context: NameContext | undefined): unknown {
  if (!context) return undefined;
  const { names, collection } = context;
  if (isObject(value)) {
    const words = Object.keys(value).map((key) => expressionWords.get(foldName(key))?.[0]);
    // `{"value": {"times": ["cost", 2]}}`
    if (words.length > 0 && words.every((word) => word !== undefined && word !== 'value'))
      return toExpression(value, context);
    const [[key = '', name] = [], ...more] = Object.entries(value);
    const isField = more.length === 0 && /^(\$?field|column|other|ref)$/i.test(key) && typeof name === 'string';
    return isField ? names.field(collection, name.trim()) : undefined;
  }
  const type = names.type(collection, field);
  if (typeof value !== 'string' || (type !== 'Number' && type !== 'Date' && type !== 'Dateonly')) return undefined;
  return names.type(collection, value.trim()) === undefined ? undefined : value.trim();
}

const absent: ReadonlySet<ParsedOperator> = new Set(['Missing', 'Blank', 'Null']);
const present: ReadonlySet<ParsedOperator> = new Set(['Present', 'NotNull']);

/** A test whether a related record exists, if `field` is a relation instead of a field. */
function relationTest(
  parsed: ParsedOperator,
  { field, value }: Leaf,
  context: NameContext | undefined,
): PlainFilter | undefined {
  if (!context || context.names.field(context.collection, field) !== undefined) return undefined;
  const path = context.names.relation(context.collection, field);
  if (path === undefined) return undefined;
  const isAbsent = absent.has(parsed) || (parsed === 'Equal' && value === null);
  const isPresent = present.has(parsed) || (parsed === 'NotEqual' && value === null);
  if (!isAbsent && !isPresent) return undefined;
  return quantified({ quantifier: isAbsent === (value !== false) ? 'none' : 'some', path });
}

function toTest(parsed: ParsedOperator, leaf: Leaf, context: NameContext | undefined): PlainFilter {
  const { field, value } = leaf;
  const test = (operator: Operator, operand?: unknown): PlainFilter =>
    operand === undefined ? { field, operator } : { field, operator, value: operand };
  switch (parsed) {
    case 'Null':
    case 'NotNull':
      return (parsed === 'Null') === (value !== false) ? test('Missing') : not(test('Missing'));
    case 'NotLike':
      return not(test('Like', value));
    case 'NotILike':
      return not(test('ILike', value));
    case 'Between':
    case 'NotBetween': {
      const [from, to] = readRange(leaf);
      const end = nextDay(to);
      const within = [
        test('GreaterThanOrEqual', from),
        end === undefined ? test('LessThanOrEqual', to) : test('LessThan', end),
      ];
      if (parsed === 'Between') return allOf(within);
      return {
        aggregator: 'Or',
        conditions: [
          test('LessThan', from),
          end === undefined ? test('GreaterThan', to) : test('GreaterThanOrEqual', end),
        ],
      };
    }
    default:
      return toTypedTest(parsed, leaf, context);
  }
}

/** Adapts a condition to the type of its field. */
function toTypedTest(parsed: Operator | 'On', leaf: Leaf, context: NameContext | undefined): PlainFilter {
  const { field, value } = leaf;
  const operator = parsed === 'On' ? 'Equal' : parsed;
  const type = context?.names.type(context.collection, field);
  const next = nextDay(value);
  if (type === 'Date' && next !== undefined && (operator === 'Equal' || operator === 'NotEqual')) {
    if (parsed === 'On')
      return allOf([
        { field, operator: 'GreaterThanOrEqual', value },
        { field, operator: 'LessThan', value: next },
      ]);
    const day = { [field]: { gte: value, lt: next } };
    return invalid(
      `${field} ${operator}`,
      `the field has a time. For the whole day ${send({ filters: operator === 'Equal' ? day : { not: day } })}.`,
    );
  }
  // A list instead of one value means In. A field that contains lists is compared with the whole list.
  if (typeof type === 'string' && Array.isArray(value) && (operator === 'Equal' || operator === 'NotEqual'))
    return { field, operator: operator === 'Equal' ? 'In' : 'NotIn', value };
  if (!('value' in leaf)) return { field, operator };
  return { field, operator, value: listOperators.has(operator) ? toList(operator, leaf) : value };
}

const listOperators: ReadonlySet<Operator> = new Set(['In', 'NotIn', 'IncludesAll', 'IncludesNone']);

function toList(operator: Operator, { field, value }: Leaf): unknown {
  const list = typeof value === 'string' && value.trimStart().startsWith('[') ? parseIfJson(value) : value;
  if (Array.isArray(list) || list === undefined || list === null) return list;
  if (typeof list === 'string' && list.includes(',')) {
    const parts = list.split(',').map((part) => part.trim());
    return invalid(
      `${field} ${operator}`,
      `${send({ field, operator, value: parts })}, or the whole text as a list of one item.`,
    );
  }
  return [list];
}

/** The next day of a date without a time, because a range of days includes its last day. */
function nextDay(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value.trim())) return undefined;
  const next = new Date(`${value.trim()}T00:00:00Z`);
  if (Number.isNaN(next.getTime())) return undefined;
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}
