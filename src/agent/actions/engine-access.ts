// Implements ActionEngine with the operations of the engine. Lists are read page by page.
import type { Access } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import { fail } from '../../core/errors.ts';
import { withCancellation } from '../ai/provider.ts';
import { callOf, getCollection, type Operations } from '../operations/call.ts';
import { listInternal } from '../operations/internal.ts';
import { list } from '../operations/list.ts';
import { requireNativeScope } from '../operations/read-only-scopes.ts';
import { storedColumns } from '../plan/write.ts';
import type { ListRequest } from '../requests.ts';
import { internalNameOf, toInternalFilter } from '../resolve/internal-names.ts';
import { internalViewOf, scopeViewOf } from '../resolve/visibility.ts';
import type { ActionEngine, ActionQuery } from './collection-access.ts';
import type { ActionRecord } from './definitions.ts';

export function createActionEngine(ops: Operations, isUser: ActionEngine['isUser'] = async () => true): ActionEngine {
  return {
    isUser,
    names: () => [...ops.model.collections.keys()],
    keyOf(name) {
      return ops.model.collections.get(name)?.key.map((column) => ({
        name: column.name,
        internalName: column.column,
        type: typeof column.type === 'string' ? column.type : 'list',
      }));
    },
    storedOf(name) {
      const collection = ops.model.collections.get(name);
      return collection ? storedColumns(collection).map((column) => internalNameOf(collection, column)) : [];
    },
    list: (access, query, signal) => listAll(ops, access, query, signal),
    listInternal(access, { collection: name, filter, fields }, signal) {
      const view = internalViewOf(access, getCollection(ops.model, access, name));
      const call = callOf(ops, access, {}, signal ? { signal } : {});
      return listInternal(call, view, filter ? { conditionTree: filter } : {}, fields);
    },
    requireNativeScope(access, name, verb) {
      requireNativeScope(callOf(ops, access, {}, {}), getCollection(ops.model, access, name), verb);
    },
    scopeOf(access, name) {
      const scope = access.scope(name);
      return scope && toInternalFilter(scopeViewOf(access, getCollection(ops.model, access, name)), scope);
    },
    ai: (signal) => ops.ai && withCancellation(ops.ai, signal),
    unscopedCollection: (access, name, options) => ops.unscopedCollection(callOf(ops, access, {}, options), name),
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
      const problem = `an action can run on at most ${limit} records of '${query.collection}' at once; select fewer.`;
      fail('INVALID_ARGUMENT', { argument: 'recordIds', problem });
    }
    const cursor = page.cursorAfter(page.rows.length - 1);
    from = cursor === undefined ? { skip: records.length } : { cursor };
  }
}
