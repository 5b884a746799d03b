// The activity log. Entries of reads are frequent: they are buffered for a moment and written in batches. A write
// stores a mark before its mutating statement, and a crash therefore leaves an `unknown` entry.
import type { Clock } from '../../core/clock.ts';
import { isAway } from '../../core/errors/away.ts';
import { type ErrorCode, isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import type { ActivityRows } from './activity-rows.ts';
import type { Completed } from './activity-statements.ts';
import type { ActivityEntry, ActivityLog } from './activity-types.ts';

/**
 * Part of the 200 ms limit for entries to appear. The rest is for the batch in progress and for the entry's own batch.
 */
const WAIT_MS = 50;
/** Delay between attempts while the storage is unavailable. */
const AWAY_MS = 1000;
const KEPT_MOST = 10_000;
/** Code of a write that lost its connection and was rolled back. */
const LOST: ErrorCode = 'SOURCE_UNAVAILABLE';

export function createActivityLog(
  rows: Omit<ActivityRows, 'completeMark'>,
  observe: Observe,
  clock: Clock,
): ActivityLog {
  let waiting: ActivityEntry[] = [];
  /** A batch that failed once. It is retried with the next batch, then dropped. */
  let again: ActivityEntry[] = [];
  let dropped = 0;
  let cancelTimer: (() => void) | undefined;
  /** Outcomes that are not stored yet, by the id of the mark. */
  const unended = new Map<number, Completed>();
  let underWay: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  function schedule(ms = WAIT_MS): void {
    cancelTimer ??= clock.after(ms, () => void flush());
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

  async function writeEnds(): Promise<void> {
    for (const [id, completed] of unended) {
      try {
        await rows.complete(id, completed);
        if (unended.get(id) === completed) unended.delete(id);
      } catch {
        return schedule(AWAY_MS);
      }
    }
  }

  async function end(id: number, completed: Completed): Promise<void> {
    try {
      await rows.complete(id, completed);
      unended.delete(id);
    } catch (cause) {
      const message = `The activity log cannot be written: an entry of a write stays unknown until it can.`;
      observe({ type: 'warning', message, cause });
      unended.set(id, completed);
      if (unended.size > KEPT_MOST) unended.delete(unended.keys().next().value as number);
      schedule(AWAY_MS);
    }
  }

  async function writeWaiting(): Promise<void> {
    await writeEnds();
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
    if (lost && isStorageAway(lost.cause)) {
      // The batch is not the cause: all entries wait, up to the limit.
      again = [...second, ...first];
      return schedule(AWAY_MS);
    }
    if (lost) observe({ type: 'warning', message: `${second.length} activity entries were lost.`, cause: lost.cause });
    const late = await insertOr(first);
    if (!late) return;
    again = first;
    if (isStorageAway(late.cause)) return schedule(AWAY_MS);
    observe({ type: 'warning', message: `${first.length} activity entries are tried again.`, cause: late.cause });
    schedule();
  }

  async function insertOr(entries: readonly ActivityEntry[]): Promise<{ readonly cause: unknown } | undefined> {
    if (entries.length === 0) return undefined;
    try {
      // All rows or no rows: a retry must not duplicate entries.
      await rows.insertAll(entries);
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
      const { id, versions } = await rows.insert({ ...entry, outcome: 'unknown', durationMs: 0 });
      return {
        ...(versions && { versions }),
        async complete(result, fate) {
          const completed = { ...result, durationMs: clock.monotonic() - started };
          await end(id, completed);
          fate?.then((found) => {
            const { code: _, ...ended } = completed;
            if (found === 'committed') return end(id, { ...ended, outcome: 'completed' });
            if (found === 'rolled back') return end(id, { ...ended, outcome: 'failed', code: LOST });
          });
        },
      };
    },
    async flush() {
      await flush();
      // Entries of the last failed batch have one attempt left.
      if (again.length > 0) await flush();
      if (again.length > 0)
        observe({
          type: 'warning',
          message: `${again.length} activity entries are not written yet: the storage is away.`,
        });
      if (unended.size > 0) observe({ type: 'warning', message: `${unended.size} activity entries stay unknown.` });
    },
    list: rows.list,
  };
}

/** The entries are not the cause: the storage is unreachable, full, or locked. */
const isStorageAway = (cause: unknown): boolean =>
  isAway(cause) || isAppError(cause, 'PLATFORM_UNAVAILABLE') || unwritable.test(codeOf(cause));

/** SQLite; classes 53 and 58 of PostgreSQL; MariaDB and MySQL. */
const unwritable =
  /^(SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM)|53...$|58...$|ER_(DISK_FULL|RECORD_FILE_FULL|ERROR_ON_WRITE|LOCK_WAIT)|ENOSPC)/;

const codeOf = (cause: unknown): string => String((cause as { code?: unknown } | null)?.code ?? '');
