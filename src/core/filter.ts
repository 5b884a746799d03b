// The JSON that callers write to say which records they mean. Data only: names are not resolved and values not
// checked here; agent/query/resolve does both.

// biome-ignore format: one family a line
export const operators = [
  'Present', 'Blank', 'Missing',
  'Equal', 'NotEqual', 'In', 'NotIn',
  'LessThan', 'GreaterThan', 'LessThanOrEqual', 'GreaterThanOrEqual', 'Before', 'After',
  'Like', 'ILike', 'Match',
  'Contains', 'NotContains', 'IContains', 'NotIContains',
  'StartsWith', 'EndsWith', 'IStartsWith', 'IEndsWith', 'LongerThan', 'ShorterThan',
  'IncludesAll', 'IncludesNone',
  'Today', 'Yesterday',
  'PreviousWeek', 'PreviousMonth', 'PreviousQuarter', 'PreviousYear',
  'PreviousWeekToDate', 'PreviousMonthToDate', 'PreviousQuarterToDate', 'PreviousYearToDate',
  'PreviousXDays', 'PreviousXDaysToDate', 'BeforeXHoursAgo', 'AfterXHoursAgo',
  'Past', 'Future',
] as const;

/** What a leaf of a filter can ask of a field (spec 2.7). */
export type Operator = (typeof operators)[number];

/** What one field must satisfy (spec 2.7). */
export interface PlainLeaf {
  /** A field, or `relation:field`. */
  readonly field: string;
  readonly operator: Operator;
  readonly value?: unknown;
}

/** Filters that must all hold, or one of which must (spec 2.7). */
export interface PlainBranch {
  readonly aggregator: 'And' | 'Or';
  /** Empty: `And` matches everything, `Or` nothing. */
  readonly conditions: readonly PlainFilter[];
}

/** A filter as it is written in code and sent by callers (spec 2.7). */
export type PlainFilter = PlainLeaf | PlainBranch;

/** A field to sort by, ascending unless it says otherwise (spec 2.7). */
export interface PlainSort {
  readonly field: string;
  /** Default true. */
  readonly ascending?: boolean;
}

export function isBranch(filter: PlainFilter): filter is PlainBranch {
  return 'aggregator' in filter;
}
