// Loaded before the server (`node --import`). At SIGUSR2 it writes to the file of PORTICO_TEST_LATE the longest delay of
// the event loop since the last signal, in milliseconds, and the size of the heap in MB. In child processes it does nothing.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

if (process.argv[1]?.endsWith('main.js')) {
  const resolution = 5;
  const histogram = monitorEventLoopDelay({ resolution });
  histogram.enable();
  process.on('SIGUSR2', () => {
    const late = histogram.count === 0 ? 0 : histogram.max / 1e6 - resolution;
    const { heapUsed, heapTotal, external } = process.memoryUsage();
    const heap = [heapUsed, heapTotal, external].map((bytes) => Math.round(bytes / 1e6));
    writeFileSync(process.env.PORTICO_TEST_LATE, `${JSON.stringify({ late, heap })}\n`);
    histogram.reset();
  });
}
