// GroupSelect to one SQL text, and its rows to canonical ones. Days in a timezone are found with the offsets that the
// statement carries, not with those that the database knows: MariaDB has none until somebody loads them, SQLite never,
// and PostgreSQL may have those of another year. A CASE of a few comparisons finds the offset of an instant.
//
// SQLite adds up neither large integers nor decimals exactly. Integers are added in halves of 32 bits, decimals as
// integers of their smallest unit, and put together here; so what is ordered by such a sum is ordered here as well, of
// no more groups than a limit.
import { fail } from '../../../core/errors.ts';
import { sortTallies, sumTally, type Tally } from '../aggregate.ts';
import { addDecimals, type Decimal, readDecimal, roundDouble } from '../decimal.ts';
import type { Bucket, BucketUnit, GroupKey, GroupSelect, Row, ZoneOffsets } from '../source.ts';
import type { Codec, Dialect } from './codec.ts';
import {
  createWriter,
  isNullable,
  placeholdersOf,
  type Statement,
  type StatementContext,
  TRUE,
  whole,
} from './statements.ts';
import { needsBigIntegers } from './types-sqlite.ts';

/** The most groups that are ordered here. */
const GROUPS_LIMIT = 100_000;

export interface GroupStatement extends Statement {
  /** Canonical rows of what the driver gave, in order. */
  readonly read: (rows: readonly unknown[][]) => Row[];
}

export function buildGroup(group: GroupSelect, context: StatementContext): GroupStatement {
  const { dialect, shapes } = context;
  const writer = createWriter(context);
  const root = writer.root(group.table);
  const joins = writer.joins(root, group.joins);
  const where = writer.where(root, group.where);
  const codecOf = (path: GroupKey['path']): Codec => shapes.facts(path, group.table).codec;
  const keys = group.groups.map((key) => writeKey(key, writer.column(root, key.path), codecOf(key.path), dialect));
  const measure = writeMeasure(
    group,
    group.value && writer.column(root, group.value),
    group.value && codecOf(group.value),
    dialect,
  );

  const sortsHere = measure.order === undefined && !hasGroupsFirst(group);
  const sql = [
    `select ${[...measure.columns, ...keys.map((key) => key.shown)].join(', ')}`,
    `from ${writer.table(root.table)} as ${writer.name(root.alias)}`,
    ...joins.map((join) => join.sql),
    ...(where.sql === TRUE ? [] : [`where ${where.sql}`]),
    ...(keys.length ? [`group by ${keys.map((key) => key.by).join(', ')}`] : []),
    ...(keys.length === 0
      ? []
      : [sortsHere ? `limit ${GROUPS_LIMIT + 1}` : orderBy(group, measure.order, keys, dialect)]),
  ];
  return {
    sql: placeholdersOf(sql.join(' '), dialect),
    binds: [...joins.flatMap((join) => join.binds), ...where.binds],
    read: (rows) => {
      const width = measure.columns.length;
      if (sortsHere && rows.length > GROUPS_LIMIT)
        fail('INVALID_ARGUMENT', {
          argument: 'groups',
          problem: `more than ${GROUPS_LIMIT} groups, too many to order by this value. Narrow the filters, group by less, or order by 'groups'.`,
        });
      const tallies = rows.map((row) =>
        measure.read(
          row,
          keys.map((key, at) => decodeWith(key.decode, row[width + at])),
        ),
      );
      return sortsHere ? sortTallies(tallies, group) : tallies.map((tally) => tally.row);
    },
  };
}

/** No two rows have the same groups, so that the value decides nothing. */
function hasGroupsFirst({ groups, order }: GroupSelect): boolean {
  const at = order.findIndex(({ by }) => by === 'value');
  return groups.every((_, group) => order.slice(0, at < 0 ? undefined : at).some(({ by }) => by === group));
}

function orderBy(group: GroupSelect, value: string | undefined, keys: readonly Key[], dialect: Dialect): string {
  const order = group.order.filter(({ by }) => by !== 'value' || value !== undefined);
  const clauses = order.map(({ by, ascending }) => {
    const nullable = by === 'value' ? group.operation !== 'Count' : keys[by]!.nullable;
    const nulls = dialect === 'postgres' && nullable ? (ascending ? ' nulls first' : ' nulls last') : '';
    return `${by === 'value' ? value : keys[by]!.by} ${ascending ? 'asc' : 'desc'}${nulls}`;
  });
  return `order by ${clauses.join(', ')}${group.limit === undefined ? '' : ` limit ${whole(group.limit)}`}`;
}

interface Key {
  readonly by: string;
  readonly shown: string;
  readonly nullable: boolean;
  readonly decode: ((value: unknown) => unknown) | undefined;
}

function writeKey({ path, bucket }: GroupKey, column: string, codec: Codec, dialect: Dialect): Key {
  if (bucket) {
    const by = buckets[dialect](bucket, column, codec);
    return { by, shown: by, nullable: true, decode: undefined };
  }
  const by = codec.grouped?.(column) ?? codec.ordered?.(column, '') ?? column;
  const folds = codec.type === 'String' && path.field.collation === 'insensitive';
  const shown = folds ? `min(${codec.text?.(column) ?? column} collate ${bytewise[dialect]})` : by;
  return { by, shown, nullable: isNullable(path), decode: codec.decode };
}

const bytewise: Record<Dialect, string> = { sqlite: 'binary', mysql: 'utf8mb4_bin', postgres: '"C"' };

interface Measure {
  readonly columns: readonly string[];
  /** What a row is ordered by; absent where the rows are ordered here. */
  readonly order: string | undefined;
  readonly read: (row: readonly unknown[], keys: readonly unknown[]) => Tally;
}

function writeMeasure(
  group: GroupSelect,
  column: string | undefined,
  codec: Codec | undefined,
  dialect: Dialect,
): Measure {
  const { operation } = group;
  if (operation === 'Count') {
    // What SQLite cannot read as a date is null.
    const looked = column && dialect === 'sqlite' ? (codec?.ordered?.(column, '') ?? column) : column;
    const count = `count(${looked ?? '*'})`;
    return { columns: [count], order: count, read: ([value], keys) => ({ row: [Number(value), ...keys] }) };
  }
  if (!column || !codec) throw new Error(`${operation} without a value`);
  if (operation === 'Max' || operation === 'Min') {
    const best = `${operation.toLowerCase()}(${codec.ordered?.(column, '') ?? column})`;
    return {
      columns: [best],
      order: best,
      read: ([value], keys) => ({ row: [decodeWith(codec.decode, value), ...keys] }),
    };
  }
  if (dialect === 'sqlite') return sqliteSum(group, column, codec.scale ?? 0);
  const summed = codec.summed?.(column) ?? column;
  const sum = `sum(${summed})`;
  const read: Measure['read'] = ([count, value], keys) =>
    sumTally(keys, codec.inexact ? roundDouble(Number(value)) : readDecimal(value), Number(count), group);
  const columns = [`count(${column})`, sum];
  if (operation === 'Sum') return { columns, order: sum, read };
  const fine = codec.inexact
    ? sum
    : dialect === 'mysql'
      ? `cast(${sum} as decimal(65, 20))`
      : `${sum} * 1.${'0'.repeat(24)}`;
  return { columns, order: `${fine} / count(${column})`, read };
}

/** How many values there are, then the parts of their sum. */
function sqliteSum(group: GroupSelect, column: string, scale: number): Measure {
  const factor = 10 ** scale;
  const kind = `typeof(${column})`;
  const isWhole = `${kind} = 'integer'`;
  // A real that is a decimal of the declared scale, and small enough to be told from its neighbours.
  const isDecimal =
    scale > 0
      ? `${kind} = 'real' and abs(${column}) < ${Math.floor(4e15 / factor)} and round(${column} * ${factor}.0) / ${factor}.0 = ${column}`
      : undefined;
  const only = (condition: string, value: string) => `sum(case when ${condition} then ${value} end)`;
  const halves = (condition: string, value: string) => [
    only(condition, `${value} >> 32`),
    only(condition, `${value} & 4294967295`),
  ];
  const unit = `cast(round(${column} * ${factor}.0) as integer)`;
  const exact = isDecimal ? `${isWhole} or ${isDecimal}` : isWhole;
  const rest = `sum(case when ${exact} then null else cast(${column} as real) end)`;
  return {
    columns: [`count(${column})`, ...halves(isWhole, column), ...(isDecimal ? halves(isDecimal, unit) : []), rest],
    order: undefined,
    read(row, keys) {
      const [count, high, low, unitsHigh, unitsLow] = row;
      let sum: Decimal | undefined = { units: join(high, low), scale: 0 };
      if (isDecimal) sum = addDecimals(sum, { units: join(unitsHigh, unitsLow), scale });
      const rough = row[isDecimal ? 5 : 3];
      if (rough !== null) {
        const rounded = roundDouble(Number(rough));
        sum = rounded && addDecimals(sum, rounded);
      }
      return sumTally(keys, sum, Number(count), group);
    },
  };
}

/** Halves of 32 bits as the integer they make. */
function join(high: unknown, low: unknown): bigint {
  return (integer(high) << 32n) + integer(low);
}

function integer(value: unknown): bigint {
  if (value === null) return 0n;
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw needsBigIntegers;
  return BigInt(value as number | bigint);
}

function decodeWith(decode: ((value: unknown) => unknown) | undefined, value: unknown): unknown {
  return value === null || !decode ? value : decode(value);
}

type WriteBucket = (bucket: Bucket, column: string, codec: Codec) => string;

/** SQL of the first day of a period as 'YYYY-MM-DD'. */
const buckets: Record<Dialect, WriteBucket> = {
  sqlite({ unit, offsets }, column, codec) {
    const at = offsets ? [codec.utc!(column)] : [codec.ordered?.(column, '') ?? column];
    if (offsets && (offsets.changes.length || offsets.first)) {
      const bound = literal(codec);
      at.push(
        offsetCase(offsets, codec.ordered?.(column, '') ?? column, bound, (seconds) => `'${signed(seconds)} seconds'`),
      );
    }
    return `date(${[...at, ...sqliteStart[unit](at.join(', '))].join(', ')})`;
  },
  mysql({ unit, offsets }, column, codec) {
    const seconds = offsets ? offsetCase(offsets, column, literal(codec), String) : '0';
    // Adding also makes null of days that are none, such as the zero date.
    return mysqlStart[unit](`date_add(${column}, interval ${seconds} second)`);
  },
  postgres({ unit, offsets }, column, codec) {
    const start = (at: string) => `to_char(date_trunc('${unit.toLowerCase()}', ${at}), 'YYYY-MM-DD')`;
    const bound = literal(codec);
    const [from, to] = offsets ? bounds(offsets) : ['0001-01-01', '9999-12-31'];
    const shifted = offsets
      ? `${column}::timestamp + ${offsetCase(offsets, column, bound, (seconds) => `interval '${seconds} seconds'`)}`
      : `${column}::timestamp`;
    // Outside are infinity and the years that have no canonical form.
    return `(case when ${column} between ${bound(from)} and ${bound(to)} then ${start(shifted)} end)`;
  },
};

const sqliteStart: { readonly [U in BucketUnit]: (at: string) => readonly string[] } = {
  Day: () => [],
  Week: () => ["'weekday 0'", "'-6 days'"],
  Month: () => ["'start of month'"],
  Quarter: (at) => ["'start of month'", `'-' || ((strftime('%m', ${at}) - 1) % 3) || ' months'`],
  Year: () => ["'start of year'"],
};

const quarterMonths = ['01', '04', '07', '10'].flatMap((month) => Array<string>(3).fill(`'${month}'`)).join(', ');
const mysqlStart: { readonly [U in BucketUnit]: (at: string) => string } = {
  Day: (at) => `date_format(${at}, '%Y-%m-%d')`,
  Week: (at) => `date_format(date_sub(${at}, interval weekday(${at}) day), '%Y-%m-%d')`,
  Month: (at) => `date_format(${at}, '%Y-%m-01')`,
  Quarter: (at) => `concat(date_format(${at}, '%Y-'), elt(month(${at}), ${quarterMonths}), '-01')`,
  Year: (at) => `date_format(${at}, '%Y-01-01')`,
};

/** Which offset an instant has: halved again and again, so that the deepest of 300 changes is nine comparisons away. */
function offsetCase(
  { first, changes }: ZoneOffsets,
  column: string,
  bound: (instant: string) => string,
  write: (seconds: number) => string,
): string {
  const between = (low: number, high: number): string => {
    if (low === high) return write(low === 0 ? first : changes[low - 1]!.seconds);
    const middle = (low + high) >> 1;
    const { from } = changes[middle]!;
    return `case when ${column} < ${bound(from)} then ${between(low, middle)} else ${between(middle + 1, high)} end`;
  };
  const sql = between(0, changes.length);
  return changes.length ? `(${sql})` : sql;
}

/** What local time of the years 1 to 9999 begins and ends with, within these years of UTC. */
function bounds({ first, changes }: ZoneOffsets): readonly [string, string] {
  const start = Date.parse('0001-01-01T00:00:00.000Z');
  const end = Date.parse('9999-12-31T23:59:59.999Z');
  const last = changes.at(-1)?.seconds ?? first;
  return [
    new Date(Math.max(start, start - first * 1000)).toISOString(),
    new Date(Math.min(end, end - last * 1000)).toISOString(),
  ];
}

/** An instant, or a day, as SQL that a column of the codec is compared with. */
function literal(codec: Codec): (value: string) => string {
  return (value) => {
    const encoded = codec.encode(value);
    const text = typeof encoded === 'number' ? String(encoded) : `'${encoded}'`;
    return codec.parameter?.('').replace('?', text) ?? text;
  };
}

function signed(seconds: number): string {
  return seconds < 0 ? String(seconds) : `+${seconds}`;
}
