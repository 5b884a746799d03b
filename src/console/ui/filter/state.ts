// The rows of the filter builder, and their filter. Conditions and groups form one tree of at most two levels. A filter
// that the rows cannot express without loss is not shown as rows: `toRows` compares the filter with that of its rows.
import { isExact } from '../../../core/filter/exact-numbers.ts';
import {
  isBranch,
  isComparison,
  isQuantified,
  type Operator,
  operators,
  type PlainFilter,
  type Quantifier,
  quantified,
  quantifiers,
  readQuantified,
  valuelessOperators,
} from '../../../core/filter.ts';
import { type Describe, type FilterField, findField, findRelations } from './fields.ts';
import { variableOf } from './words.ts';

export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  /** Texts as typed: one for most operators, several for lists, none for operators without a value. */
  readonly values: readonly string[];
  /** The name of a variable of the current user that gives the value instead; '' for none. */
  readonly variable: string;
}

/** `some:orders`: at least one of the related records. `none:orders`: none of them. `every:orders`: each of them. */
export type GroupKind = 'And' | 'Or' | `${Quantifier}:${string}`;

export interface Group {
  readonly kind: GroupKind;
  readonly conditions: readonly Condition[];
}

export interface Rows {
  readonly match: 'And' | 'Or';
  readonly conditions: readonly Condition[];
  readonly groups: readonly Group[];
}

export const noRows: Rows = { match: 'And', conditions: [], groups: [] };

/** Larger filters stay JSON. */
export const MAX_ROWS = 40;

const lists: readonly Operator[] = ['In', 'NotIn', 'IncludesAll', 'IncludesNone'];
const counts: readonly Operator[] = [
  ...(['LongerThan', 'ShorterThan', 'PreviousXDays', 'PreviousXDaysToDate'] as const),
  ...(['BeforeXHoursAgo', 'AfterXHoursAgo'] as const),
];

type ValueKind = 'none' | 'list' | 'count' | 'value';

export function valueKindOf(operator: Operator): ValueKind {
  if ((valuelessOperators as readonly Operator[]).includes(operator)) return 'none';
  if (lists.includes(operator)) return 'list';
  return counts.includes(operator) ? 'count' : 'value';
}

export const isQuantifier = (text: string | undefined): text is Quantifier =>
  (quantifiers as readonly (string | undefined)[]).includes(text);

export const isOperator = (text: string): text is Operator => (operators as readonly string[]).includes(text);

/** Whether the condition lacks its value. Such a condition is not part of the filter. */
export const isIncomplete = ({ operator, values, variable }: Condition): boolean =>
  valueKindOf(operator) !== 'none' && variable === '' && !values.some((text) => text !== '');

/** Whether the filter lacks something that its author sees on the page. It would then match more records. */
export const isUnfinished = ({ conditions, groups }: Rows): boolean =>
  conditions.some(isIncomplete) ||
  groups.some(
    ({ kind, conditions }) =>
      conditions.some(isIncomplete) || (conditions.length === 0 && !/^(?:some|none):/.test(kind)),
  );

/** The collection that the fields of a group belong to. */
export function collectionOf(kind: GroupKind, describe: Describe, collection: string): string | undefined {
  const [quantifier, relation] = kind.split(/:(.*)/s);
  if (!isQuantifier(quantifier)) return collection;
  return findRelations(describe, collection).find(({ name }) => name === relation)?.to;
}

/** The filter of the rows; undefined without a complete condition. */
export function toFilter(rows: Rows, describe: Describe, collection: string): PlainFilter | undefined {
  const leavesOf = (conditions: readonly Condition[], of: string) =>
    conditions.flatMap((condition) => {
      const field = findField(describe, of, condition.field);
      return field && !isIncomplete(condition) ? [toLeaf(condition, field)] : [];
    });
  const groups = rows.groups.flatMap(({ kind, conditions }): readonly PlainFilter[] => {
    const of = collectionOf(kind, describe, collection);
    if (of === undefined) return [];
    const leaves = leavesOf(conditions, of);
    if (kind === 'And' || kind === 'Or') return leaves.length > 0 ? [combine(kind, leaves)] : [];
    const [quantifier, path] = kind.split(/:(.*)/s) as [Quantifier, string];
    if (quantifier === 'every' && leaves.length === 0) return [];
    return [quantified({ quantifier, path, ...(leaves.length > 0 && { where: combine('And', leaves) }) })];
  });
  const all = [...leavesOf(rows.conditions, collection), ...groups];
  return all.length > 0 ? combine(rows.match, all) : undefined;
}

const combine = (aggregator: 'And' | 'Or', conditions: readonly PlainFilter[]): PlainFilter =>
  conditions.length === 1 ? conditions[0]! : { aggregator, conditions };

function toLeaf({ field, operator, values, variable }: Condition, { type }: FilterField): PlainFilter {
  const kind = valueKindOf(operator);
  if (kind === 'none') return { field, operator };
  if (variable !== '') return { field, operator, value: kind === 'list' ? [`{{${variable}}}`] : `{{${variable}}}` };
  const given = values.filter((text) => text !== '').map((text) => toValue(text, kind === 'count' ? 'Number' : type));
  return { field, operator, value: kind === 'list' ? given : given[0] };
}

/** Text that does not fit the type stays text: the engine says what it expects. */
function toValue(text: string, type: string): unknown {
  const base = type.replace(/^\[(.*)\]$/, '$1');
  const trimmed = text.trim();
  if (base === 'Boolean' && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true';
  const isNumber = base === 'Number' && trimmed !== '' && Number.isFinite(Number(trimmed)) && isExact(trimmed);
  return isNumber ? Number(trimmed) : text;
}

/** Undefined for a filter that rows cannot express. */
export function toRows(filter: PlainFilter | undefined, describe: Describe, collection: string): Rows | undefined {
  if (filter === undefined) return noRows;
  const rows = readTree(simplify(filter));
  if (!rows || rows.conditions.length + rows.groups.flatMap(({ conditions }) => conditions).length > MAX_ROWS)
    return undefined;
  const back = toFilter(rows, describe, collection);
  return back && canonical(back) === canonical(filter) ? rows : undefined;
}

function readTree(filter: PlainFilter): Rows | undefined {
  if (!isBranch(filter)) return readTree({ aggregator: 'And', conditions: [filter] });
  const { aggregator, conditions } = filter;
  if (aggregator === 'Not') return undefined;
  const leaves = conditions.map(toCondition);
  const groups = conditions.map(toGroup);
  if (conditions.some((_, at) => !leaves[at] && !groups[at])) return undefined;
  return { match: aggregator, conditions: leaves.filter(isDefined), groups: groups.filter(isDefined) };
}

const isDefined = <T>(value: T | undefined): value is T => value !== undefined;

function toGroup(filter: PlainFilter): Group | undefined {
  if (isQuantified(filter)) {
    const { quantifier, path, where } = readQuantified(filter);
    if (path.includes(':')) return undefined;
    const kind = `${quantifier}:${path}` as const;
    if (!where) return { kind, conditions: [] };
    const within = isBranch(where) ? (where.aggregator === 'And' ? where.conditions : undefined) : [where];
    return within && withConditions(kind, within);
  }
  return isBranch(filter) && filter.aggregator !== 'Not'
    ? withConditions(filter.aggregator, filter.conditions)
    : undefined;
}

function withConditions(kind: GroupKind, filters: readonly PlainFilter[]): Group | undefined {
  const conditions = filters.map(toCondition).filter(isDefined);
  return conditions.length === filters.length ? { kind, conditions } : undefined;
}

function toCondition(filter: PlainFilter): Condition | undefined {
  if (isBranch(filter) || isQuantified(filter) || isComparison(filter)) return undefined;
  const { field, operator, value } = filter;
  const given = value === undefined ? [] : Array.isArray(value) ? value : [value];
  const variable = given.length === 1 ? (variableOf(given[0]) ?? '') : '';
  const values = variable === '' ? given.map(String) : [];
  return { field, operator, values, variable };
}

/** Without branches of one condition, and without branches inside others of the same kind. */
function simplify(filter: PlainFilter): PlainFilter {
  if (isQuantified(filter)) {
    const { where, ...rest } = readQuantified(filter);
    return quantified({ ...rest, ...(where && { where: simplify(where) }) });
  }
  if (!isBranch(filter) || filter.aggregator === 'Not') return filter;
  const { aggregator } = filter;
  const conditions = filter.conditions.map(simplify);
  return conditions.length === 1 ? conditions[0]! : { aggregator, conditions };
}

/** Equal for filters that differ in the order of conditions only. */
function canonical(filter: PlainFilter): string {
  const simple = simplify(filter);
  if (isQuantified(simple)) {
    const { quantifier, path, where } = readQuantified(simple);
    return JSON.stringify([quantifier, path, where ? canonical(where) : null]);
  }
  if (isBranch(simple)) return JSON.stringify([simple.aggregator, simple.conditions.map(canonical).sort()]);
  return JSON.stringify(Object.entries(simple).sort(([a], [b]) => (a < b ? -1 : 1)));
}
