// Validates user-defined in-memory tables when they are created, before the first read.

import { fail } from '../../../core/errors.ts';
import { suggestNames } from '../../../core/suggestions.ts';
import type { Collation, ColumnShape, ColumnType } from '../column-types.ts';
import { primitiveTypes } from '../column-types.ts';
import type { DescribedForeignKey } from '../described.ts';
import type { Row } from '../statement.ts';

const tableMembers = Object.keys({
  ...{ name: 0, columns: 0, primaryKey: 0, uniqueKeys: 0, foreignKeys: 0, rows: 0 },
} satisfies Record<keyof MemoryTable, 0>);

/** Throws CONFIGURATION, with `at`, for the first problem. */
export function checkTables(tables: readonly MemoryTable[], at: string): void {
  const refuse = (problem: string): never => fail('CONFIGURATION', { problem: `${problem}. (${at})` });
  const requireName = (what: string, name: string, names: readonly string[]) => {
    if (names.includes(name)) return;
    const near = suggestNames(String(name), names);
    refuse(`${what} '${name}'${near.length ? `. Near: ${near.join(', ')}` : ''}`);
  };
  const requireUnique = (what: string, names: readonly string[]) => {
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) refuse(`${what} '${twice}' is defined twice`);
    if (names.some((name) => typeof name !== 'string' || name === '')) refuse(`${what} needs a name`);
  };
  if (!Array.isArray(tables)) refuse('createMemoryDataSource needs a list of tables');
  for (const table of tables)
    for (const member of Object.keys(table ?? {})) requireName('A table has no property', member, tableMembers);
  requireUnique(
    'The table',
    tables.map((table) => table?.name),
  );
  for (const { name, columns, primaryKey = [], uniqueKeys = [], foreignKeys = [], rows } of tables) {
    if (!Array.isArray(columns) || columns.length === 0) refuse(`The table '${name}' needs columns`);
    const names = columns.map((column) => column?.name);
    requireUnique(`The column of '${name}'`, names);
    for (const { name: column, type, enumValues } of columns) {
      const primitive = String(typeof type === 'string' ? type : type?.[0]);
      requireName(`The column '${column}' of '${name}' has an unknown type:`, primitive, primitiveTypes);
      if (primitive === 'Enum' && !enumValues?.length) refuse(`The column '${column}' of '${name}' needs enumValues`);
    }
    for (const column of [primaryKey, ...uniqueKeys, ...foreignKeys.map((key) => key.columns)].flat())
      requireName(`A key of '${name}' names an unknown column:`, column, names);
    for (const { table, columns: own, targetColumns } of foreignKeys) {
      requireName(
        `A foreign key of '${name}' points to an unknown table:`,
        table,
        tables.map((each) => each.name),
      );
      const target = tables.find((each) => each.name === table)?.columns.map((column) => column.name) ?? [];
      for (const column of targetColumns)
        requireName(`A foreign key of '${name}' points to an unknown column of '${table}':`, column, target);
      if (own.length !== targetColumns.length)
        refuse(`A foreign key of '${name}' has ${own.length} columns but points to ${targetColumns.length}`);
    }
    if (!Array.isArray(rows)) refuse(`The table '${name}' needs rows, a list of lists`);
    const wrong = rows.findIndex((row) => !Array.isArray(row) || row.length !== columns.length);
    if (wrong >= 0) refuse(`Row ${wrong} of '${name}' does not have a value for each of its ${columns.length} columns`);
  }
}

/** A column of a table in memory. */
export interface MemoryColumn {
  /** The name, unique within the table. */
  readonly name: string;
  /** The type of the values. */
  readonly type: ColumnType;
  /** Default false. */
  readonly nullable?: boolean;
  /** Default `binary`. */
  readonly collation?: Collation;
  /** The decimals that numbers are declared to have. Default: none declared; quotients are rounded to ten. */
  readonly decimals?: number;
  /** The possible values; required for Enum. */
  readonly enumValues?: readonly string[];
  /** Only for Json columns. */
  readonly shape?: ColumnShape;
}

/** A table in memory, with its rows in the order of the columns. */
export interface MemoryTable {
  /** The name, unique within the source. */
  readonly name: string;
  /** The columns, in the order of the values of a row. */
  readonly columns: readonly MemoryColumn[];
  /** The columns of the key. Default: no key. */
  readonly primaryKey?: readonly string[];
  /** The columns of each unique key. Default: no unique key. */
  readonly uniqueKeys?: readonly (readonly string[])[];
  /** The foreign keys, which become relations. Default: no foreign key. */
  readonly foreignKeys?: readonly DescribedForeignKey[];
  /**
   * Canonical values, in the order of the columns. Each statement reads them again until the first write, which works
   * on a copy.
   */
  readonly rows: readonly Row[];
}

export interface MemoryData {
  readonly table: MemoryTable;
  readonly positions: ReadonlyMap<string, number>;
  readonly rows: readonly Row[];
  /** The rows after the first write. */
  own: readonly Row[] | undefined;
}
