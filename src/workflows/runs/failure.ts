// The visible failure of a run, and the failures that leave a change uncertain. Viewers of a run may lack access to its
// record, so messages with record values are replaced.
import type { AppError, ErrorCode } from '../../core/errors.ts';
import { isAppError } from '../../core/errors.ts';
import type { RunFailure } from '../../store/workflows/types.ts';

/** Messages of these errors may contain values, or text from the operator's code. */
const told: Partial<Record<ErrorCode, string>> = {
  ACTION_REFUSED: 'The action said that it could not be done.',
  REFUSED: 'Code of the operator refused it.',
  DENIED: 'It is not allowed.',
};

export function failureOf(error: AppError): RunFailure {
  const { code } = error;
  return { code, message: told[code] ?? withoutValues(error) };
}

/** Advice for assistants. People have no tools to call. */
const advice = / Call describeCollection\b.*$/s;

export const forPeople = ({ message }: AppError): string => message.replace(advice, '');

function withoutValues(error: AppError): string {
  if (isAppError(error, 'INVALID_VALUE')) return `${error.details.at}: expected ${error.details.expected}.`;
  if (isAppError(error, 'INVALID_RECORD')) {
    const { collection, problems } = error.details;
    return `Nothing was written to '${collection}': ${problems.map(({ field }) => field).join(', ')} cannot be as the step would have it.`;
  }
  if (isAppError(error, 'INVALID_FORM')) {
    const { action, fields } = error.details;
    return `Nothing was done: the form of '${action}' has problems in ${fields.map(({ label }) => label).join(', ')}.`;
  }
  return forPeople(error);
}

/** With these errors, the change may have been made, at least in part. */
const unsure: ReadonlySet<ErrorCode> = new Set([
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

export const isUncertain = ({ code }: AppError): boolean => unsure.has(code);

/** These failures are temporary, and retried if the step changes no data. */
export const isPassing = ({ code }: AppError): boolean =>
  code === 'SOURCE_UNAVAILABLE' ||
  code === 'NOT_READY' ||
  code === 'REMOTE_UNAVAILABLE' ||
  code === 'AI_RATE_LIMITED' ||
  code === 'AI_UNAVAILABLE';
