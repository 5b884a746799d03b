// Queries of `addQuery`: which source runs each, and its rows as the table of a collection.
import { isAppError } from '../../core/errors.ts';
import type { QueryEntry } from '../customize/definitions.ts';
import type { DescribedTable } from '../sources/described.ts';
import type { Source } from '../sources/source.ts';
import type { ChosenTable } from './chosen-tables.ts';
import { failMisuse, failUnknownName } from './customizations.ts';
import type { Collection, Column, Query, Relation } from './types.ts';

/** The tables with those of the queries. CONFIGURATION, with the user's line, for a query that its database refuses. */
export async function addQueries(
  tables: readonly ChosenTable[],
  sources: readonly Source[],
  queries: readonly QueryEntry[],
): Promise<readonly ChosenTable[]> {
  const added: ChosenTable[] = [];
  for (const entry of queries) {
    const { name, definition, at } = entry;
    const known = [...tables, ...added].find((each) => each.name === name || each.table.name === name);
    if (known) failMisuse(`addQuery('${name}'): a collection or table has this name`, at);
    const source = chooseSource(tables, sources, entry);
    const { sql, parameters = {}, columns = {} } = definition;
    try {
      const table = await source.addQuery!({ name, sql, parameters, columns });
      added.push({ source, table, name, at, query: entry });
    } catch (error) {
      if (isAppError(error)) throw error;
      failMisuse(`addQuery('${name}'): the query cannot be served: ${(error as Error).message.replace(/\.$/, '')}`, at);
    }
  }
  return [...tables, ...added];
}

function chooseSource(tables: readonly ChosenTable[], sources: readonly Source[], entry: QueryEntry): Source {
  const { name, at } = entry;
  const { beside, rowScope = {}, ignoreRowScopes = [] } = entry.definition;
  const named = [...(beside === undefined ? [] : [beside]), ...Object.keys(rowScope)];
  const sourceOf = (collection: string): Source =>
    tables.find((each) => each.name === collection)?.source ??
    failUnknownName(
      `addQuery('${name}'): there is no collection '${collection}'`,
      collection,
      tables.map((each) => each.name),
      at,
    );
  for (const each of ignoreRowScopes) sourceOf(each);
  const able = named.length > 0 ? [...new Set(named.map(sourceOf))] : sources.filter((each) => each.addQuery);
  const [source, other] = able;
  if (other && named.length > 0)
    return failMisuse(`addQuery('${name}'): the collections ${named.join(', ')} are not in one database`, at);
  if (other) return failMisuse(`addQuery('${name}') needs beside: a collection of the database that runs it`, at);
  if (!source?.addQuery) return failMisuse(`addQuery('${name}') needs an SQL database`, at);
  return source;
}

/** The relation to the collection of a row scope: `customer` for `customer_id`. */
export function nameRowScope(collection: string, column: string): string {
  const stem = column.replace(/(?<=.)(?:_id|Id|_ID)$/, '');
  return stem === column ? collection : stem;
}

/** Without what follows from other collections. */
export function createQuery(entry: QueryEntry, columns: readonly Column[]): QueryLinks {
  return { parameters: columns.filter(({ parameter }) => parameter), rowScope: [], unscoped: [], entry };
}

interface QueryLinks extends Query {
  readonly rowScope: Relation[];
  readonly unscoped: string[];
}

interface QueryBuild {
  readonly table: DescribedTable;
  readonly collection: Collection;
}

/** Links the queries to the collections that they read. CONFIGURATION for a row scope that they could not apply. */
export function linkQueries(builds: readonly QueryBuild[]): void {
  for (const { table, collection } of builds) {
    const query = collection.query as QueryLinks | undefined;
    if (!query) continue;
    const { definition, at } = query.entry;
    const { rowScope = {}, ignoreRowScopes = [] } = definition;
    for (const [foreign, column] of Object.entries(rowScope)) {
      const relation = collection.internalFields.get(nameRowScope(foreign, column!)) as Relation;
      if (relation.lowestBy)
        failMisuse(
          `addQuery('${collection.name}'): the key of '${foreign}' is not unique, so it gives no row scope`,
          at,
        );
      query.rowScope.push(relation);
    }
    const known = new Set([...Object.keys(rowScope), ...ignoreRowScopes]);
    for (const { table: other, collection: read } of builds)
      if (read.source === collection.source && table.reads?.includes(other.name) && !known.has(read.name))
        query.unscoped.push(read.name);
  }
  for (const { collection } of builds)
    for (const field of collection.internalFields.values())
      if (field.kind !== 'column' && field.to.query?.parameters.length)
        failMisuse(
          `'${field.name}' of '${collection.name}' cannot lead to the query '${field.to.name}', because it has parameters`,
          field.to.query.entry.at,
        );
}
