// What a client is offered depends on what the storage knows: which workflows can be started, and what people may do. Both change in
// any process. So while clients listen the storage is asked every few seconds, and they are told; with nobody there nothing is asked.
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';

/** Something that offers depend on. */
export interface Watched {
  /** Another number whenever it has changed. */
  look(): Promise<number>;
  /** Those who listen, that it has. */
  tell(): void;
}

export interface OfferWatchParts {
  readonly watched: readonly Watched[];
  readonly clock: Pick<Clock, 'after'>;
  readonly observe: Observe;
  /** Whether anybody listens. */
  readonly hears: () => boolean;
}

export interface OfferWatch {
  /** Somebody has begun to listen. */
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
    // What changed while it could not be seen is told of afterwards; of what was never seen nobody knows, so that it is too.
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
