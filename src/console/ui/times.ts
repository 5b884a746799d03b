// Dates and durations for display.
import { type Html, html } from '../../http/html.ts';

const minute = 60_000;
const units: readonly (readonly [ms: number, name: string])[] = [
  [24 * 60 * minute, 'day'],
  [60 * minute, 'hour'],
  [minute, 'minute'],
];

/**
 * Time that is left, rounded up: `7 days` until the sixth day ends. In hours below two days, in minutes below two hours.
 */
export function describeLeft(ms: number): string {
  const [size, name] = units.find(([size]) => ms > size * (size === minute ? 0 : 2)) ?? [minute, 'minute'];
  const count = Math.max(1, Math.ceil(ms / size));
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** `3 minutes`, in the largest unit that fits; else `less than a minute`. */
export function describeWait(ms: number): string {
  const [size, name] = units.find(([size]) => ms >= size) ?? [];
  if (size === undefined) return 'less than a minute';
  const count = Math.floor(ms / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

const written = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

/** `22 Nov 2026, 14:05 CET`, in the given time zone. */
export function showTime(ms: number, timeZone: string): Html {
  const at = new Date(ms);
  const text = new Intl.DateTimeFormat('en-GB', { ...written, timeZoneName: 'short', timeZone });
  return html`<time datetime="${at.toISOString()}">${text.format(at)}</time>`;
}
