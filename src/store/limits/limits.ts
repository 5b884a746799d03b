// Counts attempts in time windows, in the storage that all processes share. One statement increments and returns the
// count: simultaneous attempts cannot bypass the limit. Times come from the process clock, not the database. If
// more than twice the length of a window remains, the clock was set back after the window began, and the window counts
// as over. The clocks of processes differ by less than that.
import type { Clock } from '../../core/clock.ts';
import type { Counted, Windows } from '../../core/limit.ts';
import { hashToken } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import type { Direct } from '../database/direct.ts';
import { groupCalls } from '../database/group-calls.ts';
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

const isOver = '(attempt_windows.ends_at <= ? OR attempt_windows.ends_at > ?)';
const upsert = `INSERT INTO attempt_windows (key_hash, count, ends_at) VALUES (?, ?, ?)
ON CONFLICT (key_hash) DO UPDATE SET
count = CASE WHEN ${isOver} THEN 0 ELSE attempt_windows.count END + excluded.count,
ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE attempt_windows.ends_at END
RETURNING count, ends_at`;

/**
 * MySQL has no RETURNING: LAST_INSERT_ID(expression) returns one number in the response to the statement, 0 for a new
 * row. It packs the count and the rest of the window into 53 bits. MySQL assigns from left to right.
 */
const REST_LIMIT = 2 ** 31;
const COUNT_LIMIT = 2 ** 22;
const mysqlUpsert = `INSERT INTO attempt_windows (key_hash, count, ends_at) VALUES (?, ?, ?)
ON DUPLICATE KEY UPDATE
count = IF(${isOver}, 0, count) + VALUES(count),
ends_at = IF(${isOver}, VALUES(ends_at), ends_at),
count = IF(LAST_INSERT_ID(LEAST(count, ${COUNT_LIMIT - 1}) * ${REST_LIMIT} + LEAST(ends_at - ?, ${REST_LIMIT - 1})) > 0, count, count)`;

/** Adds `times` at once. Returns the last count and the end of the window. */
type AddTimes = (attempt: Attempt, times: number) => Promise<readonly [count: number, endsAt: number]>;

const valuesOf = ({ key_hash, now, ends_at, latest }: Attempt, times: number) => [
  ...[key_hash, times, ends_at],
  ...[now, latest, now, latest],
];

function createServerCounting(dialect: 'mysql' | 'postgres', direct: Direct): AddTimes {
  if (dialect === 'mysql')
    return async (attempt, times) => {
      const values = [...valuesOf(attempt, times), attempt.now];
      const { insertId } = await direct.execute({ sql: mysqlUpsert, values, isOnce: true });
      if (insertId === 0) return [times, attempt.ends_at];
      return [Math.floor(insertId / REST_LIMIT), attempt.now + (insertId % REST_LIMIT)];
    };
  return async (attempt, times) => {
    const { rows } = await direct.execute({ sql: upsert, values: valuesOf(attempt, times) });
    const [count, endsAt] = rows[0]!;
    return [Number(count), Number(endsAt)];
  };
}

function createCounting(database: Database): Count {
  const { dialect, direct, retry } = database;
  if (!direct || dialect === 'sqlite') {
    const statements = createPreparedStatements(database);
    return async (attempt) => {
      const values = valuesOf(attempt, 1);
      const [row] = await statements.returning<{ count: number; ends_at: number }>({ sql: upsert, values });
      return { count: row!.count, endsAt: row!.ends_at };
    };
  }
  const addTimes = createServerCounting(dialect, direct);
  // Attempts on one window that arrive during a statement share the next one.
  return groupCalls(async (attempts: readonly Attempt[]) => {
    const byKey = new Map<string, Attempt[]>();
    for (const each of attempts) byKey.set(each.key_hash, [...(byKey.get(each.key_hash) ?? []), each]);
    const counted = new Map<Attempt, Counted>();
    const countAll = async (some: readonly Attempt[]): Promise<void> => {
      const [count, endsAt] = await retry(() => addTimes(some.at(-1)!, some.length));
      some.forEach((each, at) => void counted.set(each, { count: count - some.length + 1 + at, endsAt }));
    };
    await Promise.all([...byKey.values()].map(countAll));
    return attempts.map((each) => counted.get(each)!);
  });
}
