import type { DescribedColumn, DescribedTable } from '../sources/source.ts';
import { solveOperators } from './operators.ts';
import type { Column } from './types.ts';

export function buildColumns(table: DescribedTable): Column[] {
  const key = new Set(keyOf(table));
  return table.columns.map((column) => buildColumn(column, key.has(column.name)));
}

/** The primary key; without one the shortest unique key whose columns are all not null, the first of equals; else none. */
export function keyOf(table: DescribedTable): readonly string[] {
  if (table.primaryKey.length) return table.primaryKey;
  const nullable = new Set(table.columns.filter((column) => column.nullable).map((column) => column.name));
  const usable = table.uniqueKeys.filter((key) => key.length > 0 && !key.some((name) => nullable.has(name)));
  return usable.reduce<readonly string[]>(
    (best, key) => (best.length === 0 || key.length < best.length ? key : best),
    [],
  );
}

function buildColumn(described: DescribedColumn, isKey: boolean): Column {
  return Object.freeze({
    kind: 'column' as const,
    name: described.name,
    column: described.name,
    type: described.type,
    nativeType: described.nativeType,
    nullable: described.nullable,
    readOnly: described.readOnly,
    required: !described.nullable && !described.hasDefault && !described.readOnly,
    isKey,
    ...(described.enumValues && { enumValues: Object.freeze([...described.enumValues]) }),
    collation: described.collation,
    operators: solveOperators(described.type, described.operators),
    sortable: described.sortable,
  });
}
