// How long the logs are kept, where the settings say so. What is older is deleted a little at a time, each time in a transaction of
// its own, with a pause between, so that no call waits for it. However many processes share the storage, one does it: it holds
// a claim, a row of `settings` that is replaced in every one of these transactions by whoever still finds it as he left it. The claim
// also says how much has gone so far, so that the admin log tells of it even where the process dies on the way: whoever
// claims next writes that entry first.
import type { Knex } from 'knex';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { recordKeysOf } from './activity-keys.ts';
import { RECORDS, TABLE } from './activity-row.ts';
import type { Database } from './database.ts';
import { logChange } from './roles.ts';

export interface LogRetention {
  /** Sweeps now and every hour from then on. */
  begin(): void;
  /**
   * Deletes what is older than the settings say. Does nothing where no setting says so, where another process is at it, and
   * where the same was done within the hour.
   */
  sweep(): Promise<void>;
  /** Ends after the transaction that is under way. */
  stop(): Promise<void>;
}

type Log = 'activity' | 'admin';

/** What has gone of a log in this sweep: everything before that time. */
interface Gone {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly before: number;
  readonly entries: number;
}

interface Claim {
  readonly begun: number;
  /** Nobody else may claim it until then; 0 when the sweep is over. */
  readonly heldUntil: number;
  /** What the settings were: with others there is something else to do. */
  readonly days: string;
  readonly gone: Gone | null;
}

type RetentionSettings = Pick<Config, 'activityDays' | 'adminLogDays'>;

const KEY = 'log-retention';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Timers of several processes do not fire together. */
const RECENT_MS = HOUR_MS - 300_000;
/** Far longer than one transaction takes. */
const HELD_MS = 120_000;
const PAUSE_MS = 20;
/** Entries of one transaction, and of one statement. */
const ENTRIES = 500;
/** Rows of `activity_records` that go with them, where more than one entry is about so many. */
const RECORDS_MOST = 2000;
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
  let underWay: Promise<void> = Promise.resolve();
  let cancelTimer: (() => void) | undefined;

  const claimRow = (on: Knex) => on('settings').where({ key: KEY });

  /** False, and nothing changed, where it is not as it was left. */
  async function replace(trx: Knex.Transaction, from: string, to: Claim): Promise<string | undefined> {
    const value = JSON.stringify(to);
    return (await claimRow(trx).where({ value: from }).update({ value })) === 1 ? value : undefined;
  }

  async function claim(now: number): Promise<string | undefined> {
    await database.retry(() => knex('settings').insert({ key: KEY, value: '{}' }).onConflict('key').ignore());
    const { value: found } = await claimRow(knex).first<{ value: string }>('value');
    const { begun = 0, heldUntil = 0, days: before, gone = null } = JSON.parse(found) as Partial<Claim>;
    // A time that is yet to come was written by a clock that was wrong.
    const isHeld = heldUntil > now && heldUntil <= now + HELD_MS;
    const isRecent = begun <= now && begun > now - RECENT_MS && heldUntil === 0 && before === days;
    if (isHeld || isRecent) return undefined;
    return database.write(async (trx) => {
      const mine = await replace(trx, found, { begun: now, heldUntil: now + HELD_MS, days, gone: null });
      if (mine !== undefined && gone) await tell(trx, gone);
      return mine;
    });
  }

  async function tell(trx: Knex.Transaction, { log, entries, before }: Gone): Promise<void> {
    const detail = { entries, before: new Date(before).toISOString() };
    await logChange(trx, { at: clock.now(), action: 'log.sweep', subject: log, detail });
  }

  async function sweepAll(): Promise<void> {
    const now = clock.now();
    let mine = await claim(now);
    if (mine === undefined) return;
    let total = 0;

    /** One transaction; answers how many entries it deleted. */
    const step = (gone: Gone | null, take: (trx: Knex.Transaction) => Promise<number>, end: Partial<Claim> = {}) =>
      database.write(async (trx) => {
        const entries = await take(trx);
        const left = gone && { ...gone, entries: gone.entries + entries };
        const to = { begun: now, heldUntil: clock.now() + HELD_MS, days, gone: left, ...end };
        const next = await replace(trx, mine!, to);
        // Taken by another, since this process was away for so long.
        if (next === undefined) throw new LostClaim();
        return { entries, next };
      });
    const nothing = async () => 0;
    const sweepLog = async (log: Log, before: number, takers: readonly Taker[]): Promise<void> => {
      let gone: Gone = { log, before, entries: 0 };
      for (const take of takers) {
        for (;;) {
          if (isStopped) {
            // Whoever starts next may go on at once.
            await step(gone, nothing, { begun: 0, heldUntil: 0 });
            throw new LostClaim();
          }
          const { entries, next } = await step(gone, (trx) => take(trx, before));
          mine = next;
          if (entries === 0) break;
          gone = { ...gone, entries: gone.entries + entries };
          await clock.sleep(PAUSE_MS);
        }
      }
      if (gone.entries === 0) return;
      total += gone.entries;
      const { next } = await step(null, async (trx) => {
        await tell(trx, gone);
        return 0;
      });
      mine = next;
    };

    if (activityDays !== null) {
      const environments = await readEnvironments(knex);
      await sweepLog('activity', now - activityDays * DAY_MS, environments.map(takeActivity));
    }
    if (adminLogDays !== null) await sweepLog('admin', now - adminLogDays * DAY_MS, [takeChanges]);
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
    underWay = sweep()
      .catch((cause: unknown) => observe({ type: 'warning', message: 'old entries of the logs stay', cause }))
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
      await underWay;
    },
  };
}

/** Another process has the claim, or this one let go of it: what is left to do is done by whoever has it next. */
class LostClaim extends Error {}

/** Deletes some entries before that time, and answers how many. */
type Taker = (trx: Knex.Transaction, before: number) => Promise<number>;

/** Those that are gone have entries too. An index begins with the environment, so that each is asked for by itself. */
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

const takeActivity =
  (environment_id: number): Taker =>
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
    // The first in any case; else nothing would ever go.
    const some = old.filter(({ keys }, at) => {
      records += keys.length;
      return at === 0 || records <= RECORDS_MOST;
    });
    const ids = some.map(({ id }) => id);
    const keys = some.flatMap(({ keys }) => keys);
    // By the whole primary key: the table has no other index, so as to cost a call little.
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
    await trx(TABLE).whereIn('id', ids).delete();
    return ids.length;
  };

const takeChanges: Taker = async (trx, before) => {
  const ids = await trx('admin_logs')
    .where('at', '<', before)
    .orderBy('at')
    .orderBy('id')
    .limit(ENTRIES)
    .pluck<number[]>('id');
  if (ids.length > 0) await trx('admin_logs').whereIn('id', ids).delete();
  return ids.length;
};
