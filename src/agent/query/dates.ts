// The only place that knows time zones. Calendar arithmetic is done on days, which have no zone; a day becomes an
// instant at its first moment in the zone, which is not midnight where a clock change skips it, and the earlier of two
// midnights where a clock change repeats it.
import { DateTime, IANAZone } from 'luxon';
import type { Edge, Moment } from '../model/types.ts';
import type { OffsetChange, ZoneOffsets } from '../sources/source.ts';

const validZones = new Set<string>();

export function isZone(zone: string): boolean {
  if (validZones.has(zone)) return true;
  if (zone.length > 64 || !IANAZone.isValidZone(zone)) return false;
  if (validZones.size > 1000) validZones.clear();
  validZones.add(zone);
  return true;
}

/** `now` in milliseconds since the epoch; `zone` must be one ({@link isZone}). */
export function createMoment(now: number, zone: string): Moment {
  return {
    zone,
    now: () => edge(now, zone),
    startOf(unit, shift = 0) {
      const local = DateTime.fromMillis(now, { zone });
      const day = DateTime.utc(local.year, local.month, local.day)
        .startOf(unit)
        .plus({ [unit]: shift });
      return { instant: new Date(startOfDay(day.year, day.month, day.day, zone)).toISOString(), day: day.toISODate()! };
    },
    hoursAgo: (hours) => edge(now - hours * 3_600_000, zone),
  };
}

function edge(milliseconds: number, zone: string): Edge {
  return {
    instant: new Date(milliseconds).toISOString(),
    day: DateTime.fromMillis(milliseconds, { zone }).toISODate()!,
  };
}

function startOfDay(year: number, month: number, day: number, zone: string): number {
  let first = DateTime.fromObject({ year, month, day }, { zone });
  for (let earlier = first.minus({ minutes: 30 }); earlier.day === first.day; earlier = first.minus({ minutes: 30 }))
    first = earlier;
  return first.toMillis();
}

const instantForm =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * The canonical form of an instant, or undefined. Without an offset it is read in the zone; a day alone is its first
 * moment there, and is refused unless `days` is true.
 */
export function readInstant(text: string, zone: string, days: boolean): string | undefined {
  const found = instantForm.exec(text.trim());
  if (!found || !readDay(text.trim().slice(0, 10))) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', offset] = found;
  if (hour === undefined) {
    if (!days) return undefined;
    return new Date(startOfDay(Number(year), Number(month), Number(day), zone)).toISOString();
  }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const micros = fraction.padEnd(6, '0').slice(0, 6);
  const local = { year, month, day, hour, minute, second, millisecond: micros.slice(0, 3) };
  const time = DateTime.fromObject(
    Object.fromEntries(Object.entries(local).map(([name, value]) => [name, Number(value)])),
    {
      zone:
        offset === undefined
          ? zone
          : offset.toUpperCase() === 'Z'
            ? 'utc'
            : `UTC${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`,
    },
  );
  if (!time.isValid) return undefined;
  const canonical = new Date(time.toMillis()).toISOString();
  return micros.endsWith('000') ? canonical : `${canonical.slice(0, -1)}${micros.slice(3)}Z`;
}

/** 'YYYY-MM-DD' when it is a day of the calendar. */
export function readDay(text: string): string | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!found) return undefined;
  return DateTime.utc(Number(found[1]), Number(found[2]), Number(found[3])).isValid ? text : undefined;
}

/** 'HH:mm:ss', with the fraction when there is one. */
export function readTime(text: string): string | undefined {
  const found = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?$/.exec(text);
  if (!found) return undefined;
  const [, hour, minute, second = '00', fraction = ''] = found;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const digits = fraction.replace(/0+$/, '');
  return `${hour}:${minute}:${second}${digits && `.${digits}`}`;
}

const offsetsKept = new Map<string, ZoneOffsets>();
const DAY = 86_400_000;
// How far apart to look for a change of the offset, in days. No zone went there and back within one such step: before
// 1900 clocks were only ever set from local time to standard time; since then the shortest summer time was one week
// (Roraima, 2000), and what is foreseen has some of nearly two (Gaza, 2040).
const searches = [
  { from: Date.UTC(1800, 0, 1), days: 60 },
  { from: Date.UTC(1900, 0, 1), days: 4 },
];
const searchEnd = Date.UTC(2100, 0, 1);

/**
 * Every change of a zone's offset until 2100; after that the smallest offset of its last year stays, which is that of
 * standard time. Found once for each zone, in less than 100 ms.
 */
export function zoneOffsets(zone: string): ZoneOffsets {
  let offsets = offsetsKept.get(zone);
  if (!offsets) {
    offsets = findOffsets(zone);
    if (offsetsKept.size >= 100) offsetsKept.clear();
    offsetsKept.set(zone, offsets);
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

/** The offset in seconds at a whole second; a fifth of the time that luxon takes for it. */
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

/** The first whole second at which the offset is another one. */
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
