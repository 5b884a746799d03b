// Timezones for sources: the offsets of a zone as plain data, and conversion of timestamps without zone.
//
// When clocks go back, an hour repeats: its times mean the first of the two instants. When clocks go forward, an hour
// is skipped: a time within it is not an instant. It keeps the database's text and sorts just before the change.

import { canonicalZone } from '../../core/clock/timezone.ts';
import { fail } from '../../core/errors.ts';
import type { OffsetChange, ZoneOffsets } from './statement.ts';

/** The cache needs no limit: there are fewer than 500 zones. */
const cachedOffsets = new Map<string, ZoneOffsets>();
const DAY = 86_400_000;
// The step, in days, of the search for offset changes. No zone changes and changes back within one step. Before 1900,
// clocks only moved from local time to standard time. Since 1940, the shortest summer time was one week (Roraima,
// 2000), and planned ones are as short (Gaza, until 2086).
const searches = [
  { from: Date.UTC(1800, 0, 1), days: 200 },
  { from: Date.UTC(1900, 0, 1), days: 12 },
  { from: Date.UTC(1940, 0, 1), days: 6 },
  { from: Date.UTC(2001, 0, 1), days: 10 },
  { from: Date.UTC(2038, 0, 1), days: 6 },
  { from: Date.UTC(2087, 0, 1), days: 12 },
];
const searchEnd = Date.UTC(2100, 0, 1);

/**
 * Every offset change of a zone until 2100. Afterwards the smallest offset of the last year applies, which is standard
 * time. Computed once for each zone, in about 30 ms.
 */
export function zoneOffsets(given: string): ZoneOffsets {
  const zone = canonicalZone(given) ?? given;
  let offsets = cachedOffsets.get(zone);
  if (!offsets) {
    offsets = findOffsets(zone);
    cachedOffsets.set(zone, offsets);
  }
  return offsets;
}

function findOffsets(zone: string): ZoneOffsets {
  const secondsAt = createOffset(zone);
  const first = secondsAt(searches[0]!.from);
  const changes: OffsetChange[] = [];
  let seconds = first;
  let time = searches[0]!.from;
  for (const [index, { days }] of searches.entries()) {
    const end = searches[index + 1]?.from ?? searchEnd;
    while (time < end) {
      const next = Math.min(time + days * DAY, end);
      if (secondsAt(next) === seconds) {
        time = next;
        continue;
      }
      time = findChange(time, next, seconds, secondsAt);
      seconds = secondsAt(time);
      changes.push(freezeChange(time, seconds));
    }
  }
  const standard = Math.min(seconds, ...changes.filter(({ from }) => from >= '2099').map((change) => change.seconds));
  if (standard !== seconds) changes.push(freezeChange(searchEnd, standard));
  return Object.freeze({ zone, first, changes: Object.freeze(changes) });
}

const cachedReaders = new Map<string, (time: number) => number>();

/** The offset in milliseconds. `zone` must be valid (`isZone`). Before 1800 it is that of 1800, as everywhere. */
export function offsetAt(zone: string, time: number): number {
  let secondsAt = cachedReaders.get(zone);
  if (!secondsAt) {
    if (cachedReaders.size > 1000) cachedReaders.clear();
    secondsAt = createOffset(zone);
    cachedReaders.set(zone, secondsAt);
  }
  return secondsAt(Math.max(Math.floor(time / 1000) * 1000, searches[0]!.from)) * 1000;
}

/**
 * The instant of a local time, which is written as if it were UTC. Of two, the first. A time that the clock skipped is
 * read with the offset before the change.
 */
export function instantAt(zone: string, local: number): { readonly time: number; readonly isSkipped: boolean } {
  // No zone changes and changes back within two days.
  const before = offsetAt(zone, local - DAY);
  const after = offsetAt(zone, local + DAY);
  const offset = [before, after].find((each) => offsetAt(zone, local - each) === each);
  return { time: local - (offset ?? before), isSkipped: offset === undefined };
}

/** The offset in seconds at a whole second. */
function createOffset(zone: string): (time: number) => number {
  const numeric = 'numeric';
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric },
  } as const);
  return (time) => {
    const [month, day, year, hour, minute, second] = format.format(time).match(/\d+/g)!.map(Number);
    return (Date.UTC(year!, month! - 1, day, hour, minute, second) - time) / 1000;
  };
}

function freezeChange(time: number, seconds: number): OffsetChange {
  return Object.freeze({ from: new Date(time).toISOString(), seconds });
}

/** The first whole second with a different offset. */
function findChange(from: number, to: number, before: number, secondsAt: (time: number) => number): number {
  let low = from / 1000;
  let high = to / 1000;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (secondsAt(middle * 1000) === before) low = middle;
    else high = middle;
  }
  return high * 1000;
}

/** How a bound value is used: for equality, as a lower or upper bound, or as a stored value. */
export type LocalUse = 'equal' | 'least' | 'most' | 'stored';

/** Both functions convert between canonical texts. Local times are written as if they were UTC. */
interface LocalTime {
  readonly offsets: ZoneOffsets;
  /** Returns undefined if the time is not an instant: the clock skipped it, or its year has no canonical form. */
  readonly toInstant: (local: string) => string | undefined;
  /**
   * Returns undefined if the zone has no such time, which then equals no value. Throws INVALID_VALUE if the time cannot
   * be stored.
   */
  readonly toLocal: (instant: string, use: LocalUse) => string | undefined;
}

const FIRST = Date.parse('0001-01-01T00:00:00.000Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

const localTimes = new Map<string, LocalTime>();

/** `zone` must be valid (`isZone`). */
export function localTimeOf(zone: string): LocalTime {
  let time = localTimes.get(zone);
  if (!time) {
    time = createLocalTime(zone);
    localTimes.set(zone, time);
  }
  return time;
}

interface Change {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

function createLocalTime(zone: string): LocalTime {
  const offsets = zoneOffsets(zone);
  const changes = changesOf(offsets);
  const first = offsets.first * 1000;
  return {
    offsets,
    toInstant(local) {
      const time = Date.parse(local);
      // The number of past changes: the local clock has passed the later of their two times.
      const over = countUntil(changes, (change) => change.at + Math.max(change.before, change.after) <= time);
      const next = changes[over];
      if (next && time >= next.at + next.before) return undefined;
      return formatTime(time - (changes[over - 1]?.after ?? first), local);
    },
    toLocal(instant, use) {
      const time = Date.parse(instant);
      const over = countUntil(changes, (change) => change.at <= time);
      const last = changes[over - 1];
      const repeated = last && time < last.at + last.before - last.after;
      if (!repeated) return clamp(time + (last?.after ?? first), instant);
      const end = last.at + last.before;
      if (use === 'equal') return undefined;
      if (use === 'least') return new Date(end).toISOString();
      if (use === 'most') return `${new Date(end - 1).toISOString().slice(0, -1)}999Z`;
      return fail('INVALID_VALUE', {
        at: 'value',
        expected: `another time: this field is stored in ${zone}, where this time occurs twice, and it can only hold the first (${new Date(time - last.before + last.after).toISOString()})`,
        got: instant,
      });
    },
  };
}

function changesOf({ first, changes }: ZoneOffsets): readonly Change[] {
  let before = first * 1000;
  return changes.map(({ from, seconds }) => {
    const change = { at: Date.parse(from), before, after: seconds * 1000 };
    before = change.after;
    return change;
  });
}

function countUntil<T>(items: readonly T[], isOver: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isOver(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Copies the microseconds of the original text. Returns undefined outside the years with a canonical form. */
function formatTime(time: number, like: string): string | undefined {
  if (!(time >= FIRST && time <= LAST)) return undefined;
  const text = new Date(time).toISOString();
  return like.length === 27 ? `${text.slice(0, -1)}${like.slice(23, 26)}Z` : text;
}

function clamp(time: number, like: string): string {
  return time < FIRST
    ? '0001-01-01T00:00:00.000Z'
    : time > LAST
      ? '9999-12-31T23:59:59.999999Z'
      : formatTime(time, like)!;
}

/**
 * Offsets from the local time of one zone to that of another. The changes are in the local time of the first zone,
 * written as if it were UTC. A time that the first zone skipped uses the offset before the change.
 */
export function offsetsBetween(from: ZoneOffsets, to: ZoneOffsets): ZoneOffsets {
  const steps: { readonly at: number; readonly shift: number }[] = [];
  const toChanges = changesOf(to);
  const toFirst = to.first * 1000;
  const fromChanges = changesOf(from);
  for (let index = 0; index <= fromChanges.length; index++) {
    const change = fromChanges[index - 1];
    const next = fromChanges[index];
    const offset = change?.after ?? from.first * 1000;
    const start = change ? change.at + Math.max(change.before, change.after) - offset : Number.NEGATIVE_INFINITY;
    const end = next ? next.at + Math.max(next.before, next.after) - offset : Number.POSITIVE_INFINITY;
    const over = countUntil(toChanges, ({ at }) => at <= start);
    steps.push({ at: start + offset, shift: (toChanges[over - 1]?.after ?? toFirst) - offset });
    for (let each = over; each < toChanges.length && toChanges[each]!.at < end; each++)
      steps.push({ at: toChanges[each]!.at + offset, shift: toChanges[each]!.after - offset });
  }
  const [head, ...rest] = steps.filter(({ shift }, index) => shift !== steps[index - 1]?.shift);
  return {
    zone: `${from.zone} to ${to.zone}`,
    first: head!.shift / 1000,
    changes: rest.map(({ at, shift }) => freezeChange(at, shift / 1000)),
  };
}
