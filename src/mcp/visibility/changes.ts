// Watches what visibility depends on in the storage: the startable workflows and the rights of users. Any process can
// change both. While clients listen, this polls the storage every few seconds and notifies them of changes. Without
// listening clients it does not poll.
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';

/** A source of changes. */
interface ChangeSource {
  /** Returns a number that differs after every change. */
  poll(): Promise<number>;
  /** Notifies the listening clients of a change. */
  notify(): void;
}

interface VisibilityWatchParts {
  readonly sources: readonly ChangeSource[];
  readonly clock: Pick<Clock, 'after'>;
  readonly observe: Observe;
  /** Whether any client listens. */
  readonly hasListeners: () => boolean;
}

interface VisibilityWatch {
  /** Starts polling, when a client begins to listen. */
  begin(): void;
  end(): void;
}

const POLL_MS = 5000;

export function createVisibilityWatch({
  sources,
  clock,
  observe,
  hasListeners,
}: VisibilityWatchParts): VisibilityWatch {
  let cancel: (() => void) | undefined;
  const next = (previous: readonly number[] | undefined): void => {
    cancel = clock.after(previous === undefined ? 0 : POLL_MS, () => void checkChanges(previous));
  };
  const readSources = async (): Promise<readonly number[] | undefined> => {
    try {
      return await Promise.all(sources.map((each) => each.poll()));
    } catch (cause) {
      observe({ type: 'warning', message: 'Failed to check whether the tool list changed', cause });
      return undefined;
    }
  };
  const checkChanges = async (previous: readonly number[] | undefined): Promise<void> => {
    // After a failed poll, the next successful one still reports the change. If the first poll failed, it always
    // reports one.
    const current = (await readSources()) ?? previous ?? [];
    for (const [at, { notify }] of sources.entries()) if (previous && current[at] !== previous[at]) notify();
    if (cancel === undefined) return;
    cancel = undefined;
    if (hasListeners()) next(current);
  };
  return {
    begin() {
      if (cancel === undefined) next(undefined);
    },
    end() {
      cancel?.();
      cancel = undefined;
    },
  };
}
