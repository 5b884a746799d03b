// Background work gets a smaller share of the CPU than the main thread.
import { setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/** Of 20; a third of the share of 0 on Linux (sched(7), nice values). */
const NICENESS = 5;

/**
 * For a child process or a worker thread. Only Linux has a priority per thread; on other systems it applies to the
 * process.
 */
export function lowerPriority(): void {
  if (!isMainThread && process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A container may forbid it. The shares are then equal.
  }
}
