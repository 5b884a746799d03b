// The range of dates that a filter leaves, for groups of periods without records.
import type { Filter, Path } from '../plan/types.ts';
import { compareValues } from '../sources/evaluate.ts';

/** The first and the last date. Undefined if the filter does not set both ends in its top level, or leaves no date. */
export function findDateRange(filter: Filter, path: Path): readonly [from: string, to: string] | undefined {
  const { field } = path;
  const isDay = field.type === 'Dateonly';
  const starts: string[] = [];
  const ends: string[] = [];
  for (const each of filter.op === 'and' ? filter.of : [filter]) {
    if (each.op !== 'test' || each.path.id !== path.id || typeof each.value !== 'string') continue;
    const value = each.value;
    if (!/^\d{4}-/.test(value)) continue;
    if (each.is === 'Equal' || each.is === 'GreaterThanOrEqual') starts.push(value);
    if (each.is === 'Equal' || each.is === 'LessThanOrEqual') ends.push(value);
    if (each.is === 'GreaterThan') starts.push(moved(value, isDay, 1));
    if (each.is === 'LessThan') ends.push(moved(value, isDay, -1));
  }
  const compare = (a: string, b: string) => compareValues(a, b, field);
  const from = starts.sort(compare).at(-1);
  const to = ends.sort(compare)[0];
  return from === undefined || to === undefined || compare(from, to) > 0 ? undefined : [from, to];
}

/** Whether the filter leaves out dates before some date in its top level. */
export function hasStart(filter: Filter, path: Path): boolean {
  const tests = filter.op === 'and' ? filter.of : [filter];
  return tests.some(
    (each) => each.op === 'test' && each.path.id === path.id && /^(Equal|GreaterThan(OrEqual)?)$/.test(each.is),
  );
}

/** The next or previous date: a day, or a millisecond. */
function moved(value: string, isDay: boolean, by: 1 | -1): string {
  const time = Date.parse(isDay ? `${value}T00:00:00Z` : value) + by * (isDay ? 86_400_000 : 1);
  return new Date(time).toISOString().slice(0, isDay ? 10 : undefined);
}
