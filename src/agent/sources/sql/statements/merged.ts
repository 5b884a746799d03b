// Writes a GroupSelect whose groups are a subquery: equal groups are merged, or all groups have one row of totals.
import { sumFigure } from '../../aggregate.ts';
import { inexactHere } from '../../source.ts';
import type { Figure, Total } from '../../statement.ts';
import { toFraction } from '../../values/decimal.ts';
import { type Dialect, notFinite } from '../codec.ts';
import { bytewise, readNumber, type WrittenAggregate } from './measure.ts';

interface MergedKey {
  readonly by: string;
  readonly shown: string;
}

/** Selects the figures, the shown keys, and the number of groups. `tables`: FROM and GROUP BY of the groups. */
export function writeMerged(
  figures: readonly string[],
  keys: readonly MergedKey[],
  tables: string,
  name: (name: string) => string,
  dialect: Dialect,
): string {
  const inner: string[] = [];
  const add = (sql: string): string => {
    const column = name(`v${inner.length}`);
    inner.push(`${sql} as ${column}`);
    return column;
  };
  const values = figures.map(add);
  const groups = keys.map(({ by, shown }) => {
    const column = add(by);
    return { column, shown: shown === by ? column : `min(${add(shown)} collate ${bytewise[dialect]})` };
  });
  const by = [...values, ...groups.map(({ column }) => column)];
  const columns = [...values, ...groups.map(({ shown }) => shown), 'count(*)'];
  return [
    `select ${columns.join(', ')} from (select ${inner.join(', ') || '1'} ${tables}) as ${name('merged')}`,
    // Without columns, no groups would be one row.
    by.length ? `group by ${by.join(', ')}` : 'having count(*) > 0',
  ].join(' ');
}

type ReadTotal = (row: readonly unknown[]) => Figure;

interface WrittenTotals {
  readonly sql: string;
  readonly read: (row: readonly unknown[]) => Figure[];
}

/** Throws `inexactHere` if a figure is no exact number, and so may `read`. `tables`: FROM and GROUP BY of the groups. */
export function writeTotals(
  totals: readonly Total[],
  aggregates: readonly WrittenAggregate[],
  tables: string,
  name: (name: string) => string,
  dialect: Dialect,
): WrittenTotals {
  const values: string[] = [];
  const columns: string[] = [];
  const placeIn = (list: string[], sql: string): number => {
    const known = list.indexOf(sql);
    return known >= 0 ? known : list.push(sql) - 1;
  };
  const reads = totals.map(({ operation, measure }): ReadTotal => {
    const number = measure === undefined ? undefined : aggregates[measure]!.number;
    if (measure !== undefined && !number) throw inexactHere;
    const value = number ? name(`v${placeIn(values, number.sql)}`) : '*';
    const place = (sql: string) => placeIn(columns, sql);
    const count = place(`count(${value})`);
    if (operation === 'Count' || !number) return (row) => toFraction({ units: BigInt(row[count] as number), scale: 0 });
    const checks = number.isSum ? sumChecks[dialect](value).map(place) : [];
    const isSum = operation === 'Sum' || operation === 'Avg';
    const found = place(`${isSum ? 'sum' : operation.toLowerCase()}(${value})`);
    return (row) => {
      if (checks.some((check) => isInexact(row[check], dialect))) throw inexactHere;
      const figure = readNumber([row[found], dialect === 'sqlite' ? 'integer' : undefined], number.scale);
      if (!isSum || figure === null || typeof figure !== 'object') return figure;
      return sumFigure({ operation }, figure.over, Number(row[count]));
    };
  });
  const inner = values.map((sql, at) => `${sql} as ${name(`v${at}`)}`).join(', ') || '1';
  return {
    sql: `select ${columns.join(', ')} from (select ${inner} ${tables}) as ${name('merged')}`,
    read: (row) => reads.map((read) => read(row)),
  };
}

/** Columns that show whether each sum is exact. NaN and infinity of PostgreSQL are at the ends of its order. */
const sumChecks: Record<Dialect, (value: string) => string[]> = {
  sqlite: (value) => [`max(typeof(${value}) = 'real')`],
  mysql: () => [],
  postgres: (value) => [`min(${value})`, `max(${value})`],
};

/** A number of SQLite is a bigint where another one of the statement needs 64 bits. */
const isInexact = (check: unknown, dialect: Dialect): boolean =>
  dialect === 'sqlite' ? Number(check) === 1 : notFinite(check) !== null;
