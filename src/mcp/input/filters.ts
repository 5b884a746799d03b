// Filters as models write them: the specified form, objects by field, logical keys, lists of conditions, and operator
// names of other tools. Input with only one possible meaning becomes the specified form. Any other input is refused
// with the form to send.
import { fail } from '../../core/errors.ts';
import { CONDITIONS_MOST, type Operator, operators, type PlainFilter, quantified } from '../../core/filter.ts';
import { foldName, nearNames } from '../../core/suggestions.ts';
import { fromText, type Given, isObject } from './arguments.ts';
import { type Home, toField } from './columns.ts';
import {
  aggregatorWords,
  branchWords,
  findOperator,
  leafWords,
  type MeantOperator,
  quantifierWords,
  renamed,
} from './synonyms.ts';

interface Place {
  readonly at: string;
  readonly home: Home | undefined;
  /** The number of conditions read so far, over the whole filter. */
  readonly counted: { conditions: number };
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
const send = (filter: unknown): string => `send ${JSON.stringify(filter)}`;

const example = 'send {"field":"status","operator":"Equal","value":"paid"} or {"aggregator":"And","conditions":[...]}.';

/** A condition, a tree, a list of conditions that must all hold, or any of these as JSON text. */
export function readFilter(given: Given, name: string, home?: Home): PlainFilter | undefined {
  return readFrom(given, name, { home, counted: { conditions: 0 } });
}

function readFrom(given: Given, name: string, place: Omit<Place, 'at'>): PlainFilter | undefined {
  const value = fromText(given[name]);
  if (value === undefined || value === null || value === '') return undefined;
  if (isObject(value) && Object.keys(value).length === 0) return undefined;
  return toFilter(value, { ...place, at: name });
}

// The recursion is bounded, because the body and JSON texts in it have depth limits.
function toFilter(value: unknown, place: Place): PlainFilter {
  const { at } = place;
  if (Array.isArray(value)) {
    if (isTriple(value)) return toLeaf({ field: value[0], operator: value[1], value: value[2] }, place);
    if (value.length === 0) count(place);
    return allOf(value.map((item, i) => toFilter(item, { ...place, at: `${at}[${i}]` })));
  }
  if (!isObject(value)) return invalid(at, example);
  const leaf = renamed(value, leafWords);
  if (leaf && typeof leaf.field === 'string' && ('operator' in leaf || 'value' in leaf)) return toLeaf(leaf, place);
  const branch = renamed(value, branchWords);
  if (branch) return toBranch(branch, place);
  const quantifier = toQuantified(value, place);
  return quantifier ?? toObject(value, place, '');
}

/** Checked before each condition is read: a body can hold tens of thousands. */
function count({ at, counted }: Place): void {
  if (++counted.conditions > CONDITIONS_MOST)
    invalid(at.replace(/\W.*/, ''), `at most ${CONDITIONS_MOST} conditions; In takes many values in one.`);
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

function toBranch(value: Given, place: Place): PlainFilter {
  const { at } = place;
  const word = typeof value.aggregator === 'string' ? value.aggregator : 'and';
  const aggregator = aggregatorWords.get(foldName(word))?.[0];
  if (!aggregator) return invalid(`${at}.aggregator`, 'send "And", "Or" or "Not".');
  const { conditions } = value;
  if (conditions === undefined || conditions === null) return invalid(at, example);
  const list = Array.isArray(conditions) && !isTriple(conditions) ? conditions : [conditions];
  if (list.length === 0) count(place);
  return {
    aggregator,
    conditions: list.map((item, i) => toFilter(item, { ...place, at: `${at}.conditions[${i}]` })),
  };
}

/** `{"none": "orders", "where": {...}}`. Undefined for any other object. */
function toQuantified(value: Given, place: Place): PlainFilter | undefined {
  const { at, home } = place;
  const keys = Object.keys(value);
  const key = keys.find((each) => quantifierWords.has(foldName(each)) && typeof value[each] === 'string');
  if (key === undefined || home?.names.field(home.collection, key)) return undefined;
  count(place);
  const quantifier = quantifierWords.get(foldName(key))![0]!;
  const path = value[key] as string;
  const form = `send {"${quantifier}":"${path}","where":{"field":"status","operator":"Equal","value":"paid"}}.`;
  for (const each of keys)
    if (each !== key && !['where', 'filter', 'filters', 'conditions'].includes(each))
      return invalid(`${at}.${each}`, form);
  const meant = home?.names.relation(home.collection, path);
  const to = home && meant !== undefined ? home.names.target(home.collection, meant) : undefined;
  const inner = keys.find((each) => each !== key);
  const where =
    inner === undefined
      ? undefined
      : readFrom(value, inner, { ...place, home: to === undefined ? undefined : { ...home!, collection: to } });
  if (quantifier === 'every' && !where) return invalid(`${at}.where`, `every needs it: ${form}`);
  return quantified({ quantifier, path: meant ?? path, ...(where && { where }) });
}

/** `{"status": "paid"}`, `{"total": {"gte": 5}}`, `{"customer": {"city": "Paris"}}`, `{"or": [...]}`: all must hold. */
function toObject(value: Given, place: Place, prefix: string): PlainFilter {
  const conditions = Object.entries(value).map(([key, item]): PlainFilter => {
    const at = `${place.at}.${key}`;
    const logical = aggregatorWords.get(foldName(key))?.[0];
    if (logical && typeof item === 'object' && item !== null) {
      if (prefix !== '') return invalid(at, example);
      return toBranch({ aggregator: logical, conditions: item }, { ...place, at });
    }
    const field = prefix + key;
    if (!isObject(item))
      return toLeaf({ field, operator: Array.isArray(item) ? 'In' : 'Equal', value: item }, { ...place, at });
    const tests = Object.entries(item);
    if (tests.length === 0) return invalid(at, example);
    if (tests.every(([word]) => findOperator(word)))
      return oneOrAll(
        tests.map(([operator, operand]) => toLeaf({ field, operator, value: operand }, { ...place, at })),
      );
    return toObject(item, { ...place, at }, `${field}:`);
  });
  return oneOrAll(conditions);
}

const oneOrAll = (conditions: readonly PlainFilter[]): PlainFilter =>
  conditions.length === 1 ? conditions[0]! : allOf(conditions);

interface Leaf {
  readonly field: string;
  readonly value?: unknown;
}

function toLeaf(given: Given, place: Place): PlainFilter {
  count(place);
  const { at, home } = place;
  const field = toField(String(given.field), home);
  const { operator } = given;
  if (operator === undefined || operator === null)
    return invalid(at, `${send({ field, operator: 'Equal', value: given.value })}, or another operator.`);
  const meant = typeof operator === 'string' ? findOperator(operator) : undefined;
  if (!meant) return fail('UNKNOWN_OPERATOR', { operator: String(operator), near: nearOperators(String(operator)) });
  const leaf: Leaf = 'value' in given ? { field, value: given.value } : { field };
  return relationTest(meant, leaf, home) ?? toTest(meant, leaf, home);
}

/** Similar operators, otherwise the most common ones. */
function nearOperators(text: string): string[] {
  const near = text.length > 2 ? nearNames(text, operators) : [];
  return near.length > 0
    ? near
    : ['Equal', 'NotEqual', 'In', 'GreaterThan', 'LessThan', 'Contains', 'Missing', 'Present'];
}

const absent: ReadonlySet<MeantOperator> = new Set(['Missing', 'Blank', 'Null']);
const present: ReadonlySet<MeantOperator> = new Set(['Present', 'NotNull']);

/** A test whether a related record exists, if `field` is a relation instead of a field. */
function relationTest(meant: MeantOperator, { field, value }: Leaf, home: Home | undefined): PlainFilter | undefined {
  if (!home || home.names.field(home.collection, field) !== undefined) return undefined;
  const path = home.names.relation(home.collection, field);
  if (path === undefined) return undefined;
  const isAbsent = absent.has(meant) || (meant === 'Equal' && value === null);
  const isPresent = present.has(meant) || (meant === 'NotEqual' && value === null);
  if (!isAbsent && !isPresent) return undefined;
  return quantified({ quantifier: isAbsent === (value !== false) ? 'none' : 'some', path });
}

function toTest(meant: MeantOperator, leaf: Leaf, home: Home | undefined): PlainFilter {
  const { field, value } = leaf;
  const test = (operator: Operator, operand?: unknown): PlainFilter =>
    operand === undefined ? { field, operator } : { field, operator, value: operand };
  switch (meant) {
    case 'Null':
    case 'NotNull':
      return (meant === 'Null') === (value !== false) ? test('Missing') : not(test('Missing'));
    case 'NotLike':
      return not(test('Like', value));
    case 'NotILike':
      return not(test('ILike', value));
    case 'Between':
    case 'NotBetween': {
      const [from, to] = rangeOf(leaf);
      const end = nextDay(to);
      const within = [
        test('GreaterThanOrEqual', from),
        end === undefined ? test('LessThanOrEqual', to) : test('LessThan', end),
      ];
      if (meant === 'Between') return allOf(within);
      return {
        aggregator: 'Or',
        conditions: [
          test('LessThan', from),
          end === undefined ? test('GreaterThan', to) : test('GreaterThanOrEqual', end),
        ],
      };
    }
    default:
      return typed(meant, leaf, home);
  }
}

/** Adapts a condition to the type of its field. */
function typed(meant: Operator | 'On', leaf: Leaf, home: Home | undefined): PlainFilter {
  const { field, value } = leaf;
  const operator = meant === 'On' ? 'Equal' : meant;
  const type = home?.names.type(home.collection, field);
  const next = nextDay(value);
  if (type === 'Date' && next !== undefined && (operator === 'Equal' || operator === 'NotEqual')) {
    if (meant === 'On')
      return allOf([
        { field, operator: 'GreaterThanOrEqual', value },
        { field, operator: 'LessThan', value: next },
      ]);
    const day = { [field]: { gte: value, lt: next } };
    return invalid(
      `${field} ${operator}`,
      `it holds a time. For the whole day ${send({ filters: operator === 'Equal' ? day : { not: day } })}.`,
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
  const list = typeof value === 'string' && value.trimStart().startsWith('[') ? fromText(value) : value;
  if (Array.isArray(list) || list === undefined || list === null) return list;
  if (typeof list === 'string' && list.includes(',')) {
    const parts = list.split(',').map((part) => part.trim());
    return invalid(
      `${field} ${operator}`,
      `${send({ field, operator, value: parts })}, or the whole text as a list of one.`,
    );
  }
  return [list];
}

/** `[from, to]`, `{from, to}`, `{min, max}` or a text of two values with a comma or `and` between them. */
function rangeOf({ field, value }: Leaf): readonly [unknown, unknown] {
  const range = fromText(value);
  const ends: readonly unknown[] = Array.isArray(range)
    ? range
    : isObject(range)
      ? [range.from ?? range.min ?? range.start, range.to ?? range.max ?? range.end]
      : typeof range === 'string'
        ? range.split(/\s*,\s*|\s+and\s+|\s+to\s+/i)
        : [];
  if (ends.length === 2 && ends.every((end) => typeof end === 'string' || typeof end === 'number'))
    return [ends[0], ends[1]];
  return invalid(`${field} between`, 'send the first and the last value as a list, such as [1,5].');
}

/** The next day of a date without a time, because a range of days includes its last day. */
function nextDay(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value.trim())) return undefined;
  const next = new Date(`${value.trim()}T00:00:00Z`);
  if (Number.isNaN(next.getTime())) return undefined;
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}
