// What each operator means for one value. Null satisfies only operators that ask for null, and negations.
import type { Operator } from '../../../src/core/filter.ts';
import { addDays, compare, type Habits, localDay, lower, startOf } from './values.ts';
import type { Kind } from './world.ts';

export interface Asked {
  readonly operator: Operator;
  readonly value?: unknown;
}

/** Relative periods depend on the time and the timezone. */
export interface Moment {
  readonly now: number;
  readonly zone: string;
}

export function test(habits: Habits, moment: Moment, value: unknown, kind: Kind, asked: Asked): boolean {
  const positive = denied[asked.operator];
  if (positive) return !test(habits, moment, value, kind, { ...asked, operator: positive });
  const equals = (other: unknown) => (value === null) === (other === null) && compare(habits, value, other, kind) === 0;
  switch (asked.operator) {
    case 'Missing':
      return value === null;
    case 'Blank':
      return value === null || value === '';
    case 'Equal':
      return equals(asked.value);
    case 'In':
      return (asked.value as readonly unknown[]).some(equals);
  }
  if (value === null) return false;
  return (
    testOrder(habits, moment, value, kind, asked) ??
    testText(String(value), asked) ??
    testPeriod(moment, String(value), kind, asked)
  );
}

/** Operators that negate another. Null equals no value and contains no text, so those negations hold for it. */
const denied: { readonly [O in Operator]?: Operator } = {
  Present: 'Blank',
  NotEqual: 'Equal',
  NotIn: 'In',
  NotContains: 'Contains',
  NotIContains: 'IContains',
};

function testOrder(habits: Habits, moment: Moment, value: unknown, kind: Kind, asked: Asked): boolean | undefined {
  const isDay = kind === 'instant' && /^\d{4}-\d\d-\d\d$/.test(String(asked.value));
  // A day means its first moment for the caller.
  const side = () =>
    isDay
      ? sideOfDay(Date.parse(String(value)), String(asked.value), moment.zone)
      : compare(habits, value, asked.value, kind);
  switch (asked.operator) {
    case 'LessThan':
    case 'Before':
      return side() < 0;
    case 'LessThanOrEqual':
      return side() <= 0;
    case 'GreaterThan':
    case 'After':
      return side() > 0;
    case 'GreaterThanOrEqual':
      return side() >= 0;
    default:
      return undefined;
  }
}

/** Zero only for the first moment of the day, which follows a moment of another day. */
function sideOfDay(at: number, day: string, zone: string): number {
  const dayAt = (time: number) => localDay(new Date(time).toISOString(), zone);
  if (dayAt(at) < day) return -1;
  return dayAt(at - 1) < day ? 0 : 1;
}

function testText(text: string, { operator, value }: Asked): boolean | undefined {
  const given = String(value);
  switch (operator) {
    case 'Contains':
      return text.indexOf(given) >= 0;
    case 'IContains':
      return lower(text).indexOf(lower(given)) >= 0;
    case 'StartsWith':
      return text.slice(0, given.length) === given;
    case 'IStartsWith':
      return lower(text).slice(0, given.length) === lower(given);
    case 'EndsWith':
      return given === '' || text.slice(-given.length) === given;
    case 'IEndsWith':
      return given === '' || lower(text).slice(-given.length) === lower(given);
    case 'Like':
      return isLike([...text], readLike(given));
    case 'ILike':
      return isLike([...lower(text)], readLike(lower(given)));
    case 'Match':
      return given.startsWith('(?i)') ? new RegExp(given.slice(4), 'iu').test(text) : new RegExp(given, 'u').test(text);
    case 'LongerThan':
      return [...text].length > Number(value);
    case 'ShorterThan':
      return [...text].length < Number(value);
    default:
      return undefined;
  }
}

interface Part {
  readonly is: 'any' | 'one' | 'letter';
  readonly letter?: string;
}

/** `%` is any text, `_` is one character, and a backslash escapes the next one. */
function readLike(pattern: string): Part[] {
  const parts: Part[] = [];
  const letters = [...pattern];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at]!;
    if (letter === '%') parts.push({ is: 'any' });
    else if (letter === '_') parts.push({ is: 'one' });
    else if (letter === '\\' && at + 1 < letters.length) parts.push({ is: 'letter', letter: letters[++at]! });
    else parts.push({ is: 'letter', letter });
  }
  return parts;
}

/** Matches one part after another, and keeps the lengths of text that match so far. */
function isLike(letters: readonly string[], parts: readonly Part[]): boolean {
  let ends = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    for (const end of ends) {
      if (part.is === 'any') for (let at = end; at <= letters.length; at++) next.add(at);
      else if (end < letters.length && (part.is === 'one' || letters[end] === part.letter)) next.add(end + 1);
    }
    ends = next;
  }
  return ends.has(letters.length);
}

/** A period of days for the caller. `ToDate` periods end now, not with the day. */
function testPeriod({ now, zone }: Moment, value: string, kind: Kind, { operator, value: count }: Asked): boolean {
  const at = kind === 'instant' ? Date.parse(value) : Number.NaN;
  const day = kind === 'instant' ? localDay(value, zone) : value;
  const today = localDay(new Date(now).toISOString(), zone);
  const isBefore = kind === 'instant' ? at < now : day < today;
  const isAfter = kind === 'instant' ? at > now : day > today;
  const isOver = kind === 'instant' ? at < now : day <= today;
  const between = (first: string, last: string) => first <= day && day <= last;
  const yesterday = addDays(today, -1);
  const hours = (now - at) / 3_600_000;
  switch (operator) {
    case 'Today':
      return between(today, today);
    case 'Yesterday':
      return between(yesterday, yesterday);
    case 'Past':
      return isBefore;
    case 'Future':
      return isAfter;
    case 'PreviousXDays':
      return between(addDays(today, -Number(count)), yesterday);
    case 'PreviousXDaysToDate':
      return addDays(today, -Number(count)) <= day && isOver;
    case 'BeforeXHoursAgo':
      return hours > Number(count);
    case 'AfterXHoursAgo':
      return hours < Number(count);
  }
  const unit = /^Previous(Week|Month|Quarter|Year)(?:ToDate)?$/.exec(operator)?.[1];
  if (!unit) throw new Error(`the interpreter does not know ${operator}`);
  const current = startOf(unit, today);
  if (operator.endsWith('ToDate')) return current <= day && isOver;
  const lastDay = addDays(current, -1);
  return between(startOf(unit, lastDay), lastDay);
}
