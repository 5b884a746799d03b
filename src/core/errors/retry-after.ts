// When a caller who was refused may try again.
import { type AppError, type ErrorCode, isAppError } from '../errors.ts';

/** About as long as a restart takes. */
const SOON_SECONDS = 2;
const passes: ReadonlySet<ErrorCode> = new Set(['SOURCE_UNAVAILABLE', 'PLATFORM_UNAVAILABLE', 'NOT_READY']);

/** RFC 9110 section 10.2.3: the seconds of `Retry-After`; undefined where waiting is not known to help, or not how long. */
export function retryAfterOf(error: AppError): number | undefined {
  if (isAppError(error, 'RATE_LIMITED')) return error.details.retryAfterSeconds;
  if (isAppError(error, 'AI_RATE_LIMITED')) return error.details.retryAfterSeconds ?? undefined;
  return passes.has(error.code) ? SOON_SECONDS : undefined;
}
