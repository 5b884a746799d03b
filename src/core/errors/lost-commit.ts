// The response to a COMMIT was lost, so the transaction may or may not be committed. This is the cause of
// OUTCOME_UNKNOWN.
import { isAppError } from '../errors.ts';

export type CommitOutcome = 'committed' | 'rolled back';

export class LostCommit extends Error {
  /** Resolves to undefined if the outcome stays unknown. Never rejects. */
  readonly later: Promise<CommitOutcome | undefined> | undefined;
  constructor(cause: unknown, later: LostCommit['later']) {
    super('The answer to COMMIT was lost; the transaction was committed or not.', { cause });
    this.name = 'LostCommit';
    this.later = later;
  }
}

/** The outcome of the failed write, if it can be determined later. */
export function commitOutcomeOf(error: unknown): LostCommit['later'] {
  return isAppError(error, 'OUTCOME_UNKNOWN') && error.cause instanceof LostCommit ? error.cause.later : undefined;
}
