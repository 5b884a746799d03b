// Deletes old log entries when a retention time is configured. Deletion runs in small transactions with pauses, so
// calls do not wait for it. One process does it for all: it holds a claim, a row of `settings`. Every transaction
// replaces that row, but only if it is unchanged. The claim also counts the deleted entries for the admin log. If the
// process dies, the next claim writes that entry first.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import type { Observe } from '../../core/observe.ts';
import type { Database } from '../database/database.ts';
import { logChange } from '../permissions/roles.ts';
import { DETAILS, RECORDS, recordKeysOf, TABLE } from './activity-row.ts';

export interface LogRetention {
  /** Sweeps now and then every hour. */
  begin(): void;
  /**
   * Deletes entries beyond the configured age. Has no effect without a configured age, while another process sweeps, or
   * when the same sweep ran within the hour.
   */
  sweep(): Promise<void>;
  /** Stops after the current transaction. */
  stop(): Promise<void>;
}

type Log = 'activity' | 'admin';

/** Entries that this sweep has deleted from a log, all before that time. */
interface DeletedRange {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly before: number;
  readonly entries: number;
}

interface Claim {
  readonly begun: number;
  /** No other process may claim the sweep before this time; 0 when the sweep is complete. */
  readonly heldUntil: number;
  /** The settings of the sweep. A change of the settings allows a new sweep at once. */
  readonly days: string;
  readonly gone: DeletedRange | null;
}

type RetentionSettings = Pick<Config, 'activityDays' | 'adminLogDays'>;

const KEY = 'log-retention';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Slightly less than an hour, because the timers of the processes differ. */
const MIN_INTERVAL_MS = HOUR_MS - 300_000;
/** Much longer than one transaction takes. */
const LEASE_MS = 120_000;
const PAUSE_MS = 20;
/** Entries per transaction and per statement. */
const ENTRIES = 500;
/** Limit of deleted `activity_records` rows per transaction, unless a single entry exceeds it. */
const MAX_RECORDS = 2000;
const RECORDS_A_STATEMENT = 50;

export function createLogRetention(
  database: Database,
  { activityDays, adminLogDays }: RetentionSettings,
  observe: Observe,
  clock: Clock,
): LogRetention {
  const { knex } = database;
  const days = `${activityDays ?? '-'}/${adminLogDays ?? '-'}`;
  let isStopped = false;
  let currentSweep: Promise<void> = Promise.resolve();
  let cancelTimer: (() => void) | undefined;

  const claimRow = (on: Knex) => on('settings').where({ key: KEY });

  /** Returns undefined without a change when the stored claim differs from `from`. */
  async function replace(trx: Knex.Transaction, from: string, to: Claim): Promise<string | undefined> {
    const value = JSON.stringify(to);
    return (await claimRow(trx).where({ value: from }).update({ value })) === 1 ? value : undefined;
  }

  async function claim(now: number): Promise<string | undefined> {
    await database.retry(() => knex('settings').insert({ key: KEY, value: '{}' }).onConflict('key').ignore());
    const { value: found } = await claimRow(knex).first<{ value: string }>('value');
    const {
      begun = 0,
      heldUntil: leaseEndsAt = 0,
      days: before,
      gone: deleted = null,
    } = JSON.parse(found) as Partial<Claim>;
    // A time too far in the future came from a wrong clock.
    const isLeased = leaseEndsAt > now && leaseEndsAt <= now + LEASE_MS;
    const isRecent = begun <= now && begun > now - MIN_INTERVAL_MS && leaseEndsAt === 0 && before === days;
    if (isLeased || isRecent) return undefined;
    return database.write(async (trx) => {
      const replaced = await replace(trx, found, { begun: now, heldUntil: now + LEASE_MS, days, gone: null });
      if (replaced !== undefined && deleted) await logDeletion(trx, clock, deleted);
      return replaced;
    });
  }

  async function sweepAll(): Promise<void> {
    const now = clock.now();
    let ownClaim = await claim(now);
    if (ownClaim === undefined) return;
    let total = 0;

    /** Runs one transaction and returns the number of deleted entries. */
    const step = (
      deleted: DeletedRange | null,
      take: (trx: Knex.Transaction) => Promise<number>,
      end: Partial<Claim> = {},
    ) =>
      database.write(async (trx) => {
        const entries = await take(trx);
        const left = deleted && { ...deleted, entries: deleted.entries + entries };
        const to = { begun: now, heldUntil: clock.now() + LEASE_MS, days, gone: left, ...end };
        const next = await replace(trx, ownClaim!, to);
        // Another process has claimed it, because this one was suspended too long.
        if (next === undefined) throw new LostClaim();
        return { entries, next };
      });
    const nothing = async () => 0;
    const sweepLog = async (log: Log, before: number, takers: readonly DeleteBatch[]): Promise<void> => {
      let deleted: DeletedRange = { log, before, entries: 0 };
      for (const take of takers) {
        for (;;) {
          if (isStopped) {
            // Lets the next process start at once.
            await step(deleted, nothing, { begun: 0, heldUntil: 0 });
            throw new LostClaim();
          }
          const { entries, next } = await step(deleted, (trx) => take(trx, before));
          ownClaim = next;
          if (entries === 0) break;
          deleted = { ...deleted, entries: deleted.entries + entries };
          await clock.sleep(PAUSE_MS);
        }
      }
      if (deleted.entries === 0) return;
      total += deleted.entries;
      const { next } = await step(null, async (trx) => {
        await logDeletion(trx, clock, deleted);
        return 0;
      });
      ownClaim = next;
    };

    if (activityDays !== null) {
      const environments = await readEnvironments(knex);
      await sweepLog('activity', now - activityDays * DAY_MS, environments.map(deleteActivityBatch));
    }
    if (adminLogDays !== null) await sweepLog('admin', now - adminLogDays * DAY_MS, [deleteChangesBatch]);
    await step(null, nothing, { heldUntil: 0 });
    if (total > 0) observe({ type: 'store.swept', rows: total });
  }

  async function sweep(): Promise<void> {
    if (activityDays === null && adminLogDays === null) return;
    try {
      await sweepAll();
    } catch (cause) {
      if (!(cause instanceof LostClaim)) throw cause;
    }
  }

  function run(): void {
    currentSweep = sweep()
      .catch((cause: unknown) => observe({ type: 'warning', message: 'Failed to delete old log entries', cause }))
      .finally(() => {
        if (!isStopped) cancelTimer = clock.after(HOUR_MS, run);
      });
  }

  return {
    begin() {
      if (activityDays !== null || adminLogDays !== null) run();
    },
    sweep,
    async stop() {
      isStopped = true;
      cancelTimer?.();
      await currentSweep;
    },
  };
}

async function logDeletion(trx: Knex.Transaction, clock: Clock, { log, entries, before }: DeletedRange): Promise<void> {
  const detail = { entries, before: new Date(before).toISOString() };
  await logChange(trx, { at: clock.now(), action: 'log.sweep', subject: log, detail });
}

/** The claim was lost or released. Its next owner does the remaining work. */
class LostClaim extends Error {}

/** Deletes some entries before that time and returns how many. */
type DeleteBatch = (trx: Knex.Transaction, before: number) => Promise<number>;

/**
 * Includes deleted environments, because their entries remain. Each is swept separately, since the index begins with
 * the environment.
 */
async function readEnvironments(knex: Knex): Promise<readonly number[]> {
  const lists = await Promise.all([
    knex('environments').pluck<number[]>('id'),
    knex('past_renderings').distinct().pluck<number[]>('environment_id'),
  ]);
  return [...new Set([0, ...lists.flat()])];
}

interface Old {
  readonly id: number;
  readonly started_at: number;
  readonly record_ids: string | null;
}

const deleteActivityBatch =
  (environment_id: number): DeleteBatch =>
  async (trx, before) => {
    const found: Old[] = await trx(TABLE)
      .where({ environment_id })
      .where('started_at', '<', before)
      .orderBy('started_at')
      .orderBy('id')
      .limit(ENTRIES)
      .select('id', 'started_at', 'record_ids');
    const old = found.map(({ id, started_at, record_ids }) => ({
      id,
      keys: recordKeysOf(record_ids === null ? [] : (JSON.parse(record_ids) as string[])).map((record_key) => ({
        environment_id,
        record_key,
        started_at,
        log_id: id,
      })),
    }));
    let records = 0;
    // Always takes the first entry; otherwise a large entry would block the sweep.
    const some = old.filter(({ keys }, at) => {
      records += keys.length;
      return at === 0 || records <= MAX_RECORDS;
    });
    const ids = some.map(({ id }) => id);
    const keys = some.flatMap(({ keys }) => keys);
    // By full primary key: the table has no other index, which makes writes cheap.
    for (let at = 0; at < keys.length; at += RECORDS_A_STATEMENT) {
      const these = keys.slice(at, at + RECORDS_A_STATEMENT);
      await trx(RECORDS)
        .where((any) => {
          for (const key of these) any.orWhere(key);
        })
        .delete();
    }
    if (ids.length === 0) return 0;
    await trx('activity_workflows').whereIn('log_id', ids).delete();
    await trx(DETAILS).whereIn('log_id', ids).delete();
    await trx(TABLE).whereIn('id', ids).delete();
    return ids.length;
  };

const deleteChangesBatch: DeleteBatch = async (trx, before) => {
  const ids = await trx('admin_logs')
    .where('at', '<', before)
    .orderBy('at')
    .orderBy('id')
    .limit(ENTRIES)
    .pluck<number[]>('id');
  if (ids.length > 0) await trx('admin_logs').whereIn('id', ids).delete();
  return ids.length;
};
