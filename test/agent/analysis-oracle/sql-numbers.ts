// Exact arithmetic in SQL. PostgreSQL and MariaDB have decimals. SQLite gets functions over decimals written as text.
import type { Dialect } from '../../databases.ts';
import type { Kind } from '../oracle/world.ts';

export interface Numbers {
  /** A column, as an exact number. */
  of(column: string, kind: Kind): string;
  constant(digits: string): string;
  plus(a: string, b: string): string;
  minus(a: string, b: string): string;
  times(a: string, b: string): string;
  /** Rounded half away from zero; null if `b` is zero. Without `places` as finely as the database can. */
  dividedBy(a: string, b: string, places?: number): string;
  abs(a: string): string;
  /** Half away from zero. */
  round(a: string, places: number): string;
  /** Zero, if the number is negative. */
  clamp(a: string): string;
  sum(a: string): string;
  compare(a: string, sign: string, b: string): string;
  /**
   * What an `order by` uses, also for `min` and `max`. Some decimals fewer than a quotient has: 1/3 + 1/3 + 1/3 is 1.
   */
  key(a: string): string;
}

/** Different quotients of the small numbers in these worlds differ long before this decimal. */
const FINE = 120;
export const KEY_DECIMALS = 100;

const infix = (sign: string) => (a: string, b: string) => `(${a} ${sign} ${b})`;

const server = {
  constant: (digits: string) => `(${digits})`,
  plus: infix('+'),
  minus: infix('-'),
  times: infix('*'),
  abs: (a: string) => `abs(${a})`,
  round: (a: string, places: number) => `round(${a}, ${places})`,
  clamp: (a: string) => `greatest(0, ${a})`,
  sum: (a: string) => `sum(${a})`,
  compare: (a: string, sign: string, b: string) => `${a} ${sign} ${b}`,
};

export const numbersOf: { readonly [D in Dialect]: Numbers } = {
  postgres: {
    ...server,
    of: (column) => `${column}::numeric`,
    // Quotients have at least as many decimals as the dividend.
    dividedBy: (a, b, places = FINE) => `round(${a}::numeric(800, 160) / nullif(${b}, 0), ${places})`,
    key: (a) => `round(${a}, ${KEY_DECIMALS})`,
  },
  mariadb: {
    ...server,
    // A decimal: MariaDB counts one digit too few for `abs` and `round` of an integer constant, and 10 becomes 9.9 in
    // coalesce(abs(10), 0.5).
    constant: (digits) => `(${digits.includes('.') ? digits : `${digits}.`})`,
    of: (column, kind) => `cast(${column} as decimal(${kind === 'decimal' ? '14, 2' : '20, 0'}))`,
    // Quotients have four decimals more than the dividend.
    dividedBy: (a, b, places = 34) => `round(cast(${a} as decimal(65, 30)) / nullif(${b}, 0), ${places})`,
    key: (a) => `round(${a}, 32)`,
  },
  sqlite: {
    of: (column) => `decimal_of(${column})`,
    constant: (digits) => `'${digits}'`,
    plus: (a, b) => `decimal_plus(${a}, ${b})`,
    minus: (a, b) => `decimal_minus(${a}, ${b})`,
    times: (a, b) => `decimal_times(${a}, ${b})`,
    dividedBy: (a, b, places = FINE) => `decimal_over(${a}, ${b}, ${places})`,
    abs: (a) => `decimal_abs(${a})`,
    round: (a, places) => `decimal_round(${a}, ${places})`,
    clamp: (a) => `decimal_clamp(${a})`,
    sum: (a) => `decimal_sum(${a})`,
    compare: (a, sign, b) => `decimal_key(${a}) ${sign} decimal_key(${b})`,
    key: (a) => `decimal_key(${a})`,
  },
};
