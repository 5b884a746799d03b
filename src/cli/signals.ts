// An orderly end on SIGTERM and SIGINT.
import type { Clock } from '../core/clock.ts';

const SAME_SIGNAL_MS = 500;

/** The first signal lets calls under way finish, for as long as the settings say; the second ends the process at once. */
export function stopOnSignals(app: { stop(reason: string): Promise<void> }, clock: Clock): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    // Ctrl-C reaches everybody at the terminal, and npm passes it on once more: that is one signal, not two.
    if (firstAt !== undefined) {
      if (clock.monotonic() - firstAt > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    firstAt = clock.monotonic();
    app.stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`portico: stopped, but not in order: ${(error as Error).message}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
