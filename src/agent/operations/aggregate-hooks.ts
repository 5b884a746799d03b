// Runs the hooks around an aggregate. A count is an aggregate of all records in one group.

import { fail } from '../../core/errors.ts';
import type { HookAggregation } from '../customize/context.ts';
import type { Filter } from '../plan/types.ts';
import type { AggregateRequest } from '../requests.ts';
import { toInternalPath } from '../resolve/internal-names.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { type Operation, operations } from '../sources/statement.ts';
import type { Call } from './call.ts';
import { createHookRestrictions, runHooks } from './hooks.ts';

interface GroupResult {
  /** One for each aggregation. */
  readonly values: readonly unknown[];
  /** In the requested order. */
  readonly groups: readonly unknown[];
}

type AggregateArguments = Omit<AggregateRequest, 'limit' | 'collection'>;

/**
 * Calls `run` with the conditions that the hooks add to the filter. Returns as many groups as `run`, with the values
 * that the hooks set. Hooks run once for each measure.
 */
export async function runAggregateHooks(
  { code, moment }: Call,
  view: CollectionView,
  request: AggregateArguments,
  run: (narrowed: Filter) => Promise<readonly GroupResult[]>,
): Promise<readonly GroupResult[]> {
  const { collection } = view;
  const restrictions = createHookRestrictions('Aggregate', { view, moment }, request);
  const aggregations = hookAggregations(view, request);
  for (const aggregation of aggregations)
    await runHooks(collection, ['Before', 'Aggregate'], code, { ...restrictions.hookArguments, aggregation });
  const found = await run(await restrictions.lower({ view, moment, code }));
  const results: (readonly { value: unknown }[])[] = [];
  for (const [index, aggregation] of aggregations.entries()) {
    const result = found.map(({ values, groups }) => ({
      value: values[index],
      group: Object.freeze(Object.fromEntries(aggregation.groups.map(({ field }, at) => [field, groups[at]]))),
    }));
    results.push(result);
    const hookArguments = { filter: restrictions.filter(), aggregation, result: Object.freeze(result) };
    await runHooks(collection, ['After', 'Aggregate'], code, hookArguments);
  }
  return found.map(({ groups }, at) => ({ groups, values: results.map((result) => result[at]!.value ?? null) }));
}

/** Throws INVALID_ARGUMENT for what hooks cannot check: they know one operation on one field. */
function hookAggregations(view: CollectionView, request: AggregateArguments): HookAggregation[] {
  const groups = (request.groups ?? []).map((group) => {
    const plain = typeof group === 'string' ? { field: group } : group;
    return { ...plain, field: toInternalPath(view, plain.field) };
  });
  const toAggregation = (operation: Operation, field: string | undefined): HookAggregation =>
    Object.freeze({
      operation,
      ...(field !== undefined && { field: toInternalPath(view, field) }),
      groups: Object.freeze(groups),
    });
  if (!request.measures) return [toAggregation(request.operation!, request.field)];
  return Object.entries(request.measures).map(([name, measure]) => {
    const [[kind, of] = [], ...more] = Object.entries(measure);
    const operation = operations.find((each) => each.toLowerCase() === kind);
    const isPlain = more.length === 0 && (typeof of === 'string' || (of === true && operation === 'Count'));
    if (!operation || !isPlain) return failOnHooks(view, `measures.${name}`);
    return toAggregation(operation, of === true ? undefined : (of as string));
  });
}

export function failOnHooks({ collection }: CollectionView, argument = 'measures'): never {
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: `code of the operator checks aggregates of '${collection.name}', and it knows only count, sum, avg, max and min of one field, without where, compare and over. Send those.`,
  });
}
