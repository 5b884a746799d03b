// Converts a word of a search to a filter on one column. A word matches part of a text, or any other value as a whole.
// After `field:` it may also be a bound (`>10`, `<=2024-03`), a range (`10..20`, `2024-01..`), `!=` or NULL.
//
// A date may be a year, a month or a day: it matches the whole period, in the timezone of the call.
import type { Operator } from '../../core/filter.ts';
import type { Column, Moment } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { readNumber, readUuid } from '../resolve/values.ts';
import type { PrimitiveType } from '../sources/column-types.ts';
import { readDay, readInstant, readTime } from './dates.ts';
import { always, and, never, not, or } from './simplify.ts';

/** The start of a period, and the first value after it. A value that is no period has no `after`. */
interface Span {
  readonly from: unknown;
  readonly after?: unknown;
}

type ReadSpan = (text: string, moment: Moment) => Span | undefined;

const spans: { readonly [T in PrimitiveType]?: ReadSpan } = {
  Number: point(readNumber),
  Time: point(readTime),
  Dateonly: (text) => {
    const period = readPeriod(text);
    return period && { from: period[0], after: period[1] };
  },
  Date(text, { zone }) {
    const period = readPeriod(text);
    if (period) return { from: readInstant(period[0], zone, true), after: readInstant(period[1], zone, true) };
    const instant = readInstant(text, zone, false);
    return instant === undefined ? undefined : { from: instant };
  },
};

function point(read: (text: string) => unknown): ReadSpan {
  return (text) => {
    const from = read(text);
    return from === undefined ? undefined : { from };
  };
}

/** The first day of a year, a month or a day, and the first day after it. Undefined if that is after 9999-12-31. */
function readPeriod(text: string): readonly [from: string, after: string] | undefined {
  const [, year, month, day] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text) ?? [];
  if (year === undefined || Number(year) === 0) return undefined;
  const from = readDay(`${year}-${month ?? '01'}-${day ?? '01'}`);
  if (!from) return undefined;
  const next = new Date(`${from}T00:00:00Z`);
  if (day) next.setUTCDate(next.getUTCDate() + 1);
  else if (month) next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCFullYear(next.getUTCFullYear() + 1);
  const after = next.toISOString().slice(0, 10);
  return readDay(after) ? [from, after] : undefined;
}

/** The filter for a word that names no field. `never` if this column cannot match. */
export function findWord(path: Path, text: string, moment: Moment): Filter {
  const { type } = path.field;
  if (type === 'Boolean' && /^[01]$/.test(text)) return never;
  // Any four digits could be a year, but few are meant as one.
  if (isDate(type) && /^\d{4}/.test(text) && !isNear(Number(text.slice(0, 4)), moment)) return never;
  return findWhole(path, text, moment);
}

function isDate(type: Column['type']): boolean {
  return type === 'Date' || type === 'Dateonly';
}

function isNear(year: number, moment: Moment): boolean {
  return year >= 1800 && year <= Number(moment.now().day.slice(0, 4)) + 100;
}

/** The filter for the value of `field:value`. */
export function findValue(path: Path, text: string, quoted: boolean, moment: Moment): Filter {
  if (quoted) return text === '' ? test(path, 'Blank') : findWhole(path, text, moment);
  if (text === 'NULL') return test(path, 'Missing');
  const { type } = path.field;
  const span = typeof type === 'string' ? spans[type] : undefined;
  if (!span) return findWhole(path, text, moment);
  const [, from, to] = /^(.*?)\.\.(.*)$/.exec(text) ?? [];
  if (from !== undefined && to !== undefined) {
    if (!from && !to) return never;
    return and(
      from ? bound(path, '>=', span(from, moment)) : always,
      to ? bound(path, '<=', span(to, moment)) : always,
    );
  }
  const [, sign, value = ''] = /^(>=|<=|!=|<>|≥|≤|[<>=])(.*)$/s.exec(text) ?? [];
  return sign === undefined ? equal(path, span(text, moment)) : bound(path, sign, span(value, moment));
}

function bound(path: Path, sign: string, span: Span | undefined): Filter {
  if (!span) return never;
  const { from, after } = span;
  switch (sign) {
    case '>':
      return after === undefined ? test(path, 'GreaterThan', from) : test(path, 'GreaterThanOrEqual', after);
    case '>=':
    case '≥':
      return test(path, 'GreaterThanOrEqual', from);
    case '<':
      return test(path, 'LessThan', from);
    case '<=':
    case '≤':
      return after === undefined ? test(path, 'LessThanOrEqual', from) : test(path, 'LessThan', after);
    case '=':
      return equal(path, span);
    default:
      return not(equal(path, span));
  }
}

function equal(path: Path, span: Span | undefined): Filter {
  if (!span) return never;
  const { from, after } = span;
  if (after === undefined) return test(path, 'Equal', from);
  return and(test(path, 'GreaterThanOrEqual', from), test(path, 'LessThan', after));
}

function findWhole(path: Path, text: string, moment: Moment): Filter {
  const { type, enumValues = [] } = path.field;
  if (typeof type !== 'string') return or(...items(type[0], text, enumValues).map((item) => includes(path, item)));
  switch (type) {
    case 'String': {
      const offered = (['IContains', 'Contains', 'Equal'] as const).find((is) => path.field.operators.has(is));
      return offered ? test(path, offered, text) : never;
    }
    case 'Enum': {
      const values = items(type, text, enumValues);
      return values.length ? test(path, 'In', values) : never;
    }
    case 'Uuid':
    case 'Boolean': {
      const [value] = items(type, text, enumValues);
      return value === undefined ? never : test(path, 'Equal', value);
    }
    default:
      return equal(path, spans[type]?.(text, moment));
  }
}

/** The values that a text may mean. */
function items(type: PrimitiveType, text: string, enumValues: readonly string[]): readonly unknown[] {
  switch (type) {
    case 'String':
      return [text];
    case 'Enum': {
      const folded = fold(text);
      return folded ? enumValues.filter((value) => fold(value) === folded) : [];
    }
    case 'Boolean':
      return /^(?:true|yes|1)$/i.test(text) ? [true] : /^(?:false|no|0)$/i.test(text) ? [false] : [];
    case 'Number':
    case 'Uuid':
    case 'Dateonly': {
      const value = type === 'Number' ? readNumber(text) : type === 'Uuid' ? readUuid(text) : readDay(text);
      return value === undefined ? [] : [value];
    }
    default:
      return [];
  }
}

const includes = (path: Path, item: unknown): Filter => test(path, 'IncludesAll', [item]);

/** `never` if the column does not support the operator. */
function test(path: Path, is: Operator, value: unknown = null): Filter {
  return path.field.operators.has(is) ? { op: 'test', path, is, value } : never;
}

/** `in-progress`, `In Progress` and `in_progress` are the same word. */
export function fold(text: string): string {
  return text.toLowerCase().replace(/[\s_-]/g, '');
}
