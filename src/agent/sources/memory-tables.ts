// Tables over arrays as users write them: what is wrong with one is told when it is made, before anything reads it.
import { fail } from '../../core/errors.ts';
import { nearNames } from '../../core/near.ts';
import type { MemoryTable } from './memory.ts';
import { primitiveTypes } from './source.ts';

/** CONFIGURATION, with `at`, for the first thing that cannot be. */
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
