// Days and instants in the timezone of a call. Calendar arithmetic uses days, which have no zone. A day becomes an
// instant at its first moment in the zone: midnight, the end of the gap if a clock change skips midnight, or the
// earlier of two midnights if a clock change repeats it.
import type { DateBound, Moment } from '../model/types.ts';
import { instantAt, offsetAt } from '../sources/zones.ts';
import { dayAt, dayOf, formatDay, moveDay, startOfUnit } from './calendar.ts';

const HALF_HOUR = 1_800_000;

/** `now` in milliseconds since the epoch; `zone` must be canonical (agent/sources/zones.ts). */
export function createMoment(now: number, zone: string): Moment {
  return {
    zone,
    now: () => toDateBound(now, zone),
    startOf(unit, shift = 0) {
      const day = moveDay(startOfUnit(dayIn(zone, now), unit), unit, shift);
      return { instant: new Date(startOfDay(day, zone)).toISOString(), day: formatDay(day) };
    },
    hoursAgo: (hours) => toDateBound(now - hours * 3_600_000, zone),
  };
}

/** The day of an instant in the zone (calendar.ts). */
export const dayIn = (zone: string, time: number): number => dayOf(time + offsetAt(zone, time));

const toDateBound = (time: number, zone: string): DateBound => ({
  instant: new Date(time).toISOString(),
  day: formatDay(dayIn(zone, time)),
});

function startOfDay(day: number, zone: string): number {
  let { time } = instantAt(zone, day);
  const first = dayIn(zone, time);
  while (dayIn(zone, time - HALF_HOUR) === first) time -= HALF_HOUR;
  return time;
}

const instantForm =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * The canonical form of an instant, or undefined. Without an offset, it is a local time of the zone, and undefined if a
 * clock change skips that time. With `days`, a day is valid too, and means its first moment in the zone.
 */
export function readInstant(text: string, zone: string, days: boolean): string | undefined {
  const read = readLocal(text, zone, days);
  return read?.isSkipped ? undefined : read?.instant;
}

/** The same, but a time that a clock change skips is read with the offset before the change. */
export function readLocal(
  text: string,
  zone: string,
  days: boolean,
): { readonly instant: string; readonly isSkipped: boolean } | undefined {
  const found = instantForm.exec(text.trim());
  if (!found || !readDay(text.trim().slice(0, 10))) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', offset] = found;
  if (hour === undefined) {
    if (!days) return undefined;
    const first = startOfDay(dayAt(Number(year), Number(month), Number(day)), zone);
    return { instant: new Date(first).toISOString(), isSkipped: false };
  }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const micros = fraction.padEnd(6, '0').slice(0, 6);
  const midnight = dayAt(Number(year), Number(month), Number(day));
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  const local = midnight + seconds * 1000 + Number(micros.slice(0, 3));
  const { time, isSkipped } =
    offset === undefined ? instantAt(zone, local) : { time: local - readOffset(offset), isSkipped: false };
  const canonical = new Date(time).toISOString();
  const instant = micros.endsWith('000') ? canonical : `${canonical.slice(0, -1)}${micros.slice(3)}Z`;
  return { instant, isSkipped };
}

/** In milliseconds. `text`: 'Z', '+02', '+0200' or '+02:00'. */
function readOffset(text: string): number {
  if (text.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(3).replace(':', ''))];
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** 'YYYY-MM-DD' if it is a valid day, else undefined. */
export function readDay(text: string): string | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!found) return undefined;
  const day = dayAt(Number(found[1]), Number(found[2]), Number(found[3]));
  return formatDay(day) === text ? text : undefined;
}

/** 'HH:mm:ss', with the fraction if it is not zero. */
export function readTime(text: string): string | undefined {
  const found = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?$/.exec(text);
  if (!found) return undefined;
  const [, hour, minute, second = '00', fraction = ''] = found;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const digits = fraction.replace(/0+$/, '');
  return `${hour}:${minute}:${second}${digits && `.${digits}`}`;
}
