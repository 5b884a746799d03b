// Resolves the expressions of callers (core/filter/expression.ts): names to paths, constants to canonical values. Checks
// types and limits before a database is asked.
import { fail } from '../../core/errors.ts';
import { losesPrecision } from '../../core/filter/exact-numbers.ts';
import {
  type ArithmeticOperator,
  arithmeticOperators,
  type DatePart,
  type DifferenceUnit,
  dateParts,
  differenceUnits,
  MAX_EXPRESSION_DEPTH,
  MAX_EXPRESSION_NODES,
  type PlainExpression,
} from '../../core/filter/expression.ts';
import { matchName } from '../../core/suggestions.ts';
import type { Column, Moment } from '../model/types.ts';
import type { Expression, Path } from '../plan/types.ts';
import type { ColumnType } from '../sources/column-types.ts';
import { zoneOffsets } from '../sources/zones.ts';
import { failOutputOnly, resolveName } from './names.ts';
import { checkValue, readNumber } from './values.ts';
import type { CollectionView } from './visibility.ts';

/** A column of a list by its name. Undefined for other names. */
export type ColumnOf = (name: string) => Path | undefined;

interface ExpressionContext {
  readonly moment: Moment;
  /** Names that the expression may use beside those of fields. Default: none. */
  readonly columnOf?: ColumnOf;
  /** The argument, for messages: `measures.revenue.sum`. */
  readonly at: string;
}

interface Position extends ExpressionContext {
  readonly depth: number;
  readonly counts: { nodes: number };
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

const operators = [...arithmeticOperators, 'abs', 'round', 'difference', 'coalesce'] as const;
type ExpressionOperator = (typeof operators)[number];
const example =
  'send a field, a number, {"value":"text"} or an operation such as {"times":["price","quantity"]}: plus, minus, times, dividedBy, coalesce of two; abs, round of one; {"difference":[from,to],"unit":"day"}, {"field":"placed_at","part":"Weekday"}';

/** Throws INVALID_ARGUMENT and the errors of `resolveName`. */
export function resolveExpression(
  view: CollectionView,
  plain: PlainExpression,
  context: ExpressionContext,
): Expression {
  return resolve(view, plain, { ...context, depth: 1, counts: { nodes: 0 } });
}

function resolve(view: CollectionView, plain: unknown, position: Position): Expression {
  const { at, counts } = position;
  if (position.depth > MAX_EXPRESSION_DEPTH)
    invalid(at, `expressions are nested at most ${MAX_EXPRESSION_DEPTH} deep.`);
  if (++counts.nodes > MAX_EXPRESSION_NODES)
    invalid(at, `at most ${MAX_EXPRESSION_NODES} fields, constants and operations in one expression.`);
  if (typeof plain === 'string') return resolveField(view, plain, position);
  if (typeof plain === 'number') return numberConstant(plain, at);
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) return invalid(at, `${example}.`);
  const given = plain as Readonly<Record<string, unknown>>;
  const keys = Object.keys(given);
  if (keys.length === 1 && 'value' in given) return resolveConstant(given.value, at);
  if (typeof given.field === 'string' && keys.every((key) => key === 'field' || key === 'part')) {
    const of = resolveField(view, given.field, position);
    return given.part === undefined ? of : resolvePart(of, given.part, position);
  }
  const op = operators.find((each) => each in given);
  const other = keys.find((key) => key !== op && !(op === 'difference' && key === 'unit'));
  if (!op || other !== undefined) return invalid(other ? `${at}.${other}` : at, `${example}.`);
  return resolveOperation(view, op, given, position);
}

function resolveField(view: CollectionView, name: string, { at, columnOf }: Position): Expression {
  const column = columnOf?.(name);
  if (column) return { op: 'field', path: column };
  const { path } = resolveName(view, name);
  if (path.field.computedFrom?.external) failOutputOnly(at, name);
  return { op: 'field', path };
}

function numberConstant(given: unknown, at: string): Expression {
  const value = losesPrecision(given) ? undefined : readNumber(given);
  return value === undefined
    ? invalid(at, 'send a number; one of more than 15 digits as {"value":"its digits"}.')
    : { op: 'constant', type: 'Number', value };
}

function resolveConstant(value: unknown, at: string): Expression {
  if (typeof value === 'number') return numberConstant(value, at);
  if (typeof value === 'boolean') return { op: 'constant', type: 'Boolean', value };
  if (typeof value !== 'string') return invalid(at, 'send a constant as {"value":"text"} or {"value":5}.');
  if (value.length > 1000) return invalid(at, 'a constant has at most 1000 characters.');
  return { op: 'constant', type: 'String', value };
}

function resolveOperation(
  view: CollectionView,
  op: ExpressionOperator,
  given: Readonly<Record<string, unknown>>,
  position: Position,
): Expression {
  const at = `${position.at}.${op}`;
  const deeper = (index?: number): Position => ({
    ...position,
    at: index === undefined ? at : `${at}[${index}]`,
    depth: position.depth + 1,
  });
  if (op === 'abs' || op === 'round') {
    const of = resolve(view, given[op], deeper());
    return { op, of: requireNumber(of, op, at) };
  }
  const list = given[op];
  if (!Array.isArray(list) || list.length < 2 || (list.length > 2 && !associative.has(op)))
    return invalid(
      at,
      `takes a list of two: {"${op}":${op === 'difference' ? '["from","to"],"unit":"day"' : '["a","b"]'}}.`,
    );
  const operands = list.map((each, index) => resolve(view, each, deeper(index)));
  return operands.reduce((left, right) => combine(op, left, right, given.unit, { ...position, at }));
}

/** More than two operands are combined from left to right. */
const associative: ReadonlySet<ExpressionOperator> = new Set<ExpressionOperator>(['plus', 'times', 'coalesce']);

function combine(
  op: Exclude<ExpressionOperator, 'abs' | 'round'>,
  left: Expression,
  right: Expression,
  unit: unknown,
  { at, moment }: Position,
): Expression {
  if (op === 'difference') return resolveDifference(adopt(left, right, at, moment), unit, at, moment);
  if (op === 'coalesce') return { op, of: requireSameType(adopt(left, right, at, moment), at) };
  const dates = [right, left].map((each) => (isDate(each) && each.op === 'field' ? each.path.id : undefined));
  if (op === 'minus' && !dates.includes(undefined)) {
    // The name of the measure may say the unit.
    const unit = /(minute|hour|month|year)/i.exec(at)?.[1]?.toLowerCase() ?? 'day';
    invalid(at, `for the time between two dates, send ${JSON.stringify({ difference: dates, unit })}.`);
  }
  const of = [requireNumber(left, op, at), requireNumber(right, op, at)] as const;
  return op === 'dividedBy' ? { op, of, decimals: quotientDecimals(scaleOf(left), scaleOf(right)) } : { op, of };
}

function isDate(expression: Expression): boolean {
  const type = typeOf(expression);
  return type === 'Date' || type === 'Dateonly';
}

function requireNumber(expression: Expression, op: ArithmeticOperator | 'abs' | 'round', at: string): Expression {
  const type = typeOf(expression);
  if (type === 'Number') return expression;
  if (expression.op === 'constant' && typeof expression.value === 'string') {
    const value = readNumber(expression.value);
    if (value !== undefined) return { op: 'constant', type: 'Number', value };
  }
  const hint = isDate(expression)
    ? ' For the time between two dates, send {"difference":["from","to"],"unit":"day"}.'
    : '';
  return invalid(at, `${op} takes Numbers, but ${nameOf(expression)} is ${formatType(type)}.${hint}`);
}

function resolvePart(of: Expression, given: unknown, { at, moment }: Position): Expression {
  const unit = matchName(String(given), dateParts) as DatePart | undefined;
  if (!unit) return invalid(`${at}.part`, `send ${dateParts.map((each) => `"${each}"`).join(' or ')}.`);
  const type = typeOf(of);
  if (type !== 'Date' && (type !== 'Dateonly' || unit === 'HourOfDay'))
    return invalid(at, `${nameOf(of)} is ${formatType(type)}, which has no ${unit}.`);
  return { op: 'part', of, unit, ...(type === 'Date' && { offsets: zoneOffsets(moment.zone) }) };
}

/** A text constant takes the type of the other operand: a date next to a date. */
export function adopt(
  left: Expression,
  right: Expression,
  at: string,
  moment: Moment,
): readonly [Expression, Expression] {
  const as = (constant: Expression, other: Expression): Expression => {
    const column = columnOf(other);
    if (constant.op !== 'constant' || !column || typeof column.type !== 'string' || column.type === constant.type)
      return constant;
    const value = checkValue('value', constant.value, { column, label: at, moment, acceptsDays: true });
    return { op: 'constant', type: column.type, value: value as string | number | boolean };
  };
  return [as(left, right), as(right, left)];
}

function resolveDifference(
  of: readonly [Expression, Expression],
  given: unknown,
  at: string,
  moment: Moment,
): Expression {
  const unit = matchName(String(given), differenceUnits) as DifferenceUnit | undefined;
  if (!unit)
    return invalid(
      `${at.replace(/\.difference$/, '')}.unit`,
      `send ${differenceUnits.map((each) => `"${each}"`).join(' or ')}.`,
    );
  const types = of.map(typeOf);
  const isDate = (type: ColumnType) => type === 'Date' || type === 'Dateonly';
  const wrong = of.find((_, index) => !isDate(types[index]!));
  if (wrong) return invalid(at, `takes two dates, but ${nameOf(wrong)} is ${formatType(typeOf(wrong))}.`);
  if (types[0] !== types[1])
    return invalid(
      at,
      `takes two timestamps or two days, but ${of.map((each) => `${nameOf(each)} is ${formatType(typeOf(each))}`).join(' and ')}.${daysInstead(of, unit)}`,
    );
  if (of.some((each) => each.op === 'coalesce') || of.every((each) => each.op === 'constant'))
    return invalid(at, 'takes two fields, or a field and {"value":"2024-12-31"}.');
  const isCalendar = unit === 'month' || unit === 'year';
  return {
    op: 'difference',
    of,
    unit,
    ...(types[0] === 'Date' && isCalendar && { offsets: zoneOffsets(moment.zone) }),
  };
}

/** The days of a timestamp and of a day are comparable as groups. */
function daysInstead(of: readonly [Expression, Expression], unit: DifferenceUnit): string {
  const names = of.map((each) => (each.op === 'field' ? each.path.id : undefined));
  const time = of.findIndex((each) => typeOf(each) === 'Date');
  const [moment, day] = [names[time], names[1 - time]];
  if (moment === undefined || day === undefined || unit === 'hour' || unit === 'minute')
    return ' Send two fields of one type.';
  const difference = { difference: names.map((name, at) => (at === time ? `day(${moment})` : name)), unit };
  const groups = ['id', { field: moment, bucket: 'Day' }, day];
  const over = JSON.stringify({ groups, measures: { n: { count: true } } });
  return ` For the days between them, aggregate groups of each record's days: "over":${over}, with ${JSON.stringify(difference)} in measures. In place of "id", name the key.`;
}

const coalescible: ReadonlySet<ColumnType> = new Set<ColumnType>([
  'Number',
  'String',
  'Enum',
  'Boolean',
  'Date',
  'Dateonly',
]);
const kindOf = (type: ColumnType): ColumnType => (type === 'Enum' ? 'String' : type);

export function requireSameType(of: readonly [Expression, Expression], at: string): readonly [Expression, Expression] {
  const [left, right] = of;
  const [type, other] = of.map(typeOf) as [ColumnType, ColumnType];
  const wrong = of.find((each) => !coalescible.has(typeOf(each)));
  if (wrong)
    return invalid(
      at,
      `takes numbers, texts, booleans and dates, but ${nameOf(wrong)} is ${formatType(typeOf(wrong))}.`,
    );
  if (kindOf(type) !== kindOf(other))
    return invalid(
      at,
      `takes two values of one type, but ${nameOf(left)} is ${formatType(type)} and ${nameOf(right)} is ${formatType(other)}.`,
    );
  const [one, two] = of.map(columnOf);
  // Each column of dates has its own form in the database.
  if (
    (type === 'Date' || type === 'Dateonly') &&
    one &&
    two &&
    (one.nativeType !== two.nativeType || one.timezone !== two.timezone)
  )
    return invalid(
      at,
      `takes two dates of one database type, but ${nameOf(left)} is ${one.nativeType} and ${nameOf(right)} is ${two.nativeType}.`,
    );
  return of;
}

export function nameOf(expression: Expression): string {
  if (expression.op === 'field') return `'${expression.path.id}'`;
  return expression.op === 'constant' ? JSON.stringify(expression.value) : expression.op;
}

export function formatType(type: ColumnType): string {
  return typeof type === 'string' ? type : `[${type[0]}]`;
}

/** The type of the value. */
export function typeOf(expression: Expression): ColumnType {
  switch (expression.op) {
    case 'field':
      return expression.path.field.type;
    case 'constant':
      return expression.type;
    case 'coalesce': {
      const [left, right] = expression.of;
      return typeOf(left) === 'Enum' ? kindOf(typeOf(right)) : typeOf(left);
    }
    default:
      return 'Number';
  }
}

/** The first column that the value can come from. Undefined for computed numbers and constants. */
export function columnOf(expression: Expression): Column | undefined {
  if (expression.op === 'field') return expression.path.field;
  if (expression.op !== 'coalesce') return undefined;
  return columnOf(expression.of[0]) ?? columnOf(expression.of[1]);
}

/** No database has more decimals for a quotient of a quotient. */
export const MAX_DECIMALS = 24;

/** A quotient is rounded to ten decimals beyond those of the operands, as far as they are declared. */
export function quotientDecimals(...scales: readonly number[]): number {
  return Math.min(MAX_DECIMALS, Math.max(...scales) + 10);
}

/** The number of decimals of the value, as declared. */
export function scaleOf(expression: Expression): number {
  switch (expression.op) {
    case 'field':
      return declaredScale(expression.path.field);
    case 'constant':
      return /\.(\d+)$/.exec(String(expression.value))?.[1]?.length ?? 0;
    case 'dividedBy':
      return expression.decimals;
    case 'times':
      return Math.min(MAX_DECIMALS, scaleOf(expression.of[0]) + scaleOf(expression.of[1]));
    case 'plus':
    case 'minus':
    case 'coalesce':
      return Math.max(scaleOf(expression.of[0]), scaleOf(expression.of[1]));
    case 'abs':
      return scaleOf(expression.of);
    case 'round':
    case 'part':
      return 0;
    case 'difference':
      return expression.unit === 'month' || expression.unit === 'year' ? 0 : 10;
  }
}

/** The scale of a decimal type: 4 for DECIMAL(20,4). Zero for all others, also those that declare none. */
export function declaredScale({ nativeType }: Column): number {
  return Number(/^(?:decimal|numeric|dec|fixed|number)\s*\(\s*\d+\s*,\s*(\d+)\s*\)/i.exec(nativeType)?.[1] ?? 0);
}
