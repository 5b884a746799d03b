// The structure of the data sources, as plain data, to write customizations in another process without the database. It
// contains names and types, but no records, addresses or secrets. A source made from it has the same description, and
// refuses every statement.
import { type Access, mayCustomize } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import type { ChosenTable } from '../model/chosen-tables.ts';
import type { DescribedColumn, DescribedTable } from '../sources/described.ts';
import type { Source } from '../sources/source.ts';

export interface Structure {
  readonly sources: readonly StructureSource[];
  /** The distinct lists of operators. Columns refer to them by index. */
  readonly operators: readonly (readonly Operator[])[];
}

interface StructureSource {
  /** The served tables, sorted by the names of their collections. */
  readonly tables: readonly StructureTable[];
}

interface StructureTable extends Omit<DescribedTable, 'columns'> {
  /** The name of the collection. Differs from the table if the agent renames it. */
  readonly collection: string;
  readonly columns: readonly StructureColumn[];
}

interface StructureColumn extends Omit<DescribedColumn, 'operators'> {
  readonly operators: number;
}

/** DENIED unless the caller is an admin or a developer. */
export async function describeStructure(
  readTables: () => Promise<readonly ChosenTable[]>,
  access: Access,
): Promise<Structure> {
  requireCustomizer(access);
  const tables = await readTables();
  const lists = new Map<string, number>();
  const operatorIndex = (operators: ReadonlySet<Operator>): number => {
    const list = [...operators].sort().join(' ');
    const place = lists.get(list) ?? lists.size;
    lists.set(list, place);
    return place;
  };
  const sources = [...new Set(tables.map(({ source }) => source))].map((source): StructureSource => {
    const own = tables.filter((each) => each.source === source);
    const served = new Set(own.map(({ table }) => table.name));
    const structures = own
      .map(({ table, name }): StructureTable => {
        const columns = table.columns.map((column) => ({ ...column, operators: operatorIndex(column.operators) }));
        // Foreign keys must not name tables that are not served.
        const foreignKeys = table.foreignKeys.filter(({ table }) => served.has(table));
        return { ...table, collection: name, columns, foreignKeys };
      })
      .sort((a, b) => (a.collection < b.collection ? -1 : 1));
    return { tables: structures };
  });
  return { sources, operators: [...lists.keys()].map((list) => list.split(' ').filter(Boolean) as Operator[]) };
}

/** DENIED unless the caller is an admin or a developer. */
export function requireCustomizer({ caller }: Access): void {
  // OWASP ASVS 4.1.3: only users who customize the agent may read names that a role hides.
  if (!mayCustomize(caller.permissionLevel)) {
    const problem = `Only admins and developers can read the structure, and your level is ${caller.permissionLevel}. Ask an administrator to change it.`;
    fail('DENIED', { problem });
  }
}

/** One source for each described source, in order. Every statement fails. */
export function createStructureSources(structure: Structure): readonly Source[] {
  return structure.sources.map(({ tables }, at): Source => {
    const name = `data source ${at + 1}`;
    const refuse = (): never =>
      fail('CONFIGURATION', { problem: `${name}: only its structure is known here. Its records cannot be read.` });
    return {
      name,
      describe: async () => ({
        tables: tables.map(({ collection: _collection, columns, ...table }) => ({
          ...table,
          columns: columns.map((column) => ({
            ...column,
            operators: new Set(structure.operators[column.operators] ?? []),
          })),
        })),
        skipped: [],
      }),
      read: async () => refuse(),
      count: async () => refuse(),
      explain: refuse,
      close: async () => {},
    };
  });
}

/** The `rename` option of addDataSource: the collections with another name than their table, by table. */
export function renamesOf({ tables }: StructureSource): Readonly<Record<string, string>> {
  return Object.fromEntries(
    tables.filter(({ name, collection }) => name !== collection).map(({ name, collection }) => [name, collection]),
  );
}
