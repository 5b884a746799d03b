// Writes to SQLite run in the process, on its one connection, one transaction at a time. They are short: their records
// were found by key before, and they await only the session. BEGIN locks the whole file. If another process has the
// lock, BEGIN is retried until the time limit instead of blocking this process. Reads of this process wait while a
// transaction is open, and never see uncommitted changes.
import type { Clock } from '../../../../core/clock.ts';
import { AppError, fail } from '../../../../core/errors.ts';
import type { SqliteConnection } from '../../../../core/sqlite.ts';
import type { TransactionOptions } from '../../source.ts';
import type { Connection, Prepared } from '../driver.ts';
import { inTransaction } from '../transaction.ts';
import { prepareWhole } from './prepared-state.ts';

interface Writes {
  /** Resolves when the open transaction ends; undefined if there is none. */
  readonly open: Promise<void> | undefined;
  transaction<T>(work: (connection: Connection) => Promise<T>, options: TransactionOptions): Promise<T>;
}

const retryMilliseconds = 15;

/** `readersWaitMs`: how long reads in the process wait for the lock of another process. */
export function createWrites(connection: SqliteConnection, clock: Clock, readersWaitMs: number): Writes {
  let open: Promise<void> | undefined;

  /**
   * Waits for the lock on the file. Returns a function to call at the end of the transaction. Throws TIMED_OUT or
   * CANCELLED.
   */
  async function begin({ signal, timeoutMs }: TransactionOptions): Promise<() => void> {
    const until = clock.monotonic() + timeoutMs;
    for (;;) {
      if (signal?.aborted) fail('CANCELLED', {});
      if (!open && tryBegin()) {
        let close: () => void = () => undefined;
        open = new Promise((resolve) => {
          close = resolve;
        });
        return () => {
          open = undefined;
          close();
        };
      }
      const left = until - clock.monotonic();
      if (left <= 0) throw new AppError('TIMED_OUT', { seconds: timeoutMs / 1000 });
      if (open) await open;
      else await clock.sleep(Math.min(retryMilliseconds, left));
    }
  }

  function tryBegin(): boolean {
    if (readersWaitMs > 0) connection.exec('pragma busy_timeout = 0');
    try {
      connection.exec('begin exclusive');
      return true;
    } catch (error) {
      if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) return false;
      if (/locked|busy/i.test((error as Error).message)) return false;
      throw error;
    } finally {
      if (readersWaitMs > 0) connection.exec(`pragma busy_timeout = ${readersWaitMs}`);
    }
  }

  return {
    get open() {
      return open;
    },
    async transaction(work, options) {
      const end = await begin(options);
      try {
        return await inTransaction(
          {
            async runSql(sql) {
              // The transaction has already begun, and a failed statement may have rolled it back.
              if (sql !== 'begin' && connection.inTransaction) connection.exec(sql);
            },
            // COMMIT is a function call within the process: its result cannot be lost.
            isRefusedCommit: () => true,
            run: async (prepared, values) => run(prepared, values),
          },
          work,
          options,
        );
      } finally {
        end();
      }
    },
  };

  function run(prepared: Prepared, values: readonly unknown[]) {
    const rows = prepareWhole(connection, prepared).all(values) as unknown[][];
    return { rows, affected: rows.length };
  }
}
