// The JSON that callers write to select records. This file only defines the data; agent/resolve resolves names and
// checks values.
import { fieldNames, mapFieldNames, type PlainExpression } from './filter/expression.ts';

const presence = ['Present', 'Blank', 'Missing'] as const;
// biome-ignore format: one family a line
const periods = [
  'Today', 'Yesterday',
  'PreviousWeek', 'PreviousMonth', 'PreviousQuarter', 'PreviousYear',
  'PreviousWeekToDate', 'PreviousMonthToDate', 'PreviousQuarterToDate', 'PreviousYearToDate',
] as const;
const sidesOfNow = ['Past', 'Future'] as const;

/** The operators without a value. */
export const valuelessOperators = [...presence, ...periods, ...sidesOfNow] as const;
export type ValuelessOperator = (typeof valuelessOperators)[number];

// biome-ignore format: one family a line
export const operators = [
  ...presence,
  'Equal', 'NotEqual', 'In', 'NotIn',
  'LessThan', 'GreaterThan', 'LessThanOrEqual', 'GreaterThanOrEqual', 'Before', 'After',
  'Like', 'ILike', 'Match',
  'Contains', 'NotContains', 'IContains', 'NotIContains',
  'StartsWith', 'EndsWith', 'IStartsWith', 'IEndsWith', 'LongerThan', 'ShorterThan',
  'IncludesAll', 'IncludesNone',
  ...periods,
  'PreviousXDays', 'PreviousXDaysToDate', 'BeforeXHoursAgo', 'AfterXHoursAgo',
  ...sidesOfNow,
] as const;

/**
 * Maximum number of conditions in one filter. SQLite rejects expressions deeper than 1,000, and each condition adds a
 * level. Parsers count while they read, which makes a rejected filter no more expensive than an accepted one.
 */
export const MAX_CONDITIONS = 500;
/** Maximum number of sorts in one list. */
export const MAX_SORTS = 100;
/** Maximum number of groups in one aggregation. */
export const MAX_GROUPS = 8;

/** The operators of a filter leaf (behaviour 2.7). */
export type Operator = (typeof operators)[number];

/** A condition on one field (behaviour 2.7). */
export interface PlainLeaf {
  /** A field, or `relation:field`. */
  readonly field: string;
  /** The operator, one of those that `describe` lists for the field. */
  readonly operator: Operator;
  /** The operand. Operators such as `Present` have no operand. */
  readonly value?: unknown;
}

/** The operators of a comparison. `Before` and `After` are for dates. */
export const comparisonOperators = [
  ...(['Equal', 'NotEqual', 'LessThan', 'GreaterThan', 'LessThanOrEqual', 'GreaterThanOrEqual'] as const),
  ...(['Before', 'After'] as const),
];
type ComparisonOperator = (typeof comparisonOperators)[number];

/**
 * Compares two values of one record: two fields, or an expression with a field, an expression or a constant. False if
 * one of them is null; `NotEqual` is the opposite of `Equal`.
 *
 * @example
 * const late: PlainComparison = { field: 'shipped_at', operator: 'After', other: 'required_at' };
 * const cheap: PlainComparison = { expression: { minus: ['price', 'cost'] }, operator: 'LessThan', value: 10 };
 */
export type PlainComparison =
  | { readonly field: string; readonly operator: ComparisonOperator; readonly other: PlainExpression }
  | { readonly expression: PlainExpression; readonly operator: ComparisonOperator; readonly other: PlainExpression }
  | {
      readonly expression: PlainExpression;
      readonly operator: ComparisonOperator;
      readonly value: string | number | boolean;
    };

/** Combines filters: all must match (`And`), at least one (`Or`), or not all of them (`Not`) (behaviour 2.7). */
export interface PlainBranch {
  /** Whether all conditions must match, at least one, or not all of them. */
  readonly aggregator: 'And' | 'Or' | 'Not';
  /** If empty, `And` matches every record, `Or` and `Not` match no record. */
  readonly conditions: readonly PlainFilter[];
}

/**
 * A condition on related records: at least one (`some`), not one (`none`) or each (`every`) related record matches
 * `where`. `path` is a relation, or several joined with `:`. The fields in `where` belong to the related record.
 * Without `where`, any record counts. `every` matches if there are no related records.
 *
 * @example { none: 'orders', where: { field: 'status', operator: 'Equal', value: 'paid' } }
 */
export type PlainQuantified =
  | { readonly some: string; readonly where?: PlainFilter }
  | { readonly none: string; readonly where?: PlainFilter }
  | { readonly every: string; readonly where: PlainFilter };

/** A filter as written in code and passed by callers (behaviour 2.7). */
export type PlainFilter = PlainLeaf | PlainComparison | PlainBranch | PlainQuantified;

/** A field to sort by, ascending by default (behaviour 2.7). */
export interface PlainSort {
  /** A field, or `relation:field` through to-one relations. */
  readonly field: string;
  /** Default true. */
  readonly ascending?: boolean;
}

export function isBranch(filter: PlainFilter): filter is PlainBranch {
  return 'aggregator' in filter;
}

export const quantifiers = ['some', 'none', 'every'] as const;
export type Quantifier = (typeof quantifiers)[number];

export function isQuantified(filter: PlainFilter): filter is PlainQuantified {
  return quantifiers.some((quantifier) => quantifier in filter);
}

/** The parts of a quantified filter, for all three quantifiers. */
interface Quantified {
  readonly quantifier: Quantifier;
  readonly path: string;
  readonly where?: PlainFilter;
}

export function readQuantified(filter: PlainQuantified): Quantified {
  const { where } = filter;
  const quantifier = quantifiers.find((each) => each in filter)!;
  const path = (filter as Partial<Record<Quantifier, string>>)[quantifier]!;
  return { quantifier, path, ...(where && { where }) };
}

export function quantified({ quantifier, path, where }: Quantified): PlainQuantified {
  return { [quantifier]: path, ...(where && { where }) } as unknown as PlainQuantified;
}

export function isComparison(filter: PlainFilter): filter is PlainComparison {
  return 'other' in filter || 'expression' in filter;
}

/** The two sides of a comparison. */
export function readComparison(comparison: PlainComparison): {
  readonly left: PlainExpression;
  readonly right: PlainExpression;
} {
  const left = 'expression' in comparison ? comparison.expression : comparison.field;
  return { left, right: 'other' in comparison ? comparison.other : { value: comparison.value } };
}

/** The field names of a comparison, as written. */
export function comparedNames(comparison: PlainComparison): string[] {
  const { left, right } = readComparison(comparison);
  return [...fieldNames(left), ...fieldNames(right)];
}

/** The comparison with each field name replaced. */
export function mapCompared(comparison: PlainComparison, change: (name: string) => string): PlainComparison {
  return {
    ...comparison,
    ...('field' in comparison && { field: change(comparison.field) }),
    ...('expression' in comparison && { expression: mapFieldNames(comparison.expression, change) }),
    ...('other' in comparison && { other: mapFieldNames(comparison.other, change) }),
  } as PlainComparison;
}

/** Returns the filter with each leaf replaced. `path` leads to the record of the leaf; it is '' outside of `where`. */
export function mapLeaves(
  filter: PlainFilter,
  change: (leaf: PlainLeaf | PlainComparison, path: string) => PlainFilter,
  path = '',
): PlainFilter {
  if (isBranch(filter))
    return { ...filter, conditions: filter.conditions.map((condition) => mapLeaves(condition, change, path)) };
  if (!isQuantified(filter)) return change(filter, path);
  const parts = readQuantified(filter);
  if (!parts.where) return filter;
  return quantified({ ...parts, where: mapLeaves(parts.where, change, joinPaths(path, parts.path)) });
}

/** `field` as named from the start of `path`. */
export function joinPaths(path: string, field: string): string {
  return path === '' ? field : `${path}:${field}`;
}
