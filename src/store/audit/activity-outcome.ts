// The outcome of a call in the activity log: one rule for all entry points.
import type { ErrorCode } from '../../core/errors.ts';
import type { ActivityEntry } from './activity-types.ts';

/** The caller lacks the right, or approval is missing or denied. Errors in the call itself count as failures. */
const denials: ReadonlySet<ErrorCode> = new Set([
  'FORBIDDEN',
  'DENIED',
  'UNAUTHENTICATED',
  'INSUFFICIENT_SCOPE',
  'NOT_APPROVED',
  'NEEDS_APPROVAL',
  'STEP_DECLINED',
  'REMOTE_TOOL_NOT_ALLOWED',
]);

/** `code`: the error code, if the call failed. */
export function outcomeOfCode(code: ErrorCode | undefined): {
  readonly outcome: ActivityEntry['outcome'];
  readonly code?: ErrorCode;
} {
  if (code === undefined) return { outcome: 'completed' };
  if (code === 'OUTCOME_UNKNOWN') return { outcome: 'unknown', code };
  return { outcome: denials.has(code) ? 'denied' : 'failed', code };
}
