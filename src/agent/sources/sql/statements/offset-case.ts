import type { ZoneOffsets } from '../../statement.ts';

/**
 * SQL of the offset at a moment, as a binary search: with 300 changes, at most nine comparisons. `bound` writes the
 * moment of a change; `write` writes an offset in seconds.
 */
export function writeOffsetCase(
  { first, changes }: ZoneOffsets,
  column: string,
  bound: (instant: string) => string,
  write: (seconds: number) => string,
): string {
  const between = (low: number, high: number): string => {
    if (low === high) return write(low === 0 ? first : changes[low - 1]!.seconds);
    const middle = (low + high) >> 1;
    const { from } = changes[middle]!;
    return `case when ${column} < ${bound(from)} then ${between(low, middle)} else ${between(middle + 1, high)} end`;
  };
  const sql = between(0, changes.length);
  return changes.length ? `(${sql})` : sql;
}
