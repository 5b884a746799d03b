// The activity log. Reads are many and cheap: they wait a moment in memory and are written together. A write leaves its
// mark before the statement that changes data, so that a crash shows as `unknown` and never as silence.
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { Database } from './database.ts';
import type { ActivityEntry, ActivityLog } from './store.ts';

/** Half of the 200 ms within which an entry is to be found, to leave time for the writing. */
const WAIT_MS = 100;
const KEPT_MOST = 10_000;
/** Rows of one INSERT. knex writes them for SQLite as a compound SELECT, whose depth the WebAssembly stack must bear. */
const ROWS_A_STATEMENT = 50;
const PAGE_MOST = 1000;

export function createActivityLog(database: Database, observe: Observe, clock: Clock): ActivityLog {
  const { knex } = database;
  let waiting: ActivityEntry[] = [];
  /** A batch that failed once: it goes with the next one, then it is given up. */
  let again: ActivityEntry[] = [];
  let dropped = 0;
  let cancelTimer: (() => void) | undefined;
  let underWay: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  function schedule(): void {
    cancelTimer ??= clock.after(WAIT_MS, () => void flush());
  }

  function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    next ??= underWay.then(() => {
      next = undefined;
      underWay = writeWaiting();
      return underWay;
    });
    return next;
  }

  async function writeWaiting(): Promise<void> {
    const [second, first] = [again, waiting];
    again = [];
    waiting = [];
    if (dropped > 0) {
      observe({
        type: 'warning',
        message: `${dropped} activity entries were dropped: the storage is too slow or away.`,
      });
      dropped = 0;
    }
    const lost = await insertOr(second);
    if (lost) observe({ type: 'warning', message: `${second.length} activity entries were lost.`, cause: lost.cause });
    const late = await insertOr(first);
    if (!late) return;
    again = first;
    observe({ type: 'warning', message: `${first.length} activity entries are tried again.`, cause: late.cause });
    schedule();
  }

  async function insertOr(entries: readonly ActivityEntry[]): Promise<{ readonly cause: unknown } | undefined> {
    if (entries.length === 0) return undefined;
    try {
      // All or nothing: a batch that is tried again must not be half there.
      await database.write(async (trx) => {
        for (let at = 0; at < entries.length; at += ROWS_A_STATEMENT) {
          await trx('activity_logs').insert(entries.slice(at, at + ROWS_A_STATEMENT).map(toRow));
        }
      });
      return undefined;
    } catch (cause) {
      return { cause };
    }
  }

  return {
    record(entry) {
      waiting.push(entry);
      if (waiting.length + again.length > KEPT_MOST) {
        (again.length > 0 ? again : waiting).shift();
        dropped++;
      }
      schedule();
    },
    async begin(entry) {
      const started = clock.monotonic();
      const id = await database.insert(knex, 'activity_logs', toRow({ ...entry, outcome: 'unknown', durationMs: 0 }));
      return {
        async complete({ outcome, code, recordIds }) {
          const result = { outcome, code: code ?? null, duration_ms: clock.monotonic() - started };
          await knex('activity_logs')
            .where({ id })
            .update({ ...result, ...(recordIds && { record_ids: JSON.stringify(recordIds) }) });
        },
      };
    },
    async flush() {
      await flush();
      // What was just put aside has one try left.
      if (again.length > 0) await flush();
    },
    async list({ limit, before }) {
      const query = knex('activity_logs')
        .orderBy('id', 'desc')
        .limit(Math.min(Math.max(1, limit), PAGE_MOST));
      if (before !== undefined) query.where('id', '<', before);
      return ((await query) as StoredEntry[]).map(fromRow);
    },
  };
}

interface StoredEntry {
  readonly id: number;
  readonly user_id: number;
  readonly rendering_id: number;
  readonly client_id: string;
  readonly client_name: string;
  readonly action: string;
  readonly type: ActivityEntry['type'];
  readonly collection: string | null;
  readonly record_ids: string | null;
  readonly outcome: ActivityEntry['outcome'];
  readonly code: string | null;
  readonly started_at: number;
  readonly duration_ms: number;
}

function toRow(entry: ActivityEntry): Omit<StoredEntry, 'id'> {
  return {
    user_id: entry.userId,
    rendering_id: entry.renderingId,
    client_id: entry.clientId,
    client_name: entry.clientName,
    action: entry.action.slice(0, 100),
    type: entry.type,
    collection: entry.collection?.slice(0, 191) ?? null,
    record_ids: entry.recordIds ? JSON.stringify(entry.recordIds) : null,
    outcome: entry.outcome,
    code: entry.code?.slice(0, 60) ?? null,
    started_at: entry.startedAt,
    duration_ms: entry.durationMs,
  };
}

function fromRow(row: StoredEntry): ActivityEntry & { readonly id: number } {
  return {
    id: Number(row.id),
    userId: row.user_id,
    renderingId: row.rendering_id,
    clientId: row.client_id,
    clientName: row.client_name,
    action: row.action,
    type: row.type,
    ...(row.collection === null ? {} : { collection: row.collection }),
    ...(row.record_ids === null ? {} : { recordIds: JSON.parse(row.record_ids) as string[] }),
    outcome: row.outcome,
    ...(row.code === null ? {} : { code: row.code }),
    startedAt: Number(row.started_at),
    durationMs: row.duration_ms,
  };
}
