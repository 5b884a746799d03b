// What every server does alike when a caller goes away or time is up: the statement is stopped on the server, from
// another connection, and only then is the call over. The connection that ran it is thrown away, since a stop that comes
// late would hit the next statement on it.
import type { Clock } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import type { ReadOptions } from '../source.ts';

export interface Stoppable {
  readonly clock: Clock;
  readonly options: ReadOptions;
  /** Asks the server to stop the statement. */
  readonly stop: () => Promise<void>;
}

/**
 * Waits for `running`. CANCELLED or TIMED_OUT when it was stopped, also where the server could not be asked to: then
 * `stopped` is called without waiting further. `stopped` and `ended` give the connection back; one of them is called once.
 */
export async function stoppable<T>(
  running: Promise<T>,
  { clock, options: { signal, timeoutMs }, stop }: Stoppable,
  give: { readonly ended: () => void; readonly stopped: () => void },
): Promise<T> {
  let reason: AppError | undefined;
  let stopping: Promise<void> | undefined;
  let wake: (error: AppError) => void = () => undefined;
  const woken = new Promise<never>((_, reject) => {
    wake = reject;
  });
  woken.catch(() => undefined);
  const begin = (why: AppError) => {
    if (reason) return;
    reason = why;
    stopping = stop().then(
      () => undefined,
      () => wake(why),
    );
  };
  const forget = clock.after(timeoutMs, () => begin(new AppError('TIMED_OUT', { seconds: timeoutMs / 1000 })));
  const cancel = () => begin(new AppError('CANCELLED', {}));
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    return await Promise.race([running, woken]);
  } catch (error) {
    throw reason ?? error;
  } finally {
    forget();
    signal?.removeEventListener('abort', cancel);
    if (stopping) {
      running.catch(() => undefined);
      await stopping;
      give.stopped();
    } else give.ended();
  }
}

/** A server that cannot be reached, or that went away: said so to the caller, with the driver's own words for the log. */
export function unavailable(error: unknown, codes: ReadonlySet<string>): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && codes.has(code) ? new AppError('SOURCE_UNAVAILABLE', {}, error) : error;
}

export const networkCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
] as const;
