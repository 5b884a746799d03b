// Nobody may point to a record that he could not read. Within one source the statement that writes sees to it (guards); a
// record of another source is looked for before.
import { fail } from '../core/errors.ts';
import { countWhere, scopesOf } from './operations.ts';
import { NO_SUCH_RECORD } from './query/execute-write.ts';
import { distinctKeys } from './query/lookups.ts';
import { pathTo } from './query/paths.ts';
import { and } from './query/simplify.ts';
import type { Draft } from './query/write-values.ts';
import type { Site } from './write-site.ts';

/**
 * INVALID_RECORD naming the field; of records that are written along, too. A type that is written to a record which is there
 * needs its key along: what the record holds already may point to anything of that type.
 */
export async function needForeign(
  site: Pick<Site, 'call' | 'writer'>,
  drafts: readonly Draft[],
  isNew: boolean,
): Promise<void> {
  const { call, writer } = site;
  const scope = scopesOf(call);
  const { collection, relations, sight } = writer.view;
  for (const relation of new Set(drafts.flatMap(({ related }) => [...related.keys()]))) {
    const inners = drafts.flatMap(({ related }) => related.get(relation) ?? []);
    await needForeign({ call, writer: writer.at(relation.to) }, inners, false);
  }
  for (const { inverse, reach, to, on, only } of relations) {
    const [pair] = on;
    if (!pair || inverse || reach === 'join' || !sight.withholds(to)) continue;
    const path = pathTo(to, [], pair.to);
    // Where the type is not written along, the key must do for every collection that it may be about.
    const meant = drafts.filter(
      ({ values }) => !only || !values.has(only.column) || values.get(only.column) === only.value,
    );
    const half = meant.some(({ values }) => only && values.has(only.column) && !values.has(pair.from));
    if (half && !isNew)
      fail('INVALID_RECORD', {
        collection: collection.name,
        problems: [{ field: pair.from.name, problem: `must be given along with '${only?.column.name}'.` }],
      });
    const rows = meant.map(({ values }) => [values.get(pair.from) ?? null]);
    const value = distinctKeys(rows, 0, path);
    if (value.length === 0) continue;
    const found = await countWhere(call, to, and({ op: 'test', path, is: 'In', value }, scope(to)));
    if (found < value.length)
      fail('INVALID_RECORD', {
        collection: collection.name,
        problems: [{ field: pair.from.name, problem: NO_SUCH_RECORD }],
      });
  }
}
