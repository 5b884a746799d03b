// The operations of the engine, each a list of phases read from top to bottom: may the caller -> hooks -> names and values
// -> one filter -> one plan -> one statement -> the steps that are left -> hooks.
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type { Observe } from '../core/observe.ts';
import type { AiProvider } from './ai/definitions.ts';
import { askWithin } from './ai.ts';
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
import { createNarrowing, hasHooks, type Narrowing, type Opened, openRecords, runHooks } from './hooks.ts';
import { runAggregateHooks } from './hooks-aggregate.ts';
import { describeCollection, summarizeCollection } from './model/describe.ts';
import type { Collection, Column, Model, Moment } from './model/types.ts';
import { planAway } from './query/away.ts';
import { whenDone } from './query/code.ts';
import { afterCursor, fingerprint, readCursor, writeCursor } from './query/cursor.ts';
import { createMoment, isZone } from './query/dates.ts';
import { executeRead, lookUpAll, type StepTools } from './query/execute.ts';
import { explainRead } from './query/explain.ts';
import { splitFilter } from './query/here.ts';
import { insidePath } from './query/inside-names.ts';
import { type Conditions, lowerConditions, type ScopeOf, scopeOf } from './query/lower.ts';
import { planJoins, plannerOf, planRead, totalOrder } from './query/plan-read.ts';
import { resolveName, resolveSort } from './query/resolve.ts';
import { pickColumns, shapeRecords } from './query/shape.ts';
import { always, and } from './query/simplify.ts';
import type { Bound, Filter, Query } from './query/types.ts';
import { type View, viewOf } from './query/view.ts';
import type { RuleBook } from './query/write-rules.ts';
import type { ReadOptions, Source } from './sources/source.ts';

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
  readonly rules: RuleBook;
  /** The inside door: what customization code may ask of a collection. UNKNOWN_COLLECTION. */
  readonly inside: (call: Call, collection: string) => InsideCollection;
  /** What customization code may ask. */
  readonly ai: AiProvider | null;
  /** Told of every statement; for explain. */
  readonly watch?: (text: string) => void;
}

export async function list(
  ops: Operations,
  access: Access,
  request: ListRequest,
  options: CallOptions = {},
): Promise<ListAnswer> {
  const collection = getCollection(ops.model, access, request.collection);
  return listFrom(callOf(ops, access, request, options), viewOf(access, collection), request, everywhere);
}

/** Which records of a collection are meant, besides the conditions of the caller. */
export interface Within {
  readonly where: Filter;
  /** Keeps the cursors of one place from being used in another. */
  readonly mark?: string;
  /** Where the records are, when they are not in the source of their collection. */
  readonly source?: Source;
}

export const everywhere: Within = Object.freeze({ where: always });

/** What hooks before the operation let through. */
export function narrowWithin(within: Within, narrowed: Filter): Within {
  return { ...within, where: and(within.where, narrowed) };
}

export async function listFrom(call: Call, view: View, request: ListConditions, within: Within): Promise<ListAnswer> {
  const { ops, options } = call;
  const { collection } = view;
  const hooked = hasHooks(collection, 'List') ? await beforeList(call, view, request) : null;
  const prepared = prepareList(call, view, request, hooked ? narrowWithin(within, hooked.narrowed) : within);
  const { query, scope, mark } = prepared instanceof Promise ? await prepared : prepared;
  const plan = planWithin(planRead(query, scope, rowsLimitOf(ops)), within);
  ops.observe({ type: 'query.planned', collection: collection.name, plan: () => explainRead(query, plan) });
  const { rows, hasMore } = await executeRead(plan, query.limit, readOptions(ops, options), call);
  const shown = hooked ? await afterList(call, view, hooked, openRecords(view, rows, plan, query.select)) : null;
  let marked: string | undefined;
  return {
    columns: query.select.map((named) => named.name),
    rows: shown?.rows ?? pickColumns(rows, plan),
    hasMore,
    cursorAfter(index) {
      const row = rows[index];
      if (!row || !query.cursor) return undefined;
      marked ??= mark();
      return writeCursor(marked, row, plan.keys);
    },
    records: () => shown?.records ?? shapeRecords(rows, plan.shape),
  };
}

export function planWithin<P extends { readonly source: Source }>(plan: P, { source }: Within): P {
  return source ? { ...plan, source } : plan;
}

interface HookedList {
  readonly narrowing: Narrowing;
  readonly narrowed: Filter;
  readonly projection: readonly string[];
}

async function beforeList(call: Call, view: View, request: ListConditions): Promise<HookedList> {
  checkLimit(request.limit, call.ops.limits.pageSizeLimit);
  const { fields = view.everything } = request;
  const projection = fields.map((field) => insidePath(view, resolveName(view, field).name));
  const { moment, code } = call;
  const narrowing = createNarrowing('List', { view, moment }, request);
  await runHooks(view.collection, ['Before', 'List'], code, { ...narrowing.told, projection });
  return { narrowing, narrowed: await narrowing.lower({ view, moment, code }), projection };
}

async function afterList({ code }: Call, { collection }: View, { narrowing, projection }: HookedList, opened: Opened) {
  const told = { filter: narrowing.filter(), projection, records: opened.records };
  await runHooks(collection, ['After', 'List'], code, told);
  return opened.close();
}

/** The hooks are left out: they are no part of a plan. */
export async function explainList(ops: Operations, access: Access, request: ListRequest): Promise<string> {
  const collection = getCollection(ops.model, access, request.collection);
  const call = callOf(ops, access, request, {});
  const { query, scope } = await prepareList(call, viewOf(access, collection), request, everywhere);
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
  const view = viewOf(access, collection);
  return countFrom(call, view, request, everywhere);
}

export async function countFrom(call: Call, view: View, conditions: Conditions, within: Within): Promise<number> {
  if (!hasHooks(view.collection, 'Aggregate')) return countRecords(call, view, conditions, within);
  const wish = { ...conditions, operation: 'Count' } as const;
  const [counted] = await runAggregateHooks(call, view, wish, async (narrowed) => {
    return [{ value: await countRecords(call, view, conditions, narrowWithin(within, narrowed)), groups: [] }];
  });
  return Number(counted?.value);
}

export async function countRecords(
  call: Call,
  view: View,
  conditions: Conditions,
  within = everywhere,
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
  const planner = plannerOf(scope, rowsLimitOf(ops));
  const where = planAway(collection, lowered, planner);
  if (where.op === 'never') return 0;
  const reading = readOptions(ops, options);
  if (splitFilter(where).rest.op === 'always') {
    const condition = await lookUpAll({ where, joins: planJoins(where, scope, [], planner) }, reading, call);
    return source.count({ table: collection.table, ...condition }, reading);
  }
  const query: Query = { collection, select: [], where, order: [], limit: null, skip: 0, cursor: false };
  const plan = { ...planRead(query, scope, rowsLimitOf(ops)), source };
  return (await executeRead(plan, null, reading, call)).rows.length;
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
  /** Overrides whose code is running: what they write goes past them. */
  readonly under?: readonly object[];
}

export function callOf(
  ops: Operations,
  access: Access,
  request: Pick<CountRequest, 'timezone'>,
  options: CallOptions,
): Call {
  return createCall({
    ops,
    access,
    options,
    moment: momentOf(ops, access, request),
    rowsLimit: rowsLimitOf(ops),
    many: (rows, step) => warnOfMany(ops, rows, step),
  });
}

/** The call as the code of an override makes it. */
export function callUnder(call: Call, override: object): Call {
  return createCall({ ...call, under: [...(call.under ?? []), override] });
}

function createCall(given: Omit<Call, 'code'>): Call {
  let context: CustomizationContext | undefined;
  const call: Call = {
    ...given,
    code() {
      const { ops, access, moment, options } = given;
      const ai = ops.ai && askWithin(ops.ai, options.signal);
      context ??= createContext(access.caller, moment.zone, (name) => ops.inside(call, name), ai);
      return context;
    },
  };
  return call;
}

/** Once a field. */
function warnOfMany({ told, observe }: Operations, rows: number, { collection, field, column, cure }: Bound): void {
  if (rows < MANY_ROWS || told.has(column)) return;
  told.add(column);
  observe({
    type: 'warning',
    message: `'${field}' of '${collection}' is decided after reading, and ${rows} rows were read for it: ${cure ?? 'give it a replaceFieldOperator or a replaceFieldSorting'}.`,
  });
}

export function rowsLimitOf({ limits }: Operations): number {
  return limits.rowsLimit ?? ROWS_LIMIT;
}

type ListConditions = Omit<ListRequest, 'collection'>;

interface Prepared {
  readonly query: Query;
  readonly scope: ScopeOf;
  readonly mark: () => string;
}

/** At once, unless customization code takes its time. */
function prepareList(call: Call, view: View, request: ListConditions, within: Within): MaybePromise<Prepared> {
  const { ops, moment, code } = call;
  const { collection } = view;
  const limit = checkLimit(request.limit, ops.limits.pageSizeLimit);
  const select = (request.fields ?? view.everything).map((field) => resolveName(view, field));
  const order = totalOrder(collection, resolveSort(view, request.sort ?? []));
  const scope = scopesOf(call);
  const mark = () => fingerprint(collection, order, within.mark ? { ...request, within: within.mark } : request);
  const cursor = hasCursor(view);
  const from = request.cursor;
  if (from !== undefined && !cursor) fail('INVALID_CURSOR', {});
  const after = from === undefined ? always : afterCursor(order, readCursor(from, mark(), order, moment));
  const skip = from === undefined ? checkSkip(request.skip ?? 0) : 0;
  const lowering = { view, moment, code };
  const conditions = lowerConditions(scope, request, lowering);
  return whenDone(
    conditions,
    (where): Prepared => ({
      query: { collection, select, where: and(where, within.where), after, order, limit, skip, cursor },
      scope,
      mark,
    }),
  );
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

export function readOptions({ limits, watch }: Operations, { signal }: CallOptions): ReadOptions {
  return { timeoutMs: limits.queryTimeoutMs, ...(signal && { signal }), ...(watch && { watch }) };
}

export function checkLimit(limit: number, most: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  return fail('INVALID_ARGUMENT', { argument: 'limit', problem: `expected a whole number from 1 to ${most}.` });
}

function checkSkip(skip: number): number {
  if (Number.isSafeInteger(skip) && skip >= 0) return skip;
  return fail('INVALID_ARGUMENT', { argument: 'skip', problem: 'expected a whole number, 0 or more.' });
}
