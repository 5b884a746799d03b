// Days and instants in the timezone of a call. Calendar arithmetic uses days, which have no zone. A day becomes an
// instant at its first moment in the zone: midnight, the end of the gap if a clock change skips midnight, or the
// earlier of two midnights if a clock change repeats it.
import { DateTime } from 'luxon';
import type { DateBound, Moment } from '../model/types.ts';

/** `now` in milliseconds since the epoch; `zone` must be canonical (agent/sources/zones.ts). */
export function createMoment(now: number, zone: string): Moment {
  return {
    zone,
    now: () => toDateBound(now, zone),
    startOf(unit, shift = 0) {
      const local = DateTime.fromMillis(now, { zone });
      const day = DateTime.utc(local.year, local.month, local.day)
        .startOf(unit)
        .plus({ [unit]: shift });
      return { instant: new Date(startOfDay(day.year, day.month, day.day, zone)).toISOString(), day: day.toISODate()! };
    },
    hoursAgo: (hours) => toDateBound(now - hours * 3_600_000, zone),
  };
}

function toDateBound(milliseconds: number, zone: string): DateBound {
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
    const first = startOfDay(Number(year), Number(month), Number(day), zone);
    return { instant: new Date(first).toISOString(), isSkipped: false };
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
  const instant = micros.endsWith('000') ? canonical : `${canonical.slice(0, -1)}${micros.slice(3)}Z`;
  return { instant, isSkipped: time.hour !== Number(hour) || time.minute !== Number(minute) };
}

/** 'YYYY-MM-DD' if it is a valid day, else undefined. */
export function readDay(text: string): string | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!found) return undefined;
  return DateTime.utc(Number(found[1]), Number(found[2]), Number(found[3])).isValid ? text : undefined;
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
