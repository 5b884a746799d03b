// The activity log. Reads are many and cheap: they wait a moment in memory and are written together. A write leaves its
// mark before the statement that changes data, so that a crash shows as `unknown` and never as silence.
import type { Clock } from '../core/clock.ts';
import { isAway } from '../core/errors/away.ts';
import { isAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { ActivityRows } from './activity-rows.ts';
import type { ActivityEntry, ActivityLog } from './activity-types.ts';

/** Of the 200 ms within which an entry is to be found: the rest is for the batch that is being written just then, and for its own. */
const WAIT_MS = 50;
/** Between tries while the storage is away. */
const AWAY_MS = 1000;
const KEPT_MOST = 10_000;

export function createActivityLog(
  rows: Omit<ActivityRows, 'completeMark'>,
  observe: Observe,
  clock: Clock,
): ActivityLog {
  let waiting: ActivityEntry[] = [];
  /** A batch that failed once: it goes with the next one, then it is given up. */
  let again: ActivityEntry[] = [];
  let dropped = 0;
  let cancelTimer: (() => void) | undefined;
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
    if (lost && isStorageAway(lost.cause)) {
      // It is not for what is in the batch: all of it waits, as long as there is room.
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
      // All or nothing: a batch that is tried again must not be half there.
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
        complete: (result) => rows.complete(id, { ...result, durationMs: clock.monotonic() - started }),
      };
    },
    async flush() {
      await flush();
      // What was just put aside has one try left.
      if (again.length > 0) await flush();
      if (again.length > 0)
        observe({
          type: 'warning',
          message: `${again.length} activity entries are not written yet: the storage is away.`,
        });
    },
    list: rows.list,
  };
}

const isStorageAway = (cause: unknown): boolean => isAway(cause) || isAppError(cause, 'PLATFORM_UNAVAILABLE');
