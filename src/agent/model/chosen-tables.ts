// The tables that become collections: those of the sources that the options of `addDataSource` select.
import type { Observe } from '../../core/observe.ts';
import type { Customizations } from '../customize/definitions.ts';
import type { Described, DescribedTable } from '../sources/described.ts';
import type { Source } from '../sources/source.ts';
import { checkName, failUnknownName } from './customizations.ts';
import { keyOf } from './fields.ts';

export interface ChosenTable {
  readonly source: Source;
  readonly table: DescribedTable;
  /** The name of the collection. */
  readonly name: string;
  /** The call site of `addDataSource`. */
  readonly at?: string;
}

/** Reads the schemas of the sources: the selected tables, with the names of their collections. */
export async function chooseTables(
  sources: readonly Source[],
  observe: Observe,
  tables: Customizations['tables'] = new Map(),
): Promise<readonly ChosenTable[]> {
  return selectTables(await describeSources(sources, observe), tables);
}

/** Reads the current schemas without logging. The served model does not change. */
export async function readCurrentTables(
  sources: readonly Source[],
  tables: Customizations['tables'] = new Map(),
): Promise<readonly ChosenTable[]> {
  const describeCurrent = async (source: Source) => [source, await (source.look ?? source.describe)()] as const;
  return selectTables(await Promise.all(sources.map(describeCurrent)), tables);
}

async function describeSources(
  sources: readonly Source[],
  observe: Observe,
): Promise<readonly (readonly [Source, Described])[]> {
  const all = await Promise.all(sources.map(async (source) => [source, await source.describe()] as const));
  for (const [source, { skipped }] of all)
    for (const { table, column, reason } of skipped)
      observe({
        type: 'warning',
        message: `${source.name}: ${column ? `column '${column}' of '${table}'` : `'${table}'`} is not served: ${reason}`,
      });
  for (const [source, { warnings = [] }] of all)
    for (const { table, problem } of warnings)
      observe({ type: 'warning', message: `${source.name}: '${table}' ${problem}` });
  for (const [source, { tables }] of all) logUncertainKeys(source, tables, observe);
  return all;
}

/** Logs tables whose key was guessed or is missing, because the key identifies records. */
function logUncertainKeys({ name }: Source, tables: readonly DescribedTable[], observe: Observe): void {
  const uncertain = tables.filter(({ primaryKey }) => primaryKey.length === 0);
  if (uncertain.length === 0) return;
  const keys = uncertain.map((table) => [table.name, keyOf(table)] as const);
  observe({
    type: 'source.keys',
    source: name,
    guessed: keys.flatMap(([table, key]) => (key.length ? [`${table} (${key.join(', ')})`] : [])),
    without: keys.flatMap(([table, key]) => (key.length ? [] : [table])),
  });
}

function selectTables(
  described: readonly (readonly [Source, Described])[],
  options: Customizations['tables'],
): ChosenTable[] {
  return described.flatMap(([source, { tables }]) => {
    const selection = options.get(source);
    if (!selection) return tables.map((table) => ({ source, table, name: table.name }));
    const { include, exclude = [], rename = {} } = selection.options;
    const names = tables.map((table) => table.name);
    // A table may have the name of a member of every object, such as 'constructor'.
    const renames = new Map(Object.entries(rename));
    for (const name of [...(include ?? []), ...exclude, ...renames.keys()])
      if (!names.includes(name)) failUnknownName(`${source.name} has no table '${name}'`, name, names, selection.at);
    for (const name of renames.values()) checkName(name, selection.at);
    return tables
      .filter(({ name }) => (!include || include.includes(name)) && !exclude.includes(name))
      .map((table) => ({ source, table, name: renames.get(table.name) ?? table.name, at: selection.at }));
  });
}
