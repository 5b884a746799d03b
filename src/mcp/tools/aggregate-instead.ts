// An aggregate over a to-many relation is refused, because it belongs to the foreign collection. The error contains
// the complete call for that collection.

import type { PlainGroup } from '../../agent/requests.ts';
import type { Operation } from '../../agent/sources/statement.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { isBranch, isQuantified, type PlainFilter } from '../../core/filter.ts';
import type { ListFormat } from '../results/list-result.ts';
import type { ToolCall } from '../tool.ts';

/** Throws the refusal with the calls to send instead, or `error` if there are no such calls. */
export function failWithInverseCall(args: AggregateArguments, call: ToolCall, error: unknown): never {
  const { collection, operation, field, groups = [] } = args;
  const toManyPath = [field, ...groups.map(groupFieldOf)].find(
    (path) => isAppError(error, 'RELATION_TO_MANY') && path?.split(':')[0] === error.details.relation,
  );
  if (!isAppError(error, 'RELATION_TO_MANY') || error.details.collection !== collection || toManyPath === undefined)
    throw error;
  const { relation } = error.details;
  // From the foreign collection, a field of this collection would count once per related record.
  if (field !== undefined && field.split(':')[0] !== relation) throw error;
  const { collection: other, home, foreign } = call.engine.inverseOf(call.access, { collection, relation });
  const invertPath = (path: string): string => {
    const [first, ...rest] = path.split(':');
    if (first !== relation) return `${home}:${path}`;
    return [...(foreign === undefined ? [] : [foreign]), ...rest].join(':');
  };
  const formatCall = (filters: PlainFilter) =>
    JSON.stringify({
      collectionName: other,
      operation: operation.toLowerCase(),
      ...(field !== undefined && { field: invertPath(field) }),
      ...(groups.length > 0 && {
        groups: groups.map((group) => {
          const path = invertPath(groupFieldOf(group));
          return typeof group === 'object' && group.bucket ? { field: path, bucket: group.bucket } : path;
        }),
      }),
      filters,
      ...(args.timezone && { timezone: args.timezone }),
      ...(args.order !== 'value' && { order: args.order }),
      ...(args.limit !== undefined && { limit: args.limit }),
    });
  const counted = field === undefined ? ` This counts records of '${other}'.` : '';
  return fail('INVALID_ARGUMENT', {
    argument: field === undefined ? 'groups' : 'field',
    problem: `'${relation}' leads to many records: ${describeCalls(args, call, { relation, home, invertPath, formatCall })}${counted}`,
  });
}

interface InverseCall {
  readonly relation: string;
  readonly home: string;
  readonly invertPath: (path: string) => string;
  readonly formatCall: (filter: PlainFilter) => string;
}

function describeCalls(
  args: AggregateArguments,
  call: ToolCall,
  { relation, home, invertPath, formatCall }: InverseCall,
): string {
  const { collection, filter, segment, search } = args;
  if (segment !== undefined || search) {
    const { key } = call.engine.describe(call.access, collection);
    const [id] = key;
    if (id === undefined || key.length > 1)
      return `filter by fields instead of the segment and the search, and send ${formatCall({ some: home })}.`;
    const list = {
      collectionName: collection,
      ...(segment !== undefined && { segment }),
      ...(search && { search }),
      ...(args.searchExtended && { shouldSearchInRelation: true }),
      ...(filter && { filters: filter }),
      fields: [id],
    };
    const idFilter: PlainFilter = { field: `${home}:${id}`, operator: 'In', value: [`the values of ${id}`] };
    return `list with ${JSON.stringify(list)}, then send ${formatCall(idFilter)}.`;
  }
  const relatedFilter: PlainFilter = { some: home, ...(filter && { where: filter }) };
  if (!filter) return `send ${formatCall(relatedFilter)}.`;
  const conditions = isBranch(filter) && filter.aggregator === 'And' ? filter.conditions : [filter];
  const isOwn = (each: PlainFilter) => !isBranch(each) && !isQuantified(each) && each.field.startsWith(`${relation}:`);
  const own = conditions
    .filter(isOwn)
    .map((each) => (isOwn(each) ? { ...each, field: invertPath((each as { field: string }).field) } : each));
  if (own.length === 0) return `send ${formatCall(relatedFilter)}.`;
  const others = conditions.filter((each) => !isOwn(each));
  const rest: PlainFilter = {
    some: home,
    ...(others.length === 1 && { where: others[0] }),
    ...(others.length > 1 && { where: { aggregator: 'And', conditions: others } }),
  } as PlainFilter;
  const only = formatCall({ aggregator: 'And', conditions: [...own, rest] });
  return `to include only the '${relation}' that satisfy the conditions, send ${only}; to include all '${relation}' of each '${collection}' record with a match, send ${formatCall(relatedFilter)}.`;
}

function groupFieldOf(group: PlainGroup): string {
  return typeof group === 'string' ? group : group.field;
}

export interface AggregateArguments {
  readonly collection: string;
  readonly operation: Operation;
  readonly field: string | undefined;
  readonly groups: readonly PlainGroup[] | undefined;
  readonly segment: string | undefined;
  readonly search: string | undefined;
  readonly searchExtended: boolean;
  readonly filter: PlainFilter | undefined;
  readonly timezone: string | undefined;
  readonly order: 'value' | 'groups';
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly format: ListFormat;
}
