// Wraps a driver to observe its statements: their duration, including the wait for a connection, and their outcome.
import type { Clock } from '../../../core/clock.ts';
import { isAppError } from '../../../core/errors.ts';
import type { Observation, Observe } from '../../../core/observe.ts';
import type { Driver, Prepared } from './driver.ts';

interface ObserverOptions {
  readonly source: string;
  /** Known after `describe`. */
  readonly system: () => Extract<Observation, { type: 'statement.ran' }>['system'];
  readonly observe: Observe;
  readonly clock: Clock;
}

export function observeDriver(driver: Driver, { source, system, observe, clock }: ObserverOptions): Driver {
  const report = (
    { sql: text, operation, table }: Prepared,
    began: number,
    ended: { readonly error?: unknown } = {},
  ) => {
    const code = 'error' in ended ? codeOf(ended.error) : undefined;
    observe({
      type: 'statement.ran',
      source,
      system: system(),
      operation,
      table,
      text,
      outcome: 'error' in ended ? 'failed' : 'completed',
      ...(code !== undefined && { code }),
      milliseconds: clock.monotonic() - began,
    });
  };

  /** Synchronous results stay synchronous. */
  const observeRun = <T>(prepared: Prepared, run: () => T | Promise<T>): T | Promise<T> => {
    const began = clock.monotonic();
    const failed = (error: unknown): never => {
      report(prepared, began, { error });
      throw error;
    };
    const reported = (answer: T): T => {
      report(prepared, began);
      return answer;
    };
    let running: T | Promise<T>;
    try {
      running = run();
    } catch (error) {
      return failed(error);
    }
    return running instanceof Promise ? running.then(reported, failed) : reported(running);
  };

  return {
    catalogue: (sql) => driver.catalogue(sql),
    resultColumns: (sql, values) => driver.resultColumns(sql, values),
    run: (prepared, values, options) => observeRun(prepared, () => driver.run(prepared, values, options)),
    transaction: (work, options) =>
      driver.transaction(
        (connection) =>
          work({
            run: async (prepared, values) => observeRun(prepared, () => connection.run(prepared, values)),
          }),
        options,
      ),
    close: () => driver.close(),
  };
}

/** The error code, ours or the driver's. It names a kind of error and contains no values. */
function codeOf(error: unknown): string | undefined {
  if (isAppError(error)) return error.code;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}
