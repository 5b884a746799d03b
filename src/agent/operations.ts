// The operations of the engine, each a list of phases read from top to bottom: may the caller -> hooks -> names and values
// -> one filter -> one plan -> one statement -> the steps that are left -> hooks.
import { type Access, fullAccess } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { PlainFilter } from '../core/filter.ts';
import { nearNames } from '../core/near.ts';
import type { Observe } from '../core/observe.ts';
import { createContext } from './context.ts';
import type { CustomizationContext, InsideCollection, MaybePromise } from './customize/definitions.ts';
import type {
  CallOptions,
  CollectionDescription,
  CollectionSummary,
  CountRequest,
  EngineLimits,
  ListAnswer,
  ListRequest,
} from './engine.ts';
import { runAfterList, runBeforeList } from './hooks.ts';
import { describeCollection, summarizeCollection } from './model/describe.ts';
import type { Collection, Column, Model, Moment } from './model/types.ts';
import { whenAll, whenDone } from './query/code.ts';
import { afterCursor, fingerprint, readCursor, writeCursor } from './query/cursor.ts';
import { createMoment, isZone } from './query/dates.ts';
import { executeRead, type StepTools } from './query/execute.ts';
import { explainRead } from './query/explain.ts';
import { splitFilter } from './query/here.ts';
import { type Conditions, lowerConditions, lowerInside, type ScopeOf, scopeOf } from './query/lower.ts';
import { planJoins, planRead, totalOrder } from './query/plan-read.ts';
import { resolveName, resolveSort } from './query/resolve.ts';
import { pickColumns, shapeRecords } from './query/shape.ts';
import { always, and } from './query/simplify.ts';
import type { Bound, Filter, Query } from './query/types.ts';
import { insideViewOf, type View, viewOf } from './query/view.ts';

/** Past so many rows that the engine had to read to decide, the operator is told, once a field. */
const MANY_ROWS = 10_000;
const ROWS_LIMIT = 100_000;

export interface Operations {
  readonly model: Model;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  readonly observe: Observe;
  /** Fields of which it was told that many rows are read for them. */
  readonly told: WeakSet<Column>;
}

export async function list(
  ops: Operations,
  access: Access,
  request: ListRequest,
  options: CallOptions = {},
): Promise<ListAnswer> {
  const collection = getCollection(ops.model, access, request.collection);
  const call = callOf(ops, access, request, options);
  const { beforeList, afterList } = collection.rules.hooks;
  const narrowed = beforeList.length ? await runBeforeList(collection, beforeList, call.code) : null;
  const prepared = prepareList(call, viewOf(access, collection), request, narrowed);
  const { query, scope, mark } = prepared instanceof Promise ? await prepared : prepared;
  const plan = planRead(query, scope, rowsLimitOf(ops));
  const { rows, hasMore } = await executeRead(plan, query.limit, readOptions(ops, options), call);
  if (afterList.length) await runAfterList(collection, afterList, call.code, shapeRecords(rows, plan.shape));
  let marked: string | undefined;
  return {
    columns: query.select.map((named) => named.name),
    rows: pickColumns(rows, plan),
    hasMore,
    cursorAfter(index) {
      const row = rows[index];
      if (!row || !query.cursor) return undefined;
      marked ??= mark();
      return writeCursor(marked, row, plan.keys);
    },
    records: () => shapeRecords(rows, plan.shape),
  };
}

/** The hooks are left out: they are no part of a plan. */
export async function explain(ops: Operations, access: Access, request: ListRequest): Promise<string> {
  const collection = getCollection(ops.model, access, request.collection);
  const call = callOf(ops, access, request, {});
  const { query, scope } = await prepareList(call, viewOf(access, collection), request, null);
  return explainRead(query, planRead(query, scope, rowsLimitOf(ops)));
}

/** NOT_COUNTABLE. */
export async function count(
  ops: Operations,
  access: Access,
  request: CountRequest,
  options: CallOptions = {},
): Promise<number> {
  const collection = getCollection(ops.model, access, request.collection);
  if (!collection.rules.countable) fail('NOT_COUNTABLE', { collection: collection.name });
  const call = callOf(ops, access, request, options);
  return countRecords(call, viewOf(access, collection), request);
}

async function countRecords(call: Call, view: View, conditions: Conditions): Promise<number> {
  const { ops, options, moment, code } = call;
  const { collection } = view;
  const scope = scopesOf(call);
  const where = await lowerConditions(scope, conditions, { view, moment, code });
  if (where.op === 'never') return 0;
  if (splitFilter(where).rest.op === 'always') {
    const joins = planJoins(where, scope);
    return collection.source.count({ table: collection.table, joins, where }, readOptions(ops, options));
  }
  const query: Query = { collection, select: [], where, order: [], limit: null, skip: 0, cursor: false };
  const plan = planRead(query, scope, rowsLimitOf(ops));
  return (await executeRead(plan, null, readOptions(ops, options), call)).rows.length;
}

/** The inside door: what customization code may ask of a collection. UNKNOWN_COLLECTION. */
function insideCollection(call: Call, name: string): InsideCollection {
  const { ops, access } = call;
  const collection = ops.model.inside.get(name);
  if (!collection)
    return fail('UNKNOWN_COLLECTION', {
      collection: String(name),
      near: nearNames(String(name), ops.model.inside.keys()),
    });
  const inside = { ...call, access: fullAccess(access.caller) };
  const view = insideViewOf(inside.access, collection);
  return {
    async list({ conditionTree, ...filter }, projection) {
      const conditions = { ...filter, ...(conditionTree && { filter: conditionTree }) };
      const scope = scopesOf(inside);
      const where = await lowerConditions(scope, conditions, { view, moment: call.moment, code: call.code });
      const select = projection.map((field) => resolveName(view, field));
      const limit = rowsLimitOf(ops);
      const query: Query = {
        collection,
        select,
        where,
        order: totalOrder(collection, []),
        limit,
        skip: 0,
        cursor: false,
      };
      const plan = planRead(query, scope, limit);
      const { rows, hasMore } = await executeRead(plan, limit, readOptions(ops, call.options), inside);
      if (hasMore) fail('TOO_MANY_ROWS', { collection: name, field: projection.join(', '), limit });
      return shapeRecords(rows, plan.shape);
    },
    count: ({ conditionTree, ...filter } = {}) =>
      countRecords(inside, view, { ...filter, ...(conditionTree && { filter: conditionTree }) }),
  };
}

export function index({ model }: Operations, access: Access): CollectionSummary[] {
  return [...model.collections.values()]
    .filter((collection) => access.can('browse', collection.name))
    .map((collection) => summarizeCollection(access, collection, viewOf(access, collection)));
}

export function describe({ model }: Operations, access: Access, name: string): CollectionDescription {
  const collection = getCollection(model, access, name);
  return describeCollection(access, collection, viewOf(access, collection));
}

/** One call of an operation: who, when, and how code is called for it. */
export interface Call extends StepTools {
  readonly ops: Operations;
  readonly access: Access;
  readonly options: CallOptions;
  readonly moment: Moment;
}

export function callOf(ops: Operations, access: Access, request: CountRequest, options: CallOptions): Call {
  const moment = momentOf(ops, access, request);
  let context: CustomizationContext | undefined;
  const call: Call = {
    ops,
    access,
    options,
    moment,
    rowsLimit: rowsLimitOf(ops),
    code() {
      context ??= createContext(access.caller, moment.zone, (name) => insideCollection(call, name));
      return context;
    },
    many: (rows, step) => warnOfMany(ops, rows, step),
  };
  return call;
}

/** Once a field. */
function warnOfMany({ told, observe }: Operations, rows: number, { collection, field, column }: Bound): void {
  if (rows < MANY_ROWS || told.has(column)) return;
  told.add(column);
  observe({
    type: 'warning',
    message: `'${field}' of '${collection}' is decided after reading, and ${rows} rows were read for it: give it a replaceFieldOperator or a replaceFieldSorting.`,
  });
}

export function rowsLimitOf({ limits }: Operations): number {
  return limits.rowsLimit ?? ROWS_LIMIT;
}

interface Prepared {
  readonly query: Query;
  readonly scope: ScopeOf;
  readonly mark: () => string;
}

/** At once, unless customization code takes its time. */
function prepareList(
  call: Call,
  view: View,
  request: ListRequest,
  narrowed: PlainFilter | null,
): MaybePromise<Prepared> {
  const { ops, moment, code } = call;
  const { collection } = view;
  const limit = checkLimit(request.limit, ops.limits.pageSizeLimit);
  const select = (request.fields ?? view.everything).map((field) => resolveName(view, field));
  const order = totalOrder(collection, resolveSort(view, request.sort ?? []));
  const scope = scopesOf(call);
  const mark = () => fingerprint(collection, order, request);
  const cursor = hasCursor(view);
  const from = request.cursor;
  if (from !== undefined && !cursor) fail('INVALID_CURSOR', {});
  const after = from === undefined ? always : afterCursor(order, readCursor(from, mark(), order, moment));
  const skip = from === undefined ? checkSkip(request.skip ?? 0) : 0;
  const lowering = { view, moment, code };
  const conditions = lowerConditions(scope, request, lowering);
  const finish = (where: Filter): Prepared => ({
    query: { collection, select, where: and(where, after), order, limit, skip, cursor },
    scope,
    mark,
  });
  if (narrowed === null) return whenDone(conditions, finish);
  return whenAll([conditions, lowerInside(narrowed, lowering)], (parts) => finish(and(...parts)));
}

/** A cursor shows the key to whoever decodes it, so that there is none where a part of the key is hidden. */
function hasCursor({ collection, columns }: View): boolean {
  return collection.key.length > 0 && collection.key.every((column) => columns.includes(column));
}

/** UNKNOWN_COLLECTION also for one that the caller may not browse: the two are not told apart. */
export function getCollection(model: Model, access: Access, name: string): Collection {
  const found = model.collections.get(name);
  if (found && access.can('browse', name)) return found;
  const visible = [...model.collections.keys()].filter((other) => access.can('browse', other));
  return fail('UNKNOWN_COLLECTION', { collection: String(name), near: nearNames(String(name), visible) });
}

export function scopesOf({ ops, access, code }: Call): ScopeOf {
  const moment = createMoment(ops.clock.now(), zoneOf(access));
  return (collection) => scopeOf(access, collection, moment, code);
}

export function momentOf({ clock }: Operations, access: Access, { timezone }: Pick<CountRequest, 'timezone'>): Moment {
  if (timezone !== undefined && !isZone(timezone))
    fail('INVALID_ARGUMENT', { argument: 'timezone', problem: "expected an IANA name such as 'Europe/Paris'." });
  return createMoment(clock.now(), timezone ?? zoneOf(access));
}

function zoneOf({ caller }: Access): string {
  return isZone(caller.timezone) ? caller.timezone : 'UTC';
}

export function readOptions({ limits }: Operations, { signal }: CallOptions) {
  return { timeoutMs: limits.queryTimeoutMs, ...(signal && { signal }) };
}

export function checkLimit(limit: number, most: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  return fail('INVALID_ARGUMENT', { argument: 'limit', problem: `expected a whole number from 1 to ${most}.` });
}

function checkSkip(skip: number): number {
  if (Number.isSafeInteger(skip) && skip >= 0) return skip;
  return fail('INVALID_ARGUMENT', { argument: 'skip', problem: 'expected a whole number, 0 or more.' });
}
