// Builds the SQL of a GroupSelect and decodes its rows. Days in a timezone are computed with offsets from the
// statement, because the database's own may be missing (MariaDB until they are loaded, SQLite always) or outdated
// (PostgreSQL). A CASE with a few comparisons selects the offset of an instant.
//
// SQLite cannot sum large integers or decimals exactly. Integers are summed in halves of 32 bits, and decimals as
// integers of their smallest unit; this module combines them. Groups ordered by such a sum are therefore sorted in the
// process, up to a limit.
import { fail } from '../../../../core/errors.ts';
import { sortTallies, sumTally, type Tally } from '../../aggregate.ts';
import { addDecimals, type Decimal, readDecimal, roundDouble } from '../../decimal.ts';
import type { Bucket, BucketUnit, GroupKey, GroupSelect, Row, ZoneOffsets } from '../../statement.ts';
import { offsetsBetween } from '../../zones.ts';
import { type Codec, type Dialect, notFinite } from '../codec.ts';
import { needsBigIntegers } from '../sqlite/types.ts';
import { writeOffsetCase } from './offset-case.ts';
import {
  createSqlWriter,
  isNullable,
  placeholdersOf,
  requireWhole,
  type Statement,
  type StatementContext,
  TRUE,
} from './read.ts';

/** The most groups sorted in the process. */
const GROUPS_LIMIT = 100_000;

interface GroupStatement extends Statement {
  /** Converts the driver's rows to canonical ones, in order. */
  readonly read: (rows: readonly unknown[][]) => Row[];
}

export function buildGroup(group: GroupSelect, context: StatementContext): GroupStatement {
  const { dialect, shapes } = context;
  const writer = createSqlWriter(context);
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
          problem: `more than ${GROUPS_LIMIT} groups, too many to order by this value. Narrow the filters, group by fewer fields, or order by 'groups'.`,
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

/** Whether the order lists all groups before the value, which then never decides. */
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
  return `order by ${clauses.join(', ')}${limitOf(group)}`;
}

function limitOf({ limit, skip = 0 }: GroupSelect): string {
  if (limit === undefined) return '';
  return ` limit ${requireWhole(limit)}${skip === 0 ? '' : ` offset ${requireWhole(skip)}`}`;
}

interface Key {
  readonly by: string;
  readonly shown: string;
  readonly nullable: boolean;
  readonly decode: ((value: unknown) => unknown) | undefined;
}

function writeKey({ path, bucket }: GroupKey, column: string, codec: Codec, dialect: Dialect): Key {
  if (bucket) {
    const by = writeBucket(bucket, column, codec, dialect);
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
  /** The SQL to order rows by; absent if the rows are sorted in the process. */
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
    // SQLite reads an invalid date as null, so it must not count.
    const looked = column && dialect === 'sqlite' ? (codec?.ordered?.(column, '') ?? column) : column;
    const count = `count(${looked ?? '*'})`;
    return { columns: [count], order: count, read: ([value], keys) => ({ row: [Number(value), ...keys] }) };
  }
  if (!column || !codec) throw new Error(`${operation} without a value`);
  if (operation === 'Max' || operation === 'Min') {
    const best = extreme(operation, column, codec, dialect);
    // max() in SQLite drops the collation of its column, and would order the groups by bytes.
    const folds = dialect === 'sqlite' && group.value!.field.collation === 'insensitive';
    return {
      columns: [best],
      order: folds ? undefined : best,
      read: ([value], keys) => ({ row: [decodeWith(codec.ranked?.decode ?? codec.decode, value), ...keys] }),
    };
  }
  if (dialect === 'sqlite') return sqliteSum(group, column, codec.scale ?? 0);
  const summed = codec.summed?.(column) ?? column;
  const sum = `sum(${summed})`;
  const read: Measure['read'] = ([count, value], keys) =>
    notFinite(value)
      ? { row: [value, ...keys] }
      : sumTally(keys, codec.inexact ? roundDouble(Number(value)) : readDecimal(value), Number(count), group);
  const columns = [`count(${column})`, sum];
  if (operation === 'Sum') return { columns, order: sum, read };
  const fine = codec.inexact
    ? sum
    : dialect === 'mysql'
      ? `cast(${sum} as decimal(65, 20))`
      : `${sum} * 1.${'0'.repeat(24)}`;
  return { columns, order: `${fine} / count(${column})`, read };
}

/** The first or last value in the sort order of the column. */
function extreme(operation: 'Max' | 'Min', column: string, codec: Codec, dialect: Dialect): string {
  const name = operation.toLowerCase();
  if (codec.type === 'Boolean' && dialect === 'postgres')
    return `${operation === 'Max' ? 'bool_or' : 'bool_and'}(${column})`;
  return `${name}(${codec.ranked?.column(column) ?? codec.grouped?.(column) ?? codec.ordered?.(column, '') ?? column})`;
}

/** Selects the number of values, then the parts of their sum. */
function sqliteSum(group: GroupSelect, column: string, scale: number): Measure {
  const factor = 10 ** scale;
  const kind = `typeof(${column})`;
  const isWhole = `${kind} = 'integer'`;
  // A real that is a decimal of the declared scale, and small enough to be distinguishable from adjacent values.
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
        if (notFinite(rough)) return { row: [String(rough), ...keys] };
        const rounded = roundDouble(Number(rough));
        sum = rounded && addDecimals(sum, rounded);
      }
      return sumTally(keys, sum, Number(count), group);
    },
  };
}

/** Combines two halves of 32 bits into an integer. */
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

/** Converts local times of the column to local times of the call in one step. */
function writeBucket({ unit, offsets }: Bucket, column: string, { zoned, ...codec }: Codec, dialect: Dialect): string {
  if (!offsets || !zoned) return buckets[dialect]({ unit, ...(offsets && { offsets }) }, column, codec);
  return buckets[dialect]({ unit, offsets: offsetsBetween(zoned.offsets, offsets) }, column, zoned.plain);
}

type WriteBucket = (bucket: Bucket, column: string, codec: Codec) => string;

/** SQL of the first day of a period as 'YYYY-MM-DD'. */
const buckets: Record<Dialect, WriteBucket> = {
  sqlite({ unit, offsets }, column, codec) {
    const compared = codec.ordered?.(column, '') ?? column;
    if (!offsets) return `date(${[compared, ...sqliteStart[unit](compared)].join(', ')})`;
    const bound = literal(codec);
    const isShifted = offsets.changes.length > 0 || offsets.first !== 0;
    const shift = (instant: string) =>
      isShifted ? [writeOffsetCase(offsets, instant, bound, (seconds) => `'${signed(seconds)} seconds'`)] : [];
    // The converted column is long, so a subquery computes it once.
    const at = compared === column ? [codec.utc!(column), ...shift(column)] : ['substr(u, 1, 19)', ...shift('u')];
    const start = `date(${[...at, ...sqliteStart[unit](at.join(', '))].join(', ')})`;
    return compared === column ? start : `(select ${start} from (select ${compared} as u))`;
  },
  mysql({ unit, offsets }, column, codec) {
    const seconds = offsets ? writeOffsetCase(offsets, column, literal(codec), String) : '0';
    // Adding 0 seconds also turns invalid days, such as the zero date, into null.
    return mysqlStart[unit](`date_add(${column}, interval ${seconds} second)`);
  },
  postgres({ unit, offsets }, column, codec) {
    const start = (at: string) => `to_char(date_trunc('${unit.toLowerCase()}', ${at}), 'YYYY-MM-DD')`;
    const bound = literal(codec);
    const [from, to] = offsets ? zoneBounds(offsets) : ['0001-01-01', '9999-12-31'];
    const shifted = offsets
      ? `${column}::timestamp + ${writeOffsetCase(offsets, column, bound, (seconds) => `interval '${seconds} seconds'`)}`
      : `${column}::timestamp`;
    // Years outside the bounds have no canonical form.
    return `(case when ${column} between ${bound(from)} and ${bound(to)} then ${start(shifted)} when not isfinite(${column}) then ${column}::text collate "C" end)`;
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
