// Watches what visibility depends on in the storage: the startable workflows and the rights of users. Any process can
// change both. While clients listen, this polls the storage every few seconds and notifies them of changes. Without
// listening clients it does not poll.
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';

/** A source of changes. */
export interface Watched {
  /** Returns a number that differs after every change. */
  look(): Promise<number>;
  /** Notifies the listening clients of a change. */
  tell(): void;
}

export interface OfferWatchParts {
  readonly watched: readonly Watched[];
  readonly clock: Pick<Clock, 'after'>;
  readonly observe: Observe;
  /** Whether any client listens. */
  readonly hears: () => boolean;
}

export interface OfferWatch {
  /** Starts polling, when a client begins to listen. */
  begin(): void;
  end(): void;
}

const LOOK_MS = 5000;

export function createOfferWatch({ watched, clock, observe, hears }: OfferWatchParts): OfferWatch {
  let cancel: (() => void) | undefined;
  const next = (told: readonly number[] | undefined): void => {
    cancel = clock.after(told === undefined ? 0 : LOOK_MS, () => void look(told));
  };
  const seen = async (): Promise<readonly number[] | undefined> => {
    try {
      return await Promise.all(watched.map((each) => each.look()));
    } catch (cause) {
      observe({ type: 'warning', message: 'It could not be seen whether what clients are offered is another', cause });
      return undefined;
    }
  };
  const look = async (told: readonly number[] | undefined): Promise<void> => {
    // After a failed poll, the next successful one still reports the change. If the first poll failed, it always
    // reports one.
    const now = (await seen()) ?? told ?? [];
    for (const [at, { tell }] of watched.entries()) if (told && now[at] !== told[at]) tell();
    if (cancel === undefined) return;
    cancel = undefined;
    if (hears()) next(now);
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
