// Calls functions of the user's code. The log gets the exception and the line where the function was added; the caller
// only gets its name. Synchronous results are not awaited.
import { CodeFailure } from '../../core/errors/code-failure.ts';
import { type AppError, fail, isAppError } from '../../core/errors.ts';
import type { MaybePromise } from './context.ts';

/**
 * Throws CUSTOMIZATION_FAILED with the exception as its cause. Deliberate refusals and errors of limits or connections
 * pass unchanged, unless `all` is true.
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

/** Query builders and other thenables are awaited like promises. */
export function isThenable<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

const passedCodes = [
  'CUSTOMIZATION_FAILED',
  'TIMED_OUT',
  'CANCELLED',
  'SOURCE_UNAVAILABLE',
  'DATABASE_FAILED',
  'OUTCOME_UNKNOWN',
  'TOO_MANY_ROWS',
  'ANSWER_TOO_LARGE',
  'TOO_MANY_QUERIES',
  'AI_RATE_LIMITED',
  'AI_TIMED_OUT',
  'AI_UNAVAILABLE',
] as const;

const deliberateStops = new WeakSet<object>();

/** Stops the call on purpose. The error passes unchanged, whatever its code. */
export function stopCall(error: AppError): never {
  deliberateStops.add(error);
  throw error;
}

export function isDeliberateStop(error: unknown): error is AppError {
  return isAppError(error) && (deliberateStops.has(error) || error.code === 'REFUSED' || error.code === 'DENIED');
}

function rethrow(what: string, at: string, cause: unknown, all: boolean): never {
  if (!all && (isDeliberateStop(cause) || passedCodes.some((code) => isAppError(cause, code)))) throw cause;
  return failCode(what, at, cause);
}

/** Removes the value from a field's problem, because the log must not contain values of records. */
export const withoutValue = (problem: string): string => problem.replace(/, got .*$/s, '');

/** `at` is a path of the operator's files, only for the log. */
export function failCode(what: string, at: string, cause: unknown): never {
  return fail('CUSTOMIZATION_FAILED', { what }, new CodeFailure(`${what}, added at ${at}, failed`, cause));
}

export function whenDone<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

export function whenAll<T, R>(values: readonly MaybePromise<T>[], next: (values: readonly T[]) => R): MaybePromise<R> {
  for (const value of values) if (value instanceof Promise) return Promise.all(values).then(next);
  return next(values as readonly T[]);
}
