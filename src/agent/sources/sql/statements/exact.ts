// SQLite calculates integers beyond 64 bits as doubles, without an error. A measure must not show their digits as exact.
import { operandsOf } from '../../aggregate/expression.ts';
import type { Expression, Path } from '../../statement.ts';
import { type ExpressionContext, isSqliteDecimal, writeNumber } from './expression.ts';
import { fragment, plain } from './fragment.ts';

/**
 * A number whose calculation fails with 'integer overflow' where SQLite would go on with a double. Numbers that are
 * stored as doubles stay doubles.
 */
export function writeExact(of: Expression, context: ExpressionContext): ReturnType<typeof writeNumber> {
  const number = writeNumber(of, context);
  const paths = [...new Set(numbersOf(of))];
  const isCalculated = of.op !== 'field' && of.op !== 'constant' && !isOfDates(of);
  if (context.dialect !== 'sqlite' || number.inexact || !isCalculated) return number;
  const exact = paths.map((path) => isExact(context.column(path), context.codecOf(path).scale ?? 0));
  // The lowest integer has no absolute value.
  const overflow = 'abs(-9223372036854775807 - (v is not null))';
  const condition = plain(["typeof(v) = 'real'", ...exact].join(' and '));
  const sql = fragment`(select case when ${condition} then ${plain(overflow)} else v end from (select ${number} as v))`;
  return { ...number, ...sql };
}

function isExact(column: string, scale: number): string {
  const isDecimal = scale > 0 ? isSqliteDecimal(column, scale) : '0';
  return `case typeof(${column}) when 'integer' then 1 when 'null' then 1 when 'real' then ${isDecimal} else 0 end`;
}

const isOfDates = ({ op }: Expression): boolean => op === 'difference' || op === 'part';

/** The numbers of a calculation, without the dates. */
function numbersOf(expression: Expression): Path[] {
  switch (expression.op) {
    case 'field':
      return [expression.path];
    case 'constant':
      return [];
    default:
      return isOfDates(expression) ? [] : operandsOf(expression).flatMap(numbersOf);
  }
}
