// Runs the hooks around an aggregate. A count is an aggregate of all records in one group.

import type { HookAggregation } from '../customize/context.ts';
import type { Filter } from '../plan/types.ts';
import type { AggregateRequest } from '../requests.ts';
import { toInternalPath } from '../resolve/internal-names.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import type { Call } from './call.ts';
import { createHookRestrictions, runHooks } from './hooks.ts';

interface GroupResult {
  readonly value: unknown;
  /** In the requested order. */
  readonly groups: readonly unknown[];
}

/**
 * Calls `run` with the conditions that the hooks add to the filter. Returns as many groups as `run`, with the values
 * that the hooks set.
 */
export async function runAggregateHooks(
  { code, moment }: Call,
  view: CollectionView,
  request: Omit<AggregateRequest, 'limit' | 'collection'>,
  run: (narrowed: Filter) => Promise<readonly GroupResult[]>,
): Promise<readonly GroupResult[]> {
  const { collection } = view;
  const restrictions = createHookRestrictions('Aggregate', { view, moment }, request);
  const groups = (request.groups ?? []).map((group) => ({ ...group, field: toInternalPath(view, group.field) }));
  const aggregation: HookAggregation = Object.freeze({
    operation: request.operation,
    ...(request.field !== undefined && { field: toInternalPath(view, request.field) }),
    groups: Object.freeze(groups),
  });
  await runHooks(collection, ['Before', 'Aggregate'], code, { ...restrictions.hookArguments, aggregation });
  const found = await run(await restrictions.lower({ view, moment, code }));
  const result = found.map(({ value, groups: values }) => ({
    value,
    group: Object.freeze(Object.fromEntries(groups.map(({ field }, at) => [field, values[at]]))),
  }));
  const hookArguments = { filter: restrictions.filter(), aggregation, result: Object.freeze(result) };
  await runHooks(collection, ['After', 'Aggregate'], code, hookArguments);
  return found.map((each, at) => ({ ...each, value: result[at]!.value ?? null }));
}
