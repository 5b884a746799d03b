import { AppError, fail } from '../../../core/errors.ts';
import type { TransactionOptions } from '../source.ts';
import type { Connection } from './driver.ts';

export interface Speaker extends Connection {
  /** A statement without values and without an answer. */
  say(sql: string): Promise<unknown>;
}

/**
 * BEGIN, the work, COMMIT; ROLLBACK where the work fails or is discarded. A call that was taken back stops before its
 * next statement, and before COMMIT.
 */
export async function inTransaction<T>(
  speaker: Speaker,
  work: (connection: Connection) => Promise<T>,
  { signal, discard }: TransactionOptions,
): Promise<T> {
  const goOn = () => {
    if (signal?.aborted) fail('CANCELLED', {});
  };
  await speaker.say('begin');
  try {
    const answer = await work({
      run(prepared, values) {
        goOn();
        return speaker.run(prepared, values);
      },
    });
    goOn();
    await speaker.say(discard ? 'rollback' : 'commit');
    return answer;
  } catch (error) {
    // Where this fails, the connection is gone, and the database rolls back by itself.
    await speaker.say('rollback').catch((second: unknown) => {
      throw error instanceof AppError ? error : second;
    });
    throw error;
  }
}
