// A caller may only link to records that they can read. Within one source, guards of the writing statement check this.
// For another source, a lookup before the write does.
import { fail } from '../../core/errors.ts';
import { distinctKeys } from '../execute/fetch-related.ts';
import { NO_SUCH_RECORD } from '../execute/write.ts';
import { and } from '../lower/simplify.ts';
import type { Relation } from '../model/types.ts';
import { rowsLimitOf, scopesOf } from '../operations/call.ts';
import { countWhere } from '../operations/list.ts';
import { planTargetCondition } from '../plan/cross-source.ts';
import { createPlanner } from '../plan/read.ts';
import { pathTo } from '../resolve/paths.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import type { Draft } from './drafts.ts';
import type { CollectionWriteContext } from './target.ts';

/**
 * CWE-204: a foreign key to a collection that the caller may not browse is never writable, whether or not the record
 * exists. The caller cannot see its relation.
 */
function refuseHiddenForeignKeys({ collection, visibility }: CollectionView, drafts: readonly Draft[]): void {
  for (const field of visibility.fields(collection).values()) {
    if (field.kind === 'column' || field.inverse || field.through || !visibility.hidesAllRows(field.to)) continue;
    for (const { from } of field.on) {
      const isWritten = ({ values }: Draft) => (values.get(from) ?? null) !== null && isOfType(field, values);
      if (drafts.some(isWritten))
        fail('INVALID_RECORD', {
          collection: collection.name,
          problems: [
            { field: from.name, problem: 'points to a collection that you may not see: leave it out, or send null.' },
          ],
        });
    }
  }
}

/** If the type column is not written with the key, the key must exist in every possible collection. */
const isOfType = ({ only }: Relation, values: Draft['values']): boolean =>
  !only || !values.has(only.column) || values.get(only.column) === only.value;

/**
 * Throws INVALID_RECORD with the field, also for nested records. Writing the type of an existing record also requires
 * its key, because the stored key could reference any record of that type.
 */
export async function checkForeignKeys(
  site: Pick<CollectionWriteContext, 'call' | 'writer'>,
  drafts: readonly Draft[],
  isNew: boolean,
): Promise<void> {
  const { call, writer } = site;
  const scope = scopesOf(call);
  const { collection, relations, visibility } = writer.view;
  refuseHiddenForeignKeys(writer.view, drafts);
  for (const relation of new Set(drafts.flatMap(({ related }) => [...related.keys()]))) {
    const inners = drafts.flatMap(({ related }) => related.get(relation) ?? []);
    await checkForeignKeys({ call, writer: writer.forCollection(relation.to) }, inners, false);
  }
  for (const relation of relations) {
    const { inverse, reach, to, on, only } = relation;
    const [pair] = on;
    if (!pair || inverse || reach === 'join' || !visibility.hidesRows(to)) continue;
    const path = pathTo(to, [], pair.to);
    const relevant = drafts.filter(({ values }) => isOfType(relation, values));
    const incomplete = relevant.some(({ values }) => only && values.has(only.column) && !values.has(pair.from));
    if (incomplete && !isNew)
      fail('INVALID_RECORD', {
        collection: collection.name,
        problems: [{ field: pair.from.name, problem: `is required together with '${only?.column.name}'.` }],
      });
    const rows = relevant.map(({ values }) => [values.get(pair.from) ?? null]);
    const value = distinctKeys(rows, 0, path);
    if (value.length === 0) continue;
    const found = await countWhere(
      call,
      to,
      and(
        { op: 'test', path, is: 'In', value },
        planTargetCondition(relation, createPlanner(scope, rowsLimitOf(call.ops))),
      ),
    );
    if (found < value.length)
      fail('INVALID_RECORD', {
        collection: collection.name,
        problems: [{ field: pair.from.name, problem: NO_SUCH_RECORD }],
      });
  }
}
