// Conditions on groups in SQL. Each is true or false, also for null.
import type { Dialect } from '../../databases.ts';
import type { Leaf } from '../oracle/filters.ts';
import type { Setting } from '../oracle/sql.ts';
import { writeLeaf } from '../oracle/sql-leaf.ts';
import type { Kind } from '../oracle/world.ts';
import type { Having } from './question.ts';
import { numbersOf } from './sql-numbers.ts';

/** `read` returns the column and kind of a measure. */
export function writeHaving(
  setting: Setting,
  read: (measure: string) => { readonly sql: string; readonly kind: Kind },
  having: Having,
): string {
  if ('aggregator' in having) {
    const parts = having.conditions.map((each) => writeHaving(setting, read, each));
    if (having.aggregator === 'Or') return parts.length > 0 ? `(${parts.join(' or ')})` : '(1 = 0)';
    const all = parts.length > 0 ? `(${parts.join(' and ')})` : '(1 = 1)';
    return having.aggregator === 'Not' ? `(not ${all})` : all;
  }
  const { sql, kind } = read(having.measure);
  const { dialect, zone, world } = setting;
  if (kind === 'decimal') return compareNumber(dialect, sql, having.operator, having.value);
  const leaf = { field: '', operator: having.operator, value: having.value } as Leaf;
  return writeLeaf({ dialect, zone, now: world.now }, sql, kind, leaf);
}

const signs: Readonly<Record<string, string>> = {
  LessThan: '<',
  LessThanOrEqual: '<=',
  GreaterThan: '>',
  GreaterThanOrEqual: '>=',
};

function compareNumber(dialect: Dialect, column: string, operator: string, value: unknown): string {
  const numbers = numbersOf[dialect];
  const is = (sign: string, each: unknown) =>
    each === null
      ? `${column} is null`
      : `(${column} is not null and ${numbers.compare(column, sign, numbers.constant(String(each)))})`;
  switch (operator) {
    case 'Equal':
      return is('=', value);
    case 'NotEqual':
      return `(not ${is('=', value)})`;
    case 'In':
      return `(${(value as readonly unknown[]).map((each) => is('=', each)).join(' or ')})`;
    case 'NotIn':
      return `(not ${compareNumber(dialect, column, 'In', value)})`;
    case 'Present':
      return `${column} is not null`;
    case 'Missing':
    case 'Blank':
      return `${column} is null`;
    default:
      return is(signs[operator]!, value);
  }
}
