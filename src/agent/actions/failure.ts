// Errors in the code of an action. Callers see only the name of the action and the part that failed. The cause, for the
// log, adds the line of the definition and the thrown error.
import type { StopSignal } from '../../core/clock/stop.ts';
import { CodeFailure } from '../../core/errors/code-failure.ts';
import { AppError, type ErrorCode, isAppError } from '../../core/errors.ts';
import type { ActionEntry } from './definitions.ts';

/** Thrown by an action's code to refuse with a text that may be shown to the user. */
export class ActionError extends AppError<'ACTION_REFUSED'> {
  constructor(message: string) {
    super('ACTION_REFUSED', { message });
  }
}

/** Passed on unchanged: these errors are about the call, not about the action's code. */
const passedCodes: readonly ErrorCode[] = [
  'ACTION_REFUSED',
  'ACTION_FAILED',
  'CANCELLED',
  'TIMED_OUT',
  'SOURCE_UNAVAILABLE',
  'DATABASE_FAILED',
  'OUTCOME_UNKNOWN',
  'NOT_READY',
  'AI_RATE_LIMITED',
  'AI_TIMED_OUT',
  'AI_UNAVAILABLE',
];

/** `part`: `execute`, or `'options' of field 'City'`. Errors thrown after a cancellation become CANCELLED. */
export async function runUserCode<Result>(
  entry: ActionEntry,
  part: string,
  run: () => Result | Promise<Result>,
  signal?: StopSignal,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (isAppError(error) && passedCodes.includes(error.code)) throw error;
    if (signal?.aborted) throw new AppError('CANCELLED', {}, error);
    throw actionFailure(entry, part, error);
  }
}

export function actionFailure(entry: ActionEntry, part: string, thrown: unknown): AppError<'ACTION_FAILED'> {
  const { collection, name, at } = entry;
  const cause = new CodeFailure(`Action '${name}' of '${collection}' (defined at ${at}), ${part}`, thrown);
  return new AppError('ACTION_FAILED', { collection, action: name, part }, cause);
}
