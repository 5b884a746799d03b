// When a refused caller may retry.
import { type AppError, type ErrorCode, isAppError } from '../errors.ts';

/** About as long as a restart takes. */
const SOON_SECONDS = 2;
const temporaryCodes: ReadonlySet<ErrorCode> = new Set(['SOURCE_UNAVAILABLE', 'PLATFORM_UNAVAILABLE', 'NOT_READY']);

/**
 * The seconds of `Retry-After` (RFC 9110 section 10.2.3). Undefined if a retry may not help or the delay is unknown.
 */
export function retryAfterOf(error: AppError): number | undefined {
  if (isAppError(error, 'RATE_LIMITED')) return error.details.retryAfterSeconds;
  if (isAppError(error, 'AI_RATE_LIMITED')) return error.details.retryAfterSeconds ?? undefined;
  return temporaryCodes.has(error.code) ? SOON_SECONDS : undefined;
}
