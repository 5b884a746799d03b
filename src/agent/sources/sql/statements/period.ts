// The SQL of periods and parts of dates. Days in a timezone are computed with offsets from the statement, because the
// database's own may be missing (MariaDB until they are loaded, SQLite always) or outdated (PostgreSQL). A CASE with a
// few comparisons selects the offset of an instant.
import type { DatePart } from '../../../../core/filter/expression.ts';
import type { PeriodUnit } from '../../../../core/filter/measures.ts';
import type { GroupBy, ZoneOffsets } from '../../statement.ts';
import { offsetsBetween } from '../../zones.ts';
import type { Codec, Dialect } from '../codec.ts';
import { writeOffsetCase } from '../zoneless.ts';

type Period = Exclude<GroupBy, { kind: 'ranges' }>;

/** The first day or hour of a period, or a part as a number. */
export function writePeriod(by: Period, column: string, codec: Codec, dialect: Dialect): string {
  const { unit } = by;
  const [local, around] = localTimes[dialect](column, codec, by.offsets, by.kind);
  return around(starts[dialect][unit](local));
}

/** The text of the first day or hour. PostgreSQL groups timestamps four times as fast as their texts. */
export function writeStart({ unit, kind }: Period, period: string, dialect: Dialect): string {
  if (dialect !== 'postgres' || kind === 'part') return period;
  const format = unit === 'Hour' ? 'YYYY-MM-DD"T"HH24:00' : 'YYYY-MM-DD';
  // `to_char` of infinity is null.
  return `coalesce(to_char(${period}, '${format}'), ${period}::text collate "C")`;
}

/** A local time in SQL (for SQLite the arguments of date functions), and what its use has to be written in. */
type LocalTime = readonly [at: string, around: (use: string) => string];
type WriteLocalTime = (
  column: string,
  codec: Codec,
  offsets: ZoneOffsets | undefined,
  kind?: Period['kind'],
) => LocalTime;

const asIs = (use: string): string => use;

/** Converts local times of the column to local times of the call in one step. */
function inOneStep(write: WriteLocalTime): WriteLocalTime {
  return (column, { zoned, ...codec }, offsets, kind) =>
    offsets && zoned
      ? write(column, zoned.plain, offsetsBetween(zoned.offsets, offsets), kind)
      : write(column, codec, offsets, kind);
}

export const localTimes: Record<Dialect, WriteLocalTime> = {
  sqlite: inOneStep((column, codec, offsets) => {
    const compared = codec.ordered?.(column, '') ?? column;
    if (!offsets) return [compared, asIs];
    const bound = instantLiteral(codec);
    const isShifted = offsets.changes.length > 0 || offsets.first !== 0;
    const shift = (instant: string) =>
      isShifted ? [writeOffsetCase(offsets, instant, bound, (seconds) => `'${signed(seconds)} seconds'`)] : [];
    if (compared === column) return [[codec.utc!(column), ...shift(column)].join(', '), asIs];
    // The converted column is long, so a subquery computes it once.
    return [['substr(u, 1, 19)', ...shift('u')].join(', '), (use) => `(select ${use} from (select ${compared} as u))`];
  }),
  mysql: inOneStep((column, codec, offsets) => {
    const seconds = offsets ? writeOffsetCase(offsets, column, instantLiteral(codec), String) : '0';
    // Adding 0 seconds also turns invalid days, such as the zero date, into null.
    return [`date_add(${column}, interval ${seconds} second)`, asIs];
  }),
  postgres: inOneStep((column, codec, offsets, kind) => {
    const bound = instantLiteral(codec);
    const [from, to] = offsets ? zoneBounds(offsets) : ['0001-01-01', '9999-12-31'];
    const shift = offsets
      ? ` + ${writeOffsetCase(offsets, column, bound, (seconds) => `interval '${seconds} seconds'`)}`
      : '';
    const infinite = kind === 'bucket' ? ` when not isfinite(${column}) then ${column}::timestamp` : '';
    // Years outside the bounds have no canonical form.
    return [
      `${column}::timestamp${shift}`,
      (use) => `(case when ${column} between ${bound(from)} and ${bound(to)} then ${use}${infinite} end)`,
    ];
  }),
};

type Starts = { readonly [U in PeriodUnit | DatePart]: (at: string) => string };

/** MySQL and MariaDB: dates are grouped twice as fast as texts. The driver returns them as texts. */
const dayBefore = (days: (at: string) => string) => (at: string) => `date_sub(date(${at}), interval ${days(at)} day)`;
const monthStart = dayBefore((at) => `dayofmonth(${at}) - 1`);
const truncated = (unit: string) => (at: string) => `date_trunc('${unit}', ${at})`;

const starts: Record<Dialect, Starts> = {
  sqlite: {
    Hour: (at) => `strftime('%Y-%m-%dT%H:00', ${at})`,
    Day: (at) => `date(${at})`,
    Week: (at) => `date(${at}, 'weekday 0', '-6 days')`,
    Month: (at) => `date(${at}, 'start of month')`,
    Quarter: (at) => `date(${at}, 'start of month', '-' || ((strftime('%m', ${at}) - 1) % 3) || ' months')`,
    Year: (at) => `date(${at}, 'start of year')`,
    HourOfDay: (at) => `cast(strftime('%H', ${at}) as integer)`,
    Weekday: (at) => `((strftime('%w', ${at}) + 6) % 7 + 1)`,
    MonthOfYear: (at) => `cast(strftime('%m', ${at}) as integer)`,
  },
  mysql: {
    Hour: (at) => `date_format(${at}, '%Y-%m-%dT%H:00')`,
    Day: (at) => `date(${at})`,
    Week: dayBefore((at) => `weekday(${at})`),
    Month: monthStart,
    Quarter: (at) => `date_sub(${monthStart(at)}, interval (month(${at}) - 1) % 3 month)`,
    Year: dayBefore((at) => `dayofyear(${at}) - 1`),
    HourOfDay: (at) => `hour(${at})`,
    Weekday: (at) => `(weekday(${at}) + 1)`,
    MonthOfYear: (at) => `month(${at})`,
  },
  postgres: {
    Hour: truncated('hour'),
    Day: truncated('day'),
    Week: truncated('week'),
    Month: truncated('month'),
    Quarter: truncated('quarter'),
    Year: truncated('year'),
    HourOfDay: (at) => `extract(hour from ${at})::int`,
    Weekday: (at) => `extract(isodow from ${at})::int`,
    MonthOfYear: (at) => `extract(month from ${at})::int`,
  },
};

/**
 * The UTC instants where local time reaches the start of year 1 and the end of year 9999, limited to those years in
 * UTC.
 */
function zoneBounds({ first, changes }: ZoneOffsets): readonly [string, string] {
  const start = Date.parse('0001-01-01T00:00:00.000Z');
  const end = Date.parse('9999-12-31T23:59:59.999Z');
  const last = changes.at(-1)?.seconds ?? first;
  return [
    new Date(Math.max(start, start - first * 1000)).toISOString(),
    new Date(Math.min(end, end - last * 1000)).toISOString(),
  ];
}

/** An instant or a day as a SQL literal, comparable with a column of the codec. */
function instantLiteral(codec: Codec): (value: string) => string {
  return (value) => {
    const encoded = codec.encode(value);
    const text = typeof encoded === 'number' ? String(encoded) : `'${encoded}'`;
    return codec.parameter?.('').replace('?', text) ?? text;
  };
}

function signed(seconds: number): string {
  return seconds < 0 ? String(seconds) : `+${seconds}`;
}
