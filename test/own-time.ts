// How long the thread of a test was at work, of the processor's time: what the machine gave to others meanwhile is not in it.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Of the main thread of this process; undefined where the system does not say. */
function busyMs(): number | undefined {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}

/**
 * By how many milliseconds the event loop was late at the most while `run` was under way, for what this thread did: no longer
 * than it was at work in all, however long it had to wait for the processor.
 */
export async function watchLateness<T>(run: () => Promise<T>): Promise<{ readonly answer: T; readonly late: number }> {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  await new Promise((resolve) => setTimeout(resolve, 20));
  histogram.reset();
  const before = busyMs();
  const answer = await run();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const after = busyMs();
  histogram.disable();
  const late = histogram.max / 1e6 - RESOLUTION_MS;
  return { answer, late: before === undefined || after === undefined ? late : Math.min(late, after - before) };
}

const RESOLUTION_MS = 5;
