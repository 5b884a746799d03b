// Shared by all operations: the call, its limits, its scopes and its options.
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { AiProvider } from '../ai/definitions.ts';
import { askWithin } from '../ai/provider.ts';
import type { CustomizationContext, InsideCollection } from '../customize/context.ts';
import type { StepTools } from '../execute/read.ts';
import type { Written } from '../execute/written-records.ts';
import { createMoment } from '../lower/dates.ts';
import type { ScopeOf } from '../lower/filter.ts';
import { scopeOf } from '../lower/filter.ts';
import { always, and } from '../lower/simplify.ts';
import type { Collection, Model, Moment } from '../model/types.ts';
import type { Bound, Compute, Filter } from '../plan/types.ts';
import type { CallOptions, CountRequest, EngineLimits } from '../requests.ts';
import type { ReadOptions, Source } from '../sources/source.ts';
import { isZone } from '../sources/zones.ts';
import type { RuleBook } from '../write/validation.ts';
import { createContext } from './context.ts';

/** If the engine must read more rows to decide a condition, it warns the operator, once per field. */
export const MANY_ROWS = 10_000;

export const ROWS_LIMIT = 100_000;

export const QUERIES_AT_ONCE = 3;

export interface Operations {
  readonly model: Model;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  readonly observe: Observe;
  /** Fields and code already warned about: too many rows read, or stored values of the wrong type. */
  readonly told: WeakSet<object>;
  readonly rules: RuleBook;
  /** The internal API: access to a collection for customization code. Throws UNKNOWN_COLLECTION. */
  readonly inside: (call: Call, collection: string) => InsideCollection;
  /** The AI provider for customization code. */
  readonly ai: AiProvider | null;
  /** Receives the text of every statement; for explain. */
  readonly watch?: (text: string) => void;
}

/** Restricts an operation to some records of a collection, besides the caller's conditions. */
export interface Within {
  readonly where: Filter;
  /** Prevents a cursor of one context from working in another. */
  readonly mark?: string;
  /** The source of the records, if it is not the source of the collection. */
  readonly source?: Source;
}

export const everywhere: Within = Object.freeze({ where: always });

/** Adds the conditions of hooks before the operation. */
export function narrowWithin(within: Within, narrowed: Filter): Within {
  return { ...within, where: and(within.where, narrowed) };
}

export function planWithin<P extends { readonly source: Source }>(plan: P, { source }: Within): P {
  return source ? { ...plan, source } : plan;
}

/** One call of an operation: the caller, the time, and the context for code. */
export interface Call extends StepTools {
  readonly ops: Operations;
  readonly access: Access;
  readonly options: CallOptions;
  readonly moment: Moment;
  /** Every record written during the call, including writes by code. */
  readonly written: Written[];
  /** Sentences about effects that cannot be predicted: code that runs afterwards, and triggers. */
  readonly unseen: Set<string>;
  /** Overrides that are running code at the moment. Writes of that code bypass them. */
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
    options: { ...options, user: access.caller.id },
    moment: momentOf(ops, access, request),
    written: options.written ?? [],
    unseen: new Set(),
    rowsLimit: rowsLimitOf(ops),
    many: (rows, step) => warnOfMany(ops, rows, step),
    misfits: (count, step) => warnOfMisfits(ops, count, step),
  });
}

/** The call for the code of an override. */
export function callUnder(call: Call, override: object): Call {
  return createCall({ ...call, under: [...(call.under ?? []), override] });
}

export function createCall(given: Omit<Call, 'code'>): Call {
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

/** Warns once per field. */
export function warnOfMany(
  { told, observe }: Operations,
  rows: number,
  { collection, field, column, cure }: Bound,
): void {
  if (rows < MANY_ROWS || told.has(column)) return;
  told.add(column);
  observe({
    type: 'warning',
    message: `'${field}' of '${collection}' is decided after reading, and ${rows} rows were read for it: ${cure ?? 'give it a replaceFieldOperator or a replaceFieldSorting'}.`,
  });
}

/** Warns once per field. */
export function warnOfMisfits({ told, observe }: Operations, count: number, { made, path }: Compute): void {
  if (told.has(made)) return;
  told.add(made);
  observe({
    type: 'warning',
    message: `${count} stored ${count === 1 ? 'value' : 'values'} of '${path.field.name}', added at ${made.at}, ${count === 1 ? 'is' : 'are'} not of the declared type, and shown as empty.`,
  });
}

export function rowsLimitOf({ limits }: Operations): number {
  return limits.rowsLimit ?? ROWS_LIMIT;
}

/** Throws UNKNOWN_COLLECTION, also for a collection that the caller may not browse: both cases look the same. */
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

export function zoneOf({ caller }: Access): string {
  return isZone(caller.timezone) ? caller.timezone : 'UTC';
}

export function readOptions({ limits, watch }: Operations, { signal, user }: CallOptions): ReadOptions {
  return {
    timeoutMs: limits.queryTimeoutMs,
    ...(signal && { signal }),
    ...(user !== undefined && { share: { user, most: limits.queriesAtOnce ?? QUERIES_AT_ONCE } }),
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
