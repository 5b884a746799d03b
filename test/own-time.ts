// Measures the delay that a test causes in the event loop, without the time that the machine gives to other processes.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** CPU time of the main thread; undefined if the system does not report it. */
function busyMs(): number | undefined {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}

/**
 * The longest delay of the event loop during `run`, in milliseconds. The result is at
 * most the CPU time of this thread, so time spent waiting for a CPU does not count.
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
