// Limits the size of a database's response to one statement: the process holds each response in memory as a whole, for
// all running calls.
import { AppError } from '../../../core/errors.ts';

export const MAX_ANSWER_BYTES = 16_000_000;

/** The approximate size of a row. */
export function estimateBytes(row: readonly unknown[]): number {
  let bytes = 0;
  for (const value of row) bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length + 8 : 8;
  return bytes;
}

export const createAnswerTooLarge = (): AppError =>
  new AppError('ANSWER_TOO_LARGE', { megabytes: MAX_ANSWER_BYTES / 1_000_000 });
