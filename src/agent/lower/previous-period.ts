// Converts a filter to the previous period, to compare values over time. Each relative period, at any depth, becomes
// the period of the same kind before it. All other conditions stay, including filters joined with And.
// A period up to now is compared with the same part of the previous one: this month until the 10th at noon with last
// month until the 10th at noon, not with all of last month.
import { DateTime } from 'luxon';
import {
  isComparison,
  joinPaths,
  mapLeaves,
  type PlainBranch,
  type PlainFilter,
  type PlainLeaf,
} from '../../core/filter.ts';

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

type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year';

function shift(leaf: PlainLeaf, options: PeriodOptions): PlainFilter | undefined {
  const { field, operator } = leaf;
  const now = DateTime.fromMillis(options.now, { zone: options.timezone });
  // Only calendar days are computed here. The engine interprets them in the timezone of the call.
  const today = DateTime.utc(now.year, now.month, now.day);
  const whole = (unit: Unit, from: number, to: number): PlainFilter =>
    between(field, move(today.startOf(unit), unit, from), move(today.startOf(unit), unit, to));
  const running = (start: DateTime, unit: Unit, back: number): PlainFilter =>
    options.isDay(field)
      ? between(field, start, move(today, unit, back).plus({ days: 1 }))
      : until(field, start, move(now, unit, back));

  const [, word, toDate] = /^Previous(Week|Month|Quarter|Year)(ToDate)?$/.exec(operator) ?? [];
  if (word) {
    const unit = word.toLowerCase() as Unit;
    return toDate ? running(move(today.startOf(unit), unit, -1), unit, -1) : whole(unit, -2, -1);
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
      return running(today.minus({ days: 2 * count }), 'day', -count);
    default:
      return undefined;
  }
}

/** The last day of a month moves to the last day of a shorter month. */
function move(time: DateTime, unit: Unit, by: number): DateTime {
  return time.plus({ [unit]: by });
}

function between(field: string, from: DateTime, to: DateTime): PlainBranch {
  return range(field, from.toISODate()!, to.toISODate()!);
}

function until(field: string, from: DateTime, to: DateTime): PlainBranch {
  return range(field, from.toISODate()!, new Date(to.toMillis()).toISOString());
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
