// The visible failure of a run, and the failures that leave a change uncertain. Viewers of a run may lack access to its
// record, so messages with record values are replaced.
import type { AppError, ErrorCode } from '../../core/errors.ts';
import { isAppError } from '../../core/errors.ts';
import type { RunFailure } from '../../store/workflows/types.ts';

/** Messages of these errors may contain values, or text from the operator's code. */
const safeMessages: Partial<Record<ErrorCode, string>> = {
  ACTION_REFUSED: 'The action reported that it could not be done.',
  REFUSED: "The operator's code refused it.",
  DENIED: 'It is not allowed.',
};

export function toRunFailure(error: AppError): RunFailure {
  const { code } = error;
  return { code, message: safeMessages[code] ?? withoutValues(error) };
}

/** Advice for assistants. People have no tools to call. */
const toolAdvice = / Call describeCollection\b.*$/s;

export const withoutToolAdvice = ({ message }: AppError): string => message.replace(toolAdvice, '');

function withoutValues(error: AppError): string {
  if (isAppError(error, 'INVALID_VALUE')) return `${error.details.at}: expected ${error.details.expected}.`;
  if (isAppError(error, 'INVALID_RECORD')) {
    const { collection, problems } = error.details;
    return `Nothing was written to '${collection}': the step has invalid values for ${problems.map(({ field }) => field).join(', ')}.`;
  }
  if (isAppError(error, 'INVALID_FORM')) {
    const { action, fields } = error.details;
    return `Nothing was done: the form of '${action}' has problems in ${fields.map(({ label }) => label).join(', ')}.`;
  }
  return withoutToolAdvice(error);
}

/** With these errors, the change may have been made, at least in part. */
const uncertainCodes: ReadonlySet<ErrorCode> = new Set([
  'ACTION_FAILED',
  'FAILED_AFTER_WRITE',
  'CUSTOMIZATION_FAILED',
  'OUTCOME_UNKNOWN',
  'SOURCE_UNAVAILABLE',
  'PLATFORM_UNAVAILABLE',
  'TIMED_OUT',
  'CALL_TIMED_OUT',
  'CANCELLED',
  'NOT_READY',
  'REMOTE_UNAVAILABLE',
  'INTERNAL',
]);

export const isUncertain = ({ code }: AppError): boolean => uncertainCodes.has(code);

/** These failures are temporary, and retried if the step changes no data. */
export const isTemporary = ({ code }: AppError): boolean =>
  code === 'SOURCE_UNAVAILABLE' ||
  code === 'NOT_READY' ||
  code === 'REMOTE_UNAVAILABLE' ||
  code === 'AI_RATE_LIMITED' ||
  code === 'AI_UNAVAILABLE';
