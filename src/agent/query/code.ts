// Calling the functions that users wrote: what they throw is told with what failed and where it was added, for the log;
// the caller is told what failed. And waiting for them only where they do take their time.
import { type AppError, fail, isAppError } from '../../core/errors.ts';
import type { MaybePromise } from '../customize/definitions.ts';

/**
 * CUSTOMIZATION_FAILED with what was thrown as its cause. Errors that the code stopped the call with, or that come of the
 * limits and of the connection, pass as they are, unless `all` are the fault of the code.
 */
export function callCode<T>(what: string, at: string, run: () => MaybePromise<T>, all = false): MaybePromise<T> {
  try {
    const result = run();
    if (!isThenable(result)) return result;
    return Promise.resolve(result).catch((cause: unknown) => rethrow(what, at, cause, all));
  } catch (cause) {
    return rethrow(what, at, cause, all);
  }
}

/** Query builders and the like are waited for as promises are. */
export function isThenable<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

const passing = [
  'CUSTOMIZATION_FAILED',
  'TIMED_OUT',
  'CANCELLED',
  'SOURCE_UNAVAILABLE',
  'TOO_MANY_ROWS',
  'AI_RATE_LIMITED',
  'AI_TIMED_OUT',
  'AI_UNAVAILABLE',
] as const;

const stops = new WeakSet<object>();

/** Stops the call on purpose: no fault of the code, whatever the error says. */
export function stopCall(error: AppError): never {
  stops.add(error);
  throw error;
}

export function isStop(error: unknown): error is AppError {
  return isAppError(error) && (stops.has(error) || error.code === 'REFUSED' || error.code === 'DENIED');
}

function rethrow(what: string, at: string, cause: unknown, all: boolean): never {
  if (!all && (isStop(cause) || passing.some((code) => isAppError(cause, code)))) throw cause;
  return failCode(what, at, cause);
}

/** `at` is of the operator's files: for the log alone. */
export function failCode(what: string, at: string, cause: unknown): never {
  return fail('CUSTOMIZATION_FAILED', { what }, new Error(`${what}, added at ${at}, failed`, { cause }));
}

export function whenDone<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

export function whenAll<T, R>(values: readonly MaybePromise<T>[], next: (values: readonly T[]) => R): MaybePromise<R> {
  for (const value of values) if (value instanceof Promise) return Promise.all(values).then(next);
  return next(values as readonly T[]);
}
