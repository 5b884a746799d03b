import type { Engine } from '../../agent/engine.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';

/**
 * CONFIGURATION if a team has a row scope that a query would not apply. A row scope of later hides the query from the
 * team (agent/resolve/visibility.ts).
 */
export async function refuseUnscopedQueries(
  store: Pick<Store, 'rights' | 'identity'>,
  { storedFilters }: Pick<Engine, 'storedFilters'>,
  { serverUrl }: Pick<Config, 'serverUrl'>,
): Promise<void> {
  // Another platform has the row scopes.
  if (serverUrl !== null) return;
  const queries = storedFilters.findUnscopedQueries();
  if (queries.length === 0) return;
  const [rights, { environment }] = await Promise.all([store.rights.read(), store.identity.place()]);
  for (const { kind, path } of rights) {
    const [team, of, named] = path;
    if (kind !== 'scope' || of !== environment) continue;
    for (const { query, collections, at } of queries) {
      const collection = collections.find((each) => named === '*' || named === each);
      if (collection !== undefined)
        fail('CONFIGURATION', {
          problem: `addQuery('${query}') reads '${collection}', of which team '${team}' has a row scope. Add rowScope: { ${collection}: '<the column with its key>' }, or ignoreRowScopes: ['${collection}'] if all rows may count. (${at})`,
        });
    }
  }
}
