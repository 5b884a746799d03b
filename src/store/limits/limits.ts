// Counts attempts in time windows, in the storage that all processes share. One statement increments and returns the
// count: simultaneous attempts cannot bypass the limit. Times come from the process clock, not the database. If
// more than twice the length of a window remains, the clock was set back after the window began, and the window counts
// as over. The clocks of processes differ by less than that.
import type { Clock } from '../../core/clock.ts';
import type { Counted, Windows } from '../../core/limit.ts';
import { hashToken } from '../../core/secret.ts';
import type { Database, StoreDialect } from '../database/database.ts';
import { createPreparedStatements } from '../database/prepared-statements.ts';

const SWEEP_MS = 600_000;

interface Attempt {
  readonly key_hash: string;
  readonly now: number;
  readonly ends_at: number;
  /** Upper bound for the end of a window that begins now. */
  readonly latest: number;
}

type Count = (attempt: Attempt) => Promise<Counted>;

export function createWindows(database: Database, clock: Clock): Windows {
  const { knex } = database;
  const table = () => knex('attempt_windows');
  const count = createCounting(database);
  let sweepAt = 0;

  /** At most every ten minutes. Windows that are over count as absent before they are swept. */
  async function sweep(now: number): Promise<void> {
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    await database.retry(() => table().where('ends_at', '<=', now).delete());
  }

  return {
    async add(key, ms) {
      const now = clock.now();
      await sweep(now);
      return count({ key_hash: hashToken(key), now, ends_at: now + ms, latest: now + 2 * ms });
    },
    async takeBack(key) {
      const windowRow = table().where({ key_hash: hashToken(key) });
      await database.retry(() =>
        windowRow.where('count', '>', 0).where('ends_at', '>', clock.now()).decrement('count', 1),
      );
    },
    async clear(key) {
      await database.retry(() =>
        table()
          .where({ key_hash: hashToken(key) })
          .delete(),
      );
    },
  };
}

function createCounting(database: Database): Count {
  const { knex, retry } = database;
  const statements = createPreparedStatements(database);
  const isOver = 'attempt_windows.ends_at <= ? OR attempt_windows.ends_at > ?';
  const upsert = `INSERT INTO attempt_windows (key_hash, count, ends_at) VALUES (?, 1, ?)
ON CONFLICT (key_hash) DO UPDATE SET
count = CASE WHEN ${isOver} THEN 1 ELSE attempt_windows.count + 1 END,
ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE attempt_windows.ends_at END
RETURNING count, ends_at`;
  const toCounted = (row: { count: number; ends_at: number | string }): Counted => ({
    count: row.count,
    endsAt: Number(row.ends_at),
  });
  const returning: Count = async ({ key_hash, now, ends_at, latest }) => {
    const values = [key_hash, ends_at, now, latest, now, latest];
    const [row] = await statements.read<{ count: number; ends_at: number | string }>({ sql: upsert, values });
    return toCounted(row!);
  };
  const byDialect: Record<StoreDialect, Count> = {
    sqlite: returning,
    postgres: returning,
    // MySQL has no RETURNING: LAST_INSERT_ID(expression) returns the count in the response to the statement. It is 0
    // for a new row.
    async mysql(row) {
      const [{ insertId }] = (await retry(() =>
        knex.raw(
          `INSERT INTO attempt_windows (key_hash, count, ends_at) VALUES (:key_hash, 1, :ends_at)
ON DUPLICATE KEY UPDATE count = LAST_INSERT_ID(IF(ends_at <= :now OR ends_at > :latest, 1, count + 1)),
ends_at = IF(ends_at <= :now OR ends_at > :latest, VALUES(ends_at), ends_at)`,
          { ...row },
        ),
      )) as [{ insertId: number }];
      const latest = await knex('attempt_windows')
        .where({ key_hash: row.key_hash })
        .first<{ ends_at: number | string } | undefined>('ends_at');
      return toCounted({ count: Math.max(1, insertId), ends_at: latest?.ends_at ?? row.ends_at });
    },
  };
  return byDialect[database.dialect];
}
