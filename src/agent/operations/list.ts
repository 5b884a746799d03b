// The reading operations of the engine. Each consists of phases in this order: permissions -> hooks -> names and
// values -> one filter -> one plan -> one statement -> in-memory steps -> hooks.

import type { Access } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { MaybePromise } from '../customize/context.ts';
import { whenDone } from '../customize/user-code.ts';
import { fingerprint, orderArrangement, readCursor, writeCursor } from '../encode/cursor.ts';
import { isFile, pickColumns, shapeRecords } from '../encode/records.ts';
import { executeRead, resolveLookups } from '../execute/read.ts';
import { type Conditions, lowerConditions, type ScopeOf } from '../lower/filter.ts';
import { and } from '../lower/simplify.ts';
import { describeCollection, summarizeCollection } from '../model/describe.ts';
import type { Collection } from '../model/types.ts';
import { planCrossSource } from '../plan/cross-source.ts';
import { explainRead } from '../plan/explain.ts';
import { planParameters } from '../plan/queries.ts';
import { createPlanner, planJoins, planRead, totalOrder } from '../plan/read.ts';
import { splitFilter } from '../plan/residual.ts';
import type { Filter, Order, Query, RequestedField } from '../plan/types.ts';
import type {
  CallOptions,
  CollectionDescription,
  CollectionSummary,
  CountRequest,
  ListAnswer,
  ListRequest,
} from '../requests.ts';
import { toInternalPath } from '../resolve/internal-names.ts';
import { visibleMetrics } from '../resolve/measures.ts';
import { resolveName, resolveSort } from '../resolve/names.ts';
import { visibleSegments } from '../resolve/stored-definitions.ts';
import { aggregateViewOf, type CollectionView, hasOnlyAggregates, mayBrowse, viewOf } from '../resolve/visibility.ts';
import { aggregateFrom } from './aggregate.ts';
import { runAggregateHooks } from './aggregate-hooks.ts';
import type { Call, Operations, Restriction } from './call.ts';
import {
  callOf,
  checkLimit,
  checkSkip,
  getCollection,
  readOptions,
  restrictFurther,
  rowsLimitOf,
  scopesOf,
  unrestricted,
  withRestrictedSource,
} from './call.ts';
import { explainGroups } from './groups.ts';
import {
  createHookRestrictions,
  type HookRestrictions,
  hasHooks,
  type OpenedRecords,
  openRecords,
  runHooks,
} from './hooks.ts';
import { countColumns, type FieldRequest, listColumns, type MoreRead } from './lists/columns.ts';
import { listDistinct, prepareDistinct } from './lists/distinct.ts';
import { adviseOnTimeout } from './lists/indexed-fields.ts';

const FIELDS_LIMIT = 2000;

export async function list(
  ops: Operations,
  access: Access,
  request: ListRequest,
  options: CallOptions = {},
): Promise<ListAnswer> {
  const collection = getCollection(ops.model, access, request.collection);
  return listFrom(callOf(ops, access, request, options), viewOf(access, collection), request, unrestricted);
}

export async function listFrom(
  call: Call,
  view: CollectionView,
  request: ListConditions,
  within: Restriction,
): Promise<ListAnswer> {
  const { collection } = view;
  if (request.distinct) return listDistinct(call, view, request, selectDistinct(view, request), within);
  const advise = (error: unknown) => (isNarrowed(request) ? adviseOnTimeout(error, view, request) : error);
  if (!hasOnlyFields(request))
    return listColumns(call, view, request, within, async (fields, restriction, more) => {
      const { query, scope, mark } = await prepareList(call, view, fields, restriction, more);
      const page = more.sorted ? { ...query, cursor: false } : query;
      return { query, mark, ...(await readPage(call, page, scope, restriction, advise, true)) };
    });
  const hookState = hasHooks(collection, 'List') ? await beforeList(call, view, request) : null;
  const prepared = prepareList(call, view, request, hookState ? restrictFurther(within, hookState.narrowed) : within);
  const { query, scope, mark } = prepared instanceof Promise ? await prepared : prepared;
  const { plan, rows, hasMore } = await readPage(call, query, scope, within, advise);
  const shown = hookState ? await afterList(call, view, hookState, openRecords(view, rows, plan, query.select)) : null;
  let marked: string | undefined;
  return {
    columns: query.select.map((named) => named.name),
    rows: shown?.rows ?? pickColumns(rows, plan),
    hasMore,
    files: query.select.filter(({ path }) => isFile(path.field)).map((named) => named.name),
    cursorAfter(index) {
      const row = rows[index];
      if (!row || !query.cursor) return undefined;
      marked ??= mark();
      return writeCursor(marked, row, plan.keys);
    },
    records: () => shown?.records ?? shapeRecords(rows, plan.shape),
  };
}

/** False for one record by its id, and for the first page in the order of the key. */
const isNarrowed = ({ search, filter, segment, sort }: ListConditions): boolean =>
  [search, filter, segment, sort].some((given) => given !== undefined);

/**
 * Reads the page. If it is too large and the caller accepts cursors, reads a shorter one. `raw`: rows that are not ready
 * for JSON. Throws ANSWER_TOO_LARGE.
 */
async function readPage(
  call: Call,
  query: Query,
  scope: ScopeOf,
  within: Restriction,
  advise: (error: unknown) => unknown,
  raw = false,
) {
  const { ops, options } = call;
  for (let { limit } = query; ; limit = limit && Math.ceil(limit / 4)) {
    const page = { ...query, limit };
    const plan = withRestrictedSource(planRead(page, scope, rowsLimitOf(ops)), within);
    ops.observe({ type: 'query.planned', collection: query.collection.name, plan: () => explainRead(page, plan) });
    try {
      const run = raw ? { ...plan, binary: [] } : plan;
      return { plan, ...(await executeRead(run, limit, readOptions(ops, options), call)) };
    } catch (error) {
      const isCut = options.cutsPages && query.cursor && limit !== null && limit > 1;
      if (!isCut || !isAppError(error, 'ANSWER_TOO_LARGE')) throw advise(error);
    }
  }
}

interface ListHookState {
  readonly restrictions: HookRestrictions;
  readonly narrowed: Filter;
  readonly projection: readonly string[];
}

async function beforeList(call: Call, view: CollectionView, request: FieldRequest): Promise<ListHookState> {
  checkLimit(request.limit, call.ops.limits.pageSizeLimit);
  const { fields = view.defaultFields } = request;
  const projection = fields.map((field) => toInternalPath(view, resolveName(view, field).name));
  const { moment, code } = call;
  const narrowing = createHookRestrictions('List', { view, moment }, request);
  await runHooks(view.collection, ['Before', 'List'], code, { ...narrowing.hookArguments, projection });
  return { restrictions: narrowing, narrowed: await narrowing.lower({ view, moment, code }), projection };
}

async function afterList(
  { code }: Call,
  { collection }: CollectionView,
  { restrictions: narrowing, projection }: ListHookState,
  opened: OpenedRecords,
) {
  const hookArguments = { filter: narrowing.filter(), projection, records: opened.records };
  await runHooks(collection, ['After', 'List'], code, hookArguments);
  return opened.close();
}

/** The plan as text, without hooks, which are not part of a plan. */
export async function explainList(ops: Operations, access: Access, request: ListRequest): Promise<string> {
  const collection = getCollection(ops.model, access, request.collection);
  const call = callOf(ops, access, request, {});
  const view = viewOf(access, collection);
  if (request.distinct) {
    const { groups, resolve } = prepareDistinct(call, view, request, selectDistinct(view, request));
    return explainGroups(call, view, groups, unrestricted, resolve);
  }
  if (!hasOnlyFields(request))
    return fail('INVALID_ARGUMENT', { argument: 'fields', problem: 'explain takes names of fields only.' });
  const { query, scope } = await prepareList(call, view, request, unrestricted);
  return explainRead(query, planRead(query, scope, rowsLimitOf(ops)));
}

/** Throws NOT_COUNTABLE. */
export async function count(
  ops: Operations,
  access: Access,
  request: CountRequest,
  options: CallOptions = {},
): Promise<number> {
  const collection = getCollection(ops.model, access, request.collection, 'aggregates');
  if (!collection.rules.countable) fail('NOT_COUNTABLE', { collection: collection.name });
  const call = callOf(ops, access, request, options);
  if (hasOnlyAggregates(collection)) return countEnough(call, aggregateViewOf(access, collection), request);
  const view = viewOf(access, collection);
  return countFrom(call, view, request, unrestricted);
}

/** Throws FORBIDDEN for fewer records than the minimum group size. */
async function countEnough(
  call: Call,
  view: CollectionView,
  { timezone: _, fields: __, ...request }: CountRequest,
): Promise<number> {
  const { rows } = await aggregateFrom(call, view, { ...request, operation: 'Count', limit: 1 }, unrestricted);
  const [[count] = []] = rows;
  const { name, rules } = view.collection;
  const why = `fewer than ${rules.minGroupSize!.size} records are not counted.`;
  return count === null ? fail('FORBIDDEN', { verb: 'read', collection: name, why }) : Number(count);
}

export async function countFrom(
  call: Call,
  view: CollectionView,
  { fields, ...conditions }: Omit<CountRequest, 'collection'>,
  within: Restriction,
): Promise<number> {
  if (fields)
    return countColumns(call, view, { ...conditions, fields }, within, (some) => countFrom(call, view, some, within));
  if (!hasHooks(view.collection, 'Aggregate')) return countRecords(call, view, conditions, within);
  const aggregate = { ...conditions, operation: 'Count' } as const;
  const [counted] = await runAggregateHooks(call, view, aggregate, async (narrowed) => {
    const count = await countRecords(call, view, conditions, restrictFurther(within, narrowed));
    return [{ values: [count], groups: [] }];
  });
  return Number(counted?.values[0]);
}

export async function countRecords(
  call: Call,
  view: CollectionView,
  conditions: Conditions,
  within = unrestricted,
): Promise<number> {
  const { moment, code } = call;
  const { collection } = view;
  const scope = scopesOf(call);
  const lowered = await lowerConditions(scope, conditions, { view, moment, code });
  return countWhere(call, collection, and(lowered, within.where), within.source);
}

/** How many records satisfy a lowered filter. */
export async function countWhere(
  call: Call,
  collection: Collection,
  lowered: Filter,
  source = collection.source,
): Promise<number> {
  const { ops, options } = call;
  const scope = scopesOf(call);
  const planner = createPlanner(scope, rowsLimitOf(ops));
  const where = planCrossSource(collection, lowered, planner);
  if (where.op === 'never') return 0;
  const reading = readOptions(ops, options);
  if (splitFilter(where).residual.op === 'always') {
    const condition = await resolveLookups({ where, joins: planJoins(where, scope, [], planner) }, reading, call);
    return source.count(
      { table: collection.table, ...(collection.query && planParameters(collection, where)), ...condition },
      reading,
    );
  }
  const query: Query = { collection, select: [], where, order: [], limit: null, skip: 0, cursor: false };
  const plan = { ...planRead(query, scope, rowsLimitOf(ops)), source };
  return (await executeRead(plan, null, reading, call)).rows.length;
}

export function index({ model }: Operations, access: Access): CollectionSummary[] {
  return [...model.collections.values()]
    .filter((collection) => mayBrowse(access, collection))
    .map((collection) => summarizeCollection(access, collection, viewOf(access, collection)));
}

export function describe({ model }: Operations, access: Access, name: string): CollectionDescription {
  const collection = getCollection(model, access, name, 'aggregates');
  const view = aggregateViewOf(access, collection);
  const metrics = [
    ...[...collection.rules.metrics].map(([metric, { definition }]) => [metric, definition] as const),
    ...visibleMetrics(view),
  ].map(([metric, { description }]) => ({ name: metric, ...(description !== undefined && { description }) }));
  const ofCaller = viewOf(access, collection);
  const more = { metrics, segments: visibleSegments(ofCaller) };
  return describeCollection(access, collection, ofCaller, view.columns, more);
}

type ListConditions = Omit<ListRequest, 'collection'>;

const nothingMore: MoreRead = { paths: [] };

function hasOnlyFields(request: ListConditions): request is FieldRequest {
  return !request.fields?.some((field) => typeof field !== 'string');
}

function selectDistinct(view: CollectionView, request: ListConditions): readonly RequestedField[] {
  if (hasOnlyFields(request)) return selectFields(view, request.fields ?? []);
  return fail('INVALID_ARGUMENT', {
    argument: 'fields',
    problem: 'distinct takes names of fields, such as ["status"].',
  });
}

interface Prepared {
  readonly query: Query;
  readonly scope: ScopeOf;
  readonly mark: () => string;
}

/** Synchronous, unless customization code is asynchronous. */
function prepareList(
  call: Call,
  view: CollectionView,
  request: FieldRequest,
  within: Restriction,
  { paths }: MoreRead = nothingMore,
): MaybePromise<Prepared> {
  const { ops, moment, code, options } = call;
  const { collection } = view;
  const limit = checkLimit(request.limit, ops.limits.pageSizeLimit);
  const select = request.fields
    ? selectFields(view, request.fields)
    : view.defaultFields.map((field) => resolveName(view, field));
  const order = totalOrder(collection, resolveSort(view, request.sort ?? []));
  const scope = scopesOf(call);
  const mark = () =>
    fingerprint(collection, orderArrangement(order), { ...request, ...(within.mark && { within: within.mark }) });
  const cursor = hasCursor(view, order);
  const from = request.cursor;
  if (from !== undefined && !cursor) fail('INVALID_CURSOR', {});
  const after = from === undefined ? undefined : readCursor(from, mark(), order, moment);
  const skip = from === undefined ? checkSkip(request.skip ?? 0) : 0;
  const lowering = { view, moment, code };
  // Hooks read the records.
  const cutTexts = hasHooks(collection, 'List') ? undefined : options.cutTexts;
  const isOne = (where: Filter) => limit === 1 || selectsOne(collection, where);
  const conditions = lowerConditions(scope, request, lowering);
  return whenDone(
    conditions,
    (where): Prepared => ({
      query: {
        collection,
        select: paths.length ? [...select, ...paths] : select,
        where: and(where, within.where),
        order,
        limit,
        skip,
        cursor,
        ...(after && { after }),
        ...(cutTexts && {
          cut: { characters: isOne(where) ? cutTexts.one : cutTexts.many, fields: select.length },
        }),
      },
      scope,
      mark,
    }),
  );
}

/** Whether the condition has a value for each column of the key. */
function selectsOne({ key }: Collection, where: Filter): boolean {
  const parts = where.op === 'and' ? where.of : [where];
  const names = parts.map((part) => (part.op === 'test' && part.is === 'Equal' ? part.path.id : undefined));
  return key.length > 0 && key.every(({ name }) => names.includes(name));
}

/** Resolves names in any spelling and removes duplicates. */
function selectFields(view: CollectionView, fields: readonly string[]): readonly RequestedField[] {
  if (fields.length > FIELDS_LIMIT)
    fail('INVALID_ARGUMENT', { argument: 'fields', problem: `at most ${FIELDS_LIMIT} names, got ${fields.length}.` });
  const named = fields.map((field) => resolveName(view, field));
  return [...new Map(named.map((each) => [each.name, each])).values()];
}

/** Cursors contain the sort and key values in readable form, so there is no cursor if any of them is hidden. */
function hasCursor({ collection: { key }, columns }: CollectionView, order: readonly Order[]): boolean {
  return key.length > 0 && key.every((column) => columns.includes(column)) && !order.some(({ hidden }) => hidden);
}
