// The SQL of measures: the value of each row, the aggregates over it, and how their results become figures.
//
// SQLite cannot sum large integers or decimals exactly. Integers are summed in halves of 32 bits, and decimals as doubles
// (exact.ts) or as integers of their smallest unit; this module combines them.
import { interpolate, positionOf, sumFigure, toFigure } from '../../aggregate.ts';
import type { Expression, Figure, Measure } from '../../statement.ts';
import { addDecimals, type Decimal, readDecimal, roundDouble, toFraction } from '../../values/decimal.ts';
import { type Codec, type Dialect, notFinite } from '../codec.ts';
import { needsBigIntegers } from '../sqlite/types.ts';
import { needsExact, percentileOfDoubles, sumOfDoubles, writeExact } from './exact.ts';
import { type ExpressionContext, isNumber, writeValue } from './expression.ts';
import { type Fragment, fragment, plain } from './fragment.ts';

/** The value of a row, and the aggregates over the reference to it. */
interface WrittenMeasure {
  /** Null for rows that do not count. Absent: the measure counts rows. */
  readonly value: Fragment | undefined;
  aggregate(value: string, ranked?: Ranked): WrittenAggregate;
}

/** References to columns of the row, for percentiles. */
export interface Ranked {
  /** The number of values of the group. */
  readonly count: string;
  /** The place of the row among these values, from 1. Absent: the group has one `count`, and the database finds places. */
  readonly place?: string;
}

export interface WrittenAggregate {
  readonly columns: readonly string[];
  /** The SQL to order rows by; absent if the rows are sorted in the process. */
  readonly order: string | undefined;
  readonly read: (row: readonly unknown[]) => Figure;
  /** The figure as one exact number, in units of that many decimals. Absent if it is none. */
  readonly number?: { readonly sql: string; readonly scale: number; readonly isSum: boolean };
}

interface MeasureContext extends ExpressionContext {
  /** The condition of the measure. */
  readonly where: Fragment | undefined;
  /** Whether the database computes nothing with doubles (exact.ts). */
  readonly exact: boolean;
}

export function writeMeasure(measure: Measure, context: MeasureContext): WrittenMeasure {
  const { operation, of } = measure;
  const when = (value: Fragment): Fragment =>
    context.where ? fragment`(case when ${context.where} then ${value} end)` : value;
  if (!of) return { value: context.where && when(plain('1')), aggregate: (value) => counted(`count(${value})`) };
  switch (operation) {
    case 'Count':
      return { value: when(presentValue(of, context)), aggregate: (value) => counted(`count(${value})`) };
    case 'CountDistinct':
      return { value: when(distinctValue(of, context)), aggregate: (value) => counted(`count(distinct ${value})`) };
    case 'Max':
    case 'Min':
      return extreme(operation, of, context, when);
    case 'Percentile':
      return percentile(measure, of, context, when);
    default:
      return sum(operation, of, context, when);
  }
}

function counted(sql: string): WrittenAggregate {
  const read = ([value]: readonly unknown[]) => toFraction({ units: BigInt(value as number), scale: 0 });
  return { columns: [sql], order: sql, read, number: { sql, scale: 0, isSum: false } };
}

/** SQLite reads an invalid date as null, so it must not count. */
function presentValue(of: Expression, context: ExpressionContext): Fragment {
  if (of.op === 'field') {
    const column = context.column(of.path);
    return plain(context.dialect === 'sqlite' ? (context.codecOf(of.path).ordered?.(column, '') ?? column) : column);
  }
  return isNumber(of) ? writeExact(of, context) : writeValue(of, context);
}

function distinctValue(of: Expression, context: MeasureContext): Fragment {
  if (of.op !== 'field') return isNumber(of) ? writeExact(of, context) : writeValue(of, context);
  const codec = context.codecOf(of.path);
  const column = context.column(of.path);
  return plain(folded(codec.grouped?.(column) ?? codec.ordered?.(column, '') ?? column, of, context));
}

/** SQLite: an expression around a column loses the collation of the column. */
function folded(sql: string, of: Expression, { dialect, where }: MeasureContext): string {
  const ignoresCase = dialect === 'sqlite' && of.op === 'field' && of.path.field.collation === 'insensitive';
  return ignoresCase && where ? `${sql} collate nocase` : sql;
}

type When = (value: Fragment) => Fragment;

/** The first or last value in the sort order of the column. */
function extreme(operation: 'Max' | 'Min', of: Expression, context: MeasureContext, when: When): WrittenMeasure {
  const { dialect } = context;
  const name = operation.toLowerCase();
  if (of.op !== 'field' && isNumber(of)) {
    const number = writeExact(of, context);
    return {
      value: when(number),
      aggregate: (value) => {
        const best = `${name}(${value})`;
        return {
          columns: numberColumns(best, dialect),
          order: best,
          read: (found) => readNumber(found, number.scale),
        };
      },
    };
  }
  const { codec, ...value } = of.op === 'field' ? columnValue(of, context) : writeValue(of, context);
  const ofBoolean = codec?.type === 'Boolean' && dialect === 'postgres';
  const aggregate = ofBoolean ? (operation === 'Max' ? 'bool_or' : 'bool_and') : name;
  // max() in SQLite drops the collation of its column, and would order the groups by bytes.
  const folds = dialect === 'sqlite' && of.op === 'field' && of.path.field.collation === 'insensitive';
  const decode = of.op === 'field' ? (codec?.ranked?.decode ?? codec?.decode) : codec?.decode;
  const type = { type: codec?.type ?? ('String' as const) };
  return {
    value: when(value),
    aggregate: (reference) => {
      const best = `${aggregate}(${reference})`;
      return {
        columns: [best],
        order: folds ? undefined : best,
        read: ([found]) => toFigure(found === null || !decode ? found : decode(found), type),
      };
    },
  };
}

function columnValue(
  of: Extract<Expression, { op: 'field' }>,
  context: MeasureContext,
): Fragment & { readonly codec?: Codec } {
  const codec = context.codecOf(of.path);
  const column = context.column(of.path);
  const sql = codec.ranked?.column(column) ?? codec.grouped?.(column) ?? codec.ordered?.(column, '') ?? column;
  return { ...plain(folded(sql, of, context)), codec };
}

/** The columns of a calculated number. */
const numberColumns = (sql: string, dialect: Dialect): string[] =>
  dialect === 'sqlite' ? [sql, `typeof(${sql})`] : [sql];

/** A calculated number as a statement returns it. SQLite also returns its storage class. */
export function readNumber([value, storage]: readonly unknown[], scale: number): Figure {
  if (value === null || value === undefined) return null;
  const special = notFinite(value);
  if (special !== null) return special;
  // With 64-bit integers on, a whole double arrives as an integer.
  const isDouble =
    storage === 'real' || (storage === undefined && typeof value === 'number' && !Number.isInteger(value));
  const number = isDouble ? roundDouble(Number(value)) : storage === 'integer' ? ofUnits(value) : readDecimal(value);
  return number ? toFraction({ units: number.units, scale: number.scale + scale }) : null;
}

const ofUnits = (value: unknown): Decimal => ({ units: integer(value), scale: 0 });

/** Whether PostgreSQL sorts the values of a column as doubles, which have all their digits. */
export function isOfDoubles({ operation, of }: Measure, { dialect, codecOf }: ExpressionContext): boolean {
  return (
    dialect === 'postgres' && operation === 'Percentile' && of?.op === 'field' && codecOf(of.path).scale !== undefined
  );
}

function percentile(measure: Measure, of: Expression, context: MeasureContext, when: When): WrittenMeasure {
  const { dialect } = context;
  const { fraction } = measure;
  if (of.op === 'field' && !context.exact && isOfDoubles(measure, context)) {
    const { scale } = context.codecOf(of.path);
    return {
      value: when(plain(context.column(of.path))),
      aggregate: (value) => percentileOfDoubles(fraction!, value, scale!),
    };
  }
  const number = writeExact(of, context);
  const { units, scale } = fraction!;
  const divide = dialect === 'mysql' ? 'div' : '/';
  return {
    value: when(number),
    aggregate(value, ranked) {
      const { place, count } = ranked!;
      const index = `((${count} - 1) * ${units}) ${divide} ${10n ** BigInt(scale)}`;
      // The value at a place is the first whose share of the values is at least that of the middle of its place.
      const share = (offset: number) => `least((${index} + ${offset - 0.5}) / nullif(${count}, 0), 1)`;
      const both = `percentile_disc(array[${share(1)}, ${share(2)}]) within group (order by ${value})`;
      const at = (offset: number) =>
        place ? `max(case when ${place} = ${index} + ${offset} then ${value} end)` : `(${both})[${offset}]`;
      return {
        columns: [`max(${count})`, ...numberColumns(at(1), dialect), ...numberColumns(at(2), dialect)],
        order: undefined,
        read: ([all, ...ends]) => {
          if (!Number(all)) return null;
          const { rest } = positionOf(fraction!, Number(all));
          const width = ends.length / 2;
          const low = readNumber(ends.slice(0, width), number.scale);
          return interpolateFigures(low, readNumber(ends.slice(width), number.scale) ?? low, rest);
        },
      };
    },
  };
}

function interpolateFigures(low: Figure, high: Figure, rest: Decimal): Figure {
  if (low && typeof low === 'object' && high && typeof high === 'object') return interpolate(low.over, high.over, rest);
  return rest.units === 0n ? low : high;
}

function sum(operation: 'Sum' | 'Avg', of: Expression, context: MeasureContext, when: When): WrittenMeasure {
  const { dialect } = context;
  if (dialect === 'sqlite') return sqliteSum(operation, of, context, when);
  const isField = of.op === 'field';
  const codec = isField ? context.codecOf(of.path) : undefined;
  const column = isField ? context.column(of.path) : '';
  const number = isField ? undefined : writeExact(of, context);
  const inexact = number?.inexact ?? codec?.inexact ?? false;
  return {
    value: when(number ?? plain(codec!.summed?.(column) ?? column)),
    aggregate(value) {
      const total = `sum(${value})`;
      const count = `count(${value})`;
      const read = ([found, all]: readonly unknown[]): Figure =>
        notFinite(all) ??
        sumFigure({ operation }, inexact ? roundDouble(Number(all)) : readDecimal(all), Number(found));
      if (operation === 'Sum')
        return {
          columns: [count, total],
          order: total,
          read,
          ...(!inexact && { number: { sql: total, scale: 0, isSum: true } }),
        };
      const fine = inexact
        ? total
        : dialect === 'mysql'
          ? `cast(${total} as decimal(65, 20))`
          : `${total} * 1.${'0'.repeat(24)}`;
      return { columns: [count, total], order: `${fine} / ${count}`, read };
    },
  };
}

/** The declared number of decimals of a column that SQLite sums; otherwise 0. */
export function summedScale(
  operation: Measure['operation'],
  of: Expression | undefined,
  { dialect, codecOf }: Pick<ExpressionContext, 'dialect' | 'codecOf'>,
): number {
  const isSum = dialect === 'sqlite' && (operation === 'Sum' || operation === 'Avg');
  return isSum && of?.op === 'field' ? (codecOf(of.path).scale ?? 0) : 0;
}

function sqliteSum(operation: 'Sum' | 'Avg', of: Expression, context: MeasureContext, when: When): WrittenMeasure {
  const decimals = summedScale(operation, of, context);
  const column = of.op === 'field' ? plain(context.column(of.path)) : undefined;
  if (decimals > 0 && column && !context.exact)
    return { value: when(column), aggregate: (value) => sumOfDoubles(operation, value, decimals) };
  const number = decimals > 0 || !column ? writeExact(of, context) : undefined;
  const scale = number?.scale ?? 0;
  const sum = context.exact || number?.inexact ? sumInHalves : sumOfIntegers;
  return {
    value: when(number ?? column!),
    aggregate: (value) => ({
      ...sum(operation, value, scale),
      ...(operation === 'Sum' && !number?.inexact && { number: { sql: `sum(${value})`, scale, isSum: true } }),
    }),
  };
}

/** Overflows beyond 64 bits, and needs `exact` if a value is a double. */
function sumOfIntegers(operation: 'Sum' | 'Avg', value: string, scale: number): WrittenAggregate {
  return {
    columns: [`count(${value})`, `sum(${value})`, `typeof(sum(${value}))`],
    order: undefined,
    read: ([count, total, storage]) => {
      if (storage === 'real') throw needsExact;
      return sumFigure({ operation }, { units: integer(total), scale }, Number(count));
    },
  };
}

/** The number of values, the halves of the sum of whole ones, and the sum of the rest. */
function sumInHalves(operation: 'Sum' | 'Avg', value: string, scale: number): WrittenAggregate {
  const isWhole = `typeof(${value}) = 'integer'`;
  return {
    columns: [
      `count(${value})`,
      `sum(case when ${isWhole} then ${value} >> 32 end)`,
      `sum(case when ${isWhole} then ${value} & 4294967295 end)`,
      `sum(case when ${isWhole} then null else cast(${value} as real) end)`,
    ],
    order: undefined,
    read: ([count, high, low, rough]) => {
      let total: Decimal | undefined = { units: joinHalves(high, low), scale };
      if (rough !== null) {
        const special = notFinite(rough);
        if (special !== null) return special;
        const rounded = roundDouble(Number(rough));
        total = rounded && addDecimals(total, { ...rounded, scale: rounded.scale + scale });
      }
      return sumFigure({ operation }, total, Number(count));
    },
  };
}

/** Combines two halves of 32 bits into an integer. */
function joinHalves(high: unknown, low: unknown): bigint {
  return (integer(high) << 32n) + integer(low);
}

function integer(value: unknown): bigint {
  if (value === null) return 0n;
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw needsBigIntegers;
  return BigInt(value as number | bigint);
}

/** The order of bytes. */
export const bytewise: Record<Dialect, string> = { sqlite: 'binary', mysql: 'utf8mb4_bin', postgres: '"C"' };
