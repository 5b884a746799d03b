// Aggregates: the pages of an answer, its hooks, and groups of groups. groups.ts reads the groups.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { PlainOver } from '../../core/filter/measures.ts';
import { fingerprint, readGroupCursor, writeGroupCursor } from '../encode/cursor.ts';
import { failTooManyGroups, GROUPS_LIMIT, planTotals } from '../plan/aggregate.ts';
import type { AggregateAnswer, AggregateRequest, CallOptions } from '../requests.ts';
import { aggregateViewOf, type CollectionView, viewOf } from '../resolve/visibility.ts';
import { inexactHere } from '../sources/source.ts';
import { failOnHooks, runAggregateHooks } from './aggregate-hooks.ts';
import { createGroupCollection } from './aggregates/group-collection.ts';
import { isNative } from './aggregates/run-group.ts';
import {
  type Call,
  callOf,
  checkLimit,
  getCollection,
  type Operations,
  type Restriction,
  restrictFurther,
  unrestricted,
} from './call.ts';
import {
  checkGroups,
  explainGroups,
  failWithin,
  type GroupArguments,
  type PreparedGroups,
  prepareGroups,
  type ReadGroups,
  readGroups,
  readPrepared,
  readTallies,
} from './groups.ts';
import { hasHooks } from './hooks.ts';

export async function aggregate(
  ops: Operations,
  access: Access,
  request: AggregateRequest,
  options: CallOptions = {},
): Promise<AggregateAnswer> {
  const view = aggregateViewOf(access, getCollection(ops.model, access, request.collection, 'aggregates'));
  return aggregateFrom(callOf(ops, access, request, options), view, request, unrestricted);
}

export async function aggregateFrom(
  call: Call,
  view: CollectionView,
  request: Omit<AggregateRequest, 'collection'>,
  within: Restriction,
): Promise<AggregateAnswer> {
  if (!hasHooks(view.collection, 'Aggregate')) return readAggregate(call, view, request, within);
  if (request.over || request.compare) failOnHooks(view);
  // Invalid requests fail before the first hook runs.
  await checkGroups(call, view, request, within);
  let answer!: AggregateAnswer;
  const counted = await runAggregateHooks(call, view, request, async (narrowed) => {
    answer = await readAggregate(call, view, request, restrictFurther(within, narrowed));
    const width = request.groups?.length ?? 0;
    return answer.rows.map((row) => ({ values: row.slice(width), groups: row.slice(0, width) }));
  });
  return { ...answer, rows: counted.map(({ values, groups }) => [...groups, ...values]) };
}

/** Reads an aggregate without hooks. */
export async function readAggregate(
  call: Call,
  view: CollectionView,
  request: AggregateArguments,
  within: Restriction,
): Promise<AggregateAnswer> {
  const mark = fingerprintOfGroups(view, request, within);
  const skip = request.cursor === undefined ? 0 : readGroupCursor(request.cursor, mark);
  checkLimit(request.limit, call.ops.limits.pageSizeLimit);
  const page = { ...request, skip };
  const { over } = request;
  const { columns, rows, hasMore, note } = over
    ? await readOver(call, view, { ...page, over }, within)
    : await readGroups(call, view, page, within);
  return {
    columns,
    rows,
    hasMore,
    ...(note && { note }),
    cursorAfter: (index) => writeGroupCursor(mark, skip + index + 1),
  };
}

type AggregateArguments = Omit<AggregateRequest, 'collection'>;

function fingerprintOfGroups(
  { collection }: CollectionView,
  request: AggregateArguments,
  { mark }: Restriction,
): string {
  const { operation, field, measures, groups, having, sort, order, top, compare, includeEmpty, over } = request;
  const arrangement = [operation, field, measures, groups, having, sort, order, top, compare, includeEmpty, over];
  const given = arrangement.map((each) => each ?? null);
  return fingerprint(collection, given, { ...request, ...(mark && { within: mark }) });
}

/** Aggregates the groups of `over`, which the filters and the search select records for. */
async function readOver(
  call: Call,
  view: CollectionView,
  request: GroupArguments & { readonly over: PlainOver },
  within: Restriction,
): Promise<ReadGroups> {
  const { over, filter, search, searchExtended, segment, ...outer } = request;
  const inner = {
    ...toInnerArguments(over),
    isUsed: (column: string) => mentions(outer, column),
    ...(filter && { filter }),
    ...(search !== undefined && { search }),
    ...(searchExtended && { searchExtended }),
    ...(segment !== undefined && { segment }),
  };
  const named = (error: unknown) => failWithin('over', error);
  const prepared = await prepareGroups(call, view, inner, within).catch(named);
  const totals = await readTotals(call, view, prepared, outer);
  if (totals) return totals;
  const read = await readPrepared(call, view, inner, within, prepared).catch(named);
  if (read.hasMore) failTooManyGroups('over.groups');
  const { collection, source } = createGroupCollection(nameOfGroups(view), read);
  const outerRead = await readGroups(call, viewOf(call.access, collection), outer, {
    where: unrestricted.where,
    source,
  });
  const notes = [read.hiddenNote, outerRead.note].filter((note) => note !== undefined);
  return { ...outerRead, ...(notes.length > 0 && { note: notes.join(' ') }) };
}

/** The figures of all groups, which the source aggregates itself. Undefined if it cannot. */
async function readTotals(
  call: Call,
  view: CollectionView,
  { plan, scope, small }: PreparedGroups,
  outer: GroupArguments,
): Promise<ReadGroups | undefined> {
  if (small || outer.groups?.length) return undefined;
  const { collection, source } = createGroupCollection(nameOfGroups(view), { ...plan, rows: [], counts: [] });
  const outerView = viewOf(call.access, collection);
  const within = { where: unrestricted.where, source };
  const prepared = await prepareGroups(call, outerView, outer, within);
  const group = planTotals(plan, prepared.plan);
  if (!group || !isNative(plan, group)) return undefined;
  try {
    const found = await readTallies(call, view, { ...plan, group }, scope).catch((error: unknown) =>
      failWithin('over', error),
    );
    return await readPrepared(call, outerView, outer, within, prepared, found);
  } catch (error) {
    if (error !== inexactHere) throw error;
    return undefined;
  }
}

const nameOfGroups = ({ collection }: CollectionView): string => `groups of ${collection.name}`;

/** Whether a text or a name in the value contains the column, perhaps by chance. Names of columns are exact. */
function mentions(value: unknown, column: string): boolean {
  if (typeof value === 'string') return value.includes(column);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, item]) => mentions(key, column) || mentions(item, column));
}

function toInnerArguments(over: PlainOver): GroupArguments {
  const known = ['measures', 'groups', 'having', 'includeEmpty'];
  const other = typeof over === 'object' && over !== null ? Object.keys(over).find((key) => !known.includes(key)) : '';
  if (other !== undefined || !Array.isArray(over.groups) || over.groups.length === 0)
    return fail('INVALID_ARGUMENT', {
      argument: other ? `over.${other}` : 'over',
      problem:
        'send {"groups":["customer_id"],"measures":{"orders":{"count":true}}}; having and includeEmpty may be added.',
    });
  const { measures, groups, having, includeEmpty } = over;
  return {
    measures: measures ?? {},
    groups,
    ...(having && { having }),
    ...(includeEmpty && { includeEmpty }),
    sort: groups.map((_, group) => ({ group })),
    limit: GROUPS_LIMIT,
  };
}

/** The plan as text, without hooks, which are not part of a plan. */
export async function explainAggregate(ops: Operations, access: Access, request: AggregateRequest): Promise<string> {
  const view = aggregateViewOf(access, getCollection(ops.model, access, request.collection, 'aggregates'));
  const call = callOf(ops, access, request, {});
  if (!request.over) return explainGroups(call, view, request, unrestricted);
  const inner = await explainGroups(call, view, { ...request, ...toInnerArguments(request.over) }, unrestricted);
  return `${inner}then group these groups here\n`;
}
