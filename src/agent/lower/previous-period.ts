// What to compare a value with: the same question about the period before. Each relative period in a filter, wherever it
// stands in it, becomes the period of the same kind just before; everything else stays, so that a filter that is joined
// to it with And takes nothing away from the comparison. A period up to now is compared with as much of the one before:
// this month until Tuesday at noon with last month until the same day at noon, and not with the whole of it.
import { DateTime } from 'luxon';
import { joinPaths, mapLeaves, type PlainBranch, type PlainFilter, type PlainLeaf } from '../../core/filter.ts';

/** The moment and the timezone that a period is meant in. */
export interface PeriodOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IANA name. */
  readonly timezone: string;
  /** Whether the field, or what a path leads to, is a Dateonly: days without a time. */
  readonly isDay: (field: string) => boolean;
}

/** Undefined when the filter names no period that has one before it. */
export function previousPeriod(filter: PlainFilter, options: PeriodOptions): PlainFilter | undefined {
  let isShifted = false;
  const before = mapLeaves(filter, (leaf, path) => {
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
  // Days have no zone: a day is only found, and the engine reads it in the zone of the call.
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

/** The last of a month goes to the last of a shorter one. */
function move(time: DateTime, unit: Unit, by: number): DateTime {
  return time.plus({ [unit]: by });
}

function between(field: string, from: DateTime, to: DateTime): PlainBranch {
  return range(field, from.toISODate()!, to.toISODate()!);
}

function until(field: string, from: DateTime, to: DateTime): PlainBranch {
  return range(field, from.toISODate()!, new Date(to.toMillis()).toISOString());
}

/** From the start inclusive to the end exclusive. */
function range(field: string, from: string, to: string): PlainBranch {
  return {
    aggregator: 'And',
    conditions: [
      { field, operator: 'GreaterThanOrEqual', value: from },
      { field, operator: 'LessThan', value: to },
    ],
  };
}
