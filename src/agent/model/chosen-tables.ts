// The tables that become collections: those of the sources that the options of `addDataSource` select.
import { fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import type { Customizations, QueryEntry, RecordedCustomizations } from '../customize/definitions.ts';
import type { Described, DescribedTable } from '../sources/described.ts';
import type { Source } from '../sources/source.ts';
import { checkName, failUnknownName } from './customizations.ts';
import { keyOf } from './fields.ts';

export interface ChosenTable {
  readonly source: Source;
  readonly table: DescribedTable;
  /** The name of the collection. */
  readonly name: string;
  /** The call site of `addDataSource` or `addQuery`. */
  readonly at?: string;
  /** The rows are those of a query. */
  readonly query?: QueryEntry;
}

interface ReadTables {
  readonly tables: readonly ChosenTable[];
  /** The version of the tables, for sources that have one. */
  readonly versions: ReadonlyMap<Source, string>;
}

/** Reads the schemas of the sources: the selected tables, with the names of their collections. */
export async function chooseTables(
  sources: readonly Source[],
  observe: Observe,
  tables: Customizations['tables'] = new Map(),
): Promise<ReadTables> {
  const described = await describeSources(sources, observe);
  const versions = described.flatMap(([source, { version }]) =>
    version === undefined ? [] : [[source, version] as const],
  );
  return { tables: selectTables(described, tables), versions: new Map(versions) };
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
    const { include, exclude = [], rename = {}, prefix = '' } = selection.options;
    const names = tables.map((table) => table.name);
    // A table may have the name of a member of every object, such as 'constructor'.
    const renames = new Map(Object.entries(rename));
    for (const name of [...(include ?? []), ...exclude, ...renames.keys()])
      if (!names.includes(name)) failUnknownName(`${source.name} has no table '${name}'`, name, names, selection.at);
    for (const name of renames.values()) checkName(name, selection.at);
    if (prefix !== '') checkName(prefix, selection.at);
    return tables
      .filter(({ name }) => (!include || include.includes(name)) && !exclude.includes(name))
      .map((table) => ({ source, table, name: prefix + (renames.get(table.name) ?? table.name), at: selection.at }));
  });
}

interface Reserved {
  readonly reservedNames?: ReadonlySet<string>;
  /** A setting names the database, not the user's code. Only the error message changes. */
  readonly isOfSettings?: boolean;
}

/** CONFIGURATION for two collections of the same name. */
export function checkDistinct(tables: readonly ChosenTable[], { isOfSettings }: Pick<Reserved, 'isOfSettings'>): void {
  const sources = new Map<string, Source>();
  const conflicts = tables.filter(({ name, source }) => {
    if (sources.has(name)) return true;
    sources.set(name, source);
    return false;
  });
  const [first] = conflicts;
  if (!first) return;
  const { name, source, at } = first;
  const other = sources.get(name);
  const names = [other?.name, source.name].map((each) => `'${each}'`).join(' and ');
  if (!isOfSettings || other === source)
    fail('CONFIGURATION', {
      problem: `The collection '${name}' is published by both ${names}. Rename one of them.${at ? ` (${at})` : ''}`,
    });
  const others = conflicts.length > 1 ? ` (and ${conflicts.length - 1} more)` : '';
  fail('CONFIGURATION', {
    problem: `The table '${name}'${others} exists in both ${names}. Write a name before the address of one of them: --database ${source.name}=... Its collections are then named '${source.name}.${name}'.`,
  });
}

/** CONFIGURATION for a collection that callers could not reach because the HTTP API uses its name in URLs. */
export function checkReserved(
  tables: readonly ChosenTable[],
  { removed }: RecordedCustomizations,
  { reservedNames: reserved = new Set(), isOfSettings }: Reserved,
): void {
  for (const { name, table, at } of tables) {
    if (!reserved.has(name) || removed.some(({ collection }) => collection === name)) continue;
    const why = `A collection cannot have the name '${name}': URLs of the HTTP API start with it.`;
    const rename = `addDataSource(factory, { rename: { '${table.name}': '...' } })`;
    const advice = isOfSettings
      ? `Leave it out with agent.removeCollection('${name}') in portico.config.mjs, export default (agent) => { ... }; to serve it, create a view with another name in the database, or add the database in code: ${rename}.`
      : `Rename it: ${rename}.${at ? ` (${at})` : ''}`;
    fail('CONFIGURATION', { problem: `${why} ${advice}` });
  }
}
