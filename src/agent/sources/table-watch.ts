// Compares the tables of the sources with those that are served, and rebuilds the engine when they differ. A source
// has a version that is cheap to read. After a failure the old model stays, and the watch tries again.
import type { Clock } from '../../core/clock.ts';
import { messageForOperator } from '../../core/errors/connection.ts';
import type { Observe } from '../../core/observe.ts';
import type { Source } from './source.ts';

interface TableWatchParts {
  /** 0: never. */
  readonly seconds: number;
  /** The sources of the current engine, and the versions of the tables that it was built from. */
  readonly served: () => { readonly sources: readonly Source[]; readonly versions: ReadonlyMap<Source, string> };
  readonly rebuild: () => Promise<void>;
  readonly observe: Observe;
  readonly clock: Clock;
}

/** A rebuild reads every table. After a failure it is tried again after twice the time, up to so many intervals. */
const MAX_INTERVALS = 20;

/** Returns a function that stops the watch. */
export function watchTables({ seconds, served, rebuild, observe, clock }: TableWatchParts): () => void {
  if (seconds === 0) return () => undefined;
  let isStopped = false;
  let cancel: () => void = () => undefined;
  /** Each problem is logged once, until the tables are read again. */
  let logged: string | undefined;
  const warn = (message: string, cause: unknown) => {
    if (message === logged || isStopped) return;
    logged = message;
    observe({ type: 'warning', message, cause });
  };
  let failed: { readonly versions: string; readonly intervals: number; skipped: number } | undefined;

  const readChanged = async (): Promise<{ readonly names: string; readonly versions: string } | undefined> => {
    const { sources, versions } = served();
    const changed: Source[] = [];
    const current: string[] = [];
    for (const source of sources) {
      const before = versions.get(source);
      if (before === undefined || !source.version) continue;
      const now = await source.version();
      current.push(now);
      if (now !== before) changed.push(source);
    }
    if (changed.length === 0) return undefined;
    return { names: changed.map(({ name }) => name).join(', '), versions: current.join('\n') };
  };

  const check = async (): Promise<void> => {
    const { sources } = served();
    let changed: Awaited<ReturnType<typeof readChanged>>;
    try {
      changed = await readChanged();
    } catch (cause) {
      // A restart has closed these sources meanwhile.
      if (served().sources !== sources) return;
      return warn(
        `The tables cannot be compared with those that are served: ${messageForOperator(cause as Error)}`,
        cause,
      );
    }
    if (changed === undefined || isStopped) {
      failed = logged = undefined;
      return;
    }
    const { names, versions } = changed;
    if (failed?.versions === versions && ++failed.skipped < failed.intervals) return;
    try {
      await rebuild();
      failed = logged = undefined;
      if (!isStopped) observe({ type: 'source.reloaded', source: names });
    } catch (cause) {
      const intervals = failed?.versions === versions ? Math.min(failed.intervals * 2, MAX_INTERVALS) : 1;
      failed = { versions, intervals, skipped: 0 };
      warn(
        `The tables of ${names} changed, and cannot be served: ${messageForOperator(cause as Error)} The previous tables stay in use. Portico tries again.`,
        cause,
      );
    }
  };

  const next = (): void => {
    cancel = clock.after(seconds * 1000, () => {
      void check().finally(() => {
        if (!isStopped) next();
      });
    });
  };
  next();
  return () => {
    isStopped = true;
    cancel();
  };
}
