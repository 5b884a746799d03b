// Calendar days without a zone. A day is the time of its midnight in UTC, in milliseconds since the epoch.

export type CalendarUnit = 'day' | 'week' | 'month' | 'quarter' | 'year';

const DAY = 86_400_000;
const monthsOf = { month: 1, quarter: 3, year: 12 } as const;

/** The day of a time in UTC. */
export const dayOf = (time: number): number => Math.floor(time / DAY) * DAY;

/** `month` is 1 for January. A day beyond the month is one of the next month. */
export function dayAt(year: number, month: number, day: number): number {
  // Date.UTC reads years below 100 as those of the 20th century.
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

/** The first day of the unit. A week begins on Monday (ISO 8601). */
export function startOfUnit(day: number, unit: CalendarUnit): number {
  if (unit === 'day') return day;
  const date = new Date(day);
  if (unit === 'week') return day - ((date.getUTCDay() + 6) % 7) * DAY;
  const month = date.getUTCMonth();
  return dayAt(date.getUTCFullYear(), month - (month % monthsOf[unit]) + 1, 1);
}

/** The last day of a month moves to the last day of a shorter month. */
export function moveDay(day: number, unit: CalendarUnit, by: number): number {
  if (unit === 'day' || unit === 'week') return day + by * (unit === 'week' ? 7 : 1) * DAY;
  const date = new Date(day);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1 + by * monthsOf[unit]];
  const last = new Date(dayAt(year, month + 1, 0)).getUTCDate();
  return dayAt(year, month, Math.min(date.getUTCDate(), last));
}

/** 'YYYY-MM-DD'. Throws RangeError for a day that no Date can hold. */
export const formatDay = (day: number): string => new Date(day).toISOString().split('T')[0]!;
