// Occurrences of a cron expression in a timezone. croner decides what happens when clocks change: a time that does not
// exist occurs at the first moment after the gap, and a time that exists twice occurs once, at the first.
import { Cron } from 'croner';
import { isZone } from '../../core/clock/timezone.ts';

/** Describes what is wrong with a schedule; undefined when it has a next occurrence. */
export function findScheduleProblem(
  { cron, timezone }: { readonly cron: string; readonly timezone: string },
  now: number,
): { readonly field: 'cron' | 'timezone'; readonly problem: string } | undefined {
  if (!isZone(timezone))
    return { field: 'timezone', problem: 'Enter the name of a timezone, such as Europe/Paris or UTC.' };
  const problem =
    'Enter five fields: minute, hour, day of the month, month and day of the week, such as 0 8 * * MON-FRI.';
  // The library also takes dates, seconds, years and nicknames.
  if (cron.trim().split(/\s+/).length !== 5) return { field: 'cron', problem };
  try {
    if (nextOccurrences({ cron, timezone }, now, 1).length > 0) return undefined;
    return { field: 'cron', problem: 'This date never occurs. Check the day of the month and the month.' };
  } catch {
    return { field: 'cron', problem };
  }
}

/** Milliseconds since the epoch, after `from`, the earliest first. */
export function nextOccurrences(
  { cron, timezone }: { readonly cron: string; readonly timezone: string },
  from: number,
  count: number,
): readonly number[] {
  const schedule = new Cron(cron, { mode: '5-part', timezone, paused: true });
  return schedule.nextRuns(count, new Date(from)).map((date) => date.getTime());
}
