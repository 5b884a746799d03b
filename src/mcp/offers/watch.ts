// Which tools there are for somebody depends on the workflows that can be started, and those are published, paused and taken up
// again in any process. So while clients listen, the storage is asked every few seconds, and they are told; with nobody there
// nothing is asked.
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';
import type { Menu } from './menu.ts';

export interface OfferWatchParts {
  readonly menu: Pick<Menu, 'look' | 'changes'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly observe: Observe;
  /** Whether anybody listens. */
  readonly hears: () => boolean;
  readonly tell: () => void;
}

export interface OfferWatch {
  /** Somebody has begun to listen. */
  begin(): void;
  end(): void;
}

const LOOK_MS = 5000;

export function createOfferWatch({ menu, clock, observe, hears, tell }: OfferWatchParts): OfferWatch {
  let cancel: (() => void) | undefined;
  const next = (told: number | undefined): void => {
    cancel = clock.after(told === undefined ? 0 : LOOK_MS, () => void look(told));
  };
  const look = async (told: number | undefined): Promise<void> => {
    await menu.look().catch((cause: unknown) => {
      observe({ type: 'warning', message: 'It could not be seen whether the workflows on offer are others', cause });
    });
    const now = menu.changes();
    if (told !== undefined && now !== told) tell();
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
