// The operations of the engine, each a list of phases read from top to bottom: may the caller -> names and values ->
// one filter -> one plan -> one statement.
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type {
  CallOptions,
  CollectionDescription,
  CollectionSummary,
  CountRequest,
  EngineLimits,
  ListAnswer,
  ListRequest,
} from './engine.ts';
import { describeCollection, summarizeCollection } from './model/describe.ts';
import type { Collection, Model, Moment } from './model/types.ts';
import { afterCursor, fingerprint, readCursor, writeCursor } from './query/cursor.ts';
import { createMoment, isZone } from './query/dates.ts';
import { executeRead } from './query/execute.ts';
import { explainRead } from './query/explain.ts';
import { lowerConditions, type ScopeOf, scopeOf } from './query/lower.ts';
import { planJoins, planRead, totalOrder } from './query/plan-read.ts';
import { resolveName, resolveSort } from './query/resolve.ts';
import { pickColumns, shapeRecords } from './query/shape.ts';
import { and } from './query/simplify.ts';
import type { Query } from './query/types.ts';
import { type View, viewOf } from './query/view.ts';

export interface Operations {
  readonly model: Model;
  readonly clock: Clock;
  readonly limits: EngineLimits;
}

export async function list(
  ops: Operations,
  access: Access,
  request: ListRequest,
  options: CallOptions = {},
): Promise<ListAnswer> {
  const { query, scope, mark } = prepareList(ops, access, request);
  const plan = planRead(query, scope);
  const { rows, hasMore } = await executeRead(plan, query.limit, readOptions(ops, options));
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

export function explain(ops: Operations, access: Access, request: ListRequest): string {
  const { query, scope } = prepareList(ops, access, request);
  return explainRead(query, planRead(query, scope));
}

export async function count(
  ops: Operations,
  access: Access,
  request: CountRequest,
  options: CallOptions = {},
): Promise<number> {
  const view = viewOf(access, getCollection(ops.model, access, request.collection));
  const moment = momentOf(ops, access, request);
  const scope = scopesOf(ops, access);
  const where = lowerConditions(scope, view, request, moment);
  if (where.op === 'never') return 0;
  const joins = planJoins(where, scope);
  const { source, table } = view.collection;
  return source.count({ table, joins, where }, readOptions(ops, options));
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

interface Prepared {
  readonly query: Query;
  readonly scope: ScopeOf;
  readonly mark: () => string;
}

function prepareList(ops: Operations, access: Access, request: ListRequest): Prepared {
  const collection = getCollection(ops.model, access, request.collection);
  const view = viewOf(access, collection);
  const moment = momentOf(ops, access, request);
  const limit = checkLimit(request.limit, ops.limits.pageSizeLimit);
  const select = (request.fields ?? view.everything).map((field) => resolveName(view, field));
  const order = totalOrder(collection, resolveSort(view, request.sort ?? []));
  const scope = scopesOf(ops, access);
  const conditions = lowerConditions(scope, view, request, moment);
  const mark = () => fingerprint(collection, order, request);
  const cursor = hasCursor(view);
  const from = request.cursor;
  if (from !== undefined && !cursor) fail('INVALID_CURSOR', {});
  const where =
    from === undefined ? conditions : and(conditions, afterCursor(order, readCursor(from, mark(), order, moment)));
  const skip = from === undefined ? checkSkip(request.skip ?? 0) : 0;
  return {
    query: { collection, select, where, order, limit, skip, cursor },
    scope,
    mark,
  };
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

export function scopesOf({ clock }: Operations, access: Access): ScopeOf {
  const moment = createMoment(clock.now(), zoneOf(access));
  return (collection) => scopeOf(access, collection, moment);
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

function checkLimit(limit: number, most: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  return fail('INVALID_ARGUMENT', { argument: 'limit', problem: `expected a whole number from 1 to ${most}.` });
}

function checkSkip(skip: number): number {
  if (Number.isSafeInteger(skip) && skip >= 0) return skip;
  return fail('INVALID_ARGUMENT', { argument: 'skip', problem: 'expected a whole number, 0 or more.' });
}
