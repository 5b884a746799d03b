// Validates user-defined in-memory tables when they are created, before the first read.

import { fail } from '../../../core/errors.ts';
import { nearNames } from '../../../core/suggestions.ts';
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
  const known = (what: string, name: string, names: readonly string[]) => {
    if (names.includes(name)) return;
    const near = nearNames(String(name), names);
    refuse(`${what} '${name}'${near.length ? `. Near: ${near.join(', ')}` : ''}`);
  };
  const once = (what: string, names: readonly string[]) => {
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) refuse(`${what} '${twice}' is there twice`);
    if (names.some((name) => typeof name !== 'string' || name === '')) refuse(`${what} needs a name`);
  };
  if (!Array.isArray(tables)) refuse('createMemoryDataSource needs a list of tables');
  for (const table of tables)
    for (const member of Object.keys(table ?? {})) known('A table has no property', member, tableMembers);
  once(
    'The table',
    tables.map((table) => table?.name),
  );
  for (const { name, columns, primaryKey = [], uniqueKeys = [], foreignKeys = [], rows } of tables) {
    if (!Array.isArray(columns) || columns.length === 0) refuse(`The table '${name}' needs columns`);
    const names = columns.map((column) => column?.name);
    once(`The column of '${name}'`, names);
    for (const { name: column, type, enumValues } of columns) {
      const primitive = String(typeof type === 'string' ? type : type?.[0]);
      known(`The column '${column}' of '${name}' has no type that there is:`, primitive, primitiveTypes);
      if (primitive === 'Enum' && !enumValues?.length) refuse(`The column '${column}' of '${name}' needs enumValues`);
    }
    for (const column of [primaryKey, ...uniqueKeys, ...foreignKeys.map((key) => key.columns)].flat())
      known(`A key of '${name}' names no column of it:`, column, names);
    for (const { table, columns: own, targetColumns } of foreignKeys) {
      known(
        `A foreign key of '${name}' leads to no table:`,
        table,
        tables.map((each) => each.name),
      );
      const target = tables.find((each) => each.name === table)?.columns.map((column) => column.name) ?? [];
      for (const column of targetColumns)
        known(`A foreign key of '${name}' leads to no column of '${table}':`, column, target);
      if (own.length !== targetColumns.length)
        refuse(`A foreign key of '${name}' has ${own.length} columns and leads to ${targetColumns.length}`);
    }
    if (!Array.isArray(rows)) refuse(`The table '${name}' needs rows, a list of lists`);
    const wrong = rows.findIndex((row) => !Array.isArray(row) || row.length !== columns.length);
    if (wrong >= 0) refuse(`Row ${wrong} of '${name}' is not as wide as its ${columns.length} columns`);
  }
}

/** A column of a table in memory. */
export interface MemoryColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Default false. */
  readonly nullable?: boolean;
  /** Default `binary`. */
  readonly collation?: Collation;
  readonly enumValues?: readonly string[];
  /** Only for Json columns. */
  readonly shape?: ColumnShape;
}

/** A table in memory, with its rows in the order of the columns. */
export interface MemoryTable {
  readonly name: string;
  readonly columns: readonly MemoryColumn[];
  readonly primaryKey?: readonly string[];
  readonly uniqueKeys?: readonly (readonly string[])[];
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
