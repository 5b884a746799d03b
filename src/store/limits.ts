// Counts of attempts in windows of time, in the storage: however many processes serve, and whichever an attempt reaches, they
// count together. One statement counts and says how many there were, so that attempts side by side cannot slip through. The
// time is the clock's, not the database's.
import type { Clock } from '../core/clock.ts';
import type { Counted, Windows } from '../core/limit.ts';
import { hashToken } from '../core/secret.ts';
import type { Database, StoreDialect } from './database.ts';
import { createScripts } from './scripts.ts';

const SWEEP_MS = 600_000;

type Count = (row: { readonly key_hash: string; readonly now: number; readonly ends_at: number }) => Promise<Counted>;

export function createWindows(database: Database, clock: Clock): Windows {
  const { knex } = database;
  const table = () => knex('attempt_windows');
  const count = counting(database);
  let sweepAt = 0;

  /** At most every ten minutes. A window that is over counts as absent before it is swept. */
  async function sweep(now: number): Promise<void> {
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    await database.retry(() => table().where('ends_at', '<=', now).delete());
  }

  return {
    async add(key, ms) {
      const now = clock.now();
      await sweep(now);
      return count({ key_hash: hashToken(key), now, ends_at: now + ms });
    },
    async takeBack(key) {
      const mine = table().where({ key_hash: hashToken(key) });
      await database.retry(() => mine.where('count', '>', 0).where('ends_at', '>', clock.now()).decrement('count', 1));
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

function counting(database: Database): Count {
  const { knex, retry } = database;
  const scripts = createScripts(database);
  const upsert = `INSERT INTO attempt_windows (key_hash, count, ends_at) VALUES (?, 1, ?)
ON CONFLICT (key_hash) DO UPDATE SET
count = CASE WHEN attempt_windows.ends_at <= ? THEN 1 ELSE attempt_windows.count + 1 END,
ends_at = CASE WHEN attempt_windows.ends_at <= ? THEN excluded.ends_at ELSE attempt_windows.ends_at END
RETURNING count, ends_at`;
  const toCounted = (row: { count: number; ends_at: number | string }): Counted => ({
    count: row.count,
    endsAt: Number(row.ends_at),
  });
  const returning: Count = async ({ key_hash, now, ends_at }) => {
    const values = [key_hash, ends_at, now, now];
    const [row] = await scripts.read<{ count: number; ends_at: number | string }>({ sql: upsert, values });
    return toCounted(row!);
  };
  const byDialect: Record<StoreDialect, Count> = {
    sqlite: returning,
    postgres: returning,
    // No RETURNING on MySQL: LAST_INSERT_ID(expression) brings the number along with the answer to the statement itself. Of
    // a row that was not there before it is 0.
    async mysql(row) {
      const [{ insertId }] = (await retry(() =>
        knex.raw(
          `INSERT INTO attempt_windows (key_hash, count, ends_at) VALUES (:key_hash, 1, :ends_at)
ON DUPLICATE KEY UPDATE count = LAST_INSERT_ID(IF(ends_at <= :now, 1, count + 1)), ends_at = IF(ends_at <= :now, VALUES(ends_at), ends_at)`,
          row,
        ),
      )) as [{ insertId: number }];
      const kept = await knex('attempt_windows')
        .where({ key_hash: row.key_hash })
        .first<{ ends_at: number | string } | undefined>('ends_at');
      return toCounted({ count: Math.max(1, insertId), ends_at: kept?.ends_at ?? row.ends_at });
    },
  };
  return byDialect[database.dialect];
}
