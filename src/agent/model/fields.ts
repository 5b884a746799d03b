import type { BinaryMode } from '../customize/definitions.ts';
import type { ColumnType, DescribedColumn, DescribedTable } from '../sources/source.ts';
import { type Patches, solveOperators } from './operators.ts';
import type { Column, FieldRule, FieldWriting, Made, Route } from './types.ts';

/** What customization code says of one column. */
export interface ColumnWishes {
  /** What callers call it. */
  readonly name: string;
  readonly nullable: boolean;
  readonly patches?: Patches;
  readonly binary?: BinaryMode;
  readonly order?: 'nothing' | NonNullable<Column['order']>;
  readonly writing?: FieldWriting;
  readonly rules?: readonly FieldRule[];
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
  const { order, writing, rules } = wishes;
  const nullable = described.nullable || wishes.nullable;
  return Object.freeze({
    kind: 'column' as const,
    name: wishes.name,
    column: described.name,
    type: described.type,
    nativeType: described.nativeType,
    nullable,
    readOnly: writing ? writing.write === null : described.readOnly,
    required: !nullable && !described.hasDefault && !described.readOnly,
    isKey,
    ...(described.enumValues && { enumValues: Object.freeze([...described.enumValues]) }),
    ...(described.shape && { shape: described.shape }),
    ...(wishes.binary && { binary: wishes.binary }),
    collation: described.collation,
    operators: solveOperators(described.type, described.operators, wishes.patches),
    sortable: order === 'nothing' ? false : order !== undefined || described.sortable,
    ...(order !== undefined && order !== 'nothing' && { order }),
    ...(made && { made }),
    ...(writing && { writing }),
    ...(rules?.length && { rules: Object.freeze([...rules]) }),
    ...(described.readOnly && !made && { isGenerated: true }),
  });
}

/** An imported field: what it is at the end of the route, where it is checked when it is written. */
export function buildImported(name: string, route: Route, nullable: boolean, readOnly: boolean): Column {
  const { made: _made, route: _route, writing: _writing, rules: _rules, isGenerated: _generated, ...end } = route.field;
  return Object.freeze({
    ...end,
    name,
    nullable,
    readOnly,
    required: false,
    isKey: false,
    route: Object.freeze(route),
  });
}

/** What no source knows: nothing can be asked of it, and it cannot be written. */
export function describeColumn(name: string, type: ColumnType): DescribedColumn {
  return {
    name,
    type,
    nativeType: '',
    nullable: true,
    readOnly: true,
    hasDefault: false,
    collation: 'binary',
    operators: new Set(),
    sortable: false,
  };
}
