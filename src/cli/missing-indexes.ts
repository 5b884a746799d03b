// `portico doctor --indexes`: the indexes that relations, sorts, segments and row scopes lack, as statements to run.
import type { KeptFilter } from '../agent/artifacts/missing-indexes.ts';
import { type Caller, fullAccess } from '../core/caller.ts';
import { type Finding, note, ok } from '../core/config/findings.ts';
import type { Config } from '../core/config.ts';
import type { PlainFilter } from '../core/filter.ts';
import { readMeanings } from '../store/permissions/meanings.ts';
import { withStore } from './storage.ts';
import { isStorageThere, openExamined } from './unclear-filters.ts';

/** Undefined if the database cannot be opened, which another check reports. */
export async function checkIndexes(config: Config): Promise<Finding | undefined> {
  const engine = await openExamined(config);
  if (!engine) return undefined;
  try {
    const caller = { id: 0, timezone: 'UTC', tags: {}, permissionLevel: 'admin' } as unknown as Caller;
    const { missing, searched } = await engine.missingIndexes(fullAccess(caller), await readStoredFilters(config));
    const lines = [
      ...missing.map(({ uses, statement }) => `${statement} -- for ${uses.join(', ')}`),
      ...searched.map(
        ({ collection, rows }) =>
          `'search' on '${collection}' reads about ${rows} records: replaceSearch() or disableSearch() in code avoids it`,
      ),
    ];
    if (lines.length === 0) return ok('Indexes: none is missing');
    return note(`Indexes:${lines.map((line) => `\n         ${line}`).join('')}`);
  } finally {
    await engine.close();
  }
}

/** Row scopes, and segments of the console. */
async function readStoredFilters(config: Config): Promise<readonly KeptFilter[]> {
  const found: KeptFilter[] = [];
  if (await isStorageThere(config))
    await withStore(config, async (store) => {
      for (const { kind, path, value } of await store.rights.read()) {
        const [team, , collection] = path;
        if (kind !== 'scope' || collection === undefined) continue;
        found.push({
          collection,
          filter: value as PlainFilter,
          what: `the row scope of team '${team}' on '${collection}'`,
        });
      }
      for (const [collection, { segments }] of readMeanings(await store.meanings.list()).collections)
        for (const [name, { filter }] of segments)
          found.push({ collection, filter, what: `the segment '${name}' of '${collection}'` });
    });
  return found;
}
