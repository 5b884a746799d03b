import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { StopSignal } from './clock/stop.ts';

/** The only access to time: all other code uses this instead of the wall clock and timers. Tests pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start that never decrease. For durations. */
  monotonic(): number;
  /** Calls `run` once after `ms`; the returned function cancels it. Never keeps the process alive. */
  after(ms: number, run: () => void): () => void;
  sleep(ms: number, signal?: StopSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

interface EventLoopWatch {
  /** Delay of the event loop in seconds since the last call. */
  take(): { readonly mean: number; readonly p50: number; readonly p99: number; readonly max: number };
  stop(): void;
}

/**
 * Measures how late timers fire. The histogram counts from when a timer was set, so the requested interval is
 * subtracted.
 */
export function watchEventLoop(resolutionMs = 10): EventLoopWatch {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  const seconds = (nanoseconds: number): number =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000) : 0;
  return {
    take() {
      const lag = {
        mean: seconds(histogram.mean),
        p50: seconds(histogram.percentile(50)),
        p99: seconds(histogram.percentile(99)),
        max: histogram.count === 0 ? 0 : seconds(histogram.max),
      };
      histogram.reset();
      return lag;
    },
    stop: () => histogram.disable(),
  };
}
