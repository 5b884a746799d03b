// Writes a GroupSelect whose equal groups are merged: the groups are a subquery, whose rows are grouped again.
import type { Dialect } from '../codec.ts';
import { bytewise } from './measure.ts';

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
