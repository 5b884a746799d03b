// Errors that end a run, and retries. A Failure ends the run with its error. Any other error is a storage failure,
// which leaves the run unchanged.
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import { type AppError, isAppError, toAppError } from '../../core/errors.ts';
import type { LeaseState } from '../../store/workflows/types.ts';

/** Pauses between retries of temporary failures, in milliseconds. */
export const RETRY_PAUSES_MS = [500, 2000, 5000];
/** A database restart may take longer. Steps that only read then retry this often, with this pause. */
export const OUTAGE_PAUSE_MS = 5000;
export const OUTAGE_RETRIES = 20;

/** An error that ends the run. */
export class StepFailure extends Error {
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
export async function withStepFailure<T>(position: number | undefined, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof StepFailure) throw new StepFailure(thrown.failure, position);
    if (isAppError(thrown, 'INVALID_ARGUMENT')) throw new StepFailure(thrown, position);
    throw thrown;
  }
}

/** Retries `say`: a few times, and during a storage outage for as long as the run is held. */
export async function retryTransient<T>(clock: Clock, lease: Lease, write: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      const { code } = toAppError(error, '');
      const isUnavailable = code === 'SOURCE_UNAVAILABLE' || code === 'PLATFORM_UNAVAILABLE';
      const pauseMs = RETRY_PAUSES_MS[attempt] ?? (isUnavailable ? OUTAGE_PAUSE_MS : undefined);
      if (pauseMs === undefined || lease.signal.aborted) throw error;
      await clock.sleep(pauseMs, lease.signal).catch(() => undefined);
    }
  }
}

/** How this process holds the run, according to its heartbeat. `leaving`: the run is released before its next step. */
export interface Lease {
  readonly state: LeaseState | 'leaving';
  /** Aborts when this process may no longer write. */
  readonly signal: StopSignal;
}
