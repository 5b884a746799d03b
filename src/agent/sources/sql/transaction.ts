import { type CommitOutcome, LostCommit } from '../../../core/errors/lost-commit.ts';
import { AppError, fail } from '../../../core/errors.ts';
import type { TransactionOptions } from '../source.ts';
import type { Connection } from './driver.ts';

interface TransactionConnection extends Connection {
  /** Runs a statement without values. The statement that begins a transaction returns its mark. */
  runSql(sql: string): Promise<unknown>;
  /** The statement that begins a transaction and returns a mark to look up its outcome later. Default: BEGIN. */
  readonly begin?: string;
  /** Whether an error of COMMIT means that the database did not commit. */
  isRefusedCommit(error: unknown): boolean;
}

/** The progress of a transaction, as far as this process knows. */
interface TransactionProgress<T> {
  /** Set while COMMIT has no response yet: the transaction may be committed. */
  pendingCommit?: { readonly answer: T; readonly mark: unknown };
}

/**
 * Runs BEGIN, the work and COMMIT; ROLLBACK if the work fails or is discarded. A cancelled call stops before its next
 * statement or before COMMIT.
 */
export async function inTransaction<T>(
  connection: TransactionConnection,
  work: (connection: Connection) => Promise<T>,
  { signal, discard }: TransactionOptions,
  progress: TransactionProgress<T> = {},
): Promise<T> {
  const throwIfCancelled = () => {
    if (signal?.aborted) fail('CANCELLED', {});
  };
  try {
    const mark = await connection.runSql(discard ? 'begin' : (connection.begin ?? 'begin'));
    const answer = await work({
      run(prepared, values) {
        throwIfCancelled();
        return connection.run(prepared, values);
      },
    });
    throwIfCancelled();
    if (discard) await connection.runSql('rollback');
    else {
      progress.pendingCommit = { answer, mark };
      await connection.runSql('commit').catch((error: unknown) => {
        if (connection.isRefusedCommit(error)) delete progress.pendingCommit;
        throw error;
      });
      delete progress.pendingCommit;
    }
    return answer;
  } catch (error) {
    if (progress.pendingCommit) throw error;
    // If this fails, the connection is lost and the database rolls back by itself.
    await connection.runSql('rollback').catch((second: unknown) => {
      throw error instanceof AppError ? error : second;
    });
    throw error;
  }
}

/** Asks the database how a transaction ended. `soon` is limited to the time a call can wait; `later` takes longer. */
export interface Inquiry {
  readonly soon: Promise<CommitOutcome | undefined>;
  readonly later: Promise<CommitOutcome | undefined>;
}

/**
 * Returns the result of a transaction that committed although the response to COMMIT was lost. Throws OUTCOME_UNKNOWN
 * if the outcome cannot be determined.
 */
export async function resolveLostCommit<T>(
  run: (progress: TransactionProgress<T>) => Promise<T>,
  inquire?: (mark: unknown) => Inquiry | undefined,
): Promise<T> {
  const progress: TransactionProgress<T> = {};
  try {
    return await run(progress);
  } catch (error) {
    const { pendingCommit } = progress;
    if (!pendingCommit) throw error;
    const inquiry = inquire?.(pendingCommit.mark);
    const fate = await inquiry?.soon;
    if (fate === 'committed') return pendingCommit.answer;
    if (fate === 'rolled back') throw error;
    throw new AppError('OUTCOME_UNKNOWN', { of: 'write' }, new LostCommit(error, inquiry?.later));
  }
}
