// Shared by all operations: the call, its limits, its scopes and its options.
import type { Access, Caller } from '../../core/caller.ts';
import { canonicalZone } from '../../core/clock/timezone.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { AiProvider } from '../ai/definitions.ts';
import { withCancellation } from '../ai/provider.ts';
import type { CustomizationContext, UnscopedCollection } from '../customize/context.ts';
import type { StepContext } from '../execute/read.ts';
import type { WriteList } from '../execute/written-records.ts';
import { createMoment } from '../lower/dates.ts';
import type { ScopeOf } from '../lower/filter.ts';
import { scopeOf } from '../lower/filter.ts';
import { always, and } from '../lower/simplify.ts';
import type { Collection, Model, Moment } from '../model/types.ts';
import type { ComputeStep, Filter, RowLimitStep } from '../plan/types.ts';
import type { CallOptions, CountRequest, EngineLimits } from '../requests.ts';
import { hasOnlyAggregates, mayBrowse } from '../resolve/visibility.ts';
import type { ReadOptions, Source } from '../sources/source.ts';
import type { CompiledRules } from '../write/validation.ts';
import { createContext } from './context.ts';

/** If the engine must read more rows to decide a condition, it warns the operator, once per field. */
const MANY_ROWS = 10_000;

const ROWS_LIMIT = 100_000;

const MAX_CONCURRENT_QUERIES = 3;

export interface Operations {
  readonly model: Model;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  readonly observe: Observe;
  /** Fields and code already warned about: too many rows read, or stored values of the wrong type. */
  readonly warned: WeakSet<object>;
  readonly rules: CompiledRules;
  /** The internal API: access to a collection for customization code. Throws UNKNOWN_COLLECTION. */
  readonly unscopedCollection: (call: Call, collection: string) => UnscopedCollection;
  /** The AI provider for customization code. */
  readonly ai: AiProvider | null;
  /** Receives the text of every statement; for explain. */
  readonly watch?: (text: string) => void;
}

/** Restricts an operation to some records of a collection, besides the caller's conditions. */
export interface Restriction {
  readonly where: Filter;
  /** Prevents a cursor of one context from working in another. */
  readonly mark?: string;
  /** The source of the records, if it is not the source of the collection. */
  readonly source?: Source;
}

export const unrestricted: Restriction = Object.freeze({ where: always });

/** Adds the conditions of hooks before the operation. */
export function restrictFurther(within: Restriction, narrowed: Filter): Restriction {
  return { ...within, where: and(within.where, narrowed) };
}

export function withRestrictedSource<P extends { readonly source: Source }>(plan: P, { source }: Restriction): P {
  return source ? { ...plan, source } : plan;
}

/** One call of an operation: the caller, the time, and the context for code. */
export interface Call extends StepContext {
  readonly ops: Operations;
  readonly access: Access;
  readonly options: CallOptions;
  readonly moment: Moment;
  /** Every record written during the call, including writes by code. */
  readonly written: WriteList;
  /** Sentences about effects that cannot be predicted: code that runs afterwards, and triggers. */
  readonly unseen: Set<string>;
  /** Overrides that are running code at the moment. Writes of that code bypass them. */
  readonly runningOverrides?: readonly object[];
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
    options: { ...options, user: access.caller.id },
    moment: momentOf(ops, access, request),
    written: options.written ?? [],
    unseen: new Set(),
    rowsLimit: rowsLimitOf(ops),
    onManyRows: (rows, step) => warnAboutManyRows(ops, rows, step),
    onMisfits: (count, step) => warnAboutMisfits(ops, count, step),
  });
}

/** The call for the code of an override. */
export function callWithinOverride(call: Call, override: object): Call {
  return createCall({ ...call, runningOverrides: [...(call.runningOverrides ?? []), override] });
}

function createCall(given: Omit<Call, 'code'>): Call {
  let context: CustomizationContext | undefined;
  const call: Call = {
    ...given,
    code() {
      const { ops, access, moment, options } = given;
      const ai = ops.ai && withCancellation(ops.ai, options.signal);
      context ??= createContext(access.caller, moment.zone, (name) => ops.unscopedCollection(call, name), ai);
      return context;
    },
  };
  return call;
}

/** Warns once per field. */
function warnAboutManyRows(
  { warned, observe }: Operations,
  rows: number,
  { collection, field, column, advice }: RowLimitStep,
): void {
  if (rows < MANY_ROWS || warned.has(column)) return;
  warned.add(column);
  observe({
    type: 'warning',
    message: `'${field}' of '${collection}' is evaluated after reading, and ${rows} rows were read for it: ${advice ?? 'add a replaceFieldOperator or a replaceFieldSorting'}.`,
  });
}

/** Warns once per field. */
function warnAboutMisfits({ warned, observe }: Operations, count: number, { computedFrom, path }: ComputeStep): void {
  if (warned.has(computedFrom)) return;
  warned.add(computedFrom);
  observe({
    type: 'warning',
    message: `${count} stored ${count === 1 ? 'value' : 'values'} of '${path.field.name}', added at ${computedFrom.at}, ${count === 1 ? 'is' : 'are'} not of the declared type and shown as empty.`,
  });
}

export function rowsLimitOf({ limits }: Operations): number {
  return limits.rowsLimit ?? ROWS_LIMIT;
}

/**
 * Throws UNKNOWN_COLLECTION, also for a collection that the caller may not browse: both cases look the same. FORBIDDEN
 * for the records of a collection that has only aggregates.
 */
export function getCollection(
  model: Model,
  access: Access,
  name: string,
  purpose: 'records' | 'aggregates' = 'records',
): Collection {
  const found = model.collections.get(name);
  if (found && mayBrowse(access, found)) {
    if (purpose === 'records' && hasOnlyAggregates(found)) failOnlyAggregates(found);
    return found;
  }
  const visible = [...model.collections].filter(([, other]) => mayBrowse(access, other)).map(([other]) => other);
  return fail('UNKNOWN_COLLECTION', { collection: String(name), near: suggestNames(String(name), visible) });
}

function failOnlyAggregates({ name, rules }: Collection): never {
  const why = `it has only figures of at least ${rules.minGroupSize!.size} records: use aggregate.`;
  return fail('FORBIDDEN', { verb: 'read', collection: name, why });
}

export function scopesOf({ ops, access, code }: Call): ScopeOf {
  const moment = createMoment(ops.clock.now(), zoneOf(access));
  return (collection) => scopeOf(access, collection, moment, code);
}

export function momentOf(
  { clock }: Pick<Operations, 'clock'>,
  access: Access,
  { timezone }: Pick<CountRequest, 'timezone'>,
): Moment {
  const zone = timezone === undefined ? zoneOf(access) : canonicalZone(timezone);
  if (zone === undefined)
    return fail('INVALID_ARGUMENT', { argument: 'timezone', problem: "expected an IANA name such as 'Europe/Paris'." });
  return createMoment(clock.now(), zone);
}

/** Found once for each version of the permissions, which makes a new caller. */
const zones = new WeakMap<Caller, string>();

function zoneOf({ caller }: Access): string {
  let zone = zones.get(caller);
  if (zone === undefined) {
    zone = canonicalZone(caller.timezone) ?? 'UTC';
    zones.set(caller, zone);
  }
  return zone;
}

export function readOptions(
  { limits, watch }: Operations,
  { signal, user, timeoutMs = Infinity }: CallOptions,
): ReadOptions {
  return {
    timeoutMs: Math.min(limits.queryTimeoutMs, timeoutMs),
    ...(signal && { signal }),
    ...(user !== undefined && { share: { user, most: limits.queriesAtOnce ?? MAX_CONCURRENT_QUERIES } }),
    ...(watch && { watch }),
  };
}

export function checkLimit(limit: number, most: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  return fail('INVALID_ARGUMENT', { argument: 'limit', problem: `expected a whole number from 1 to ${most}.` });
}

export function checkSkip(skip: number): number {
  if (Number.isSafeInteger(skip) && skip >= 0) return skip;
  return fail('INVALID_ARGUMENT', { argument: 'skip', problem: 'expected a whole number, 0 or more.' });
}
