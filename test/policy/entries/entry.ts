// A way in: how each operation is asked for there, and how what it answers is read.
import type { End, OperationName } from '../operations.ts';

export interface Ending {
  /** Of `End`, or what it is when it is none of those. */
  readonly end: End | string;
  /** All that the caller is given. */
  readonly text: string;
  /** Where a person decides. */
  readonly approve?: string;
}

export interface Entry {
  /** Those that this way in has. */
  readonly operations: readonly OperationName[];
  /** Nobody is there to be answered: the log says how the run went on. */
  readonly isRun?: boolean;
  /** The call is asked for, and done later: the log has entries of both, and of the repeat. */
  readonly isLater?: boolean;
  act(operation: OperationName): Promise<Ending>;
}

const ends: readonly (readonly [RegExp, End])[] = [
  [/^UNKNOWN_(COLLECTION|RELATION|ACTION|FIELD|WORKFLOW|CHART)$/, 'absent'],
  [/^(FORBIDDEN|REMOTE_TOOL_NOT_ALLOWED)$/, 'forbidden'],
  [/^INVALID_RECORD$/, 'invalid'],
  [/^RECORD_NOT_FOUND$/, 'missing'],
  [/^INVALID_ARGUMENT$/, 'nothing'],
  [/^INSUFFICIENT_SCOPE$/, 'no consent'],
  [/^UNAUTHENTICATED$/, 'signed out'],
  [/^RATE_LIMITED$/, 'limited'],
  [/^NEEDS_APPROVAL$/, 'waits'],
  [/^APPROVAL_OVERTAKEN$/, 'overtaken'],
];

/** Of a code of docs/errors.md; the code itself where no row of the table may end with it. */
export const endOfCode = (code: string): End | string => ends.find(([pattern]) => pattern.test(code))?.[1] ?? code;
