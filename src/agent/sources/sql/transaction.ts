import { type Fate, LostCommit } from '../../../core/errors/lost-commit.ts';
import { AppError, fail } from '../../../core/errors.ts';
import type { TransactionOptions } from '../source.ts';
import type { Connection } from './driver.ts';

export interface Speaker extends Connection {
  /** Runs a statement without values. The statement that begins a transaction returns its mark. */
  say(sql: string): Promise<unknown>;
  /** The statement that begins a transaction and returns a mark to look up its outcome later. Default: BEGIN. */
  readonly begin?: string;
  /** Whether an error of COMMIT means that the database did not commit. */
  refused(error: unknown): boolean;
}

/** The progress of a transaction, as far as this process knows. */
export interface Progress<T> {
  /** Set while COMMIT has no response yet: the transaction may be committed. */
  asked?: { readonly answer: T; readonly mark: unknown };
}

/**
 * Runs BEGIN, the work and COMMIT; ROLLBACK if the work fails or is discarded. A cancelled call stops before its next
 * statement or before COMMIT.
 */
export async function inTransaction<T>(
  speaker: Speaker,
  work: (connection: Connection) => Promise<T>,
  { signal, discard }: TransactionOptions,
  progress: Progress<T> = {},
): Promise<T> {
  const goOn = () => {
    if (signal?.aborted) fail('CANCELLED', {});
  };
  try {
    const mark = await speaker.say(discard ? 'begin' : (speaker.begin ?? 'begin'));
    const answer = await work({
      run(prepared, values) {
        goOn();
        return speaker.run(prepared, values);
      },
    });
    goOn();
    if (discard) await speaker.say('rollback');
    else {
      progress.asked = { answer, mark };
      await speaker.say('commit').catch((error: unknown) => {
        if (speaker.refused(error)) delete progress.asked;
        throw error;
      });
      delete progress.asked;
    }
    return answer;
  } catch (error) {
    if (progress.asked) throw error;
    // If this fails, the connection is lost and the database rolls back by itself.
    await speaker.say('rollback').catch((second: unknown) => {
      throw error instanceof AppError ? error : second;
    });
    throw error;
  }
}

/** Asks the database how a transaction ended. `soon` is limited to the time a call can wait; `later` takes longer. */
export interface Inquiry {
  readonly soon: Promise<Fate | undefined>;
  readonly later: Promise<Fate | undefined>;
}

/**
 * Returns the result of a transaction that committed although the response to COMMIT was lost. Throws OUTCOME_UNKNOWN
 * if the outcome cannot be determined.
 */
export async function knowingItsEnd<T>(
  run: (progress: Progress<T>) => Promise<T>,
  inquire?: (mark: unknown) => Inquiry | undefined,
): Promise<T> {
  const progress: Progress<T> = {};
  try {
    return await run(progress);
  } catch (error) {
    const { asked } = progress;
    if (!asked) throw error;
    const inquiry = inquire?.(asked.mark);
    const fate = await inquiry?.soon;
    if (fate === 'committed') return asked.answer;
    if (fate === 'rolled back') throw error;
    throw new AppError('OUTCOME_UNKNOWN', { of: 'write' }, new LostCommit(error, inquiry?.later));
  }
}
