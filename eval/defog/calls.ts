// The recorded calls: for each question those that an assistant sends, or why there are none.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Value } from '../kit/definitions.ts';

export interface RecordedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, Value>>;
}

/** The answer to the question is that of the last call. Each call before it is refused, or a later one refers to it. */
export type Recorded = { readonly calls: readonly RecordedCall[] } | { readonly unanswerable: string };

/** By question key; empty if nothing is recorded for the database. */
export function readCalls(folder: string, database: string): Readonly<Record<string, Recorded>> {
  const path = join(folder, `${database}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, Recorded>) : {};
}

/**
 * Replaces days that the assistant computes from the date of today: `{"$day": "today -10 day"}`. The first word is
 * `today`, `week` (its Monday), `month` or `year` (its first day); the offset in day, week, month or year follows. `$seconds` gives
 * the same day in seconds since 1970, `$year` its year, `$monthName` the English name of its month.
 */
export function fillDays(value: Value, today: Date): Value {
  if (Array.isArray(value)) return value.map((item: Value) => fillDays(item, today));
  if (typeof value !== 'object' || value === null) return value;
  const { $day, $seconds, $year, $monthName } = value as Readonly<Record<string, Value>>;
  if (typeof $day === 'string') return dayOf($day, today);
  if (typeof $seconds === 'string') return Date.parse(dayOf($seconds, today)) / 1000;
  if (typeof $year === 'string') return Number(dayOf($year, today).slice(0, 4));
  if (typeof $monthName === 'string')
    return new Date(dayOf($monthName, today)).toLocaleString('en', { month: 'long', timeZone: 'UTC' });
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillDays(item as Value, today)]));
}

function dayOf(text: string, today: Date): string {
  const [, from, offset = '0', unit = 'day'] =
    /^(today|week|month|year)(?: ([+-]\d+) (day|week|month|year))?$/.exec(text) ?? [];
  if (from === undefined) throw new Error(`'${text}' is no day: write "today -10 day".`);
  const day = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()));
  if (from === 'week') day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  if (from === 'month' || from === 'year') day.setUTCDate(1);
  if (from === 'year') day.setUTCMonth(0);
  const count = Number(offset);
  if (unit === 'day' || unit === 'week') day.setUTCDate(day.getUTCDate() + count * (unit === 'week' ? 7 : 1));
  else day.setUTCMonth(day.getUTCMonth() + count * (unit === 'year' ? 12 : 1));
  return day.toISOString().slice(0, 10);
}
