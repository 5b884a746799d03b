// Wall-clock times, buckets, parts and differences in the SQL of each database. Wall-clock times are texts on SQLite and
// MariaDB (the table `clocks`), timestamps on PostgreSQL.
import type { Dialect } from '../../databases.ts';
import type { Kind } from '../oracle/world.ts';
import type { Bucket, Part, Unit } from './question.ts';
import { numbersOf } from './sql-numbers.ts';

/** The wall-clock time of a date; one without time begins at midnight. */
export function clockSql(dialect: Dialect, column: string, kind: Kind, zone: string): string {
  if (dialect === 'postgres')
    return kind === 'instant' ? `(${column} at time zone '${zone}')` : `(${column})::timestamp`;
  if (kind === 'instant') return `(select w.clock from clocks w where w.zone = '${zone}' and w.moment = ${column})`;
  return dialect === 'sqlite' ? `(${column} || ' 00:00:00.000')` : `concat(${column}, ' 00:00:00.000')`;
}

/** The first day of the period as `2024-03-01`; for hours, `2024-03-01T05:00`. */
export function bucketSql(dialect: Dialect, clock: string, bucket: Bucket): string {
  switch (dialect) {
    case 'postgres':
      return bucket === 'Hour'
        ? `to_char(${clock}, 'YYYY-MM-DD"T"HH24":00"')`
        : `to_char(date_trunc('${bucket.toLowerCase()}', ${clock}), 'YYYY-MM-DD')`;
    case 'mariadb': {
      const day = `cast(left(${clock}, 10) as date)`;
      switch (bucket) {
        case 'Hour':
          return `concat(left(${clock}, 10), 'T', substring(${clock}, 12, 2), ':00')`;
        case 'Day':
          return `left(${clock}, 10)`;
        case 'Week':
          return `date_format(date_sub(${day}, interval weekday(${day}) day), '%Y-%m-%d')`;
        case 'Month':
          return `date_format(${day}, '%Y-%m-01')`;
        case 'Quarter':
          return `concat(year(${day}), '-', lpad(quarter(${day}) * 3 - 2, 2, '0'), '-01')`;
        case 'Year':
          return `date_format(${day}, '%Y-01-01')`;
      }
      break;
    }
    case 'sqlite':
      switch (bucket) {
        case 'Hour':
          return `strftime('%Y-%m-%dT%H:00', ${clock})`;
        case 'Day':
          return `date(${clock})`;
        case 'Week':
          return `date(${clock}, 'weekday 0', '-6 days')`;
        case 'Quarter':
          return `date(${clock}, 'start of month', '-' || ((strftime('%m', ${clock}) - 1) % 3) || ' months')`;
        default:
          return `date(${clock}, 'start of ${bucket.toLowerCase()}')`;
      }
  }
}

/** A bucket `count` periods later, from its name. */
export function shiftSql(dialect: Dialect, name: string, bucket: Bucket, count: number): string {
  const unit = bucket === 'Quarter' ? 'month' : bucket.toLowerCase();
  const units = bucket === 'Quarter' ? count * 3 : count;
  switch (dialect) {
    case 'postgres':
      return `to_char((${name})::timestamp + interval '${units} ${unit}', '${bucket === 'Hour' ? 'YYYY-MM-DD"T"HH24":00"' : 'YYYY-MM-DD'}')`;
    case 'mariadb':
      return `date_format(date_add(replace(${name}, 'T', ' '), interval ${units} ${unit}), '${bucket === 'Hour' ? '%Y-%m-%dT%H:00' : '%Y-%m-%d'}')`;
    case 'sqlite':
      return bucket === 'Hour'
        ? `strftime('%Y-%m-%dT%H:00', ${name}, '${units} hours')`
        : `date(${name}, '${bucket === 'Week' ? `${units * 7} days` : `${units} ${unit}s`}')`;
  }
}

export function partSql(dialect: Dialect, clock: string, part: Part): string {
  if (dialect === 'postgres') {
    const field = { HourOfDay: 'hour', Weekday: 'isodow', MonthOfYear: 'month' }[part];
    return `extract(${field} from ${clock})::int`;
  }
  if (part === 'Weekday')
    return dialect === 'mariadb' ? `weekday(left(${clock}, 10)) + 1` : `((strftime('%w', ${clock}) + 6) % 7) + 1`;
  const [from, length] = part === 'HourOfDay' ? [12, 2] : [6, 2];
  return `cast(substr(${clock}, ${from}, ${length}) as ${dialect === 'sqlite' ? 'integer' : 'int'})`;
}

/** `to` minus `from`, as an exact number. */
export function differenceSql(
  dialect: Dialect,
  from: string,
  to: string,
  kind: Kind,
  unit: Unit,
  zone: string,
): string {
  const numbers = numbersOf[dialect];
  if (unit === 'month' || unit === 'year') {
    const [first, second] = [clockSql(dialect, from, kind, zone), clockSql(dialect, to, kind, zone)];
    const months = monthsSql(dialect, first, second);
    if (unit === 'month') return numbers.of(months, 'whole');
    const years = { postgres: `trunc(${months} / 12.0)`, mariadb: `(${months}) div 12`, sqlite: `(${months}) / 12` };
    return numbers.of(`(${years[dialect]})`, 'whole');
  }
  const per = { day: 86_400_000, hour: 3_600_000, minute: 60_000 }[unit];
  return numbers.dividedBy(
    numbers.of(millisecondsSql(dialect, from, to, kind), 'big'),
    numbers.constant(String(per)),
    10,
  );
}

function millisecondsSql(dialect: Dialect, from: string, to: string, kind: Kind): string {
  if (kind === 'day') {
    const days = {
      postgres: `(${to} - ${from})::numeric`,
      mariadb: `datediff(${to}, ${from})`,
      sqlite: `cast(round(julianday(${to}) - julianday(${from})) as integer)`,
    };
    return `(${days[dialect]} * 86400000)`;
  }
  const fraction = (column: string) => `(strftime('%s', ${column}) * 1000 + cast(substr(${column}, 21, 3) as integer))`;
  return {
    postgres: `(extract(epoch from (${to} - ${from})) * 1000)`,
    mariadb: `(timestampdiff(microsecond, ${from}, ${to}) div 1000)`,
    sqlite: `(${fraction(to)} - ${fraction(from)})`,
  }[dialect];
}

/** Complete months between two wall-clock times, toward zero. */
function monthsSql(dialect: Dialect, from: string, to: string): string {
  if (dialect === 'mariadb') return `timestampdiff(month, ${from}, ${to})`;
  if (dialect === 'postgres')
    return `(extract(year from age(${to}, ${from})) * 12 + extract(month from age(${to}, ${from})))`;
  const index = (clock: string) => `(substr(${clock}, 1, 4) * 12 + substr(${clock}, 6, 2))`;
  const rest = (clock: string) => `substr(${clock}, 9)`;
  const whole = `(${index(to)} - ${index(from)})`;
  return `(case when ${to} >= ${from} then ${whole} - (${rest(to)} < ${rest(from)}) else ${whole} + (${rest(to)} > ${rest(from)}) end)`;
}
