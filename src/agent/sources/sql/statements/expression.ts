// The SQL of expressions. PostgreSQL and MySQL calculate with decimals. SQLite has none, so a number is written there as
// an integer of its smallest unit, with the number of decimals known from the text; a value that is no such integer is a
// double. Numbers that the database keeps as binary fractions make the whole calculation one of doubles.
import { comparedColumn } from '../../aggregate/expression.ts';
import { inexactHere } from '../../source.ts';
import type { Constant, Expression, Path } from '../../statement.ts';
import { type Decimal, readDecimal } from '../../values/decimal.ts';
import type { Codec, Dialect } from '../codec.ts';
import { dateParameter, type WrittenDate, writeDifference } from './difference.ts';
import { type Fragment, fragment, plain } from './fragment.ts';
import { writePeriod } from './period.ts';
import { decimalsOf } from './shape.ts';

/** What the SQL of an expression needs from the statement. */
export interface ExpressionContext {
  readonly dialect: Dialect;
  column(path: Path): string;
  codecOf(path: Path): Codec;
  /** For a number that is exact and no column: SQLite has it as an integer with so many decimals. Otherwise undefined. */
  scaleOf?(path: Path): number | undefined;
  /** The index of the next value that the walk of the shape collected. */
  nextValue(): number;
}

/** A figure that conditions compare. */
export interface FigureColumn {
  readonly column: string;
  /** Of the column that it is a value of. */
  readonly codec?: Codec;
  /** Of other numbers: see `ExpressionContext`. */
  readonly scale?: number;
}

/** A number in SQL. */
interface WrittenNumber extends Fragment {
  /** A double. */
  readonly inexact: boolean;
  /** SQLite: the value is the SQL divided by 10 to this power. Zero on other databases. */
  readonly scale: number;
}

/** A value in SQL that is not a calculated number: a column, a constant, or the first of several that is not null. */
interface WrittenValue extends Fragment {
  /** The codec of the column that the value comes from. Absent for a constant. */
  readonly codec?: Codec;
}

export function writeNumber(expression: Expression, context: ExpressionContext): WrittenNumber {
  switch (expression.op) {
    case 'field': {
      const { path } = expression;
      const scale = context.scaleOf?.(path);
      if (scale !== undefined) return { ...plain(context.column(path)), inexact: false, scale };
      return numberColumns[context.dialect](context.column(path), path, context.codecOf(path));
    }
    case 'constant':
      return numberConstant(expression, context);
    case 'difference':
      return { ...writeDifference(expression, writeDates(expression, context), context.dialect), inexact: false };
    case 'part':
      return writePart(expression, context);
    case 'coalesce':
      return coalesceNumbers(expression.of, context);
    case 'abs':
    case 'round': {
      const of = writeNumber(expression.of, context);
      return expression.op === 'abs' ? { ...of, ...fragment`abs(${of})` } : roundings[context.dialect](of);
    }
    default: {
      const [left, right] = expression.of.map((each) => writeNumber(each, context)) as [WrittenNumber, WrittenNumber];
      const [a, b] =
        left.inexact === right.inexact ? [left, right] : [toDouble(left, context), toDouble(right, context)];
      const decimals = expression.op === 'dividedBy' ? expression.decimals : 0;
      return arithmetic[context.dialect](expression.op, a, b, decimals);
    }
  }
}

function writePart({ of, ...by }: Extract<Expression, { op: 'part' }>, context: ExpressionContext): WrittenNumber {
  const { path } = of as Extract<Expression, { op: 'field' }>;
  const part = writePeriod({ ...by, kind: 'part' }, context.column(path), context.codecOf(path), context.dialect);
  // Quotients of integers would be whole.
  const cast = { sqlite: part, mysql: `cast(${part} as decimal(20, 0))`, postgres: `(${part})::numeric` };
  return { ...plain(cast[context.dialect]), inexact: false, scale: 0 };
}

type WriteColumn = (column: string, path: Path, codec: Codec) => WrittenNumber;

const numberColumns: Record<Dialect, WriteColumn> = {
  postgres(column, _, codec) {
    if (codec.inexact) return { ...plain(column), inexact: true, scale: 0 };
    return { ...plain(`(${codec.summed?.(column) ?? column})::numeric`), inexact: false, scale: 0 };
  },
  mysql(column, { field }, codec) {
    const sql = codec.summed?.(column) ?? column;
    if (codec.inexact) return { ...plain(sql), inexact: true, scale: 0 };
    // Integers overflow at 64 bits, and unsigned ones below zero.
    const isDecimal = /^(?:decimal|numeric)/i.test(field.nativeType);
    return { ...plain(isDecimal ? sql : `cast(${sql} as decimal(20, 0))`), inexact: false, scale: 0 };
  },
  sqlite(column, { field }, codec) {
    if (/real|doub|floa/i.test(field.nativeType))
      return { ...plain(`cast(${column} as real)`), inexact: true, scale: 0 };
    const scale = codec.scale ?? 0;
    if (scale === 0)
      return {
        ...plain(`(case typeof(${column}) when 'integer' then ${column} else cast(${column} as real) end)`),
        inexact: false,
        scale,
      };
    const factor = 10 ** scale;
    const isDecimal = isSqliteDecimal(column, scale);
    // Each call of a function takes time for every row, so the most common case comes first.
    const sql = `(case when ${isDecimal} then ${sqliteUnits(column, scale)} when typeof(${column}) = 'integer' then ${column} * ${factor} else cast(${column} as real) * ${factor}.0 end)`;
    return { ...plain(sql), inexact: false, scale };
  },
};

/** A number that is a decimal of the declared scale, and small enough to be distinguishable from adjacent values. */
export function isSqliteDecimal(column: string, scale: number): string {
  const factor = 10 ** scale;
  const most = Math.floor(4e15 / factor);
  return `${column} between -${most} and ${most} and round(${column} * ${factor}.0) / ${factor}.0 = ${column}`;
}

const sqliteUnits = (column: string, scale: number): string => `cast(round(${column} * ${10 ** scale}.0) as integer)`;

function numberConstant({ value }: Constant, { dialect, nextValue }: ExpressionContext): WrittenNumber {
  const index = nextValue();
  const scale = decimalsOf(value);
  const bound = (sql: string, encode: (value: unknown) => unknown) => ({
    sql,
    binds: [{ value: index, encode }],
    inexact: false,
  });
  if (dialect === 'postgres') return { ...bound('?::numeric', String), scale: 0 };
  if (dialect === 'mysql') return { ...bound(`cast(? as decimal(65, ${Math.min(scale, 30)}))`, toDigits), scale: 0 };
  return { ...bound('cast(? as integer)', (each) => toUnits(readDecimal(each)!)), scale };
}

/** Digits without an exponent. */
function toDigits(value: unknown): string {
  const { units, scale } = readDecimal(value)!;
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}${scale ? `.${digits.slice(-scale)}` : ''}`;
}

function toUnits({ units }: Decimal): bigint {
  if (BigInt.asIntN(64, units) !== units) throw inexactHere;
  return units;
}

function toDouble(number: WrittenNumber, { dialect }: ExpressionContext): WrittenNumber {
  if (number.inexact || dialect === 'mysql') return { ...number, inexact: true };
  if (dialect === 'postgres') return { ...fragment`(${number})::double precision`, inexact: true, scale: 0 };
  return { ...fragment`(cast(${number} as real) / ${10 ** number.scale}.0)`, inexact: true, scale: 0 };
}

type Operator = 'plus' | 'minus' | 'times' | 'dividedBy';
type WriteArithmetic = (op: Operator, a: WrittenNumber, b: WrittenNumber, decimals: number) => WrittenNumber;
const signs = { plus: '+', minus: '-', times: '*', dividedBy: '/' } as const;

const arithmetic: Record<Dialect, WriteArithmetic> = {
  postgres(op, a, b, decimals) {
    const { inexact } = a;
    if (op !== 'dividedBy') return { ...fragment`(${a} ${signs[op]} ${b})`, inexact, scale: 0 };
    if (inexact) return { ...fragment`(${a} / nullif(${b}, 0))`, inexact, scale: 0 };
    // The scale of a quotient is at least that of its first operand. PostgreSQL rounds it before round() does, so it has
    // more decimals than a divisor has digits: 4 / 0.6666666667 is 5.99999999970000000001|4999999999...
    const fine = `1.${'0'.repeat(decimals + 50)}`;
    return { ...fragment`round(${a} * ${fine} / nullif(${b}, 0), ${decimals})`, inexact, scale: 0 };
  },
  mysql(op, a, b, decimals) {
    const { inexact } = a;
    if (op !== 'dividedBy') return { ...fragment`(${a} ${signs[op]} ${b})`, inexact, scale: 0 };
    if (inexact) return { ...fragment`(${a} / nullif(${b}, 0))`, inexact, scale: 0 };
    const fine = Math.min(30, decimals + 6);
    return { ...fragment`round(cast(${a} as decimal(65, ${fine})) / nullif(${b}, 0), ${decimals})`, inexact, scale: 0 };
  },
  sqlite(op, a, b, decimals) {
    const { inexact } = a;
    if (inexact && op === 'dividedBy') return { ...fragment`(${a} / nullif(${b}, 0))`, inexact, scale: 0 };
    if (inexact) return { ...fragment`(${a} ${signs[op]} ${b})`, inexact, scale: 0 };
    if (op === 'times') return { ...fragment`(${a} * ${b})`, inexact, scale: a.scale + b.scale };
    if (op === 'dividedBy') return divideUnits(a, b, decimals);
    const [left, right, scale] = alignUnits(a, b);
    return { ...fragment`(${left} ${signs[op]} ${right})`, inexact, scale };
  },
};

/** SQLite: both numbers with the larger scale. */
function alignUnits(a: WrittenNumber, b: WrittenNumber): readonly [Fragment, Fragment, number] {
  const scale = Math.max(a.scale, b.scale);
  const at = (number: WrittenNumber): Fragment =>
    number.scale === scale ? number : fragment`(${number} * ${10 ** (scale - number.scale)})`;
  return [at(a), at(b), scale];
}

/** SQLite: divides integers, rounding half away from zero. Beyond 64 bits it divides doubles. */
function divideUnits(a: WrittenNumber, b: WrittenNumber, decimals: number): WrittenNumber {
  const shift = decimals + b.scale - a.scale;
  const factor = 10n ** BigInt(shift);
  const rough = `a * ${factor}.0 / b`;
  const most = 9_000_000_000_000_000_000n / factor;
  const rest = `((a % b) * ${factor})`;
  const away = `case when (a < 0) = (b < 0) then 1 else -1 end`;
  const rounded = `(a / b) * ${factor} + ${rest} / b + case when abs(${rest} % b) >= abs(b) - abs(${rest} % b) then ${away} else 0 end`;
  const exact =
    most > 0n ? `when typeof(a) = 'integer' and typeof(b) = 'integer' and abs(a % b) <= ${most} then ${rounded}` : '';
  const sql = fragment`(select case when b = 0 then null ${exact} else ${rough} end from (select ${a} as a, ${b} as b))`;
  return { ...sql, inexact: false, scale: decimals };
}

const roundings: Record<Dialect, (of: WrittenNumber) => WrittenNumber> = {
  postgres: (of) => ({ ...fragment`round(${of.inexact ? fragment`(${of})::numeric` : of})`, inexact: false, scale: 0 }),
  // MySQL rounds halves of doubles to even.
  mysql: (of) =>
    of.inexact
      ? { ...fragment`(sign(${of}) * floor(abs(${of}) + 0.5))`, inexact: true, scale: 0 }
      : { ...fragment`round(${of})`, inexact: false, scale: 0 },
  sqlite(of) {
    if (of.inexact) return { ...fragment`round(${of})`, inexact: true, scale: 0 };
    if (of.scale === 0)
      return {
        ...fragment`(select case typeof(u) when 'real' then round(u) else u end from (select ${of} as u))`,
        inexact: false,
        scale: 0,
      };
    const factor = String(10n ** BigInt(of.scale));
    const half = String(10n ** BigInt(of.scale) / 2n);
    const exact = `case when u < 0 then -((${half} - u) / ${factor}) else (u + ${half}) / ${factor} end`;
    return {
      ...fragment`(select case typeof(u) when 'integer' then ${exact} else round(u / ${factor}.0) end from (select ${of} as u))`,
      inexact: false,
      scale: 0,
    };
  },
};

function coalesceNumbers(of: readonly [Expression, Expression], context: ExpressionContext): WrittenNumber {
  const [left, right] = of.map((each) => writeNumber(each, context)) as [WrittenNumber, WrittenNumber];
  const [one, two] = alignNumbers(left, right, context);
  return { ...one, ...fragment`coalesce(${one}, ${two})` };
}

/** Two numbers in one form. */
export function alignNumbers(
  left: WrittenNumber,
  right: WrittenNumber,
  context: ExpressionContext,
): readonly [WrittenNumber, WrittenNumber] {
  const [a, b] = left.inexact === right.inexact ? [left, right] : [toDouble(left, context), toDouble(right, context)];
  if (context.dialect !== 'sqlite' || a.inexact) return [a, b];
  const [one, two, scale] = alignUnits(a, b);
  return [
    { ...one, inexact: false, scale },
    { ...two, inexact: false, scale },
  ];
}

export function writeDates(difference: Extract<Expression, { op: 'difference' }>, context: ExpressionContext) {
  const codec = difference.of.map((each) => codecWithin(each, context)).find(Boolean);
  const write = (each: Expression): WrittenDate => {
    if (each.op === 'field') {
      const own = context.codecOf(each.path);
      return { ...plain(context.column(each.path)), codec: own, isConstant: false };
    }
    const { sql, encode } = dateParameter(context.dialect, difference);
    return { sql, binds: [{ value: context.nextValue(), encode }], codec: codec!, isConstant: true };
  };
  const [from, to] = difference.of;
  return [write(from), write(to)] as const;
}

/** A text, boolean or date in a form that is equal for equal values, and sorts like them. */
export function writeValue(expression: Expression, context: ExpressionContext, typed?: Codec): WrittenValue {
  const { dialect } = context;
  switch (expression.op) {
    case 'field': {
      const codec = context.codecOf(expression.path);
      const column = context.column(expression.path);
      if (codec.type === 'String' || codec.type === 'Enum') {
        const text = codec.text?.(column) ?? column;
        return { ...plain(dialect === 'postgres' ? `${text}::text` : text), codec: { ...codec, type: 'String' } };
      }
      return { ...plain(codec.grouped?.(column) ?? codec.ordered?.(column, '') ?? column), codec };
    }
    case 'constant': {
      const { value, type } = expression;
      const index = context.nextValue();
      if (type === 'String' || type === 'Enum' || !typed)
        return {
          sql: dialect === 'postgres' ? `?::${type === 'Boolean' ? 'boolean' : 'text'}` : '?',
          binds: [{ value: index, encode: typed?.encode ?? encodePlain }],
        };
      const sql =
        typed.parameter?.(typed.kindOf?.(value) ?? '') ??
        (dialect === 'postgres' && type === 'Boolean' ? '?::boolean' : '?');
      return { sql, binds: [{ value: index, encode: typed.encode }], codec: typed };
    }
    case 'coalesce': {
      const known = typed ?? codecWithin(expression, context);
      const [left, right] = expression.of.map((each) => writeValue(each, context, known)) as [
        WrittenValue,
        WrittenValue,
      ];
      const codec = left.codec ?? right.codec;
      const isFolded = dialect === 'sqlite' && comparedColumn(expression).collation === 'insensitive';
      const sql = fragment`coalesce(${left}, ${right})`;
      return { ...(isFolded ? fragment`(${sql} collate nocase)` : sql), ...(codec && { codec }) };
    }
    default:
      throw new Error(`${expression.op} is a number`);
  }
}

const encodePlain = (value: unknown): unknown => (typeof value === 'boolean' ? (value ? 1 : 0) : value);

/** The codec of the first column that the value can come from. */
function codecWithin(expression: Expression, context: ExpressionContext): Codec | undefined {
  if (expression.op === 'field') return context.codecOf(expression.path);
  if (expression.op !== 'coalesce') return undefined;
  return codecWithin(expression.of[0], context) ?? codecWithin(expression.of[1], context);
}

/** Whether the value is a number. */
export const isNumber = (expression: Expression): boolean => comparedColumn(expression).type === 'Number';
