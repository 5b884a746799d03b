// Expressions in SQL.
import type { Dialect } from '../../databases.ts';
import { quoteText } from '../oracle/sql-values.ts';
import type { Kind } from '../oracle/world.ts';
import { type Expression, readOperator, type Scale, scaleOf } from './question.ts';
import { numbersOf } from './sql-numbers.ts';
import { clockSql, differenceSql, partSql } from './sql-times.ts';

/** What an expression reads: the column and kind of a name, and the decimals if it already is an exact number. */
export type Read = (name: string) => { readonly sql: string; readonly kind: Kind; readonly exactScale?: number };

export function writeExpression(dialect: Dialect, expression: Expression, read: Read, zone: string): string {
  const numbers = numbersOf[dialect];
  if (typeof expression === 'number') return numbers.constant(String(expression));
  if (typeof expression === 'string') {
    const { sql, kind, exactScale } = read(expression);
    if (exactScale !== undefined) return sql;
    return kind === 'whole' || kind === 'big' || kind === 'decimal' ? numbers.of(sql, kind) : sql;
  }
  if ('value' in expression) {
    const { value } = expression;
    return typeof value === 'number' ? numbers.constant(String(value)) : quoteText(dialect, value);
  }
  const { operator, operands, unit, part } = readOperator(expression)!;
  const [a, b] = operands.map((each) => writeExpression(dialect, each, read, zone)) as [string, string];
  switch (operator) {
    case 'coalesce':
      return `coalesce(${a}, ${b})`;
    case 'difference':
      return differenceSql(dialect, a, b, kindOfDate(operands[0]!, read), unit!, zone);
    case 'part':
      return numbers.of(partSql(dialect, clockSql(dialect, a, kindOfDate(operands[0]!, read), zone), part!), 'whole');
    case 'round':
      return numbers.round(a, 0);
    case 'abs':
      return numbers.abs(a);
    case 'dividedBy':
      return numbers.dividedBy(a, b, scaleOf(expression, scaleIn(read)));
    default:
      return numbers[operator](a, b);
  }
}

export const scaleIn =
  (read: Read): Scale =>
  (name) => {
    const { kind, exactScale } = read(name);
    return exactScale ?? (kind === 'decimal' ? 2 : 0);
  };

function kindOfDate(expression: Expression, read: Read): Kind {
  if (typeof expression === 'string') return read(expression).kind;
  return kindOfDate(readOperator(expression)!.operands[0]!, read);
}
