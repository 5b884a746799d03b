// What ends a run and what is only tried again. A Failure is what the run is told to have failed with; anything else that is thrown
// is what the storage fails at, and leaves the run as it stands.
import type { Clock } from '../core/clock.ts';
import { type AppError, isAppError, toAppError } from '../core/errors.ts';
import type { Holding } from './execution.ts';

/** Between attempts at what does not answer at the moment. */
export const PAUSES_MS = [500, 2000, 5000];
/** A database that is restarted may take a while: after those, as often and as long, for what only reads. */
export const AWAY_MS = 5000;
export const AWAY_TRIES = 20;

/** What ends a run, as against what the storage fails at. */
export class Failure extends Error {
  readonly failure: AppError;
  /** Of the step that is told to have failed, where it has a place. */
  readonly position: number | undefined;
  /** What that step says of it, which may be values. */
  readonly data: unknown;

  constructor(failure: AppError, position?: number, data?: unknown) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.position = position;
    this.data = data;
  }
}

/** What our own code decides is a failure of the step. */
export async function deciding<T>(position: number | undefined, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof Failure) throw new Failure(thrown.failure, position);
    if (isAppError(thrown, 'INVALID_ARGUMENT')) throw new Failure(thrown, position);
    throw thrown;
  }
}

/** Says it again: a few times, and while the storage is away for as long as the run is held. */
export async function insist<T>(clock: Clock, holding: Holding, say: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await say();
    } catch (error) {
      const { code } = toAppError(error, '');
      const isGone = code === 'SOURCE_UNAVAILABLE' || code === 'PLATFORM_UNAVAILABLE';
      const pause = PAUSES_MS[attempt] ?? (isGone ? AWAY_MS : undefined);
      if (pause === undefined || holding.signal.aborted) throw error;
      await clock.sleep(pause, holding.signal).catch(() => undefined);
    }
  }
}
