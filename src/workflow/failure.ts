// What is shown of a run that failed, and which failures leave open whether a change was made. Whoever may look at the run reads
// this, also who may not see the record: a sentence with values of records in it is replaced by one without.
import type { AppError, ErrorCode } from '../core/errors.ts';
import { isAppError } from '../core/errors.ts';
import type { RunFailure } from '../store/workflow-types.ts';

/** Their own sentences tell values, or what code of the operator says. */
const told: Partial<Record<ErrorCode, string>> = {
  ACTION_REFUSED: 'The action said that it could not be done.',
  REFUSED: 'Code of the operator refused it.',
  DENIED: 'It is not allowed.',
};

export function failureOf(error: AppError): RunFailure {
  const { code } = error;
  return { code, message: told[code] ?? withoutValues(error) };
}

/** What errors advise assistants to call. A person has no tools. */
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

/** The change may have been made, in part or whole: what failed was not the question whether it can be. */
const unsure: ReadonlySet<ErrorCode> = new Set([
  'ACTION_FAILED',
  'FAILED_AFTER_WRITE',
  'CUSTOMIZATION_FAILED',
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

/** Tried again by itself, where nothing is changed by it. */
export const isPassing = ({ code }: AppError): boolean =>
  code === 'SOURCE_UNAVAILABLE' ||
  code === 'NOT_READY' ||
  code === 'REMOTE_UNAVAILABLE' ||
  code === 'AI_RATE_LIMITED' ||
  code === 'AI_UNAVAILABLE';
