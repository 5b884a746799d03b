// One condition on one column, as an expert of that database writes it. Every form is true or false, also for null.
import type { Dialect } from '../../databases.ts';
import type { Leaf } from './filters.ts';
import { lettersOf, quoteText, startOfDay, todayIn } from './sql-values.ts';
import { addDays, startOf } from './values.ts';
import type { Kind } from './world.ts';

export interface Place {
  readonly dialect: Dialect;
  readonly zone: string;
  readonly now: number;
}

/** The SQL literal of a value. */
export function literal(dialect: Dialect, kind: Kind, value: unknown): string {
  const quoted = quoteText(dialect, String(value));
  switch (kind) {
    case 'whole':
    case 'big':
    case 'decimal':
      return `(${value})`;
    case 'flag':
      return dialect === 'postgres' ? String(value) : value ? '1' : '0';
    case 'instant': {
      const iso = new Date(String(value)).toISOString();
      if (dialect === 'postgres') return `timestamptz '${iso}'`;
      return dialect === 'mariadb' ? `'${iso.slice(0, 10)} ${iso.slice(11, 23)}'` : `'${iso}'`;
    }
    case 'day':
      return dialect === 'postgres' ? `date ${quoted}` : quoted;
    case 'time':
      return dialect === 'postgres' ? `time ${quoted}` : quoted;
    case 'uuid':
      return dialect === 'postgres' ? `uuid ${quoted}` : quoted;
    default:
      return quoted;
  }
}

/** The condition on `column`, which holds values of the kind. */
export function writeLeaf(place: Place, column: string, kind: Kind, { operator, value }: Leaf): string {
  const again = (other: Leaf['operator'], given: unknown = value) =>
    writeLeaf(place, column, kind, { field: '', operator: other, value: given });
  const isText = kind === 'text' || kind === 'label';
  switch (operator) {
    case 'Missing':
      return `${column} is null`;
    case 'Present':
      return isText ? `(${column} is not null and ${column} <> '')` : `${column} is not null`;
    case 'Blank':
      return isText ? `(${column} is null or ${column} = '')` : `${column} is null`;
    case 'NotEqual':
      return value === null
        ? `${column} is not null`
        : `(${column} is null or ${column} <> ${literal(place.dialect, kind, value)})`;
    case 'In': {
      const given = value as readonly unknown[];
      const values = given.filter((each) => each !== null).map((each) => literal(place.dialect, kind, each));
      const parts = [
        ...(given.includes(null) ? [`${column} is null`] : []),
        ...(values.length > 0 ? [`(${column} is not null and ${column} in (${values.join(', ')}))`] : []),
      ];
      return parts.length > 0 ? `(${parts.join(' or ')})` : '(1 = 0)';
    }
    case 'NotIn':
      return `not ${again('In')}`;
    case 'NotContains':
      return `not ${again('Contains')}`;
    case 'NotIContains':
      return `not ${again('IContains')}`;
    case 'Equal':
      if (value === null) return again('Missing');
  }
  const test =
    writeOrder(place, column, kind, operator, value) ??
    writeText(place.dialect, column, operator, String(value)) ??
    writePeriod(place, column, kind, operator, Number(value));
  return `(${column} is not null and ${test})`;
}

const signs: { readonly [O in Leaf['operator']]?: string } = {
  Equal: '=',
  LessThan: '<',
  Before: '<',
  LessThanOrEqual: '<=',
  GreaterThan: '>',
  After: '>',
  GreaterThanOrEqual: '>=',
};

function writeOrder(
  { dialect, zone }: Place,
  column: string,
  kind: Kind,
  operator: Leaf['operator'],
  value: unknown,
): string | undefined {
  const sign = signs[operator];
  if (!sign) return undefined;
  if (kind !== 'instant' || !/^\d{4}-\d\d-\d\d$/.test(String(value)))
    return `${column} ${sign} ${literal(dialect, kind, value)}`;
  // Compares days where possible. 'GreaterThan' a day excludes only its first moment, so it compares instants.
  if (dialect === 'postgres' && (sign === '<' || sign === '>='))
    return `(${column} at time zone '${zone}')::date ${sign} date '${value}'`;
  return `${column} ${sign} ${literal(dialect, kind, startOfDay(String(value), zone))}`;
}

function writeText(dialect: Dialect, column: string, operator: Leaf['operator'], value: string): string | undefined {
  const text = quoteText(dialect, value);
  const low = `lower(${column})`;
  const lowText = quoteText(dialect, value.toLowerCase());
  const length = dialect === 'sqlite' ? `length(${column})` : `char_length(${column})`;
  const has = (where: string, what: string) =>
    dialect === 'sqlite'
      ? `instr(${where}, ${what}) > 0`
      : dialect === 'mariadb'
        ? `locate(${what}, ${where}) > 0`
        : `strpos(${where}, ${what}) > 0`;
  const letters = lettersOf(value);
  const begins = (where: string, what: string) =>
    dialect === 'sqlite' ? `substr(${where}, 1, ${letters}) = ${what}` : `left(${where}, ${letters}) = ${what}`;
  const ends = (where: string, what: string) => {
    if (letters === 0) return '1 = 1';
    return dialect === 'sqlite' ? `substr(${where}, -${letters}) = ${what}` : `right(${where}, ${letters}) = ${what}`;
  };
  const escaping = `escape ${quoteText(dialect, '\\')}`;
  switch (operator) {
    case 'Contains':
      return has(column, text);
    case 'IContains':
      return has(low, lowText);
    case 'StartsWith':
      return begins(column, text);
    case 'IStartsWith':
      return begins(low, lowText);
    case 'EndsWith':
      return ends(column, text);
    case 'IEndsWith':
      return ends(low, lowText);
    // On SQLite, the connection has case_sensitive_like on.
    case 'Like':
      return `${column} like ${text} ${escaping}`;
    case 'ILike':
      return `${low} like ${lowText} ${escaping}`;
    case 'LongerThan':
      return `${length} > ${value}`;
    case 'ShorterThan':
      return `${length} < ${value}`;
    default:
      return undefined;
  }
}

function writePeriod(place: Place, column: string, kind: Kind, operator: Leaf['operator'], count: number): string {
  const { dialect, now, zone } = place;
  const instant = kind === 'instant';
  const moment = literal(dialect, 'instant', new Date(now).toISOString());
  if (operator === 'BeforeXHoursAgo' || operator === 'AfterXHoursAgo') {
    const then = literal(dialect, 'instant', new Date(now - count * 3_600_000).toISOString());
    return `${column} ${operator === 'BeforeXHoursAgo' ? '<' : '>'} ${then}`;
  }
  if (dialect === 'postgres') {
    const day = instant ? `(${column} at time zone '${zone}')::date` : column;
    const today = `(${moment} at time zone '${zone}')::date`;
    const begun = instant ? `${column} < ${moment}` : `${column} <= ${today}`;
    return writePostgresPeriod(operator, count, { day, today, begun, past: instant ? begun : `${column} < ${today}` });
  }
  const today = todayIn(now, zone);
  const bound = (day: string) => literal(dialect, kind, instant ? startOfDay(day, zone) : day);
  const from = (day: string) => `${column} >= ${bound(day)}`;
  const until = (day: string) => `${column} < ${bound(addDays(day, 1))}`;
  const tillNow = instant ? `${column} < ${moment}` : until(today);
  switch (operator) {
    case 'Today':
      return `${from(today)} and ${until(today)}`;
    case 'Yesterday':
      return `${from(addDays(today, -1))} and ${column} < ${bound(today)}`;
    case 'Past':
      return instant ? tillNow : `${column} < ${bound(today)}`;
    case 'Future':
      return instant ? `${column} > ${moment}` : from(addDays(today, 1));
    case 'PreviousXDays':
      return `${from(addDays(today, -count))} and ${column} < ${bound(today)}`;
    case 'PreviousXDaysToDate':
      return `${from(addDays(today, -count))} and ${tillNow}`;
  }
  const unit = unitOf(operator);
  const first = startOf(unit, today);
  if (operator.endsWith('ToDate')) return `${from(first)} and ${tillNow}`;
  if (instant) return `${from(startOf(unit, addDays(first, -1)))} and ${column} < ${bound(first)}`;
  return dialect === 'mariadb' ? writeMariaPeriod(unit, column, today) : writeSqlitePeriod(unit, column, today);
}

function unitOf(operator: string): string {
  const unit = /^Previous(Week|Month|Quarter|Year)(?:ToDate)?$/.exec(operator)?.[1];
  if (!unit) throw new Error(`no SQL is written for ${operator}`);
  return unit;
}

function writePostgresPeriod(
  operator: string,
  count: number,
  { day, today, begun, past }: { day: string; today: string; begun: string; past: string },
): string {
  switch (operator) {
    case 'Today':
      return `${day} = ${today}`;
    case 'Yesterday':
      return `${day} = ${today} - 1`;
    case 'Past':
      return past;
    case 'Future':
      return past.replace('<', '>');
    case 'PreviousXDays':
      return `${day} between ${today} - ${count} and ${today} - 1`;
    case 'PreviousXDaysToDate':
      return `${day} >= ${today} - ${count} and ${begun}`;
  }
  const unit = unitOf(operator).toLowerCase();
  const step = unit === 'quarter' ? '3 months' : `1 ${unit}`;
  if (operator.endsWith('ToDate')) return `${day} >= date_trunc('${unit}', ${today}) and ${begun}`;
  return `date_trunc('${unit}', ${day}) = date_trunc('${unit}', ${today}) - interval '${step}'`;
}

function writeMariaPeriod(unit: string, column: string, today: string): string {
  const before = (months: number) => `date_sub('${startOf(unit, today)}', interval ${months} month)`;
  switch (unit) {
    case 'Week':
      return `yearweek(${column}, 3) = yearweek(date_sub('${today}', interval 7 day), 3)`;
    case 'Month':
      return `extract(year_month from ${column}) = extract(year_month from ${before(1)})`;
    case 'Quarter':
      return `year(${column}) = year(${before(3)}) and quarter(${column}) = quarter(${before(3)})`;
    default:
      return `year(${column}) = year('${today}') - 1`;
  }
}

function writeSqlitePeriod(unit: string, column: string, today: string): string {
  const monday = (day: string) => `date(${day}, 'weekday 0', '-6 days')`;
  switch (unit) {
    case 'Week':
      return `${monday(column)} = date(${monday(`'${today}'`)}, '-7 days')`;
    case 'Month':
      return `strftime('%Y-%m', ${column}) = strftime('%Y-%m', '${today}', 'start of month', '-1 month')`;
    case 'Quarter': {
      const quarter = (day: string) => `strftime('%Y', ${day}) * 4 + (strftime('%m', ${day}) - 1) / 3`;
      return `${quarter(column)} = ${quarter(`'${today}'`)} - 1`;
    }
    default:
      return `strftime('%Y', ${column}) = strftime('%Y', '${today}', '-1 year')`;
  }
}
