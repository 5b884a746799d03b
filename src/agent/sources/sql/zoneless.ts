// Timestamps without zone: columns that hold a clock time without its zone. They are read, compared and written in the
// timezone configured for the source. The statement uses the bare column, which keeps its indexes usable.

import type { ZoneOffsets } from '../statement.ts';
import { type LocalUse, localTimeOf } from '../zones.ts';
import type { Codec } from './codec.ts';

/**
 * Makes a codec that treats values as UTC readable in any zone. `isLocal` checks whether a driver's value lacks its own
 * zone. Default: all values do.
 */
export function zoneless(plain: Codec, isLocal: (value: unknown) => boolean = () => true): Codec {
  return { ...plain, inZone: (zone) => (isUtc(zone) ? plain : createZonedCodec(plain, zone, isLocal)) };
}

export const isUtc = (zone: string): boolean => /^(?:etc\/)?(?:utc|uct|gmt|zulu)$/i.test(zone);

/**
 * Compared with in place of times that no column value can equal. No clock shows this time, and no column holds it by
 * chance.
 */
const NEVER = '9999-12-31T23:59:59.999999Z';

function createZonedCodec(plain: Codec, zone: string, isLocal: (value: unknown) => boolean): Codec {
  const local = localTimeOf(zone);
  const bind =
    (use: LocalUse, encode: Codec['encode']): Codec['encode'] =>
    (value) => {
      const instant = instantOf(value);
      // Skipped times and others without a canonical form are bound exactly as the database wrote them.
      if (instant === undefined) return /^\d{4}-\d\d-\d\d /.test(String(value)) ? value : encode(value);
      return encode(local.toLocal(instant, use) ?? NEVER);
    };
  return {
    ...plain,
    decode(value) {
      const time = plain.decode!(value);
      if (!isLocal(value) || instantOf(time) === undefined) return time;
      return local.toInstant(String(time)) ?? String(value);
    },
    encode: bind('equal', plain.encode),
    bounds: { least: bind('least', plain.encode), most: bind('most', plain.encode) },
    stored: bind('stored', plain.stored ?? plain.encode),
    zoned: { plain, offsets: local.offsets },
  };
}

/** The canonical instant of a value with a zone. */
function instantOf(value: unknown): string | undefined {
  const text = String(value);
  if (!/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return undefined;
  if (/\.\d{3,6}Z$/.test(text)) return text;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

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
