// The hooks around an aggregate. A count is one, of all records in one group.

import type { HookAggregation } from './customize/hooks.ts';
import type { AggregateRequest } from './engine.ts';
import { createNarrowing, runHooks } from './hooks.ts';
import type { Call } from './operations.ts';
import { insidePath } from './query/inside-names.ts';
import type { Filter } from './query/types.ts';
import type { View } from './query/view.ts';

export interface Counted {
  readonly value: unknown;
  /** In the order asked for. */
  readonly groups: readonly unknown[];
}

/** `run` is given what the hooks narrowed the filter by. As many as it gives, with values as the hooks left them. */
export async function runAggregateHooks(
  { code, moment }: Call,
  view: View,
  request: Omit<AggregateRequest, 'limit' | 'collection'>,
  run: (narrowed: Filter) => Promise<readonly Counted[]>,
): Promise<readonly Counted[]> {
  const { collection } = view;
  const narrowing = createNarrowing('Aggregate', { view, moment }, request);
  const groups = (request.groups ?? []).map((group) => ({ ...group, field: insidePath(view, group.field) }));
  const aggregation: HookAggregation = Object.freeze({
    operation: request.operation,
    ...(request.field !== undefined && { field: insidePath(view, request.field) }),
    groups: Object.freeze(groups),
  });
  await runHooks(collection, ['Before', 'Aggregate'], code, { ...narrowing.told, aggregation });
  const found = await run(await narrowing.lower({ view, moment, code }));
  const result = found.map(({ value, groups: values }) => ({
    value,
    group: Object.freeze(Object.fromEntries(groups.map(({ field }, at) => [field, values[at]]))),
  }));
  const told = { filter: narrowing.filter(), aggregation, result: Object.freeze(result) };
  await runHooks(collection, ['After', 'Aggregate'], code, told);
  return found.map((each, at) => ({ ...each, value: result[at]!.value ?? null }));
}
