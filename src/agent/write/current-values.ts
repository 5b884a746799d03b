// Reads the records of an update before it, for code that computes new values from current ones.
import { fail } from '../../core/errors.ts';
import type { CodeRecord } from '../customize/context.ts';
import { shapeRecords } from '../encode/records.ts';
import { executeRead } from '../execute/read.ts';
import { readOptions, rowsLimitOf, scopesOf } from '../operations/call.ts';
import { planRead, totalOrder } from '../plan/read.ts';
import type { Filter, Query } from '../plan/types.ts';
import { resolveName } from '../resolve/names.ts';
import { internalViewOf } from '../resolve/visibility.ts';
import type { CollectionWriteContext } from './target.ts';

/** `where` includes the row scope; `fields` are internal names. Throws TOO_MANY_ROWS. */
export async function readCurrentRecords(
  { call, view }: CollectionWriteContext,
  where: Filter,
  fields: readonly string[],
): Promise<readonly CodeRecord[]> {
  const { ops, access, options } = call;
  const { collection } = view;
  const limit = rowsLimitOf(ops);
  const inside = internalViewOf(access, collection);
  const query: Query = {
    collection,
    select: fields.map((field) => resolveName(inside, field)),
    where,
    order: totalOrder(collection, []),
    limit,
    skip: 0,
    cursor: false,
  };
  const plan = planRead(query, scopesOf(call), limit);
  const { rows, hasMore } = await executeRead(plan, limit, readOptions(ops, options), call);
  if (hasMore) fail('TOO_MANY_ROWS', { collection: collection.name, field: fields.join(', '), limit });
  return shapeRecords(rows, plan.shape);
}
