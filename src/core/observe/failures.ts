// Logs server errors that the caller cannot fix. Each is logged once, even if it passes several layers.
import { type AppError, type ErrorCode, toAppError } from '../errors.ts';
import type { Observe } from '../observe.ts';
import { randomId } from '../secret.ts';

/** The failed connection logs these, once per outage. */
const loggedElsewhere: ReadonlySet<ErrorCode> = new Set(['PLATFORM_UNAVAILABLE', 'SSO_UNAVAILABLE']);

const logged = new WeakSet<object>();

/** Marks an error as logged after its cause was logged. */
export function markLogged<E extends object>(error: E): E {
  logged.add(error);
  return error;
}

/**
 * Returns the part of `thrown` that the caller may see. For server errors (status 5xx), logs the cause at level Error.
 * `where` is the failed operation, such as `mcp list`.
 */
export function reportFailure(observe: Observe, where: string, thrown: unknown, requestId = randomId()): AppError {
  const error = toAppError(thrown, requestId);
  const isMute = error.code !== 'INTERNAL' && (error.cause === undefined || error.status < 500);
  if (isMute || loggedElsewhere.has(error.code) || logged.has(error)) return error;
  if (typeof thrown === 'object' && thrown !== null) {
    if (logged.has(thrown)) return error;
    logged.add(thrown);
  }
  logged.add(error);
  observe({ type: 'failure', where, requestId, cause: error.cause });
  return error;
}
