// Detects whether a condition on a table reads that table again, through relations that lead back to it.
import { comparedPaths } from './aggregate/expression.ts';
import type { Filter, Join } from './statement.ts';

export function joinsReferTo(joins: readonly Join[], table: string): boolean {
  return joins.some(
    (join) =>
      join.via.some(({ to }) => to.table === table) ||
      joinsReferTo(join.joins, table) ||
      filterRefersTo(join.where, table),
  );
}

export function filterRefersTo(filter: Filter, table: string): boolean {
  if (filter.op === 'test') return filter.path.via.some(({ to }) => to.table === table);
  if (filter.op === 'compare') return comparedPaths(filter).some(({ via }) => via.some(({ to }) => to.table === table));
  if (filter.op === 'some')
    return (
      filter.other.collection.table === table ||
      joinsReferTo(filter.other.joins, table) ||
      filterRefersTo(filter.other.where, table)
    );
  if (filter.op === 'found') return filter.own.via.some(({ to }) => to.table === table);
  if (filter.op === 'not' || filter.op === 'any') return filterRefersTo(filter.of, table);
  return 'of' in filter && filter.of.some((each) => filterRefersTo(each, table));
}
