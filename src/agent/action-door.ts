// Records for the code of actions, read through the operations of the engine, page after page.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { ActionRecord } from './actions/definitions.ts';
import type { ActionDoor, ActionQuery } from './actions/door.ts';
import type { ListRequest } from './engine.ts';
import { list, type Operations } from './operations.ts';

export function createActionDoor(ops: Operations): ActionDoor {
  return {
    names: () => [...ops.model.collections.keys()],
    keyOf(name) {
      return ops.model.collections
        .get(name)
        ?.key.map((column) => ({ name: column.name, type: typeof column.type === 'string' ? column.type : 'list' }));
    },
    list: (access, query, signal) => listAll(ops, access, query, signal),
  };
}

async function listAll(
  ops: Operations,
  access: Access,
  { limit, ...query }: ActionQuery,
  signal: AbortSignal | undefined,
): Promise<ActionRecord[]> {
  const records: ActionRecord[] = [];
  let from: Pick<ListRequest, 'cursor' | 'skip'> = {};
  for (;;) {
    const size = Math.min(ops.limits.pageSizeLimit, limit - records.length);
    const page = await list(ops, access, { ...query, ...from, limit: size }, signal && { signal });
    records.push(...page.records());
    if (!page.hasMore) return records;
    if (records.length >= limit) {
      const problem = `an action works on at most ${limit} records of '${query.collection}' at once; choose fewer.`;
      fail('INVALID_ARGUMENT', { argument: 'recordIds', problem });
    }
    const cursor = page.cursorAfter(page.rows.length - 1);
    from = cursor === undefined ? { skip: records.length } : { cursor };
  }
}
