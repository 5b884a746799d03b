// An entry point: it makes the call for each operation and classifies the answer.
import type { End, OperationName } from '../operations.ts';

export interface Ending {
  /** An `End`, or the raw result if it is another one. */
  readonly end: End | string;
  /** The complete text that the caller receives. */
  readonly text: string;
  /** The URL of the approval page. */
  readonly approve?: string;
}

export interface Entry {
  /** The operations of this entry point. */
  readonly operations: readonly OperationName[];
  /** A workflow run: no caller gets an answer, and the log has the outcome. */
  readonly isRun?: boolean;
  /** The call is executed after its request. The log has entries of the request, the call and the repeat. */
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

/** Maps a code of docs/errors.md to an `End`. Codes outside the table are returned unchanged. */
export const endOfCode = (code: string): End | string => ends.find(([pattern]) => pattern.test(code))?.[1] ?? code;
