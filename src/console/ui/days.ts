// Days in the reader's time zone. Its offset can change within a year.
const DAY_MS = 86_400_000;

/** First millisecond of a day such as `2026-01-31`; undefined for an invalid date. */
export function startOfDay(day: string, timeZone: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
  const asUtc = Date.parse(`${day}T00:00:00Z`);
  // Some JavaScript engines parse 31 February as a day in March.
  if (Number.isNaN(asUtc) || new Date(asUtc).toISOString().slice(0, 10) !== day) return undefined;
  // The offset at the guess may differ from the offset at midnight, so compute it twice.
  const guess = asUtc - offsetAt(asUtc, timeZone);
  return asUtc - offsetAt(guess, timeZone);
}

/** Last millisecond of the day; undefined for an invalid date. */
export function endOfDay(day: string, timeZone: string): number | undefined {
  if (startOfDay(day, timeZone) === undefined) return undefined;
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
  return startOfDay(next, timeZone)! - 1;
}

function offsetAt(ms: number, timeZone: string): number {
  const text = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).format(ms);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text) ?? [];
  const offset = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -offset : offset;
}
