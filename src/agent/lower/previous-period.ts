// Converts a filter to the previous period, to compare values over time. Each relative period, at any depth, becomes
// the period of the same kind before it. All other conditions stay, including filters joined with And.
// A period up to now is compared with the same part of the previous one: this month until the 10th at noon with last
// month until the 10th at noon, not with all of last month.
import {
  isComparison,
  joinPaths,
  mapLeaves,
  type PlainBranch,
  type PlainFilter,
  type PlainLeaf,
} from '../../core/filter.ts';
import { instantAt, offsetAt } from '../sources/zones.ts';
import { type CalendarUnit, formatDay, moveDay, startOfUnit } from './calendar.ts';
import { dayIn } from './dates.ts';

/** The time and the timezone that relative periods refer to. */
export interface PeriodOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IANA name. */
  readonly timezone: string;
  /** Whether the field or path is a Dateonly. */
  readonly isDay: (field: string) => boolean;
}

/**
 * The filter for the previous period. Undefined if the filter has no relative period to shift.
 *
 * @example
 * const thisMonth: PlainFilter = { field: 'placed_at', operator: 'PreviousMonthToDate' };
 * const before = previousPeriod(thisMonth, { now: Date.now(), timezone: 'Europe/Oslo', isDay: () => false });
 */
export function previousPeriod(filter: PlainFilter, options: PeriodOptions): PlainFilter | undefined {
  let isShifted = false;
  const before = mapLeaves(filter, (leaf, path) => {
    if (isComparison(leaf)) return leaf;
    const shifted = shift(leaf, { ...options, isDay: (field) => options.isDay(joinPaths(path, field)) });
    isShifted ||= shifted !== undefined;
    return shifted ?? leaf;
  });
  return isShifted ? before : undefined;
}

function shift(leaf: PlainLeaf, { now, timezone, isDay }: PeriodOptions): PlainFilter | undefined {
  const { field, operator } = leaf;
  // Only calendar days are computed here. The engine interprets them in the timezone of the call.
  const today = dayIn(timezone, now);
  const between = (from: number, to: number): PlainFilter => range(field, formatDay(from), formatDay(to));
  const whole = (unit: CalendarUnit, from: number, to: number): PlainFilter =>
    between(moveDay(startOfUnit(today, unit), unit, from), moveDay(startOfUnit(today, unit), unit, to));
  const running = (start: number, unit: CalendarUnit, back: number): PlainFilter => {
    const day = moveDay(today, unit, back);
    if (isDay(field)) return between(start, moveDay(day, 'day', 1));
    const { time } = instantAt(timezone, now + offsetAt(timezone, now) - today + day);
    return range(field, formatDay(start), new Date(time).toISOString());
  };

  const [, word, toDate] = /^Previous(Week|Month|Quarter|Year)(ToDate)?$/.exec(operator) ?? [];
  if (word) {
    const unit = word.toLowerCase() as CalendarUnit;
    return toDate ? running(moveDay(startOfUnit(today, unit), unit, -1), unit, -1) : whole(unit, -2, -1);
  }
  const count = Number(leaf.value);
  switch (operator) {
    case 'Today':
      return whole('day', -1, 0);
    case 'Yesterday':
      return whole('day', -2, -1);
    case 'PreviousXDays':
      return whole('day', -2 * count, -count);
    case 'PreviousXDaysToDate':
      return running(moveDay(today, 'day', -2 * count), 'day', -count);
    default:
      return undefined;
  }
}

/** `from` is inclusive, `to` exclusive. */
function range(field: string, from: string, to: string): PlainBranch {
  return {
    aggregator: 'And',
    conditions: [
      { field, operator: 'GreaterThanOrEqual', value: from },
      { field, operator: 'LessThan', value: to },
    ],
  };
}
