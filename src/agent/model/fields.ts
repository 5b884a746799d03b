import type { DescribedColumn, DescribedTable } from '../sources/source.ts';
import { type Patches, solveOperators } from './operators.ts';
import type { Column, Made, Route } from './types.ts';

/** What customization code says of one column. */
export interface ColumnWishes {
  /** What callers call it. */
  readonly name: string;
  readonly nullable: boolean;
  readonly patches?: Patches;
  readonly order?: 'nothing' | NonNullable<Column['order']>;
}

export function buildColumns(table: DescribedTable, wishesFor: (column: DescribedColumn) => ColumnWishes): Column[] {
  const key = new Set(keyOf(table));
  return table.columns.map((column) => buildColumn(column, key.has(column.name), wishesFor(column)));
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

export function buildColumn(described: DescribedColumn, isKey: boolean, wishes: ColumnWishes, made?: Made): Column {
  const { order } = wishes;
  const nullable = described.nullable || wishes.nullable;
  return Object.freeze({
    kind: 'column' as const,
    name: wishes.name,
    column: described.name,
    type: described.type,
    nativeType: described.nativeType,
    nullable,
    readOnly: described.readOnly,
    required: !nullable && !described.hasDefault && !described.readOnly,
    isKey,
    ...(described.enumValues && { enumValues: Object.freeze([...described.enumValues]) }),
    collation: described.collation,
    operators: solveOperators(described.type, described.operators, wishes.patches),
    sortable: order === 'nothing' ? false : order !== undefined || described.sortable,
    ...(order !== undefined && order !== 'nothing' && { order }),
    ...(made && { made }),
  });
}

/** An imported field: what it is at the end of the route, read-only. */
export function buildImported(name: string, route: Route, nullable: boolean): Column {
  const { made: _made, route: _route, ...end } = route.field;
  return Object.freeze({
    ...end,
    name,
    nullable,
    readOnly: true,
    required: false,
    isKey: false,
    route: Object.freeze(route),
  });
}
