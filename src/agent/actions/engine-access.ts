// Implements ActionDoor with the operations of the engine. Lists are read page by page.
import type { Access } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import { fail } from '../../core/errors.ts';
import { askWithin } from '../ai/provider.ts';
import { callOf, getCollection, type Operations } from '../operations/call.ts';
import { listInside } from '../operations/internal.ts';
import { list } from '../operations/list.ts';
import { needDecidedScope } from '../operations/read-only-scopes.ts';
import { storedColumns } from '../plan/write.ts';
import type { ListRequest } from '../requests.ts';
import { insideFilter, insideNameOf } from '../resolve/internal-names.ts';
import { insideViewOf, scopeViewOf } from '../resolve/visibility.ts';
import type { ActionDoor, ActionQuery } from './collection-access.ts';
import type { ActionRecord } from './definitions.ts';

export function createActionDoor(ops: Operations, isUser: ActionDoor['isUser'] = async () => true): ActionDoor {
  return {
    isUser,
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
    needDecidedScope(access, name, verb) {
      needDecidedScope(callOf(ops, access, {}, {}), getCollection(ops.model, access, name), verb);
    },
    scopeOf(access, name) {
      const scope = access.scope(name);
      return scope && insideFilter(scopeViewOf(access, getCollection(ops.model, access, name)), scope);
    },
    ai: (signal) => ops.ai && askWithin(ops.ai, signal),
    inside: (access, name, options) => ops.inside(callOf(ops, access, {}, options), name),
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
