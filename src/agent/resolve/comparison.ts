// Resolves comparisons of two values of a record (core/filter.ts). Checks their types before a database is asked.
import { fail } from '../../core/errors.ts';
import { comparisonOperators, type Operator, type PlainComparison, readComparison } from '../../core/filter.ts';
import { not } from '../lower/simplify.ts';
import type { Moment } from '../model/types.ts';
import type { Comparison, Expression, Filter, Path } from '../plan/types.ts';
import { comparedColumn, fieldPaths } from '../sources/aggregate/expression.ts';
import { adopt, type ColumnOf, formatType, nameOf, requireSameType, resolveExpression, typeOf } from './expression.ts';
import { readNumber } from './values.ts';
import type { CollectionView } from './visibility.ts';

const invalid = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'filter', problem });
const form =
  'send {"field":"shipped_at","operator":"After","other":"required_at"} or {"expression":{"minus":["price","cost"]},"operator":"LessThan","value":10}.';

type Sides = readonly [left: Expression, right: Expression];

/** Throws INVALID_ARGUMENT, OPERATOR_NOT_ALLOWED and the errors of `resolveExpression`. */
export function resolveComparison(
  view: CollectionView,
  plain: PlainComparison,
  operator: Operator,
  moment: Moment,
): Filter {
  const [one, two] = resolveSides(view, plain, operator, { moment });
  const is = operator === 'Before' ? 'LessThan' : operator === 'After' ? 'GreaterThan' : operator;
  for (const path of [...fieldPaths(one), ...fieldPaths(two)]) checkOperator(view, path, is);
  return compareSides([one, two], operator, view.collection.source.compares ? {} : { isResidual: true });
}

/** The two sides, whose types can be compared. `columnOf`: the columns of a list beside the fields. */
export function resolveSides(
  view: CollectionView,
  plain: PlainComparison,
  operator: Operator,
  { moment, columnOf }: { readonly moment: Moment; readonly columnOf?: ColumnOf },
): Sides {
  checkForm(plain, operator);
  const { left, right } = readComparison(plain);
  const context = { moment, ...(columnOf && { columnOf }) };
  const sides = adopt(
    resolveExpression(view, left, { ...context, at: 'filter.expression' }),
    resolveExpression(view, right, { ...context, at: 'other' in plain ? 'filter.other' : 'filter.value' }),
    'filter',
    moment,
  );
  if (sides[0].op === 'constant' && (sides[1].op === 'constant' || typeOf(sides[1]) !== 'Number'))
    return invalid(`the constant of a comparison is its value: ${form}`);
  return checkTypes(sides, operator);
}

export function compareSides([one, two]: Sides, operator: Operator, facts: { readonly isResidual?: true }): Filter {
  const is = operator === 'Before' ? 'LessThan' : operator === 'After' ? 'GreaterThan' : operator;
  const compare = (op: Comparison['is'], [left, right]: Sides): Filter => ({
    op: 'compare',
    is: op,
    left,
    right,
    ...facts,
  });
  switch (is) {
    case 'NotEqual':
      return not(compare('Equal', [one, two]));
    case 'GreaterThan':
      return compare('LessThan', [two, one]);
    case 'GreaterThanOrEqual':
      return compare('LessThanOrEqual', [two, one]);
    default:
      return compare(is as Comparison['is'], [one, two]);
  }
}

function checkForm(plain: PlainComparison, operator: Operator): void {
  const keys = Object.keys(plain);
  const known = ['field', 'expression', 'operator', 'other', 'value'];
  const unknown = keys.find((key) => !known.includes(key));
  if (unknown !== undefined) invalid(`'${unknown}' is unknown: ${form}`);
  if (keys.includes('field') === keys.includes('expression') || keys.includes('other') === keys.includes('value'))
    invalid(`a comparison has field or expression, and other or value: ${form}`);
  if (!(comparisonOperators as readonly Operator[]).includes(operator))
    invalid(`${operator} does not compare two values. Usable: ${comparisonOperators.join(', ')}.`);
}

const equalityTypes = new Set(['Enum', 'Boolean']);
const comparableTypes = new Set(['Number', 'String', 'Date', 'Dateonly', 'Time', 'Uuid', ...equalityTypes]);

function checkTypes(sides: Sides, operator: Operator): Sides {
  const numbers = sides.some((side) => typeOf(side) === 'Number') ? sides.map(toNumber) : sides;
  const [left, right] = numbers as [Expression, Expression];
  const types = [left, right].map(typeOf);
  for (const side of [left, right]) {
    const type = typeOf(side);
    if (typeof type !== 'string' || !comparableTypes.has(type))
      invalid(`${nameOf(side)} is ${formatType(type)}, which cannot be compared with other values.`);
    if (equalityTypes.has(type as string) && operator !== 'Equal' && operator !== 'NotEqual')
      invalid(`${nameOf(side)} is ${formatType(type)}, which compares with Equal and NotEqual only.`);
  }
  const kinds = types.map((type) => (type === 'Enum' ? 'String' : type));
  if (kinds[0] !== kinds[1])
    invalid(
      `it compares two values of one type, but ${nameOf(left)} is ${formatType(types[0]!)} and ${nameOf(right)} is ${formatType(types[1]!)}.`,
    );
  if ((operator === 'Before' || operator === 'After') && kinds[0] !== 'Date' && kinds[0] !== 'Dateonly')
    invalid(
      `${operator} compares dates, but ${nameOf(left)} is ${formatType(types[0]!)}. Send ${operator === 'Before' ? 'LessThan' : 'GreaterThan'}.`,
    );
  if (kinds[0] !== 'Number' && [left, right].some(({ op }) => op === 'coalesce'))
    requireSameType([left, right], 'filter');
  const [one, two] = [left, right].map((side) => (side.op === 'constant' ? undefined : comparedColumn(side).collation));
  if ((kinds[0] === 'String' || kinds[0] === 'Uuid') && one !== undefined && two !== undefined && one !== two)
    invalid(
      `the database compares ${nameOf(left)} (${one}) and ${nameOf(right)} (${two}) in different ways, so they cannot be compared with one another.`,
    );
  return [left, right];
}

/** Digits in a text constant next to a number. */
function toNumber(side: Expression): Expression {
  if (side.op !== 'constant' || side.type !== 'String') return side;
  const value = readNumber(side.value);
  return value === undefined ? side : { op: 'constant', type: 'Number', value };
}

/** Fields that cannot be filtered cannot be compared. Code replaces an operator for one value, not for two. */
export function checkOperator(view: CollectionView, { field, id }: Path, is: Operator): void {
  const support = field.operators.get(is);
  if (!support)
    fail('OPERATOR_NOT_ALLOWED', {
      collection: view.collection.name,
      field: id,
      operator: is,
      allowed: [...field.operators.keys()],
    });
  if (support && typeof support.evaluatedBy === 'object' && 'replace' in support.evaluatedBy)
    invalid(
      `code replaces ${is} of '${id}', so it compares with values only: {"field":"${id}","operator":"${is}","value":...}.`,
    );
}
