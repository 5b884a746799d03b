import type { FieldMeaning } from '../../core/caller/meanings.ts';
import type { BinaryMode } from '../customize/definitions.ts';
import type { ColumnType } from '../sources/column-types.ts';
import type { DescribedColumn, DescribedTable } from '../sources/described.ts';
import { meaningOf } from './meaning.ts';
import { type OperatorPatches, resolveOperators } from './operators.ts';
import type { Column, ComputedFrom, FieldRule, FieldWriting, Route } from './types.ts';

/** The customizations of one column. */
export interface ColumnCustomizations {
  /** The name for callers. */
  readonly name: string;
  readonly meaning?: FieldMeaning;
  readonly nullable: boolean;
  /** The database fills it when absent. */
  readonly filledByDatabase?: boolean;
  readonly patches?: OperatorPatches;
  readonly binary?: BinaryMode;
  readonly order?: 'nothing' | NonNullable<Column['order']>;
  readonly writing?: FieldWriting;
  readonly rules?: readonly FieldRule[];
}

export function buildColumns(
  table: DescribedTable,
  customizationsFor: (column: DescribedColumn) => ColumnCustomizations,
): Column[] {
  const key = new Set(keyOf(table));
  const isId = new Set([...key, ...table.foreignKeys.flatMap(({ columns }) => columns)]);
  return table.columns.map((column) => {
    const customizations = customizationsFor(column);
    const binary = customizations.binary ?? binaryModeOf(column, isId.has(column.name));
    return buildColumn(column, key.has(column.name), { ...customizations, binary });
  });
}

/** The maximum declared length, in bytes, of columns for hashes, UUIDs and similar values. */
const SHORT_BYTES = 32;

/** Depends on the column, never on the value, so each column has one form. */
function binaryModeOf({ nativeType }: DescribedColumn, isId: boolean): BinaryMode {
  const [, length] = /\((\d+)\)/.exec(nativeType) ?? [];
  return isId || (length !== undefined && Number(length) <= SHORT_BYTES) ? 'hex' : 'datauri';
}

/**
 * The primary key. Without one, the shortest unique key whose columns are not nullable, the first of equal length;
 * otherwise empty.
 */
export function keyOf(table: DescribedTable): readonly string[] {
  if (table.primaryKey.length) return table.primaryKey;
  const nullable = new Set(table.columns.filter((column) => column.nullable).map((column) => column.name));
  const usable = table.uniqueKeys.filter((key) => key.length > 0 && !key.some((name) => nullable.has(name)));
  return usable.reduce<readonly string[]>(
    (best, key) => (best.length === 0 || key.length < best.length ? key : best),
    [],
  );
}

export function buildColumn(
  described: DescribedColumn,
  isKey: boolean,
  customizations: ColumnCustomizations,
  computedFrom?: ComputedFrom,
): Column {
  const { order, writing, rules } = customizations;
  const nullable = described.nullable || customizations.nullable;
  return Object.freeze({
    kind: 'column' as const,
    name: customizations.name,
    column: described.name,
    type: described.type,
    nativeType: described.nativeType,
    nullable,
    readOnly: writing ? writing.write === null : described.readOnly,
    required: !nullable && !described.hasDefault && !customizations.filledByDatabase && !described.readOnly,
    isKey,
    ...meaningOf(customizations.meaning, described.comment),
    ...(described.enumValues && { enumValues: Object.freeze([...described.enumValues]) }),
    ...(described.timezone && { timezone: described.timezone }),
    ...(described.shape && { shape: described.shape }),
    ...(isBinary(described.type) && { binary: customizations.binary ?? 'datauri' }),
    collation: described.collation,
    operators: operatorsOf(described, customizations),
    sortable: order === 'nothing' ? false : order !== undefined || described.sortable,
    ...(order !== undefined && order !== 'nothing' && { order }),
    ...(computedFrom && { computedFrom }),
    ...(writing && { writing }),
    ...(rules?.length && { rules: Object.freeze([...rules]) }),
    ...(described.readOnly && !computedFrom && { isGenerated: true }),
    ...(described.parameter && { parameter: described.parameter }),
  });
}

/** A parameter has one value, so only `Equal` makes sense. */
function operatorsOf({ type, operators, parameter }: DescribedColumn, { patches }: ColumnCustomizations) {
  const all = resolveOperators(type, operators, patches);
  return parameter ? new Map([...all].filter(([operator]) => operator === 'Equal')) : all;
}

/** An imported field with the properties of the field at the end of its route. Validation of writes runs there. */
export function buildImported(
  { name, meaning: own }: Pick<ColumnCustomizations, 'name' | 'meaning'>,
  route: Route,
  nullable: boolean,
  readOnly: boolean,
): Column {
  const {
    meaning,
    codeMeaning: _code,
    computedFrom: _made,
    route: _route,
    writing: _writing,
    rules: _rules,
    isGenerated: _generated,
    ...end
  } = route.field;
  return Object.freeze({
    ...end,
    name,
    ...meaningOf(own, meaning),
    nullable,
    readOnly,
    required: false,
    isKey: false,
    route: Object.freeze(route),
  });
}

function isBinary(type: ColumnType): boolean {
  return type === 'Binary' || type[0] === 'Binary';
}

/** A column that no source has: it has no operators, and it is read-only. */
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
