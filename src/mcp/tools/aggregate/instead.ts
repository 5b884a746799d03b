// An aggregate over a to-many relation is refused, because it belongs to the foreign collection. The error contains
// the complete call for that collection.

import type { Operation } from '../../../agent/sources/statement.ts';
import { AppError, fail, isAppError } from '../../../core/errors.ts';
import type {
  PlainCompare,
  PlainGroup,
  PlainGroupSort,
  PlainHaving,
  PlainMeasures,
  PlainOver,
  PlainTop,
} from '../../../core/filter/measures.ts';
import { isBranch, isComparison, isQuantified, type PlainFilter } from '../../../core/filter.ts';
import type { ListFormat } from '../../results/list-result.ts';
import type { ToolCall } from '../../tool.ts';
import { fieldsOfMeasures, invertMeasures } from './inverse-measures.ts';

/** Throws the refusal with the calls to send instead, or `error` if there are no such calls. */
export function failWithInverseCall(args: AggregateArguments, call: ToolCall, error: unknown): never {
  const { collection, operation, field, measures, groups = [] } = args;
  if (!isAppError(error, 'RELATION_TO_MANY') || error.details.collection !== collection || args.over) throw error;
  const { relation } = error.details;
  const isBehind = (path: string) => path.split(':')[0] === relation;
  // From the foreign collection, a field of this collection would count once per related record.
  if (measures ? !fieldsOfMeasures(measures).some(isBehind) : field === undefined || !isBehind(field)) throw error;
  const { collection: other, home, foreign } = call.engine.inverseOf(call.access, { collection, relation });
  const invertPath = (path: string): string => {
    const [first, ...rest] = path.split(':');
    if (first !== relation) return `${home}:${path}`;
    return [...(foreign === undefined ? [] : [foreign]), ...rest].join(':');
  };
  const inverted = measures && invertMeasures(measures, { isBehind, invertPath });
  if (measures && !inverted) throw error;
  const { having, sort, top, compare, includeEmpty } = args;
  const formatCall = (filters: PlainFilter) =>
    JSON.stringify({
      collectionName: other,
      ...(inverted ? { measures: inverted } : { operation: operation!.toLowerCase(), field: invertPath(field!) }),
      ...(groups.length > 0 && { groups: groups.map((group) => invertGroup(group, invertPath)) }),
      filters,
      ...(having && { having }),
      ...(sort && { sort: sort.map((each) => invertSort(each, invertPath)) }),
      ...(top && { top }),
      ...(compare && { compare }),
      ...(includeEmpty && { includeEmpty }),
      ...(args.timezone && { timezone: args.timezone }),
      ...(args.order && args.order !== 'value' && { order: args.order }),
      ...(args.limit !== undefined && { limit: args.limit }),
    });
  if (inverted && args.segment === undefined && !args.search && !args.filter)
    failWithNextCall({ ...args, collection: other, measures: inverted }, call, {
      groups: groups.map((group) => invertGroup(group, invertPath)),
      sort: sort?.map((each) => invertSort(each, invertPath)),
      filter: { some: home },
    });
  return fail('INVALID_ARGUMENT', {
    argument: measures ? 'measures' : 'field',
    problem: `'${relation}' leads to many records: ${describeCalls(args, call, { relation, home, invertPath, formatCall })}`,
  });
}

/** A path of two relations to many: the call for the collection at its end. */
function failWithNextCall(
  args: AggregateArguments & { readonly measures: PlainMeasures },
  call: ToolCall,
  {
    groups,
    sort,
    filter,
  }: { groups: (string | PlainGroup)[]; sort: PlainGroupSort[] | undefined; filter: PlainFilter },
): void {
  const { relations } = call.engine.describe(call.access, args.collection);
  const firsts = new Set(fieldsOfMeasures(args.measures).map((path) => path.split(':')[0]));
  const next = relations.find(({ name, kind }) => kind === 'many' && firsts.has(name));
  if (!next) return;
  const inner = {
    ...args,
    groups: groups.map((group) => (typeof group === 'string' ? { field: group } : group)),
    sort,
    filter,
  };
  const details = { collection: args.collection, relation: next.name, foreign: next.name };
  const unknown = new AppError('RELATION_TO_MANY', details);
  try {
    failWithInverseCall(inner, call, unknown);
  } catch (error) {
    if (error !== unknown) throw error;
  }
}

function invertGroup(group: string | PlainGroup, invertPath: (path: string) => string): string | PlainGroup {
  const { field, ...by } = typeof group === 'string' ? { field: group } : group;
  const path = invertPath(field);
  return Object.keys(by).length > 0 ? { field: path, ...by } : path;
}

function invertSort(sort: PlainGroupSort, invertPath: (path: string) => string): PlainGroupSort {
  return 'group' in sort && typeof sort.group === 'string' ? { ...sort, group: invertPath(sort.group) } : sort;
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
  const isOwn = (each: PlainFilter) =>
    !isBranch(each) && !isQuantified(each) && !isComparison(each) && each.field.startsWith(`${relation}:`);
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

export interface AggregateArguments {
  readonly collection: string;
  readonly measures: PlainMeasures | undefined;
  readonly operation: Operation | undefined;
  readonly field: string | undefined;
  readonly groups: readonly PlainGroup[] | undefined;
  readonly segment: string | undefined;
  readonly search: string | undefined;
  readonly searchExtended: boolean;
  readonly filter: PlainFilter | undefined;
  readonly timezone: string | undefined;
  readonly having: PlainHaving | undefined;
  readonly sort: readonly PlainGroupSort[] | undefined;
  readonly top: PlainTop | undefined;
  readonly compare: PlainCompare | undefined;
  readonly includeEmpty: boolean;
  readonly over: PlainOver | undefined;
  readonly order: 'value' | 'groups' | undefined;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly format: ListFormat;
}
