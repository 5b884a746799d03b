// Texts that do not sort by their characters: intervals and network addresses of PostgreSQL, and times of day that are
// durations. Each is parsed into numbers that sort as in the database.
import { isIP } from 'node:net';

const microseconds: readonly (readonly [unit: RegExp, microseconds: number])[] = [
  [/^(?:years?|yrs?|y)$/, 31_104_000e6],
  [/^(?:months?|mons?)$/, 2_592_000e6],
  [/^(?:weeks?|w)$/, 604_800e6],
  [/^(?:days?|d)$/, 86_400e6],
  [/^(?:hours?|hrs?|h)$/, 3600e6],
  [/^(?:minutes?|mins?|m)$/, 60e6],
  [/^(?:seconds?|secs?|s)$/, 1e6],
];
const isoForm =
  /^P(?=.)(?:(-?\d{1,6})Y)?(?:(-?\d{1,6})M)?(?:(-?\d{1,6})W)?(?:(-?\d{1,8})D)?(?:T(?=.)(?:(-?\d{1,8})H)?(?:(-?\d{1,8})M)?(?:(-?\d{1,9}(?:\.\d{1,6})?)S)?)?$/;
const clockForm = /^([+-]?)(\d{1,9}):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?$/;

/**
 * The length of an interval in microseconds. A month has 30 days and a day 24 hours, as when PostgreSQL compares
 * intervals. Accepts forms such as `1 day 02:00:00`, `9 days` and `P1DT2H`; returns undefined for other texts.
 */
export function readInterval(text: string): bigint | undefined {
  const iso = isoForm.exec(text.trim());
  if (iso) return iso.slice(1).reduce((sum, part, at) => sum + scaled(part ?? '0', microseconds[at]![1]), 0n);
  const words = text
    .trim()
    .toLowerCase()
    .replace(/(\d)([a-z])/g, '$1 $2')
    .split(/\s+/);
  let sum = 0n;
  for (let at = 0; at < words.length; at++) {
    const clock = readClock(words[at]!);
    if (clock !== undefined) {
      sum += clock;
      continue;
    }
    const unit = microseconds.find(([name]) => name.test(words[at + 1] ?? ''));
    if (!unit || !/^[+-]?\d{1,9}(?:\.\d{1,6})?$/.test(words[at]!)) return undefined;
    sum += scaled(words[at]!, unit[1]);
    at++;
  }
  return sum;
}

/** A time such as `-100:30:00.5` in microseconds; undefined for other texts. */
export function readClock(text: string): bigint | undefined {
  const [, sign, hours, minutes, seconds = '0', fraction = ''] = clockForm.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const whole = BigInt(hours) * 3600n + BigInt(minutes!) * 60n + BigInt(seconds);
  const length = whole * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
  return sign === '-' ? -length : length;
}

function scaled(digits: string, unit: number): bigint {
  const [whole = '0', fraction = ''] = digits.replace(/^[+-]/, '').split('.');
  const millionths = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
  const length = (millionths * BigInt(unit)) / 1_000_000n;
  return digits.startsWith('-') ? -length : length;
}

interface Network {
  readonly isV6: boolean;
  readonly address: bigint;
  readonly bits: number;
}

/** Parses `10.0.0.9`, `10.0.0.0/8` or `::1`; returns undefined for other texts. */
export function readNetwork(text: string): Network | undefined {
  const [, host = '', mask] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const version = isIP(host);
  const width = version === 4 ? 32 : 128;
  const bits = mask === undefined ? width : Number(mask);
  if (version === 0 || host.includes('%') || bits > width) return undefined;
  return { isV6: version === 6, address: addressOf(host, version === 6), bits };
}

function addressOf(host: string, isV6: boolean): bigint {
  if (!isV6) return host.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const hex = host.replace(/[^:]+\.[^:]+$/, (end) => {
    const low = addressOf(end, false);
    return `${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::');
  const groups = (part: string) => part.split(':').filter(Boolean);
  const ends = tail === undefined ? [] : groups(tail);
  const starts = groups(head);
  const all = [...starts, ...Array<string>(8 - starts.length - ends.length).fill('0'), ...ends];
  return all.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

/** Compares the bits that both networks share, then the mask lengths, then the whole addresses. */
export function compareNetworks(a: Network, b: Network): number {
  if (a.isV6 !== b.isV6) return a.isV6 ? 1 : -1;
  const width = a.isV6 ? 128 : 32;
  const rest = BigInt(width - Math.min(a.bits, b.bits));
  return compare(a.address >> rest, b.address >> rest) || a.bits - b.bits || compare(a.address, b.address);
}

export function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
