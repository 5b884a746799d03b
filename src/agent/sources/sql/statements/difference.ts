// The SQL of the time between two dates. Fractions of days, hours and minutes are computed from microseconds (SQLite:
// milliseconds) and rounded half away from zero to ten decimals.
import { offsetAt } from '../../aggregate/local-time.ts';
import type { Expression } from '../../statement.ts';
import { zoneOffsets } from '../../zones.ts';
import { type Codec, type Dialect, encodeInstant } from '../codec.ts';
import { type Fragment, fragment, plain } from './fragment.ts';
import { localTimes } from './period.ts';

type Difference = Extract<Expression, { op: 'difference' }>;

/** A date in SQL: a column, or a constant. */
export interface WrittenDate extends Fragment {
  readonly codec: Codec;
  readonly isConstant: boolean;
}

const SCALE = 10;
const SECONDS = { day: 86_400, hour: 3_600, minute: 60 } as const;

interface WrittenDifference extends Fragment {
  /** SQLite: the value is the SQL divided by 10 to this power. */
  readonly scale: number;
}

/** The operands have one type. */
export function writeDifference(
  { unit, offsets }: Difference,
  [from, to]: readonly [WrittenDate, WrittenDate],
  dialect: Dialect,
): WrittenDifference {
  if (unit === 'month' || unit === 'year') {
    const [start, end] = [from, to].map((date) => toLocal(date, offsets, dialect)) as [Fragment, Fragment];
    return { ...months[dialect](start, end, unit), scale: 0 };
  }
  const seconds = SECONDS[unit];
  switch (dialect) {
    case 'postgres': {
      const [start, end] = [from, to].map((date) => toUtc(date, dialect)) as [Fragment, Fragment];
      const elapsed = fragment`extract(epoch from (${end} - ${start}))::numeric`;
      // The quotient has at least as many decimals as the divisor. With ten, it would be rounded twice.
      return { ...fragment`round(${elapsed} / ${seconds}.${'0'.repeat(16)}, ${SCALE})`, scale: 0 };
    }
    case 'mysql': {
      const [start, end] = [from, to].map((date) => toUtc(date, dialect)) as [Fragment, Fragment];
      const elapsed = fragment`cast(timestampdiff(microsecond, ${start}, ${end}) as decimal(65, 16))`;
      return { ...fragment`round(${elapsed} / ${seconds * 1_000_000}, ${SCALE})`, scale: 0 };
    }
    case 'sqlite': {
      const [start, end] = [from, to].map(toMilliseconds) as [Fragment, Fragment];
      const [times, by] = { day: [3125, 27], hour: [25_000, 9], minute: [500_000, 3] }[unit] as [number, number];
      const rounded = `case when d < 0 then -((${2 * times} * -d + ${by}) / ${2 * by}) else (${2 * times} * d + ${by}) / ${2 * by} end`;
      return { ...fragment`(select ${rounded} from (select ${end} - ${start} as d))`, scale: SCALE };
    }
  }
}

/** A timestamp in UTC. A day is its midnight. */
function toUtc(date: WrittenDate, dialect: 'mysql' | 'postgres'): Fragment {
  if (date.codec.type === 'Date' && date.codec.zoned && !date.isConstant)
    return wrapped(localTimes[dialect](date.sql, date.codec, zoneOffsets('UTC')));
  if (dialect === 'mysql') return date.isConstant ? fragment`cast(${date} as datetime(6))` : date;
  if (date.isConstant) return date;
  const type = date.codec.type === 'Date' ? '' : '::timestamp';
  return plain(`(case when isfinite(${date.sql}) then ${date.sql}${type} end)`);
}

const wrapped = ([at, around]: readonly [string, (use: string) => string]): Fragment => plain(around(at));

/** SQLite: milliseconds since 1970 in UTC. */
function toMilliseconds({ sql, binds, codec, isConstant }: WrittenDate): Fragment {
  const ofText = (text: string) => `cast(round((julianday(${text}) - 2440587.5) * 86400000.0) as integer)`;
  if (isConstant) return { sql: ofText(sql), binds };
  if (codec.type !== 'Date') return plain(ofText(codec.ordered?.(sql, '') ?? sql));
  const plainCodec = codec.zoned?.plain ?? codec;
  const local = plainCodec.milliseconds?.(sql) ?? ofText(codec.ordered?.(sql, '') ?? sql);
  if (!codec.zoned) return plain(local);
  const [at, around] = localTimes.sqlite(sql, codec, zoneOffsets('UTC'));
  // The shift is a whole number of seconds; the local time keeps its milliseconds.
  return plain(around(`(${local} + (strftime('%s', ${at}) - strftime('%s', ${plainCodec.utc!(sql)})) * 1000)`));
}

function toLocal(date: WrittenDate, offsets: Difference['offsets'], dialect: Dialect): Fragment {
  const seconds = '%Y-%m-%d %H:%M:%S';
  if (date.isConstant) {
    if (dialect === 'sqlite') return fragment`strftime('${seconds}', ${date})`;
    return dialect === 'mysql' ? fragment`cast(${date} as datetime(6))` : date;
  }
  const [at, around] = localTimes[dialect](date.sql, date.codec, offsets);
  return plain(around(dialect === 'sqlite' ? `strftime('${seconds}', ${at})` : at));
}

type WriteMonths = (start: Fragment, end: Fragment, unit: 'month' | 'year') => Fragment;

/** Whole months and years: a month is over when the day and the time are reached again. */
const months: Record<Dialect, WriteMonths> = {
  mysql: (start, end, unit) => fragment`timestampdiff(${unit}, ${start}, ${end})`,
  postgres(start, end, unit) {
    const count = (name: string) => `(extract(year from ${name}) * 12 + extract(month from ${name}))`;
    const rest = (name: string) => `to_char(${name}, 'DDHH24MISSUS')`;
    const whole = wholeMonths(`${count('b')} - ${count('a')}`, rest('a'), rest('b'));
    return fragment`(select ${unit === 'year' ? `trunc((${whole}) / 12)` : whole} from (select ${start} as a, ${end} as b) as d)`;
  },
  sqlite(start, end, unit) {
    const count = (name: string) => `(substr(${name}, 1, 4) * 12 + substr(${name}, 6, 2))`;
    const whole = wholeMonths(`(${count('b')} - ${count('a')})`, 'substr(a, 9)', 'substr(b, 9)');
    return fragment`(select ${unit === 'year' ? `(${whole}) / 12` : whole} from (select ${start} as a, ${end} as b))`;
  },
};

function wholeMonths(months: string, start: string, end: string): string {
  return `${months} - case when ${months} > 0 and ${end} < ${start} then 1 when ${months} < 0 and ${end} > ${start} then -1 else 0 end`;
}

/** The parameter of a constant date: in UTC, or the local time if there are offsets. */
export function dateParameter(
  dialect: Dialect,
  { offsets }: Difference,
): { readonly sql: string; readonly encode: (value: unknown) => unknown } {
  const encode = (value: unknown): string => {
    const text = String(value);
    if (!offsets || !text.endsWith('Z')) return encodeInstant(text);
    return encodeInstant(new Date(Date.parse(text) + offsetAt(text, offsets) * 1000).toISOString());
  };
  return { sql: dialect === 'postgres' ? '?::timestamp' : '?', encode };
}
