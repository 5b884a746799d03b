// Records for the code of actions, read through the operations of the engine, page after page.
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import { fail } from '../core/errors.ts';
import type { ActionRecord } from './actions/definitions.ts';
import type { ActionDoor, ActionQuery } from './actions/door.ts';
import { askWithin } from './ai.ts';
import type { ListRequest } from './engine.ts';
import { listInside } from './inside.ts';
import { callOf, getCollection, list, type Operations } from './operations.ts';
import { insideFilter, insideNameOf } from './query/inside-names.ts';
import { storedColumns } from './query/plan-write.ts';
import { insideViewOf, scopeViewOf } from './query/view.ts';

export function createActionDoor(ops: Operations): ActionDoor {
  return {
    names: () => [...ops.model.collections.keys()],
    keyOf(name) {
      return ops.model.collections.get(name)?.key.map((column) => ({
        name: column.name,
        insideName: column.column,
        type: typeof column.type === 'string' ? column.type : 'list',
      }));
    },
    storedOf(name) {
      const collection = ops.model.collections.get(name);
      return collection ? storedColumns(collection).map((column) => insideNameOf(collection, column)) : [];
    },
    list: (access, query, signal) => listAll(ops, access, query, signal),
    listInside(access, { collection: name, filter, fields }, signal) {
      const view = insideViewOf(access, getCollection(ops.model, access, name));
      const call = callOf(ops, access, {}, signal ? { signal } : {});
      return listInside(call, view, filter ? { conditionTree: filter } : {}, fields);
    },
    scopeOf(access, name) {
      const scope = access.scope(name);
      return scope && insideFilter(scopeViewOf(access, getCollection(ops.model, access, name)), scope);
    },
    ai: (signal) => ops.ai && askWithin(ops.ai, signal),
    inside: (access, name, signal) => ops.inside(callOf(ops, access, {}, signal ? { signal } : {}), name),
  };
}

async function listAll(
  ops: Operations,
  access: Access,
  { limit, ...query }: ActionQuery,
  signal: StopSignal | undefined,
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
