// The activity log. Entries of reads are frequent: they are buffered for a moment and written in batches. A write
// stores a mark before its mutating statement, and a crash therefore leaves an `unknown` entry.
import type { Clock } from '../../core/clock.ts';
import { isUnavailable } from '../../core/errors/away.ts';
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
const RETRY_MS = 1000;
const MAX_WAITING = 10_000;
/** Code of a write that lost its connection and was rolled back. */
const LOST_CODE: ErrorCode = 'SOURCE_UNAVAILABLE';

export function createActivityLog(
  rows: Omit<ActivityRows, 'completeMark'>,
  observe: Observe,
  clock: Clock,
): ActivityLog {
  let waiting: ActivityEntry[] = [];
  /** A batch that failed once. It is retried with the next batch, then dropped. */
  let retries: ActivityEntry[] = [];
  let dropped = 0;
  let cancelTimer: (() => void) | undefined;
  /** Outcomes that are not stored yet, by the id of the mark. */
  const pendingOutcomes = new Map<number, Completed>();
  let currentFlush: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  function schedule(ms = WAIT_MS): void {
    cancelTimer ??= clock.after(ms, () => void flush());
  }

  function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    next ??= currentFlush.then(() => {
      next = undefined;
      currentFlush = writeWaiting();
      return currentFlush;
    });
    return next;
  }

  async function writeEnds(): Promise<void> {
    for (const [id, completed] of pendingOutcomes) {
      try {
        await rows.complete(id, completed);
        if (pendingOutcomes.get(id) === completed) pendingOutcomes.delete(id);
      } catch {
        return schedule(RETRY_MS);
      }
    }
  }

  async function end(id: number, completed: Completed): Promise<void> {
    try {
      await rows.complete(id, completed);
      pendingOutcomes.delete(id);
    } catch (cause) {
      const message = `Failed to write the activity log. Entries of writes stay unknown until it works again.`;
      observe({ type: 'warning', message, cause });
      pendingOutcomes.set(id, completed);
      if (pendingOutcomes.size > MAX_WAITING) pendingOutcomes.delete(pendingOutcomes.keys().next().value as number);
      schedule(RETRY_MS);
    }
  }

  async function writeWaiting(): Promise<void> {
    await writeEnds();
    const [second, first] = [retries, waiting];
    retries = [];
    waiting = [];
    if (dropped > 0) {
      observe({
        type: 'warning',
        message: `${dropped} activity entries were dropped: the storage is too slow or unavailable.`,
      });
      dropped = 0;
    }
    const lostEntries = await insertOr(rows, second);
    if (lostEntries && isStorageUnavailable(lostEntries.cause)) {
      // The batch is not the cause: all entries wait, up to the limit.
      retries = [...second, ...first];
      return schedule(RETRY_MS);
    }
    if (lostEntries)
      observe({ type: 'warning', message: `${second.length} activity entries were lost.`, cause: lostEntries.cause });
    const late = await insertOr(rows, first);
    if (!late) return;
    retries = first;
    if (isStorageUnavailable(late.cause)) return schedule(RETRY_MS);
    observe({
      type: 'warning',
      message: `Failed to write ${first.length} activity entries; trying again.`,
      cause: late.cause,
    });
    schedule();
  }

  return {
    record(entry) {
      waiting.push(entry);
      if (waiting.length + retries.length > MAX_WAITING) {
        (retries.length > 0 ? retries : waiting).shift();
        dropped++;
      }
      schedule();
    },
    async begin(entry) {
      const started = clock.monotonic();
      const { id, versions } = await rows.insert({ ...entry, outcome: 'unknown', durationMs: 0 });
      return {
        ...(versions && { versions }),
        async complete(result, commitOutcome) {
          const completed = { ...result, durationMs: clock.monotonic() - started };
          await end(id, completed);
          commitOutcome?.then((found) => {
            const { code: _, ...ended } = completed;
            if (found === 'committed') return end(id, { ...ended, outcome: 'completed' });
            if (found === 'rolled back') return end(id, { ...ended, outcome: 'failed', code: LOST_CODE });
          });
        },
      };
    },
    async flush() {
      await flush();
      // Entries of the last failed batch have one attempt left.
      if (retries.length > 0) await flush();
      if (retries.length > 0)
        observe({
          type: 'warning',
          message: `${retries.length} activity entries are not written yet: the storage is unavailable.`,
        });
      if (pendingOutcomes.size > 0)
        observe({ type: 'warning', message: `${pendingOutcomes.size} activity entries stay unknown.` });
    },
    list: rows.list,
  };
}

async function insertOr(
  { insertAll }: Pick<ActivityRows, 'insertAll'>,
  entries: readonly ActivityEntry[],
): Promise<{ readonly cause: unknown } | undefined> {
  if (entries.length === 0) return undefined;
  try {
    // All rows or no rows: a retry must not duplicate entries.
    await insertAll(entries);
    return undefined;
  } catch (cause) {
    return { cause };
  }
}

/** The caller lacks the right, or approval is missing or denied. Errors in the call itself count as failures. */
const denials: ReadonlySet<ErrorCode> = new Set([
  'FORBIDDEN',
  'DENIED',
  'UNAUTHENTICATED',
  'INSUFFICIENT_SCOPE',
  'NOT_APPROVED',
  'NEEDS_APPROVAL',
  'STEP_DECLINED',
  'REMOTE_TOOL_NOT_ALLOWED',
]);

/** `code`: the error code, if the call failed. */
export function outcomeOfCode(code: ErrorCode | undefined): {
  readonly outcome: ActivityEntry['outcome'];
  readonly code?: ErrorCode;
} {
  if (code === undefined) return { outcome: 'completed' };
  if (code === 'OUTCOME_UNKNOWN') return { outcome: 'unknown', code };
  return { outcome: denials.has(code) ? 'denied' : 'failed', code };
}

/** The entries are not the cause: the storage is unreachable, full, or locked. */
const isStorageUnavailable = (cause: unknown): boolean =>
  isUnavailable(cause) || isAppError(cause, 'PLATFORM_UNAVAILABLE') || unwritable.test(codeOf(cause));

/** SQLite; classes 53 and 58 of PostgreSQL; MariaDB and MySQL. */
const unwritable =
  /^(SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM)|53...$|58...$|ER_(DISK_FULL|RECORD_FILE_FULL|ERROR_ON_WRITE|LOCK_WAIT)|ENOSPC)/;

const codeOf = (cause: unknown): string => String((cause as { code?: unknown } | null)?.code ?? '');
