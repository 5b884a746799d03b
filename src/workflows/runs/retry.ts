// Errors that end a run, and retries. A Failure ends the run with its error. Any other error is a storage failure,
// which leaves the run unchanged.
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import { type AppError, isAppError, toAppError } from '../../core/errors.ts';
import type { Hold } from '../../store/workflows/types.ts';

/** Pauses between retries of temporary failures, in milliseconds. */
export const PAUSES_MS = [500, 2000, 5000];
/** A database restart may take longer. Steps that only read then retry this often, with this pause. */
export const AWAY_MS = 5000;
export const AWAY_TRIES = 20;

/** An error that ends the run. */
export class Failure extends Error {
  readonly failure: AppError;
  /** Position of the failed step, if it has one. */
  readonly position: number | undefined;
  /** Details of the failed step. May contain values. */
  readonly data: unknown;

  constructor(failure: AppError, position?: number, data?: unknown) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.position = position;
    this.data = data;
  }
}

/** Converts INVALID_ARGUMENT thrown by `run` to a failure of the step. */
export async function deciding<T>(position: number | undefined, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof Failure) throw new Failure(thrown.failure, position);
    if (isAppError(thrown, 'INVALID_ARGUMENT')) throw new Failure(thrown, position);
    throw thrown;
  }
}

/** Retries `say`: a few times, and during a storage outage for as long as the run is held. */
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

/** How this process holds the run, according to its heartbeat. `leaving`: the run is released before its next step. */
export interface Holding {
  readonly state: Hold | 'leaving';
  /** Aborts when this process may no longer write. */
  readonly signal: StopSignal;
}
