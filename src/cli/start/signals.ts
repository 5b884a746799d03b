// Clean shutdown on SIGTERM and SIGINT.
import type { Clock } from '../../core/clock.ts';

const SAME_SIGNAL_MS = 500;

/**
 * The first signal lets running calls finish, up to the configured time limit. The second one ends the process
 * immediately.
 */
export function stopOnSignals(app: { stop(reason: string): Promise<void> }, clock: Clock): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    // Ctrl-C reaches every process in the terminal, and npm forwards it again. Both count as one signal.
    if (firstAt !== undefined) {
      if (clock.monotonic() - firstAt > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    firstAt = clock.monotonic();
    app.stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`portico: stopped with an error: ${(error as Error).message}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
