// The records that an update is about, as they are before it: for code that makes what is written of what is there.
import { fail } from '../core/errors.ts';
import type { CodeRecord } from './customize/definitions.ts';
import { readOptions, rowsLimitOf, scopesOf } from './operations.ts';
import { executeRead } from './query/execute.ts';
import { planRead, totalOrder } from './query/plan-read.ts';
import { resolveName } from './query/resolve.ts';
import { shapeRecords } from './query/shape.ts';
import type { Filter, Query } from './query/types.ts';
import { insideViewOf } from './query/view.ts';
import type { Site } from './write-site.ts';

/** `where` has the row scope in it; `fields` are inside names. TOO_MANY_ROWS. */
export async function readCurrent(
  { call, view }: Site,
  where: Filter,
  fields: readonly string[],
): Promise<readonly CodeRecord[]> {
  const { ops, access, options } = call;
  const { collection } = view;
  const limit = rowsLimitOf(ops);
  const inside = insideViewOf(access, collection);
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
