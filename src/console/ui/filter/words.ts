// Filters in words, for people who do not know their stored form.
import {
  isBranch,
  isComparison,
  isQuantified,
  type Operator,
  type PlainFilter,
  readComparison,
  readQuantified,
} from '../../../core/filter.ts';

/** Completes a sentence that starts with the field. Operators with a value end before it. */
export const operatorWords: Readonly<Record<Operator, string>> = {
  Present: 'has a value',
  Blank: 'is empty',
  Missing: 'has no value',
  Equal: 'is',
  NotEqual: 'is not',
  In: 'is one of',
  NotIn: 'is none of',
  LessThan: 'is less than',
  GreaterThan: 'is more than',
  LessThanOrEqual: 'is at most',
  GreaterThanOrEqual: 'is at least',
  Before: 'is before',
  After: 'is after',
  Like: 'matches the pattern',
  ILike: 'matches the pattern, ignoring case',
  Match: 'matches the expression',
  Contains: 'contains exactly',
  NotContains: 'does not contain exactly',
  IContains: 'contains',
  NotIContains: 'does not contain',
  StartsWith: 'starts exactly with',
  EndsWith: 'ends exactly with',
  IStartsWith: 'starts with',
  IEndsWith: 'ends with',
  LongerThan: 'is longer than',
  ShorterThan: 'is shorter than',
  IncludesAll: 'includes all of',
  IncludesNone: 'includes none of',
  Today: 'is today',
  Yesterday: 'is yesterday',
  PreviousWeek: 'is in the previous week',
  PreviousMonth: 'is in the previous month',
  PreviousQuarter: 'is in the previous quarter',
  PreviousYear: 'is in the previous year',
  PreviousWeekToDate: 'is in this week so far',
  PreviousMonthToDate: 'is in this month so far',
  PreviousQuarterToDate: 'is in this quarter so far',
  PreviousYearToDate: 'is in this year so far',
  PreviousXDays: 'is in this many days before today:',
  PreviousXDaysToDate: 'is today or in this many days before:',
  BeforeXHoursAgo: 'is more hours ago than',
  AfterXHoursAgo: 'is fewer hours ago than',
  Past: 'is in the past',
  Future: 'is in the future',
};

/** Values of the current user in row scopes, by the name of the variable. */
const variableWords: Readonly<Record<string, string>> = {
  id: 'their user id',
  email: 'their e-mail',
  firstName: 'their first name',
  lastName: 'their last name',
  fullName: 'their full name',
  team: 'their team',
  role: 'their role',
  timezone: 'their time zone',
  permissionLevel: 'their level',
};

const prefix = 'currentUser.';

/** `their tag region` for `currentUser.tags.region`. */
export function describeVariable(name: string): string {
  const attribute = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  if (attribute.startsWith('tags.')) return `their tag ${attribute.slice('tags.'.length)}`;
  return variableWords[attribute] ?? attribute;
}

/** The variable if the text is one and nothing else. */
export const variableOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^\s*\{\{\s*([^{}]*?)\s*\}\}\s*$/.exec(value)?.[1] : undefined;

function describeValue(value: unknown): string {
  const variable = variableOf(value);
  if (variable !== undefined) return describeVariable(variable);
  if (Array.isArray(value)) return value.map(describeValue).join(', ');
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (value === null) return 'nothing';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const label = (path: string): string => path.replaceAll(':', ' › ');

/** Such as `status is paid and customer › country is NO`. */
export function filterWords(filter: PlainFilter): string {
  if (isQuantified(filter)) {
    const { quantifier, path, where } = readQuantified(filter);
    if (quantifier === 'every' && where) return `in all of ${label(path)}, ${filterWords(where)}`;
    return where
      ? `${quantifier} of ${label(path)} where ${filterWords(where)}`
      : `it has ${quantifier === 'none' ? 'no ' : ''}${label(path)}`;
  }
  if (isComparison(filter)) {
    const { left, right } = readComparison(filter);
    const say = (side: unknown) => (typeof side === 'string' ? label(side) : JSON.stringify(side));
    return `${say(left)} ${operatorWords[filter.operator]} ${say(right)}`;
  }
  if (!isBranch(filter)) {
    const value = filter.value === undefined ? '' : ` ${describeValue(filter.value)}`;
    return `${label(filter.field)} ${operatorWords[filter.operator]}${value}`;
  }
  const { aggregator, conditions } = filter;
  if (conditions.length === 0) return aggregator === 'And' ? 'always' : 'never';
  const isGrouped = (each: PlainFilter) => (isBranch(each) || isQuantified(each)) && conditions.length > 1;
  const all = conditions.map((each) => (isGrouped(each) ? `(${filterWords(each)})` : filterWords(each)));
  if (aggregator === 'Not') return `not (${all.join(' and ')})`;
  return all.join(aggregator === 'And' ? ' and ' : ' or ');
}
